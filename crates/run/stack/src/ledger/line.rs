//! The lines of a ledger's file, and reading them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::host::LedgerHost;
use crate::undo::{FileIdentity, Marks};
use crate::{LineProblem, StackError, Undo};

/// One line of a ledger's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum LedgerLine {
    /// The first line: whose ledger it is.
    Owner {
        /// What all programs of the owner have in their environment.
        mark: String,
        /// Where the owner ran.
        host: LedgerHost,
    },
    /// Marks of what the owner made before, and has torn down since.
    Marks(Vec<String>),
    /// A thing that is about to be made.
    Enter {
        /// Counted from 0 within the file.
        number: u64,
        /// How to tear it down.
        undo: Undo,
        /// What else is recognised as made with it, such as the UUID of a file
        /// system.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        marks: Vec<String>,
    },
    /// The file or directory of that number exists now.
    Created {
        /// As in `enter`.
        number: u64,
        /// Which one it is, whatever its name comes to mean.
        identity: FileIdentity,
    },
    /// What a workload makes in a directory, and nothing else.
    Names { directory: PathBuf, names: Vec<String> },
    /// The thing of that number is gone.
    Gone {
        /// As in `enter`.
        number: u64,
    },
}

/// An entry that is not gone yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub number: u64,
    pub undo: Undo,
    /// Of the file or directory, if it was created.
    pub identity: Option<FileIdentity>,
}

/// What is in a ledger.
#[derive(Debug, Default)]
pub(super) struct LineContent {
    /// The mark of the owner's programs, and where it ran.
    pub owner: Option<(String, LedgerHost)>,
    /// What is not gone yet, in the order entered.
    pub entries: Vec<Entry>,
    /// What the owner's things are recognised by, also of those that are gone.
    pub marks: Vec<String>,
    /// What workloads make in a directory.
    pub names: Vec<(PathBuf, Vec<String>)>,
    /// The length of its whole lines, if another was cut short.
    pub whole: Option<u64>,
    /// An error for each invalid line.
    pub strange: Vec<StackError>,
}

/// Reads complete lines.
pub(super) fn read_lines(path: &Path, bytes: &[u8]) -> LineContent {
    let mut content = LineContent::default();
    for (index, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        if let Err(problem) =
            serde_json::from_slice(line).map_err(LineProblem::Json).and_then(|l| content.add(l))
        {
            content.strange.push(StackError::InvalidLedger {
                path: path.to_owned(),
                line: index + 1,
                problem,
            });
        }
    }
    content
}

impl LineContent {
    /// What the owner's things are recognised by.
    pub(super) fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        self.marks.iter().for_each(|mark| marks.add(mark));
        self.entries.iter().for_each(|entry| {
            marks.add_paths(&entry.undo.paths(), entry.identity);
            entry.undo.integrity().into_iter().for_each(|mapping| marks.add_integrity(mapping));
        });
        self.names.iter().for_each(|(directory, names)| marks.add_names(directory, names));
        marks
    }

    fn add(&mut self, line: LedgerLine) -> Result<(), LineProblem> {
        match line {
            LedgerLine::Owner { mark, host } => self.owner = Some((mark, host)),
            LedgerLine::Marks(marks) => self.marks.extend(marks),
            LedgerLine::Enter { number, undo, marks } => {
                undo.check()?;
                self.marks.extend(undo.marks());
                self.marks.extend(marks);
                self.entries.push(Entry { number, undo, identity: None });
            }
            LedgerLine::Created { number, identity } => {
                for entry in self.entries.iter_mut().filter(|entry| entry.number == number) {
                    entry.identity = Some(identity);
                }
            }
            LedgerLine::Names { directory, names } => self.names.push((directory, names)),
            LedgerLine::Gone { number } => self.entries.retain(|entry| entry.number != number),
        }
        Ok(())
    }
}
