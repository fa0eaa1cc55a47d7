//! Limits of rates, and what they remember.

/// What a flowop remembers from turn to turn, in one thread.
#[derive(Debug, Clone, Default)]
pub(super) struct RateMemory {
    /// `workingset`, drawn once.
    pub working_set: Option<u64>,
    /// `value` of a `finishon…`, drawn once.
    pub value: Option<u64>,
    /// What a limit counted at its last turn.
    pub last: Option<u64>,
    /// What it waited for beyond what was done; below 0 what it still owes.
    pub credit: i128,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitUnit {
    ReadsAndWrites,
    Operations,
    Mebibytes,
}
