//! The texts of files.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use disklab_exec::read_input;
use disklab_source::Source;

use crate::encoding::decode;
use crate::{FileFault, ImportError};

/// Files larger than this are no results.
const LARGEST: u64 = 256 << 20;

/// A file's text.
pub(crate) fn source(path: &Path) -> Result<Arc<Source>, ImportError> {
    let bytes = read_input(path, LARGEST).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => ImportError::file(path, FileFault::TooLarge(LARGEST)),
        _ => ImportError::file(path, error),
    })?;
    let text = decode(&bytes).ok_or_else(|| {
        let is_run = path.file_name().is_some_and(|name| name == "run.sqlite");
        ImportError::file(path, if is_run { FileFault::OwnRun } else { FileFault::NotText })
    })?;
    Ok(Arc::new(Source { name: path.display().to_string(), text }))
}

/// Bytes of all files of an import together, which are in memory at once.
const LARGEST_TOGETHER: u64 = 1 << 30;

/// Shorter outputs may be alike by chance, such as those of `time`.
const ALIKE: usize = 1000;

/// The files of an import so far, and what is in them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    names: HashSet<String>,
    /// Length and digest of a text, with the name of its file.
    texts: HashMap<(usize, u64), String>,
    bytes: u64,
}

impl Seen {
    /// An output that is given twice is no repeat, and would pretend certainty.
    pub(crate) fn add(&mut self, source: &Source) -> Result<(), ImportError> {
        let (name, text) = (&source.name, &source.text);
        if !self.names.insert(name.clone()) {
            return Err(ImportError::NamedTwice { name: name.clone() });
        }
        self.bytes = self.bytes.saturating_add(text.len() as u64);
        if self.bytes > LARGEST_TOGETHER {
            return Err(ImportError::TooLarge { name: name.clone(), most: LARGEST_TOGETHER });
        }
        if text.len() < ALIKE {
            return Ok(());
        }
        // Its keys are fixed: the same text has the same digest.
        let mut digest = DefaultHasher::new();
        text.hash(&mut digest);
        match self.texts.insert((text.len(), digest.finish()), name.clone()) {
            Some(known) => Err(ImportError::Copy { known, name: name.clone() }),
            None => Ok(()),
        }
    }
}
