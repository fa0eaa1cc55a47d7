//! What every modelled drive can do.

use crate::{Durable, Statistics};

/// Virtual time: nanoseconds since the lab began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Data from the drive.
    Read,
    /// Data to the drive.
    Write,
    /// Everything written before must be on the medium.
    Flush,
    /// The range is no longer needed.
    Discard,
    /// The range must read as zeros; no data are sent.
    WriteZeroes,
}

/// A request to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The caller's number for it, handed back in its [`Completion`].
    pub id: u64,
    /// What is asked for.
    pub operation: Operation,
    /// First sector, in units of 512 B whatever the drive's sectors are. Of no
    /// meaning for a flush.
    pub sector: u64,
    /// Number of sectors of 512 B. Of no meaning for a flush.
    pub sectors: u64,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The number its [`Request`] came with.
    pub id: u64,
    /// When it ended.
    pub at: Nanos,
    /// How it ended.
    pub status: Status,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// As asked.
    Done,
    /// With an error: a read brings no data, and what a write's range holds is undefined.
    Failed,
}

impl Status {
    /// The end of several parts of one thing: it failed if one of them did.
    pub fn and(self, other: Self) -> Self {
        if self == Self::Failed { self } else { other }
    }
}

/// A modelled drive. Time goes by only when [`Drive::advance`] or
/// [`Drive::submit`] say so; the same calls give the same answers.
///
/// A model keeps times, not data: what is read is the caller's affair. A request
/// that the drive cannot carry out (it lies beyond the last sector, or is not
/// aligned to logical sectors) fails after its overhead and is counted in
/// [`Statistics::refused`].
pub trait Drive: Send + Sync {
    /// Hands a request to the drive at `now`, which is not before any earlier time.
    fn submit(&mut self, now: Nanos, request: Request);

    /// When the drive wants to be called again, for a completion, a destage or
    /// some other step of its own; `None` where nothing happens by itself. Later
    /// calls of [`Drive::submit`] may bring it forward. It is never later than the
    /// next completion, but may be earlier, and lies in the past where a completion
    /// was passed over by [`Drive::submit`] and waits to be fetched.
    fn next_event(&self) -> Option<Nanos>;

    /// Advances to `now`, which is not before any earlier time, and appends what
    /// was completed until then, in the order of time.
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>);

    /// A request has no effect sooner than this after it was submitted: neither does it
    /// complete, nor does anything else come about sooner than [`Drive::next_event`] said
    /// before. So who submits it may run on for as long without looking. 0 if not known.
    fn least_latency(&self) -> Nanos {
        Nanos(0)
    }

    /// Has it tell what becomes durable, which takes time and memory. To be called before the
    /// first request.
    fn watch_durability(&mut self);

    /// Appends what has become durable since the last time, in no particular order, up to the
    /// time that it was advanced to. What it says of a drive whose memory outlasts a loss of
    /// power, as a whole or in part, holds that memory for durable.
    fn take_durable(&mut self, durable: &mut Vec<Durable>);

    /// The same drive with all that it remembers, for what may become of it otherwise. Nothing
    /// that one of them does is felt by the other; a bus that it shares stays behind.
    fn snapshot(&self) -> Box<dyn Drive>;

    /// What was done so far.
    fn statistics(&self) -> Statistics;

    /// Capacity in sectors of 512 B.
    fn sectors(&self) -> u64;

    /// Whether writes complete before they are on the medium.
    fn write_cache(&self) -> bool;

    /// Switches the write cache on or off. What is in it when it is switched off
    /// is written out as soon as possible, as by a drive that obeys ATA's SET
    /// FEATURES; a flush tells when that is done. All that it keeps only for reading
    /// is forgotten then: by switching off and on again, a drive is available as after
    /// other work. (What real drives do with it is not specified.)
    fn set_write_cache(&mut self, now: Nanos, on: bool);
}

impl Clone for Box<dyn Drive> {
    fn clone(&self) -> Self {
        self.snapshot()
    }
}
