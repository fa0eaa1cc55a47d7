//! The parameters of a drive file with their sources, which stand as comments
//! behind them.

use serde::Serialize;

/// How a source begins, in the drive files that come with disklab: what kind of
/// knowledge a value is. What follows says more.
pub const KINDS_OF_SOURCES: [(&str, &str); 9] = [
    ("data sheet", "the maker's data sheet or specification of this model"),
    ("published", "measured by somebody who published it"),
    ("seen", "a listing of such a drive, as by smartctl"),
    ("study", "the study of that name, in its figures or its listings"),
    ("standard", "a standard that the drive keeps"),
    ("paper", "a paper about such drives"),
    ("fitted", "chosen so that the model gives published figures, which are named"),
    ("recalled", "from memory of the source named; may be wrong"),
    ("inferred", "chosen, not measured; the reason follows"),
];

/// Fields that name a drive; they need no source.
const NAMES: [&str; 6] = ["id", "aliases", "name", "model", "kind", "note"];

/// A parameter of a drive file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Value {
    /// Its table; empty for the drive's own.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Its value, as it stands there.
    pub value: String,
    /// The comment behind it, which says where it is from; empty where there is none.
    pub source: String,
}

impl Value {
    /// Whether its source is one of [`KINDS_OF_SOURCES`].
    pub fn has_source(&self) -> bool {
        KINDS_OF_SOURCES.iter().any(|(kind, _)| {
            let rest = self.source.strip_prefix(kind);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    }
}

/// The parameters of a drive file, in their order, without the drive's names and the
/// ranges within which uncertain values may lie. The
/// text need not be a drive file, nor TOML: what cannot be understood is left out.
pub fn values(text: &str) -> Vec<Value> {
    let (mut table, mut values, mut in_text) = (String::new(), Vec::new(), false);
    for line in text.lines() {
        let line = line.trim();
        // Texts of several lines, such as notes.
        let marks = line.matches("\"\"\"").count();
        if in_text || marks == 1 {
            in_text ^= marks % 2 == 1;
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            name.trim_matches(['[', ' ']).clone_into(&mut table);
            continue;
        }
        let (assignment, source) = split_comment(line);
        let Some((name, value)) = assignment.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim());
        let ranges = table == "plausible";
        if name.is_empty() || ranges || (table.is_empty() && NAMES.contains(&name)) {
            continue;
        }
        values.push(Value {
            table: table.clone(),
            name: name.to_owned(),
            value: value.trim_matches('"').to_owned(),
            source: source.to_owned(),
        });
    }
    values
}

/// A line without its comment, and the comment. A mark within quotes begins none.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '#' if !quoted => return (&line[..at], line[at + 1..].trim()),
            _ => {}
        }
    }
    (line, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use disklab_drive::SHIPPED;
    use proptest::prelude::*;

    #[test]
    fn every_parameter_of_a_shipped_drive_has_its_source() {
        let kinds = KINDS_OF_SOURCES.map(|(kind, _)| kind);
        for (id, text) in SHIPPED {
            let values = values(text);
            assert!(values.len() > 10, "{id}");
            for value in values {
                assert!(
                    value.has_source(),
                    "drives/{id}.toml: `{}` needs a comment with its source behind it, which \
                     begins with one of {kinds:?}; found '{}'",
                    value.name,
                    value.source
                );
            }
        }
    }

    #[test]
    fn values_are_found_with_their_tables_and_sources() {
        let text = "# a comment = none\nid = \"x\"\nnote = \"\"\"\na = 1 # no\n\"\"\"\n\
                    capacity = 12 # data sheet\n\n[seek]\nfull = \"1 # 2\" # inferred: so\nbare = 3\n";
        let found = values(text);
        let shown: Vec<String> = found
            .iter()
            .map(|v| format!("{}/{}/{}/{}", v.table, v.name, v.value, v.source))
            .collect();
        let expected = ["/capacity/12/data sheet", "seek/full/1 # 2/inferred: so", "seek/bare/3/"];
        assert_eq!(shown, expected);
        assert_eq!(found.iter().map(Value::has_source).collect::<Vec<_>>(), [true, true, false]);
        let other = Value { source: "inferredly".to_owned(), ..found[0].clone() };
        assert!(!other.has_source());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(.|[\\[\\]\"#=\n]){0,200}") {
            for value in values(&text) {
                prop_assert!(!value.name.is_empty());
            }
        }
    }
}
