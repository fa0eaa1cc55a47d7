//! What host and guest say to each other: files in the lab's folder, which both
//! see.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use disklab_cell::Cell;
use disklab_exec::UntrustedDirectory;
use disklab_sample::{Sample, TraceEntry};
use disklab_source::SourceError;
use disklab_study::Study;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The host's [`GuestJob`].
pub(super) const JOB: &str = "job.json";
/// The guest's [`crate::Phase`]s, one line each.
pub(super) const PHASES: &str = "phases";
/// The guest's [`GuestAnswer`].
pub(super) const ANSWER: &str = "answer.json";

/// The host's folder against which the study's files are found, as the guest mounts it.
pub(super) const STUDY: &str = "study";
/// The cell's folder for raw outputs.
pub(super) const RAW: &str = "raw";
/// A further folder of programs.
pub(super) const PROGRAMS: &str = "programs";
/// The study's file, in the guest's messages; no letter of any other text is like these.
const FILE: &str = "\u{1}study\u{1}";

/// What a guest is to do. No path of the host is in it: they differ between machines,
/// and what is read takes memory.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GuestJob {
    /// The study's whole text: the guest reads it as the host did.
    pub study_text: String,
    /// Whether it is run in its quick form.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// The drives in place of the study's, if it is run on others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drives: Option<String>,
    /// By how much sizes are scaled.
    pub scale: f64,
    /// The cell to carry out.
    pub cell: Cell,
    /// What `fio --version` says, where it is here.
    pub fio: Option<String>,
    /// Whether there is a further folder of programs.
    pub programs: bool,
    /// What the command line sets of the drives' sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_drive: Vec<String>,
    /// What of the kernel's command line says what CPU time costs.
    pub charges: Vec<String>,
}

impl GuestJob {
    /// Reads the study, as the host did.
    ///
    /// # Errors
    /// Those of the study, in which its file has a name that [`GuestAnswer::named`] knows.
    pub fn study(&self) -> Result<Study, SourceError> {
        let mut study = disklab_study::load(FILE, &self.study_text)?;
        if let Some(drives) = self.drives.as_ref().and_then(|drives| drives.parse().ok()) {
            study = study.on_drives(&drives)?;
        }
        if self.quick { study.into_quick_form() } else { Ok(study) }
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

    /// With the study's file in its error, where that speaks of it.
    pub fn named(mut self, file: &str) -> Self {
        self.result = self.result.map_err(|why| ReportedFailure(why.0.replace(FILE, file)));
        self
    }
}

/// Writes a value where the other side will look for it, whole or not at all.
pub(super) fn write(folder: &Path, name: &str, value: &impl Serialize) -> io::Result<()> {
    let (path, unfinished) = (folder.join(name), folder.join(format!("{name}.unfinished")));
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
/// in the folder, links and files without end included.
pub(super) fn read_answer(folder: &Path) -> io::Result<Option<GuestAnswer>> {
    match UntrustedDirectory::open(folder)?.read(ANSWER, LARGEST_ANSWER) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Reads what the host wrote, in the guest; `None` if it did not.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> io::Result<Option<T>> {
    match std::fs::read(folder.join(name)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use disklab_cell::Levels;

    use super::*;

    #[test]
    fn answers_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read::<GuestAnswer>(folder.path(), ANSWER).unwrap().is_none());
        assert!(read_answer(folder.path()).unwrap().is_none());
        let mut sample = Sample::default();
        sample.overhead.make_seconds = 0.1;
        for result in [Ok(sample), Err(ReportedFailure("why".to_owned()))] {
            let answer = GuestAnswer { result: result.clone(), trace: Vec::new() };
            write(folder.path(), ANSWER, &answer).unwrap();
            let back: GuestAnswer = read(folder.path(), ANSWER).unwrap().unwrap();
            assert_eq!(back.result, result);
            assert_eq!(read_answer(folder.path()).unwrap().unwrap().result, result);
        }
        std::fs::write(folder.path().join(ANSWER), "{\"result\":").unwrap();
        assert!(read::<GuestAnswer>(folder.path(), ANSWER).is_err());
        assert!(read_answer(folder.path()).is_err());
    }

    #[test]
    fn a_guest_reads_the_form_of_the_study_that_the_host_has() {
        let text = "id = 's'\ntitle = 's'\n[stacks]\na = { layers = 'ext4', drives = 1 }\n\
                    [[drives]]\nmodel = 'hgst-10tb'\nsize = '10 TB'\n[[workloads]]\nid = 'w'\n\
                    fio = { rw = 'read', size = '2G' }\n[quick.workloads]\nw = { size = '1G' }\n";
        let study = disklab_study::load("s.toml", text).expect("valid");
        let job = |quick| GuestJob {
            drives: None,
            study_text: text.to_owned(),
            quick,
            scale: 1.0,
            cell: Cell { number: 0, block: 0, levels: Levels::new("a", "w"), seed: 1 },
            fio: None,
            programs: false,
            set_drive: Vec::new(),
            charges: Vec::new(),
        };
        let body = |study: &Study| study.workloads[0].body.words();
        assert_eq!(body(&job(false).study().expect("read")), body(&study));
        let quick = study.into_quick_form().expect("it has one");
        assert_eq!(body(&job(true).study().expect("read")), body(&quick));
        // A job of the whole form takes no more of the guest's memory than before.
        let json = |quick| serde_json::to_string(&job(quick)).expect("JSON");
        assert!(!json(false).contains("\"quick\""));
    }

    #[test]
    fn a_hostile_answer_is_not_followed_nor_waited_for() {
        let (folder, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let answer = GuestAnswer::failed(&"the user's", Vec::new());
        write(user.path(), ANSWER, &answer).unwrap();
        let path = folder.path().join(ANSWER);
        std::os::unix::fs::symlink(user.path().join(ANSWER), &path).unwrap();
        read_answer(folder.path()).expect_err("a link");
        std::fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        read_answer(folder.path()).expect_err("a pipe");
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        read_answer(folder.path()).expect_err("a terabyte");
    }
}
