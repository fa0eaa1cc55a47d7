//! What a drive counts.

/// Counters of a drive, since the lab began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Reads completed.
    pub reads: u64,
    /// Reads served from the drive's memory alone.
    pub read_hits: u64,
    /// Bytes of those.
    pub read_hit_bytes: u64,
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
    /// What a shingled drive did behind the host's back; zeros for others.
    pub shingled: ShingledStatistics,
    /// What the host of a virtual disk did; zeros for a drive without one.
    pub host: HostStatistics,
}

/// Counters of the host below a guest, since the lab began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostStatistics {
    /// Reads of the guest.
    pub reads: u64,
    /// Those that did not wait for the drive.
    pub hits: u64,
    /// Flushes given to the drive.
    pub flushes: u64,
    /// Bytes in the host's page cache that are not on the drive now.
    pub dirty_bytes: u64,
}

/// Counters of a shingled drive's translation layer, since the lab began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShingledStatistics {
    /// Bytes in the persistent cache now.
    pub cached_bytes: u64,
    /// Extents in its map now.
    pub cached_extents: u64,
    /// Bytes written to the log of the persistent cache.
    pub log_bytes: u64,
    /// Bands written whole with sequential data, past the persistent cache.
    pub bands_streamed: u64,
    /// Bands cleaned: all that the persistent cache held of them was merged.
    pub bands_cleaned: u64,
    /// Those of which all data were new, so that they were not read.
    pub bands_overwritten: u64,
    /// Those whose few small extents were written one by one.
    pub bands_patched: u64,
    /// Time that cleaning took, ns.
    pub cleaning: u64,
    /// The part of that during which requests or written data waited, ns.
    pub cleaning_while_needed: u64,
    /// Writings of the map.
    pub map_flushes: u64,
}
