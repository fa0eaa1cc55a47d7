//! The processor whose work is charged: finding it, and whether the kernel does.

use std::path::Path;
use std::sync::Arc;

use disklab_cell::LabPlan;
use disklab_config::{Node, Value};
use disklab_processor::{PARAMETERS, Processor, SHIPPED, by_name, from_node};
use disklab_source::{Source, SourceError, did_you_mean};
use disklab_study::Study;

use super::model_error::{ModelError, read_model_file};

/// The word for no processor, where a study names one.
const NONE: &str = "none";
/// Where the guest's kernel says what it charges.
const CHARGED: &str = "/sys/module/charge/parameters";

/// The processor of a plan; `None` if work is free.
///
/// # Errors
/// Where its table is not that of a processor.
pub fn processor_of(plan: &LabPlan) -> Result<Option<Processor>, SourceError> {
    plan.processor.as_ref().map(from_node).transpose()
}

/// The table of the shipped processor with this id, or of a file, which is looked for
/// against `directory`; `None` for the word 'none'.
///
/// # Errors
/// [`ModelError`] if there is none, or its file is wrong.
pub fn find_processor(name: &str, directory: &Path) -> Result<Option<Node>, ModelError> {
    if name.eq_ignore_ascii_case(NONE) {
        return Ok(None);
    }
    if let Some(processor) = by_name(name) {
        let text = SHIPPED.iter().find(|(id, _)| *id == processor.id).map_or("", |(_, text)| text);
        return checked(format!("processors/{}.toml", processor.id), text.to_owned()).map(Some);
    }
    if name.contains('/') || name.ends_with(".toml") {
        let path = directory.join(name);
        let text = read_model_file("processor", &path)?;
        return checked(path.display().to_string(), text).map(Some);
    }
    let known = SHIPPED.iter().map(|(id, _)| *id).chain([NONE]);
    Err(ModelError::unknown("processor", "processor", name, did_you_mean(name, known)))
}

/// The processor that a study names or describes.
///
/// # Errors
/// As for [`find_processor`], and where the description is wrong.
pub fn study_processor(study: &Study, directory: &Path) -> Result<Option<Node>, ModelError> {
    let Some(node) = &study.processor else { return Ok(None) };
    if matches!(node.value, Value::Table(_)) {
        from_node(node)?;
        return Ok(Some(node.clone()));
    }
    let name = node.as_text()?;
    find_processor(&name, directory).map_err(|why| node.error(why.to_string()).into())
}

/// The table of a text that describes a processor.
fn checked(name: String, text: String) -> Result<Node, ModelError> {
    let node = Node::parse(&Arc::new(Source { name, text }))?;
    from_node(&node)?;
    Ok(node)
}

/// The guest's kernel takes no notice of a word of its command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this kernel cannot charge for CPU time ('{0}'): use the one that \
     `disklab lab build` makes, or leave --processor out"
)]
pub struct NotCharged(String);

/// Whether this kernel, a guest's, charges what these words of its command line say.
/// One without the patch takes no notice of them.
///
/// # Errors
/// [`NotCharged`] if it does not.
pub fn check_charges(words: &[String]) -> Result<(), NotCharged> {
    check_charges_in(Path::new(CHARGED), words)
}

fn check_charges_in(directory: &Path, words: &[String]) -> Result<(), NotCharged> {
    for word in words {
        let parts = word.strip_prefix(PARAMETERS).and_then(|word| word.split_once('='));
        let charged = parts.is_some_and(|(name, wanted)| {
            let found = std::fs::read_to_string(directory.join(name));
            found.is_ok_and(|found| found.trim() == wanted)
        });
        if !charged {
            return Err(NotCharged(word.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use disklab_study::load as load_study;

    use super::*;

    const STUDY: &str = "id = 's'\ntitle = 's'\n[stacks]\na = { layers = 'ext4', drives = 1 }\n\
        [[drives]]\nmodel = 'hgst-10tb'\nsize = '10 TB'\n[[workloads]]\nid = 'w'\n\
        hdparm = { device = true }\n";

    fn found(name: &str, directory: &Path) -> Option<Processor> {
        let node = find_processor(name, directory).unwrap_or_else(|e| panic!("{name}: {e}"))?;
        Some(from_node(&node).unwrap_or_else(|e| panic!("{e}")))
    }

    fn of_study(with: &str) -> Result<Option<Processor>, ModelError> {
        let study =
            load_study("s.toml", &format!("{with}\n{STUDY}")).unwrap_or_else(|e| panic!("{e}"));
        let node = study_processor(&study, Path::new("/"))?;
        Ok(node.map(|node| from_node(&node)).transpose()?)
    }

    #[test]
    fn processors_are_found_by_id_and_by_file() {
        let directory = tempfile::tempdir().unwrap();
        let (id, text) = SHIPPED[0];
        std::fs::write(directory.path().join("mine.toml"), text).unwrap();
        for name in [id, "./mine.toml", "mine.toml", "ATOM-D2700"] {
            assert_eq!(found(name, directory.path()).unwrap().id, id, "{name}");
        }
        assert_eq!(found("None", directory.path()), None);
        for (name, expected) in [
            ("atom-d2701", "did you mean 'atom-d2700'"),
            ("", "unknown processor"),
            ("no/such.toml", "cannot read the processor file"),
        ] {
            let error = find_processor(name, directory.path()).unwrap_err().to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn a_study_names_its_processor_or_describes_it() {
        assert_eq!(of_study("").unwrap(), None);
        assert_eq!(of_study("processor = 'none'").unwrap(), None);
        assert_eq!(of_study("processor = 'atom-d2700'").unwrap().unwrap().processors, 2);
        let own = of_study("processor = { id = 'own', each = { bio = '3 us' } }").unwrap().unwrap();
        assert_eq!(own.kernel_arguments(), ["charge.bio=3000", "charge.processors=1"]);
        for (with, expected) in [
            ("processor = 'atom'", "s.toml:1:"),
            ("processor = 'atom'", "unknown processor"),
            ("processor = { id = 'own', each = { bios = '3 us' } }", "did you mean 'bio'"),
            ("processor = ['a', 'b']", "s.toml:1:"),
        ] {
            let error = of_study(with).unwrap_err().to_string();
            assert!(error.contains(expected), "{with}: {error}");
        }
    }

    #[test]
    fn a_kernel_that_does_not_charge_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("bio"), "3000\n").unwrap();
        let check = |word: &str| check_charges_in(directory.path(), &[word.to_owned()]);
        assert_eq!(check("charge.bio=3000"), Ok(()));
        assert_eq!(check_charges_in(Path::new("/no/such"), &[]), Ok(()));
        for word in ["charge.bio=3001", "charge.crc32=3000", "bio=3000", "charge.bio"] {
            assert_eq!(check(word), Err(NotCharged(word.to_owned())));
        }
    }
}
