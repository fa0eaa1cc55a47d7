//! Who runs a job, and what it may ask for.

/// Who runs a job, and what it may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Who runs it.
    pub runner: Runner,
    /// Whether `directory` and file names may be any. In a study they lie below the directory
    /// that the stack under test gives.
    pub directory: bool,
}

impl Policy {
    /// Whether it is a job of its own, not part of a study: its files may be anywhere,
    /// exist already, or not matter, and it may write logs.
    pub const fn is_plain(self) -> bool {
        self.directory
    }

    /// How a job is run that the native engine cannot run.
    pub(crate) const fn other_way(self) -> &'static str {
        match self.is_plain() {
            true => "run the job with fio itself",
            false => "run the job through fio itself with `engine = \"fio\"`",
        }
    }
}

/// Who runs a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runner {
    /// The native engine: an option that only fio has is an error.
    #[default]
    Native,
    /// fio: its other options are allowed, and have no effect on the [`Job`](crate::Job),
    /// which then tells what fio will do as far as it can.
    Fio,
}
