//! The files that a study's workloads name, in its own text: `[files]`. A run's study has them
//! there as they were when it was planned, so that it is repeated without them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use disklab_config::Node;
use disklab_source::{Source, SourceError};

use crate::Study;

/// What stands before the files that a run adds.
const KEPT: &str = "\n# The files that it names, as they were when the run was planned.\n[files]\n";

/// The files by name.
pub(crate) fn kept_files(node: &Node) -> Result<BTreeMap<String, String>, SourceError> {
    node.entries()?.iter().map(|(key, text)| Ok((key.name.clone(), text.as_text()?))).collect()
}

/// The text as the user wrote it, without what a run adds.
pub(crate) fn without_kept(text: &str) -> &str {
    text.find(KEPT).map_or(text, |at| &text[..at])
}

impl Study {
    /// Adds the files that its workloads name to its text, unless it has its files there already.
    pub fn keep_files(&mut self, files: &BTreeMap<String, String>) {
        if self.files.is_some() || files.is_empty() {
            return;
        }
        let mut text = format!("{}{KEPT}", self.source.text);
        for (name, content) in files {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{} = {}", quoted(name, "\""), quoted(content, "\"\"\""));
        }
        self.source = Arc::new(Source { name: self.source.name.clone(), text });
        self.files = Some(Arc::new(files.clone()));
    }
}

/// A string as TOML has it; the line break behind three quotes is none of its own.
fn quoted(text: &str, quotes: &str) -> String {
    let mut quoted = quotes.to_owned();
    if quotes.len() > 1 {
        quoted.push('\n');
    }
    for c in text.chars() {
        match c {
            '\n' if quotes.len() > 1 => quoted.push(c),
            '\\' | '"' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + quotes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load;

    const TEXT: &str = "id = 's'\ntitle = 's'\n[stacks]\na = { layers = 'ext4', drives = 1 }\n\
                        [[drives]]\nmodel = 'm'\nsize = '1 TB'\n[[workloads]]\nid = 'w'\n\
                        fio = { job-file = 'a.fio' }\n";

    #[test]
    fn a_studys_text_keeps_its_files() {
        let mut study = load("s.toml", TEXT).expect("valid");
        assert_eq!(study.files, None);
        study.keep_files(&BTreeMap::new());
        assert_eq!(study.source.text, TEXT);
        let files =
            BTreeMap::from([("jobs/a.fio".to_owned(), "[a]\nsize=1m ; \"x\"\n".to_owned())]);
        study.keep_files(&files);
        assert!(
            study
                .source
                .text
                .ends_with("[files]\n\"jobs/a.fio\" = \"\"\"\n[a]\nsize=1m ; \\\"x\\\"\n\"\"\"\n")
        );
        let again = load("s.toml", &study.source.text).expect("valid");
        assert_eq!(again.files.as_deref(), Some(&files));
        // The user's file is the same study.
        assert_eq!(again.digest, study.digest);
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(name in "\\PC{1,20}", content in "(\\PC|[\u{0}-\u{1f}]|\"|\\\\|\r?\n){0,60}") {
            let mut study = load("s.toml", TEXT).expect("valid");
            let files = BTreeMap::from([(name, content)]);
            study.keep_files(&files);
            let again = load("s.toml", &study.source.text).expect("valid");
            prop_assert_eq!(again.files.as_deref(), Some(&files));
        }
    }
}
