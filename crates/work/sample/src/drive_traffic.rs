//! What drives did, by their own counters.

use serde::{Deserialize, Serialize};

/// What a drive really did, from its own counters before and after.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveTraffic {
    /// The drive's name in the study, or its device name.
    pub drive: String,
    /// By the kernel's counters, around the step.
    pub read_bytes: u64,
    /// Read requests completed.
    pub reads: u64,
    /// Bytes written to it.
    pub write_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes discarded on it.
    pub discard_bytes: u64,
    /// Flush requests completed.
    pub flushes: u64,
    /// Nanoseconds during which it had work.
    pub busy_ns: u64,
    /// Request-nanoseconds spent waiting or in service.
    pub queue_ns: u64,
    /// Bytes that it wrote to its own medium meanwhile, where it tells: what it was
    /// given, and what it collected, folded or cleaned. What its write cache holds at
    /// the end is not in it, and what it held at the beginning may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium_write_bytes: Option<u64>,
    /// Those of its reads that it answered from its own memory, if that is known, as of the
    /// lab's drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_reads: Option<MemoryReads>,
}

impl DriveTraffic {
    /// Counts what it did at another time, too.
    pub fn add(&mut self, other: &Self) {
        self.read_bytes += other.read_bytes;
        self.reads += other.reads;
        self.write_bytes += other.write_bytes;
        self.writes += other.writes;
        self.discard_bytes += other.discard_bytes;
        self.flushes += other.flushes;
        self.busy_ns += other.busy_ns;
        self.queue_ns += other.queue_ns;
        let both = self.medium_write_bytes.zip(other.medium_write_bytes);
        self.medium_write_bytes = both.map(|(own, other)| own + other);
        let both = self.memory_reads.zip(other.memory_reads);
        self.memory_reads = both.map(|(own, other)| MemoryReads {
            reads: own.reads + other.reads,
            bytes: own.bytes + other.bytes,
        });
    }
}

/// Reads that a drive answered from its own memory: what it had read ahead, or was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryReads {
    /// How many.
    pub reads: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Counters interval by interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// Length of an interval in nanoseconds; 0 where there is no series.
    pub interval_ns: u64,
    /// One list per drive.
    pub drives: Vec<DriveSeries>,
}

/// One drive's series; all lists have one entry per interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveSeries {
    /// The drive's name.
    pub drive: String,
    /// Bytes read in each interval.
    pub read_bytes: Vec<u64>,
    /// Bytes written in each interval.
    pub write_bytes: Vec<u64>,
    /// Requests completed in each interval.
    pub requests: Vec<u64>,
}
