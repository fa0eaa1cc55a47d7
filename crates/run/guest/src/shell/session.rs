//! What the host tells the guest of a session: a file in the lab's directory, because a
//! kernel's command line takes no spaces and counts for its randomness.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SessionError;
use crate::drives::DriveFacts;

/// The file's name in the lab's directory.
const FILE: &str = "session.json";

/// A session at the guest's prompt, or a script there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellSession {
    /// The directory to be in, which is the user's own.
    pub directory: PathBuf,
    /// Directories that may be written to.
    pub writable: Vec<PathBuf>,
    /// A directory with programs that belong to the kernel.
    pub programs: Option<PathBuf>,
    /// What of the kernel's command line says what CPU time costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charges: Vec<String>,
    /// What is run; nothing for a prompt.
    pub script: Option<SessionScript>,
    /// The kind of terminal (`TERM`).
    pub terminal: String,
    /// What the drives say of themselves, in the kernel's order.
    #[serde(default)]
    pub drives: Vec<DriveFacts>,
}

/// What is run without a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionScript {
    /// A shell's command line.
    Command(String),
    /// A file in the lab's directory, to be run by the shell, and the name that the
    /// user gave it.
    File(String),
}

impl ShellSession {
    /// Leaves it in the lab's directory.
    pub fn write(&self, directory: &Path) -> Result<(), SessionError> {
        let path = directory.join(FILE);
        match serde_json::to_string(self) {
            Ok(text) => {
                std::fs::write(&path, text).map_err(|source| SessionError::Write { path, source })
            }
            Err(source) => Err(SessionError::Json { path, source }),
        }
    }

    /// Finds it in the lab's directory.
    pub fn read(directory: &Path) -> Result<Self, SessionError> {
        let path = directory.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|source| SessionError::Json { path, source })
            }
            Err(source) => Err(SessionError::Read { path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::tests::facts;

    #[test]
    fn session_comes_back_as_it_was() {
        let directory = tempfile::tempdir().expect("temp");
        let session = ShellSession {
            directory: "/home/me".into(),
            writable: vec!["/tmp/a b".into()],
            programs: Some("/zfs".into()),
            charges: vec!["charge.bio=1500".into()],
            script: Some(SessionScript::Command("echo 'a \"b\"'\n".into())),
            terminal: "xterm".into(),
            drives: vec![facts("samsung-980-1tb")],
        };
        session.write(directory.path()).expect("written");
        assert_eq!(ShellSession::read(directory.path()).expect("read"), session);
        std::fs::write(directory.path().join(FILE), "{").expect("written");
        let error = ShellSession::read(directory.path()).expect_err("no JSON");
        assert!(matches!(error, SessionError::Json { .. }), "{error:?}");
        assert!(error.to_string().contains("session.json"), "{error}");
    }
}
