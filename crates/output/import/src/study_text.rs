//! The study of what was imported: which stacks, which workloads.

use disklab_study::{Study, load};
use indexmap::IndexMap;

use crate::reading::one_line;
use crate::{ImportError, ImportedWork};

/// What a made study is about.
pub(crate) struct Outline<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub about: &'a str,
    pub repeats: u32,
    pub baseline: Option<&'a str>,
    pub stacks: &'a [String],
    pub works: &'a IndexMap<String, ImportedWork>,
}

/// The study's text, and what it is read as.
///
/// # Errors
/// [`ImportError::Text`] at an id that a study cannot have, or at an unknown baseline.
pub(crate) fn study(outline: &Outline<'_>) -> Result<Study, ImportError> {
    let name = format!("{}.toml", outline.id);
    let mut last = None;
    // The first that holds: layouts × file systems where the stacks are that, so that
    // charts group them; layers where the names are such.
    for (is_matrix, has_layers) in [(true, true), (false, true), (false, false)] {
        let Some(text) = text(outline, is_matrix, has_layers) else { continue };
        match load(&name, &text) {
            Ok(study) => return Ok(study),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(|| ImportError::NoStacks, ImportError::Text))
}

fn text(outline: &Outline<'_>, is_matrix: bool, has_layers: bool) -> Option<String> {
    let mut toml = String::from("# Made by `disklab import`: what other programs measured.\n");
    let mut field = |name: &str, value: String| toml.push_str(&format!("{name} = {value}\n"));
    field("id", quoted(outline.id));
    field("title", quoted(&one_line(outline.title)));
    field("about", quoted(outline.about));
    field("repeats", outline.repeats.clamp(1, 1000).to_string());
    if let Some(baseline) = outline.baseline {
        field("baseline", quoted(baseline));
    }
    if is_matrix {
        let (layouts, file_systems) = matrix(outline.stacks)?;
        for (title, names) in [("layouts", layouts), ("file-systems", file_systems)] {
            toml.push_str(&format!("\n[{title}]\n"));
            names.iter().for_each(|n| toml.push_str(&format!("{} = {}\n", quoted(n), quoted(n))));
        }
    } else {
        toml.push_str("\n[stacks]\n");
        for id in outline.stacks {
            // A stack without layers is none.
            let layers = if has_layers { id } else { "unknown" };
            toml.push_str(&format!("{} = {}\n", quoted(id), quoted(layers)));
        }
    }
    for (id, work) in outline.works {
        toml.push_str(&format!(
            "\n[[workloads]]\nid = {}\ntitle = {}\n[workloads.{}]\n",
            quoted(id),
            quoted(&one_line(&work.title)),
            work.kind
        ));
        for (name, value) in &work.fields {
            toml.push_str(&format!("{name} = {}\n", quoted(value)));
        }
    }
    Some(toml)
}

/// The stacks as layouts × file systems, where they are exactly that, in that order.
fn matrix(stacks: &[String]) -> Option<(Vec<&str>, Vec<&str>)> {
    let parts: Vec<(&str, &str)> =
        stacks.iter().map(|id| id.split_once('/')).collect::<Option<_>>()?;
    let (mut layouts, mut file_systems) = (Vec::new(), Vec::new());
    for (layout, file_system) in &parts {
        if !layouts.contains(layout) {
            layouts.push(*layout);
        }
        if !file_systems.contains(file_system) {
            file_systems.push(*file_system);
        }
    }
    let all = layouts.iter().flat_map(|l| file_systems.iter().map(move |f| (*l, *f)));
    all.eq(parts.iter().copied()).then_some((layouts, file_systems))
}

/// A text as TOML's basic string. JSON's escapes are among TOML's; DEL stands bare in
/// JSON and may not in TOML.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c != '\u{7f}').collect();
    serde_json::Value::String(text).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(stacks: &[&str], work: ImportedWork) -> Result<Study, ImportError> {
        let stacks: Vec<String> = stacks.iter().map(|s| (*s).to_owned()).collect();
        let works = IndexMap::from([(work.id.clone(), work)]);
        let outline = Outline {
            id: "mine",
            title: "Mine \"and\" \\ yours",
            about: "two\nlines",
            repeats: 3,
            baseline: None,
            stacks: &stacks,
            works: &works,
        };
        study(&outline)
    }

    fn work() -> ImportedWork {
        ImportedWork::unknown("w", "w", vec![("bs", "4k".to_owned())])
    }

    #[test]
    fn stacks_that_are_a_matrix_become_one() {
        let study = made(&["single/ext4", "single/btrfs", "raid5/ext4", "raid5/btrfs"], work())
            .expect("valid");
        let parts: Vec<_> =
            study.stacks.iter().map(|s| (s.layout.as_str(), s.file_system.as_str())).collect();
        assert_eq!(parts[1], ("single", "btrfs"));
        let study = made(&["single/ext4", "raid5/btrfs"], work()).expect("valid");
        assert_eq!(study.stacks[1].id, "raid5/btrfs");
        assert_eq!(study.stacks[1].layers[1].name, "btrfs");
        let study = made(&["(odd)", "x/y[compress=zlib]"], work()).expect("valid");
        assert_eq!(study.stacks[0].layers[0].name, "unknown");
        assert!(made(&["a b"], work()).is_err());
    }

    proptest! {
        #[test]
        fn any_title_and_field_survive(title in "\\PC{0,40}", value in "(\\PC|\n|\t|\"|\\\\){0,40}") {
            let work = ImportedWork { title: title.clone(), ..ImportedWork::unknown("w", "", vec![("command", value.clone())]) };
            let study = made(&["ext4"], work).expect("valid");
            prop_assert_eq!(&study.workloads[0].title, &one_line(&title));
            let (_, field) = &study.workloads[0].body.entries().expect("a table")[0];
            prop_assert_eq!(field.as_text().expect("text"), value.replace('\u{7f}', ""));
        }
    }
}
