//! A Filebench workload, read.

use std::sync::{Arc, Mutex};

use disklab_filebench::{FilebenchSession, Options};
use disklab_wml::Personality;

pub(super) struct Filebench {
    pub(super) personality: Arc<Personality>,
    pub(super) options: Options,
    /// Whether each flowop has a step of its own.
    pub(super) flowops: bool,
    /// What scaling changed.
    pub(super) scaled: Vec<String>,
    /// Between the making of files and the run.
    pub(super) session: Mutex<Option<FilebenchSession>>,
}

impl std::fmt::Debug for Filebench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filebench")
            .field("personality", &self.personality.name)
            .finish_non_exhaustive()
    }
}
