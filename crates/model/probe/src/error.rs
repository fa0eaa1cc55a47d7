//! Why a probe cannot continue.

use std::io;
use std::time::Duration;

use disklab_units::Bytes;

use crate::FieldUnit;

/// Why a probe cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A request failed.
    #[error("{what} at byte {offset} failed: {source}")]
    Failed {
        /// What was asked for.
        what: &'static str,
        /// Where.
        offset: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// Something other than the probe used the drive.
    #[error(transparent)]
    Disturbed(#[from] Disturbance),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The drive is not of a kind that can be measured.
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
}

/// What others did with a drive while it was to be idle but for the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Disturbance {
    /// They used it before the probe began.
    #[error(
        "cannot know this drive now: others made {requests} requests to it within {} s; stop what \
         uses it, and probe it again",
        within.as_secs()
    )]
    Busy {
        /// How many requests they made.
        requests: u64,
        /// In what time.
        within: Duration,
    },
    /// They used it while it was probed.
    #[error(
        "cannot know this drive now: meanwhile others moved {} on it; stop what uses it, and probe \
         it again",
        .0.iec()
    )]
    Moved(Bytes),
}

/// What a probe cannot work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    /// The loads do not fit on the drive.
    #[error("cannot know this drive: it has {}; expected {} or more", has.iec(), least.iec())]
    TooSmall {
        /// Its capacity.
        has: Bytes,
        /// What the loads take.
        least: Bytes,
    },
    /// A load does not fit into the part of the drive that has data.
    #[error("too few data for {0}")]
    TooFewData(&'static str),
    /// What may be written to is smaller than the loads that write.
    #[error("writes need {} of the drive or more", least.iec())]
    TooLittleRoom {
        /// What they take.
        least: Bytes,
    },
    /// Flash that was never written answers without being read.
    #[error(
        "nothing is written on this drive, so its flash does not answer: fill some GB of it with \
         data in sequence"
    )]
    NothingWritten,
    /// Blocks read backwards do not come once in a revolution.
    #[error(
        "reading backwards takes {} per block, not a revolution of a hard disk: this may be a \
         solid-state drive, or something between the kernel and the disk answers",
        FieldUnit::Time.show(*per_block_ns as f64)
    )]
    NoRevolution {
        /// What a block took, in nanoseconds.
        per_block_ns: u64,
    },
    /// No zones explain the rates.
    #[error("the rates cannot be fitted")]
    Rates,
    /// No shipped drive is of the kind, so that nothing replaces what is not measured.
    #[error("no {0} is known")]
    NoSibling(&'static str),
    /// A completion was waited for that cannot come.
    #[error("no request is in flight")]
    Idle,
}
