//! Signatures on a device or in a file, and whether they are ours.

use std::path::Path;

use disklab_exec::{Executor, Invocation};
use serde::Deserialize;

use super::super::{Hand, Marks, Obstacle, probe};
use crate::StackError;

/// What `wipefs --no-act --json` prints.
#[derive(Debug, Default, Deserialize)]
struct Listing {
    #[serde(default)]
    signatures: Vec<Signature>,
}

/// One signature.
#[derive(Debug, Deserialize)]
pub(super) struct Signature {
    #[serde(rename = "type")]
    pub kind: String,
    pub uuid: Option<String>,
    pub label: Option<String>,
}

impl Signature {
    /// As an obstacle on `on`.
    pub(super) fn obstacle(self, on: &Path) -> Obstacle {
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        Obstacle::Signature {
            on: on.to_owned(),
            kind: self.kind,
            uuid: some(self.uuid),
            label: some(self.label),
        }
    }

    fn is_table(&self) -> bool {
        matches!(self.kind.as_str(), "gpt" | "dos")
    }

    /// Whether it is one of ours, apart from partition tables.
    pub(super) fn is_ours(&self, on: &Path, marks: &Marks) -> bool {
        match self.kind.as_str() {
            "DM_integrity" => marks.has_integrity_on(on),
            _ => {
                self.uuid.as_deref().is_some_and(|uuid| marks.has(uuid))
                    || self.label.as_deref().is_some_and(|label| marks.has_word_of(label))
            }
        }
    }
}

/// The signatures on `path`. A protective MBR is none: it says that there is a GPT,
/// which is listed itself.
///
/// # Errors
/// If wipefs cannot be run.
pub(super) fn signatures(path: &Path, executor: &Executor) -> Result<Vec<Signature>, StackError> {
    let list = Invocation::new("wipefs").args(["--no-act", "--json"]).arg(path).uninterruptible();
    let text = executor.check(&list).map_err(failed)?.text();
    // It prints nothing if there is none.
    let listing = if text.trim().is_empty() {
        Listing::default()
    } else {
        serde_json::from_str(&text).map_err(|e| {
            StackError::Other(format!(
                "`wipefs --no-act --json {}` printed no valid JSON: {e}",
                path.display()
            ))
        })?
    };
    Ok(listing.signatures.into_iter().filter(|s| s.kind != "PMBR").collect())
}

/// Whether a signature on `path` is ours.
///
/// # Errors
/// If wipefs cannot be run.
pub(crate) fn has_ours(path: &Path, marks: &Marks, hand: &Hand<'_>) -> Result<bool, StackError> {
    Ok(signatures(path, hand.executor)?.iter().any(|signature| signature.is_ours(path, marks)))
}

/// The signatures on `path` that are not ours.
///
/// # Errors
/// If wipefs or blkid cannot be run.
pub(super) fn others(
    path: &Path,
    marks: &Marks,
    executor: &Executor,
) -> Result<Vec<Obstacle>, StackError> {
    let mut found = Vec::new();
    for mut signature in signatures(path, executor)? {
        if signature.is_table() {
            // wipefs tells no GUID of a table.
            signature.uuid = probe(path, "PTUUID", executor)?;
        }
        if !signature.is_ours(path, marks) {
            let obstacle = signature.obstacle(path);
            // Some are there twice, such as a GPT and its copy.
            if !found.contains(&obstacle) {
                found.push(obstacle);
            }
        }
    }
    Ok(found)
}

pub(super) fn failed(source: disklab_exec::ExecError) -> StackError {
    StackError::Program { layer: "inspection of a leftover".to_owned(), source }
}
