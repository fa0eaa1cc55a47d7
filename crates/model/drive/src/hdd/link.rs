//! The link to the host, one transfer at a time.

/// The largest payload of a SATA data frame: 2048 double words (Serial ATA
/// specification, 'Data – bidirectional'). What the last frame carries cannot be
/// sent before it was read.
const FRAME: u64 = 8192;

/// A link and when it is free.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DriveLink {
    nanoseconds_per_byte: f64,
    free: u64,
}

impl DriveLink {
    /// A link that carries `rate` bytes of payload per second.
    pub(crate) fn new(rate: f64) -> Self {
        Self { nanoseconds_per_byte: 1e9 / rate, free: 0 }
    }

    fn time(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.nanoseconds_per_byte) as u64
    }

    /// When data have reached the host that came into the drive's memory from
    /// `since` to `now`: sending overlaps with reading, but for the last frame.
    pub(crate) fn read(&mut self, since: u64, now: u64, bytes: u64) -> u64 {
        let end = since.max(self.free) + self.time(bytes);
        self.free = end.max(now + self.time(bytes.min(FRAME)));
        self.free
    }

    /// When the first frame, and when all of some data have reached the drive.
    pub(crate) fn write(&mut self, now: u64, bytes: u64) -> (u64, u64) {
        let start = now.max(self.free);
        self.free = start + self.time(bytes);
        (start + self.time(bytes.min(FRAME)), self.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_overlaps_with_the_medium() {
        let mut link = DriveLink::new(1e9);
        // 1 MB read in 5 ms: only the last frame is left to send.
        assert_eq!(link.read(0, 5_000_000, 1_000_000), 5_008_192);
        // A medium faster than the link waits for it.
        assert_eq!(link.read(6_000_000, 6_500_000, 1_000_000), 7_000_000);
        // A hit while the link is taken.
        assert_eq!(link.read(6_600_000, 6_600_000, 4096), 7_004_096);
        assert_eq!(link.write(7_000_000, 10_000), (7_012_288, 7_014_096));
    }
}
