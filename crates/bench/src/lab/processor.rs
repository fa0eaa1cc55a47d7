//! The processor whose work is charged: finding it, and whether the kernel does.

use std::path::Path;

use disklab_config::Value;
use disklab_processor::{PARAMETERS, Processor, SHIPPED, by_name, from_node, load};
use disklab_source::{did_you_mean, one_of};
use disklab_study::Study;

/// The word for no processor, where a study names one.
const NONE: &str = "none";
/// A processor file is a page or two; one larger than this is none.
const LARGEST_FILE: u64 = 1 << 20;
/// Where the guest's kernel says what it charges.
const CHARGED: &str = "/sys/module/charge/parameters";

/// The shipped processor with this id, or that of a file, which is looked for
/// against `folder`; `None` for the word 'none'.
///
/// # Errors
/// Where there is none, or its file is wrong; in words.
pub fn find_processor(name: &str, folder: &Path) -> Result<Option<Processor>, String> {
    if name.eq_ignore_ascii_case(NONE) {
        return Ok(None);
    }
    if let Some(processor) = by_name(name) {
        return Ok(Some(processor));
    }
    if name.contains('/') || name.ends_with(".toml") {
        return read(&folder.join(name)).map(Some);
    }
    let known = || SHIPPED.iter().map(|(id, _)| *id).chain([NONE]);
    Err(format!(
        "'{name}' is no processor{}; known: {}; or give a processor file, such as './{name}.toml'",
        did_you_mean(name, known()),
        one_of(known())
    ))
}

/// The processor that a study names or describes.
///
/// # Errors
/// As for [`find_processor`], and where the description is wrong.
pub fn study_processor(study: &Study, folder: &Path) -> Result<Option<Processor>, String> {
    let Some(node) = &study.processor else { return Ok(None) };
    if matches!(node.value, Value::Table(_)) {
        return from_node(node).map(Some).map_err(|e| e.to_string());
    }
    let name = node.as_text().map_err(|e| e.to_string())?;
    find_processor(&name, folder).map_err(|why| node.error(why).to_string())
}

fn read(path: &Path) -> Result<Processor, String> {
    let cannot =
        |e: std::io::Error| format!("cannot read the processor file '{}': {e}", path.display());
    if path.metadata().map_err(cannot)?.len() > LARGEST_FILE {
        return Err(format!("'{}' is too large for a processor file", path.display()));
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    load(&path.display().to_string(), &text).map_err(|e| e.to_string())
}

/// Whether this kernel, a guest's, charges what these words of its command line say.
/// One without the patch takes no notice of them.
///
/// # Errors
/// Where it does not; in words.
pub fn check_charges(words: &[String]) -> Result<(), String> {
    check_charges_in(Path::new(CHARGED), words)
}

fn check_charges_in(folder: &Path, words: &[String]) -> Result<(), String> {
    for word in words {
        let parts = word.strip_prefix(PARAMETERS).and_then(|word| word.split_once('='));
        let charged = parts.is_some_and(|(name, wanted)| {
            let found = std::fs::read_to_string(folder.join(name));
            found.is_ok_and(|found| found.trim() == wanted)
        });
        if !charged {
            return Err(format!(
                "this kernel cannot charge for the processor's work ('{word}'): use the one \
                 that `disklab lab build` makes, or leave --processor out"
            ));
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

    fn of_study(with: &str) -> Result<Option<Processor>, String> {
        let study =
            load_study("s.toml", &format!("{with}\n{STUDY}")).unwrap_or_else(|e| panic!("{e}"));
        study_processor(&study, Path::new("/"))
    }

    #[test]
    fn processors_are_found_by_id_and_by_file() {
        let folder = tempfile::tempdir().unwrap();
        let (id, text) = SHIPPED[0];
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
        for name in [id, "./mine.toml", "mine.toml", "ATOM-D2700"] {
            assert_eq!(find_processor(name, folder.path()).unwrap().unwrap().id, id, "{name}");
        }
        assert_eq!(find_processor("None", folder.path()), Ok(None));
        for (name, expected) in [
            ("atom-d2701", "did you mean 'atom-d2700'"),
            ("", "is no processor"),
            ("no/such.toml", "cannot read the processor file"),
        ] {
            let error = find_processor(name, folder.path()).unwrap_err();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn a_study_names_its_processor_or_describes_it() {
        assert_eq!(of_study(""), Ok(None));
        assert_eq!(of_study("processor = 'none'"), Ok(None));
        assert_eq!(of_study("processor = 'atom-d2700'").unwrap().unwrap().processors, 2);
        let own = of_study("processor = { id = 'own', each = { bio = '3 us' } }").unwrap().unwrap();
        assert_eq!(own.kernel_arguments(), ["charge.bio=3000", "charge.processors=1"]);
        for (with, expected) in [
            ("processor = 'atom'", "s.toml:1:"),
            ("processor = 'atom'", "is no processor"),
            ("processor = { id = 'own', each = { bios = '3 us' } }", "did you mean 'bio'"),
            ("processor = ['a', 'b']", "s.toml:1:"),
        ] {
            let error = of_study(with).unwrap_err();
            assert!(error.contains(expected), "{with}: {error}");
        }
    }

    #[test]
    fn a_kernel_that_does_not_charge_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bio"), "3000\n").unwrap();
        let check = |word: &str| check_charges_in(folder.path(), &[word.to_owned()]);
        assert_eq!(check("charge.bio=3000"), Ok(()));
        assert_eq!(check_charges_in(Path::new("/no/such"), &[]), Ok(()));
        for word in ["charge.bio=3001", "charge.crc32=3000", "bio=3000", "charge.bio"] {
            let error = check(word).unwrap_err();
            assert!(error.contains(word) && error.contains("disklab lab build"), "{error}");
        }
    }
}
