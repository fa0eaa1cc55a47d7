//! What an event is, and where it happens.

use std::path::Path;
use std::time::Instant;

use disklab_cell::Care;
use disklab_exec::Executor;
use disklab_units::Bytes;

use crate::{Remounter, WorkloadError};

/// A kind of event: one line of the table.
#[derive(Debug)]
pub struct EventKind {
    /// Its word in a study, such as `drop-caches`.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Why it cannot happen while a step runs, if so.
    pub only_before: Option<&'static str>,
    /// What it does to the stack, if anything.
    pub care: Option<Care>,
    /// Makes it happen, to this drive of the stack if it is for one, and says what came of it.
    pub(super) happen: fn(&EventPlace<'_>, Option<u32>) -> Result<Option<String>, WorkloadError>,
}

/// What an operator does to the stack below the work.
pub trait Caretaker: std::fmt::Debug + Sync {
    /// Does it, and says what came of it, if anything. `drive` is the number of a drive in the
    /// stack, counted from 1, for what is done to one.
    ///
    /// # Errors
    /// Where no layer can do it, or a program fails.
    fn care(
        &self,
        care: Care,
        drive: Option<u32>,
        executor: &Executor,
    ) -> Result<Option<String>, WorkloadError>;

    /// Whether a layer of the stack can do it.
    fn can(&self, care: Care) -> bool;

    /// The numbers of the drives that hold data, counted from 1.
    fn drives(&self) -> Vec<u32>;

    /// The number of a drive that takes the place of one that fails, if there is one.
    fn spare(&self) -> Option<u32>;

    /// How many times larger than this drive that is for which it stands.
    fn times(&self, drive: u32) -> f64;

    /// Bytes per second that the kernel holds a rebuild or scrub of all that is used to, if it does.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn limit(&self, executor: &Executor) -> Result<Option<Bytes>, WorkloadError>;

    /// The rebuilds of what is on this drive, or the scrubs of the whole if there is none, that can begin
    /// anywhere; none if the stack passes what is used.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn passes(
        &self,
        drive: Option<u32>,
        executor: &Executor,
    ) -> Result<Vec<Box<dyn PassInUse>>, WorkloadError>;

    /// How many bytes of the stack are scrubbed, and of how many as far as that is known; `None` while
    /// nothing is.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn scrubbed(&self, executor: &Executor) -> Result<Option<(Bytes, Bytes)>, WorkloadError>;
}

/// A rebuild of a device of an array, or a scrub of arrays, which can begin anywhere.
pub trait PassInUse: std::fmt::Debug + Send + Sync {
    /// How many bytes it passes.
    fn length(&self) -> Bytes;

    /// Bytes per second that the kernel holds it to.
    fn limit(&self) -> Option<Bytes>;

    /// Begins at a place at or before `from`, and returns where it is once it has begun.
    ///
    /// # Errors
    /// Where the array refuses.
    fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, WorkloadError>;

    /// Whether it has not come to its end.
    fn is_running(&self) -> bool;

    /// Stops it. Returns up to where all is done and durable, and since when.
    ///
    /// # Errors
    /// Where the array refuses.
    fn end(&self) -> Result<(Bytes, Instant), WorkloadError>;

    /// Has the array do no such thing.
    ///
    /// # Errors
    /// Where it refuses.
    fn freeze(&self) -> Result<(), WorkloadError>;
}

/// Where an event happens.
pub(crate) struct EventPlace<'a> {
    pub directory: &'a Path,
    pub remount: Option<&'a dyn Remounter>,
    pub caretaker: Option<&'a dyn Caretaker>,
    pub executor: &'a Executor,
}

impl EventPlace<'_> {
    pub fn care(&self, care: Care, drive: Option<u32>) -> Result<Option<String>, WorkloadError> {
        let caretaker = self.caretaker.ok_or(WorkloadError::NoCaretaker(care.words()))?;
        caretaker.care(care, drive, self.executor)
    }
}
