//! Which stack and workload the figures of a file belong to, where its maker says so.

use std::sync::Arc;

use disklab_config::{Fields, Node, Value};
use disklab_source::{Source, SourceError};
use disklab_study::matches;

use crate::{ImportError, ImportedDrives};

/// A rule: files of these names belong to this stack, or are of this workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// A pattern over the file's name, or its path as given; `*` stands for any
    /// characters, `?` for one.
    pub pattern: String,
    /// The stack's id.
    pub stack: Option<String>,
    /// The workload's id.
    pub workload: Option<String>,
}

impl Mapping {
    /// Reads `PATTERN=STACK`, `PATTERN=STACK:WORKLOAD` or `PATTERN=:WORKLOAD`.
    ///
    /// # Errors
    /// [`ImportError::Mapping`] with the forms that there are.
    pub fn parse(text: &str) -> Result<Self, ImportError> {
        let wrong = || ImportError::Mapping { text: text.to_owned() };
        // A stack's options may hold '=' and ',': the first '=' outside of brackets.
        let (pattern, value) = text.split_once('=').ok_or_else(wrong)?;
        let (stack, workload) = match value.split_once(':') {
            Some((stack, workload)) => (stack, workload),
            None => (value, ""),
        };
        let given = |text: &str| Some(text.trim().to_owned()).filter(|t| !t.is_empty());
        let mapping = Self {
            pattern: pattern.trim().to_owned(),
            stack: given(stack),
            workload: given(workload),
        };
        let is_empty = mapping.stack.is_none() && mapping.workload.is_none();
        if mapping.pattern.is_empty() || is_empty { Err(wrong()) } else { Ok(mapping) }
    }

    /// Whether it is about a file: its path as given, or its name alone.
    pub fn is_about(&self, path: &str, name: &str) -> bool {
        matches(&self.pattern, path) || matches(&self.pattern, name)
    }
}

/// What is next to the files: `import.toml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MappingTable {
    /// The run's title.
    pub title: Option<String>,
    /// The stack that others are compared with.
    pub baseline: Option<String>,
    /// The drives beneath.
    pub drives: Option<ImportedDrives>,
    /// The rules; the first that is about a file counts.
    pub mappings: Vec<Mapping>,
}

/// Name of the table next to the files.
pub const TABLE: &str = "import.toml";

impl MappingTable {
    /// Reads a table:
    ///
    /// ```toml
    /// title = "My NAS"
    /// baseline = "single/ext4"
    /// drives = "hdd:4"
    /// [files]
    /// "ext4-*" = "single/ext4"
    /// "btrfs-*" = { stack = "single/btrfs", workload = "randread" }
    /// ```
    ///
    /// # Errors
    /// [`SourceError`] at a field that is unknown, missing or invalid.
    pub fn read(source: &Arc<Source>) -> Result<Self, SourceError> {
        let root = Node::parse(source)?;
        let mut fields = Fields::new(&root, "the table of files")?;
        let title = fields.text("title")?;
        let baseline = fields.text("baseline")?;
        let drives = fields.take("drives").map(drives).transpose()?;
        let files = fields.take("files");
        fields.finish()?;
        let entries = files.map_or(Ok(&[][..]), Node::entries)?;
        let mappings = entries
            .iter()
            .map(|(key, node)| {
                let (stack, workload) = match node.value {
                    Value::Table(_) => {
                        let mut fields = Fields::new(node, "a file")?;
                        let both = (fields.text("stack")?, fields.text("workload")?);
                        fields.finish()?;
                        both
                    }
                    _ => (Some(node.as_text()?), None),
                };
                if stack.is_none() && workload.is_none() {
                    return Err(node.error("a file needs `stack`, `workload` or both"));
                }
                Ok(Mapping { pattern: key.name.clone(), stack, workload })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { title, baseline, drives, mappings })
    }
}

fn drives(node: &Node) -> Result<ImportedDrives, SourceError> {
    ImportedDrives::parse(&node.as_text()?).map_err(|error| node.error(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(text: &str) -> Result<MappingTable, SourceError> {
        MappingTable::read(&Arc::new(Source { name: TABLE.to_owned(), text: text.to_owned() }))
    }

    #[test]
    fn mappings_of_the_command_line() {
        let read = |text: &str| {
            Mapping::parse(text)
                .map(|m| (m.pattern, m.stack.unwrap_or_default(), m.workload.unwrap_or_default()))
        };
        let expected = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        for (text, mapping) in [
            ("e*=single/ext4", expected("e*", "single/ext4", "")),
            (
                "e*=raid5/btrfs[compress=zlib]:dd",
                expected("e*", "raid5/btrfs[compress=zlib]", "dd"),
            ),
            ("*=:dd-write", expected("*", "", "dd-write")),
        ] {
            assert_eq!(read(text).expect(text), mapping);
        }
        for text in ["x", "=y", "x=", "x=:", ""] {
            assert!(Mapping::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tables_next_to_the_files() {
        let read = table(
            "title = \"x\"\nbaseline = \"a\"\n[files]\n\"a-*\" = \"a\"\n\"b?\" = { workload = \"w\" }\n",
        )
        .expect("valid");
        assert_eq!(read.baseline.as_deref(), Some("a"));
        assert!(read.mappings[0].is_about("some/where/a-1.json", "a-1.json"));
        assert!(!read.mappings[1].is_about("b", "b"));
        for (text, line, said) in [
            ("[files]\na = {}\n", 2, "needs `stack`"),
            ("[files]\na = [1]\n", 2, "expected a text"),
            ("[file]\n", 1, "did you mean 'files'?"),
            ("[files]\na = { stak = \"x\" }\n", 2, "did you mean 'stack'?"),
        ] {
            let error = table(text).expect_err(text);
            assert!(error.line == line && error.to_string().contains(said), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\PC|=|:|\n|\\[files\\]\n){0,60}") {
            let _ = (Mapping::parse(&text), table(&text));
        }
    }
}
