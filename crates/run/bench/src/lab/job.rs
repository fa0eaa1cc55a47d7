//! What host and guest say to each other: files in the lab's directory, which both
//! see.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use disklab_cell::{CellPlan, MakingPlan};
use disklab_exec::UntrustedDirectory;
use disklab_sample::{Sample, TraceEntry};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The host's [`GuestJob`].
pub(super) const JOB: &str = "job.json";
/// The guest's [`crate::Phase`]s, one line each.
pub(super) const PHASES: &str = "phases";
/// The guest's [`GuestAnswer`].
pub(super) const ANSWER: &str = "answer.json";

/// The cell's directory for raw outputs.
pub(super) const RAW: &str = "raw";
/// A further directory of programs.
pub(super) const PROGRAMS: &str = "programs";

/// What a guest is to do. No path of the host is in it: they differ between machines,
/// and what is read takes memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GuestJob {
    /// What to carry out.
    pub task: GuestTask,
    /// What `fio --version` says, where it is here.
    pub fio: Option<String>,
    /// Whether there is a further directory of programs.
    pub programs: bool,
}

/// What a guest carries out: one makes what others measure on. It reads nothing of their work, so
/// that what it leaves does not depend on which of them comes first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GuestTask {
    /// What is there before the work is made, and stopped so that it can be assembled.
    Make(MakingPlan),
    /// The stack is assembled, and stopped after the work.
    Work(Box<CellPlan>),
}

impl GuestTask {
    /// What is there before the work.
    pub fn making(&self) -> &MakingPlan {
        match self {
            Self::Make(making) => making,
            Self::Work(plan) => &plan.making,
        }
    }
}

/// Why a cell failed, as its guest reported it: the error itself, with its source, is gone with
/// the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(transparent)]
#[error("{0}")]
pub struct ReportedFailure(pub String);

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GuestAnswer {
    /// The sample, or why there is none.
    pub result: Result<Sample, ReportedFailure>,
    /// Every command that ran.
    pub trace: Vec<TraceEntry>,
}

impl GuestAnswer {
    /// That there is no sample.
    pub fn failed(why: &impl ToString, trace: Vec<TraceEntry>) -> Self {
        Self { result: Err(ReportedFailure(why.to_string())), trace }
    }
}

/// Writes a value where the other side will look for it, whole or not at all.
pub(super) fn write(directory: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    let (path, unfinished) = (directory.join(name), directory.join(format!("{name}.unfinished")));
    let mut file = File::create(&unfinished)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    // From the guest's page cache to the host's file.
    file.sync_all()?;
    drop(file);
    std::fs::rename(unfinished, path)
}

/// The largest answer that is read.
const LARGEST_ANSWER: u64 = 256 << 20;

/// Reads what the guest answered; `None` if it did not. The guest may have left anything
/// in the directory, links and files without end included.
pub(super) fn read_answer(directory: &Path) -> io::Result<Option<GuestAnswer>> {
    match UntrustedDirectory::open(directory)?.read(ANSWER, LARGEST_ANSWER) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Reads what the host wrote, in the guest; `None` if it did not.
pub(super) fn read<T: DeserializeOwned>(directory: &Path, name: &str) -> io::Result<Option<T>> {
    match std::fs::read(directory.join(name)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        assert!(read::<GuestAnswer>(directory.path(), ANSWER).unwrap().is_none());
        assert!(read_answer(directory.path()).unwrap().is_none());
        let mut sample = Sample::default();
        sample.overhead.make_seconds = 0.1;
        for result in [Ok(sample), Err(ReportedFailure("why".to_owned()))] {
            let answer = GuestAnswer { result: result.clone(), trace: Vec::new() };
            write(directory.path(), ANSWER, &answer).unwrap();
            let back: GuestAnswer = read(directory.path(), ANSWER).unwrap().unwrap();
            assert_eq!(back.result, result);
            assert_eq!(read_answer(directory.path()).unwrap().unwrap().result, result);
        }
        std::fs::write(directory.path().join(ANSWER), "{\"result\":").unwrap();
        assert!(read::<GuestAnswer>(directory.path(), ANSWER).is_err());
        assert!(read_answer(directory.path()).is_err());
    }

    #[test]
    fn a_hostile_answer_is_not_followed_nor_waited_for() {
        let (directory, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let answer = GuestAnswer::failed(&"the user's", Vec::new());
        write(user.path(), ANSWER, &answer).unwrap();
        let path = directory.path().join(ANSWER);
        std::os::unix::fs::symlink(user.path().join(ANSWER), &path).unwrap();
        read_answer(directory.path()).expect_err("a link");
        std::fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        read_answer(directory.path()).expect_err("a pipe");
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        read_answer(directory.path()).expect_err("a terabyte");
    }
}
