//! What a step of a workload does, as the workload itself says.

use serde::{Deserialize, Serialize};

use crate::{Direction, Task};

/// What a step does: what audits, purposes and sentences go by, so that none of them
/// needs to know kinds of workloads. What is absent is not known, or differs between the
/// jobs of the step; then nothing is concluded from it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepProfile {
    /// Its reads, if all are requests of its own making.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Requests>,
    /// Its writes, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Requests>,
    /// The share of reads among its requests, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,
    /// Whether its requests go past the page cache (`O_DIRECT`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// What makes its writes durable before the clock stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// What it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentProfile>,
    /// The files that it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileSet>,
    /// Operations that are planned; absent if time alone ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Where its time goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_in: Option<TimeIn>,
    /// Threads or processes that make requests at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Requests that each of them keeps in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Whether requests are held to a rate while each is timed only from when it was
    /// sent: the wait of one that could not be sent in time is in no latency.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paced: bool,
    /// Whether it is one stream whose rate is told in bytes per second whatever the size
    /// of a request, as `dd` and `hdparm` do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// What it does for its user, if that is not plain from its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
}

/// The requests of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// Bytes of the smallest.
    pub smallest: u64,
    /// Bytes of the largest.
    pub largest: u64,
    /// In which order they go through the file.
    pub order: Order,
}

/// In which order requests go through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One behind the other.
    Sequential,
    /// At places that are drawn.
    Random,
}

/// What makes writes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// Nothing: what the page cache or a drive's cache holds is not in the time.
    Nothing,
    /// Each write is durable before the next.
    EachWrite(SyncCall),
    /// A sync follows so many writes.
    Every {
        /// Writes, or commits, from one to the next.
        writes: u64,
        /// The call that does it.
        by: SyncCall,
    },
    /// One sync ends the step, within its time.
    AtEnd(SyncCall),
}

/// The system call, or flag, that makes data durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncCall {
    /// `O_SYNC` or `O_DSYNC`: within the write itself.
    OSync,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `syncfs`: the whole file system.
    Syncfs,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentProfile {
    /// Nothing but zeros: layers may store none of it.
    Zeros,
    /// A pattern, again and again.
    Pattern,
    /// Data that compress by so many percent.
    Compressible(u8),
    /// Data that do not compress.
    Random,
}

/// Files that a step works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileSet {
    /// How many there are.
    pub files: u64,
    /// Bytes in all of them.
    pub bytes: u64,
}

/// Where a step's time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeIn {
    /// Into reading data.
    Reads,
    /// Into writing data and making them durable.
    Writes,
    /// Into both.
    Both,
    /// Into files: making, finding, opening, removing them.
    Files,
    /// Into waiting for its own clock, as a film does.
    Waiting,
    /// Into the machine's memory, which is measured on purpose.
    Memory,
}

impl ContentProfile {
    /// Data that compress by so many percent.
    pub fn compressible(percent: u8) -> Self {
        match percent {
            0 => Self::Random,
            1..=99 => Self::Compressible(percent),
            _ => Self::Zeros,
        }
    }
}

impl Durability {
    /// `sync -f` at the end, if the study wants one.
    pub fn at_end(syncs: bool) -> Self {
        if syncs { Self::AtEnd(SyncCall::Syncfs) } else { Self::Nothing }
    }
}

impl Requests {
    /// Whether all are small: up to 128 KiB. Above that a disk's transfer takes as long as its
    /// positioning.
    pub fn are_small(&self) -> bool {
        self.largest <= 128 << 10
    }

    /// Requests of one size.
    pub fn of_size(bytes: u64, order: Order) -> Self {
        Self { smallest: bytes, largest: bytes, order }
    }

    /// Their size, if all have the same.
    pub fn size(&self) -> Option<u64> {
        (self.smallest == self.largest).then_some(self.smallest)
    }
}

impl StepProfile {
    /// The requests of a direction, if they are known.
    pub fn requests(&self, direction: Direction) -> Option<&Requests> {
        match direction {
            Direction::Read => self.reads.as_ref(),
            Direction::Write => self.writes.as_ref(),
            Direction::Trim | Direction::Copy | Direction::Remove | Direction::Mixed => None,
        }
    }

    /// Whether its requests are known to go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct == Some(true)
    }

    /// Whether its writes are known to be durable before the clock stops, all or most.
    pub fn is_durable(&self) -> bool {
        !matches!(self.durability, None | Some(Durability::Nothing))
    }

    /// Whether each write is known to be durable before the next begins.
    pub fn is_durable_each(&self) -> bool {
        matches!(self.durability, Some(Durability::EachWrite(_)))
    }

    /// Whether it is known to write zeros.
    pub fn writes_zeros(&self) -> bool {
        self.content == Some(ContentProfile::Zeros)
    }

    /// Whether it measures the machine's memory on purpose.
    pub fn is_of_memory(&self) -> bool {
        self.time_in == Some(TimeIn::Memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_survives_storage_and_old_runs_have_none() {
        let profile = StepProfile {
            reads: Some(Requests::of_size(4096, Order::Random)),
            durability: Some(Durability::Every { writes: 32, by: SyncCall::Fsync }),
            content: Some(ContentProfile::Compressible(40)),
            files: Some(FileSet { files: 3, bytes: 3 << 20 }),
            time_in: Some(TimeIn::Both),
            task: Some(Task::SmallFiles),
            ..StepProfile::default()
        };
        let text = serde_json::to_string(&profile).expect("serialise");
        assert_eq!(serde_json::from_str::<StepProfile>(&text).expect("read back"), profile);
        assert_eq!(serde_json::to_string(&StepProfile::default()).expect("serialise"), "{}");
        let old = crate::Step::default();
        assert!(!serde_json::to_string(&old).expect("serialise").contains("profile"));
    }

    #[test]
    fn an_unknown_profile_claims_nothing() {
        let unknown = StepProfile::default();
        assert!(!unknown.is_direct() && !unknown.is_durable() && !unknown.is_durable_each());
        assert!(!unknown.writes_zeros() && !unknown.is_of_memory());
        let nothing =
            StepProfile { durability: Some(Durability::Nothing), ..StepProfile::default() };
        assert!(!nothing.is_durable());
        let end = Some(Durability::AtEnd(SyncCall::Fsync));
        let end = StepProfile { durability: end, ..StepProfile::default() };
        assert!(end.is_durable() && !end.is_durable_each());
    }
}
