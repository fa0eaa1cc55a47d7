//! What a fault does to the requests that meet it.

use crate::{Completion, Nanos, Operation};

/// A request that a fault meets, cut to the place of the fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub now: Nanos,
    /// When the fault began.
    pub since: Nanos,
    pub operation: Operation,
    /// Its sectors of 512 B in the place, `start..end`; nothing of a flush.
    pub start: u64,
    pub end: u64,
    /// All of its sectors.
    pub sectors: u64,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Fate {
    /// Whether the drive refuses it at once.
    pub refused: bool,
    /// Whether it fails, after the drive has tried for so long.
    pub fails_after: Option<Nanos>,
    /// The first sector of 512 B for which it does.
    pub unreadable: Option<u64>,
    /// By how much longer it takes.
    pub factor: Option<f64>,
    /// Where its data go, if not where they should.
    pub written_to: Option<WrittenTo>,
}

/// Where the data of a write go that the drive says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenTo {
    /// The drive still holds what it held.
    Nowhere,
    /// From this sector of 512 B on.
    Sector(u64),
}

/// Places that a fault draws when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultDraw {
    /// How many.
    pub count: u64,
    /// Among which.
    pub from: DrawFrom,
}

/// Among which places a fault draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawFrom {
    /// Bytes of blocks that hold something; it changes them.
    BytesHeld,
    /// Physical sectors that hold something; any if none does.
    Sectors,
}

/// What a fault of one kind does.
pub(super) trait Effect: Send + Sync {
    /// What it draws when it begins.
    fn draws(&self) -> Option<FaultDraw> {
        None
    }

    /// The places that were drawn for it: physical sectors, by the first sector of 512 B.
    fn drawn(&mut self, sectors: &[u64]) {
        let _ = sectors;
    }

    /// What becomes of a request that meets it; `None` if it does nothing to it.
    fn meet(&mut self, request: Meeting) -> Option<Fate> {
        let _ = request;
        None
    }

    /// What becomes of the end of any request while it is on, which is since `since`. Returns
    /// whether it changed anything.
    fn end(&mut self, since: Nanos, completion: &mut Completion) -> bool {
        let _ = (since, completion);
        false
    }
}
