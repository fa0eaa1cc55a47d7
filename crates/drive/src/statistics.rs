//! What a drive counts.

/// Counters of a drive, since the lab began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Reads completed.
    pub reads: u64,
    /// Reads served from the drive's memory alone.
    pub read_hits: u64,
    /// Writes and zeroings completed.
    pub writes: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Requests that the drive could not carry out.
    pub refused: u64,
    /// Bytes read from the medium for requests; read-ahead does not count.
    pub bytes_from_medium: u64,
    /// Bytes written to the medium.
    pub bytes_to_medium: u64,
    /// Operations of the arm and the medium: reads, writes, destages.
    pub medium_operations: u64,
    /// Those that moved the arm to another cylinder.
    pub seeks: u64,
    /// Steps that wrote cached data out.
    pub destages: u64,
    /// Writes of part of a physical sector, which was first read.
    pub partial_writes: u64,
    /// Time during which the medium worked for requests or destages, ns.
    pub busy: u64,
    /// Bytes in the write cache that are not on the medium now.
    pub dirty_bytes: u64,
}
