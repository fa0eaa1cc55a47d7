//! Drive files that say only in what they differ from another: `like = "st16000nm001g"`.

use std::sync::Arc;

use disklab_config::{Key, Node, Value};
use disklab_source::{Source, SourceError, did_you_mean};

use crate::SHIPPED;

/// What says which drive a file describes, and is never taken from its sibling.
const OWN: [&str; 6] = ["id", "aliases", "name", "model", "note", "like"];

/// A drive follows that many others at most; no family needs more, and a circle ends.
const LONGEST: usize = 8;

/// The field that names the sibling, and its value.
pub(super) struct Like {
    pub id: String,
    place: Node,
}

impl Like {
    /// An error about a value that came from the sibling, shown where the sibling is named:
    /// the reader's own file made it impossible.
    pub fn blame(&self, error: SourceError, own: &str) -> SourceError {
        if error.file == own {
            return error;
        }
        self.place.error(format!(
            "the drive cannot be like '{}' with what this file changes: {}",
            self.id, error.message
        ))
    }
}

/// The whole drive: this file's values, and its sibling's where it has none. A file
/// without `like` is whole already.
///
/// # Errors
/// If no shipped drive has that id, or the file gives what its sibling decides.
pub(super) fn complete(root: Node) -> Result<(Node, Option<Like>), SourceError> {
    complete_within(root, LONGEST)
}

fn complete_within(root: Node, left: usize) -> Result<(Node, Option<Like>), SourceError> {
    let Some(place) = child(&root, "like").cloned() else { return Ok((root, None)) };
    let id = place.as_text()?;
    let Some((_, text)) = SHIPPED.iter().find(|(known, _)| *known == id) else {
        let known = SHIPPED.iter().map(|(known, _)| *known);
        return Err(place.error(format!(
            "`like`: '{}' does not come with disklab{}; expected the id of one (see \
             `disklab list drives`)",
            id.escape_debug(),
            did_you_mean(&id, known)
        )));
    };
    if left == 0 {
        return Err(place.error(format!("`like`: '{id}' is like a drive that is like it")));
    }
    if let Some(kind) = child(&root, "kind") {
        return Err(kind.error(format!("`kind` is that of '{id}'; expected no `kind` here")));
    }
    let source = Arc::new(Source { name: format!("drives/{id}.toml"), text: (*text).to_owned() });
    let (base, _) = complete_within(Node::parse(&source)?, left - 1)?;
    Ok((merged(base, root)?, Some(Like { id, place })))
}

fn child<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    let entries = node.entries().ok()?;
    entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
}

/// `base` with the values of `own` in place of its own.
fn merged(base: Node, own: Node) -> Result<Node, SourceError> {
    let overridden = fields(&own);
    let (Value::Table(mut entries), Value::Table(changes)) = (base.value, own.value) else {
        return Err(own.place.error("expected a drive as a table"));
    };
    entries.retain(|(key, _)| !OWN.contains(&key.name.as_str()));
    for (key, node) in &mut entries {
        // What the sibling's value may lie between says nothing about another value.
        if key.name == "plausible"
            && let Value::Table(ranges) = &mut node.value
        {
            ranges.retain(|(range, _)| !overridden.contains(&range.name));
        }
    }
    for (key, node) in changes {
        if key.name != "like" {
            put(&mut entries, key, node);
        }
    }
    Ok(Node { value: Value::Table(entries), place: own.place })
}

/// Puts a value, or those of a table, in the place of what is there.
fn put(entries: &mut Vec<(Key, Node)>, key: Key, node: Node) {
    match entries.iter_mut().find(|(known, _)| known.name == key.name) {
        Some((known, there)) => match (&mut there.value, node) {
            (Value::Table(inner), Node { value: Value::Table(changes), .. }) => {
                for (key, node) in changes {
                    put(inner, key, node);
                }
            }
            (_, node) => (*known, *there) = (key, node),
        },
        None => entries.push((key, node)),
    }
}

/// The fields that a file gives, with their tables, such as `cache.size`.
fn fields(root: &Node) -> Vec<String> {
    let mut names = Vec::new();
    for (key, node) in root.entries().unwrap_or_default() {
        match &node.value {
            Value::Table(inner) if key.name != "plausible" => {
                names.extend(inner.iter().map(|(field, _)| format!("{}.{}", key.name, field.name)));
            }
            _ => names.push(key.name.clone()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{DriveFile, Kind, load, shipped};

    const HEAD: &str = "id = \"mine\"\nname = \"Mine\"\nmodel = \"M\"\n";

    fn like(text: &str) -> Result<DriveFile, String> {
        load("d.toml", &format!("{HEAD}{text}")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_file_that_changes_nothing_is_its_sibling_under_another_name() {
        let sibling = shipped("md04aca400").unwrap();
        let file = like("like = \"md04aca400\"\n").unwrap();
        assert_eq!((file.kind, file.plausible), (sibling.kind, sibling.plausible));
        assert_eq!((file.id.as_str(), file.name.as_str()), ("mine", "Mine"));
        assert!(file.aliases.is_empty() && file.note.is_empty());
        assert_eq!(file.like.as_deref(), Some("md04aca400"));
    }

    #[test]
    fn own_values_replace_the_siblings_values_and_ranges() {
        let text = "like = \"md04aca400\"\ncapacity = 3000592982016\n[geometry]\nheads = 6\n\
                    [seek]\naverage = \"8.7 ms\"\n[plausible]\n\"geometry.heads\" = [4, 6]\n";
        let file = like(text).unwrap();
        let p = file.mechanics().unwrap();
        assert_eq!((p.heads, p.read_seek.average, p.rpm), (6, 8_700_000, 7200));
        assert_eq!(file.capacity(), 3_000_592_982_016);
        let range = |field: &str| file.plausible.iter().find(|p| p.field == field);
        assert_eq!(range("geometry.heads").unwrap().low, "4");
        assert_eq!(range("seek.average"), None);
        assert!(range("seek.full").is_some());
    }

    #[test]
    fn kinds_come_from_the_sibling() {
        assert!(matches!(like("like = \"st8000as0002\"").unwrap().kind, Kind::Smr(_)));
        assert!(matches!(like("like = \"generic-qlc-1tb\"").unwrap().kind, Kind::Ssd(_)));
    }

    #[test]
    fn errors_are_shown_in_the_file_that_made_them() {
        for (text, place, expected) in [
            ("like = \"md04aca40\"", "4:8", "did you mean 'md04aca400'"),
            ("like = 3", "4:8", "does not come with disklab"),
            ("like = [1]", "4:8", "expected a text"),
            ("like = \"md04aca400\"\nkind = \"ssd\"", "5:8", "expected no `kind` here"),
            ("like = \"md04aca400\"\ncolour = 1", "5:1", "unknown field 'colour'"),
            ("like = \"md04aca400\"\n[seek]\naverag = 1", "6:1", "unknown field 'averag'"),
            ("like = \"md04aca400\"\n[seek]\naverage = 1", "6:11", "expected a time"),
            ("like = \"md04aca400\"\n[seek]\nfull = \"4 ms\"", "", "rise"),
            ("like = \"md04aca400\"\ngeometry = 3", "5:12", "expected 'geometry' as a table"),
            (
                "like = \"md04aca400\"\n[plausible]\n\"seek.full\" = [\"1 ms\", \"2 ms\"]",
                "6:15",
                "does not lie from",
            ),
            ("", "1:1", "needs a field 'kind'"),
        ] {
            let error = like(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.starts_with(&format!("d.toml:{place}")), "{text}: {error}");
        }
        let error = load("d.toml", "like = \"md04aca400\"").unwrap_err().to_string();
        assert!(error.starts_with("d.toml:1:1") && error.contains("'id'"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(like = \"md04aca400\"\n)?(\\[(seek|cache|plausible)\\]\n)?(\"?[a-z.-]{1,12}\"? = [0-9a-z\"\\[\\]. ]{1,12}\n){0,4}") {
            if let Err(error) = like(&text) {
                prop_assert!(error.starts_with("d.toml:"), "{}", error);
            }
        }
    }
}
