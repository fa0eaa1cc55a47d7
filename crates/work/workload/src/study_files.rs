//! The files that a study names: those that its text keeps, or those next to it. A run keeps what
//! was read, so that it can be repeated without them.

use std::collections::BTreeMap;
use std::fs::canonicalize;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use disklab_exec::{LARGEST_TEXT, read_file_below, read_input};
use disklab_source::{Location, Source, SourceError};

/// The files that a study names.
#[derive(Debug, Clone, Default)]
pub struct StudyFiles {
    /// The directory against which names are resolved.
    directory: PathBuf,
    /// What the study's own text has of them: then nothing else is read.
    kept: Option<Arc<BTreeMap<String, String>>>,
    /// What was read, by name.
    read: Arc<Mutex<BTreeMap<String, String>>>,
}

impl StudyFiles {
    /// Those next to the study in `directory`.
    pub fn next_to(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), ..Self::default() }
    }

    /// Those that a plan has, and no others.
    pub fn of_plan(files: BTreeMap<String, String>) -> Self {
        Self { kept: Some(Arc::new(files)), ..Self::default() }
    }

    /// The same, none of them read yet, if the study's text keeps none.
    pub fn or_kept(&self, kept: Option<&Arc<BTreeMap<String, String>>>) -> Self {
        Self { directory: self.directory.clone(), kept: kept.cloned(), ..Self::default() }
    }

    /// All that were read so far, by name.
    pub fn taken(&self) -> BTreeMap<String, String> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text that the study names at `place`.
    ///
    /// # Errors
    /// If it cannot be read, or is not text.
    pub(crate) fn named(&self, name: &str, place: &Location) -> Result<Arc<Source>, SourceError> {
        if let Some(kept) = &self.kept {
            return self.kept(kept, name).map_err(|why| place.error(why));
        }
        let path = self.directory.join(name);
        let bytes = read_input(&path, LARGEST_TEXT)
            .map_err(|e| place.error(format!("cannot read {}: {e}", path.display())))?;
        self.take(name, bytes)
    }

    /// The text that a file includes which the study names as `from`, or the study itself where
    /// that is empty: one in the study's directory or that file's, or below.
    ///
    /// # Errors
    /// Why it is not read.
    pub(crate) fn included(&self, name: &str, from: &str) -> Result<Arc<Source>, String> {
        let name = sibling(name, from).ok_or(
            "a study's job includes files of the study's directory, by names relative to the file \
             that includes them",
        )?;
        if let Some(kept) = &self.kept {
            return self.kept(kept, &name);
        }
        // "" is the working directory.
        let real = |path: &Path| canonicalize(Path::new(".").join(path));
        let own = self.directory.join(Path::new(from).parent().unwrap_or(Path::new("")));
        let roots = [real(&self.directory), real(&own)];
        let roots = roots.into_iter().collect::<io::Result<Vec<_>>>().map_err(|e| e.to_string())?;
        let bytes = read_file_below(&roots, &self.directory.join(&name), LARGEST_TEXT);
        let bytes = bytes.map_err(|e| e.to_string())?;
        self.take(&name, bytes).map_err(|e| e.to_string())
    }

    fn kept(&self, kept: &BTreeMap<String, String>, name: &str) -> Result<Arc<Source>, String> {
        let text = kept.get(name).ok_or_else(|| {
            format!("the study has its files in `files`, and '{name}' is not one of them")
        })?;
        Ok(self.note(Source { name: name.to_owned(), text: text.clone() }))
    }

    fn take(&self, name: &str, bytes: Vec<u8>) -> Result<Arc<Source>, SourceError> {
        Ok(self.note(Source::from_bytes(name.to_owned(), bytes)?))
    }

    fn note(&self, source: Source) -> Arc<Source> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(source.name.clone(), source.text.clone());
        Arc::new(source)
    }
}

/// The name of a file next to another, without `.` and `..`. `None` if it begins at the root, or
/// leads above what the other's name begins with.
fn sibling(name: &str, other: &str) -> Option<String> {
    if Path::new(name).is_absolute() {
        return None;
    }
    let directory = Path::new(other).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in directory.join(name).components() {
        match part {
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_are_relative_to_the_including_file() {
        for (name, other, expected) in [
            ("c.inc", "a.fio", Some("c.inc")),
            ("c.inc", "jobs/a.fio", Some("jobs/c.inc")),
            ("../c.inc", "jobs/a.fio", Some("c.inc")),
            ("./x/../c.inc", "jobs/a.fio", Some("jobs/c.inc")),
            ("../../c.inc", "jobs/a.fio", None),
            ("/etc/passwd", "a.fio", None),
            ("c.inc", "/home/u/a.fio", Some("/home/u/c.inc")),
            ("c.inc", "", Some("c.inc")),
        ] {
            assert_eq!(sibling(name, other).as_deref(), expected, "{name} in {other}");
        }
    }

    #[test]
    fn nothing_outside_of_the_study_is_included() {
        let temp = tempfile::tempdir().expect("temp");
        let study = temp.path().join("study");
        fs::create_dir_all(study.join("jobs")).expect("made");
        fs::write(temp.path().join("secret"), "secret").expect("written");
        fs::write(study.join("jobs/c.inc"), "bs=4k").expect("written");
        symlink("../secret", study.join("link.inc")).expect("link");
        symlink("jobs/c.inc", study.join("inner.inc")).expect("link");
        symlink("/proc/self/environ", study.join("environ.inc")).expect("link");
        let files = StudyFiles::next_to(&study);
        for name in ["../secret", "link.inc", "environ.inc", "/etc/passwd", "jobs", "none.inc"] {
            let refused = files.included(name, "").expect_err(name);
            assert!(!refused.contains("secret\""), "{refused}");
        }
        // A pipe that nobody writes to is not waited for.
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let pipe = study.join("pipe.inc");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
            .expect("pipe");
        files.included("pipe.inc", "").expect_err("a pipe");
        for (name, from) in [("jobs/c.inc", ""), ("c.inc", "jobs/a.fio"), ("inner.inc", "")] {
            assert_eq!(files.included(name, from).map(|s| s.text.clone()), Ok("bs=4k".to_owned()));
        }
        let taken: Vec<String> = files.taken().into_keys().collect();
        assert_eq!(taken, ["inner.inc", "jobs/c.inc"]);
        // What a study keeps is all that it reads.
        let kept = Arc::new(BTreeMap::from([("a.inc".to_owned(), "bs=8k".to_owned())]));
        let files = files.or_kept(Some(&kept));
        assert_eq!(files.included("a.inc", "").map(|s| s.text.clone()), Ok("bs=8k".to_owned()));
        assert!(files.included("jobs/c.inc", "").is_err());
    }
}
