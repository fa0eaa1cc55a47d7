//! Where a personality runs, and how.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use disklab_exec::Interrupt;

/// Where a personality runs.
#[derive(Clone)]
pub struct SessionContext {
    /// The directory that all filesets are made in, whatever the script's `path`
    /// says. It must exist.
    pub directory: PathBuf,
    /// Seed of everything random.
    pub seed: u64,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
    /// Told what happens, one line of text at a time.
    pub progress: RunProgress,
}

/// Is told what happens.
#[derive(Clone)]
pub struct RunProgress(Arc<dyn Fn(&str) + Send + Sync>);

impl RunProgress {
    /// Calls `tell` with each line.
    pub fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells nobody.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn tell(&self, line: &str) {
        (self.0)(line);
    }
}

impl fmt::Debug for RunProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunProgress")
    }
}

impl fmt::Debug for SessionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionContext").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// How a personality runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Whether the flaws of Filebench 1.5 that decide figures stay: for comparison
    /// with figures measured by it.
    pub strict: bool,
    /// Whether random numbers are Filebench's own, the same in every process and
    /// every run.
    pub compat_rng: bool,
    /// What is written.
    pub content: ContentKind,
    /// Before each measurement the threads run for so long uncounted.
    pub warm_up: Duration,
}

/// What is written into files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ContentKind {
    /// Pages that do not compress, drawn in turn from 4 MiB of them: a store that
    /// keeps equal blocks once, such as the lab's, needs no more. Costs nothing to
    /// make, and is the same for every size.
    #[default]
    Pool,
    /// Bytes that neither compress nor repeat.
    Random,
    /// Zeros, as Filebench writes them: a compressing file system stores next to
    /// nothing.
    Zeros,
}

impl ContentKind {
    /// Its words in a study and on the command line.
    pub const WORDS: [(&'static str, Self); 3] =
        [("pool", Self::Pool), ("random", Self::Random), ("zeros", Self::Zeros)];
}
