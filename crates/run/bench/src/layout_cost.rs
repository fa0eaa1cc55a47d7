//! What a stack's layers make of a workload's I/O, for predictions in the lab.

/// What a layout costs where each request to each drive is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayoutCost {
    /// Drives below it.
    pub drives: usize,
    /// Bytes written to all drives together for one byte written to the stack.
    pub write_bytes: f64,
    /// Requests to drives for one small write: one for each copy or, with parity, reading and
    /// writing the data and each parity.
    pub small_write_requests: f64,
    /// Parities that are computed of what is written; 0 for copies.
    pub parities: u32,
    /// Bytes that making the stack writes to all drives together.
    pub making_bytes: f64,
    /// Requests to all drives that making the stack takes besides.
    pub making_requests: f64,
}

/// Rounding of what is written to drives, and trees next to the data, are less than this share.
const SLACK: f64 = 0.05;

impl LayoutCost {
    /// One drive, of which nothing is known.
    pub const SINGLE: Self = Self {
        drives: 1,
        write_bytes: 1.0,
        small_write_requests: 1.0,
        parities: 0,
        making_bytes: 0.0,
        making_requests: 0.0,
    };

    /// That of a stack which survives the loss of `tolerates` drives, where `drive_writes`
    /// bytes are written to each drive for one written to the stack. A layout that writes
    /// fewer bytes than it would need for as many copies as that takes has parity. Making it
    /// writes `making_bytes` to each drive, and makes `making_writes` small writes to the stack.
    pub fn new(
        drive_writes: &[f64],
        tolerates: u32,
        making_bytes: &[f64],
        making_writes: f64,
    ) -> Self {
        let write_bytes: f64 = drive_writes.iter().sum();
        let copies = f64::from(tolerates) + 1.0;
        let has_parity = tolerates > 0 && write_bytes < copies * (1.0 - SLACK);
        let small_write_requests = if has_parity { 2.0 * copies } else { copies };
        Self {
            drives: drive_writes.iter().filter(|share| **share > 0.0).count().max(1),
            write_bytes: if write_bytes > 0.0 { write_bytes } else { 1.0 },
            small_write_requests,
            parities: if has_parity { tolerates } else { 0 },
            making_bytes: making_bytes.iter().sum(),
            making_requests: making_writes * small_write_requests,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_distinguished_from_parity_by_what_is_written() {
        let requests = |drive_writes: &[f64], tolerates| {
            LayoutCost::new(drive_writes, tolerates, &[], 0.0).small_write_requests
        };
        for (drive_writes, tolerates, expected) in [
            (&[1.0][..], 0, 1.0),
            // RAID 0, 1, 10, 5, 6 and Btrfs's three copies.
            (&[0.25; 4], 0, 1.0),
            (&[1.0; 2], 1, 2.0),
            (&[0.5; 4], 1, 2.0),
            (&[1.0 / 3.0; 4], 1, 4.0),
            (&[0.5; 4], 2, 6.0),
            (&[0.75; 4], 2, 3.0),
        ] {
            assert_eq!(requests(drive_writes, tolerates), expected, "{drive_writes:?}");
        }
    }

    #[test]
    fn idle_drives_and_unknown_shares_are_harmless() {
        let cost = LayoutCost::new(&[0.0, 1.0, 0.0], 0, &[0.0, 5.0, 0.0], 0.0);
        assert_eq!((cost.drives, cost.write_bytes, cost.making_bytes), (1, 1.0, 5.0));
        assert_eq!(LayoutCost::new(&[], 0, &[], 0.0), LayoutCost::SINGLE);
    }
}
