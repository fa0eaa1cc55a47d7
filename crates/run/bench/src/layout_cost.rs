//! What a stack's layers make of a workload's I/O, for predictions in the lab.

use disklab_stack::FirstPass;

use crate::StackWrites;

/// Requests to drives for one small write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallWrite {
    /// Those that read what a new parity needs: the write waits for them.
    pub reads: f64,
    /// Those that write: one for each copy, or the data and each parity.
    pub writes: f64,
}

impl SmallWrite {
    /// Moments at which one of them ends and something is woken, if each write goes to the
    /// medium.
    pub fn moments(self) -> f64 {
        self.reads + self.writes
    }
}

/// What a layout costs where each request to each drive is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayoutCost {
    /// Drives below it.
    pub drives: usize,
    /// Bytes written to all drives together for one byte written to the stack.
    pub write_bytes: f64,
    /// What a small write takes.
    pub small_write: SmallWrite,
    /// Whether parity is updated in place, stripe by stripe in md's cache.
    pub has_stripe_cache: bool,
    /// Whether emptying caches takes a pool away and looks for it on all drives again.
    pub is_imported: bool,
    /// Bytes that making the stack writes to all drives together.
    pub making_bytes: f64,
    /// Moments at which a request of making it ends, if each is a small write.
    pub making_moments: f64,
    /// What passes over whole devices take before its first use.
    pub passes: PassCost,
}

/// What passes over whole devices take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PassCost {
    /// Bytes of the longest device of each, one pass after the other.
    pub length: f64,
    /// Bytes of zeros read and written.
    pub zeros: f64,
    /// Bytes of anything else read and written.
    pub content: f64,
}

impl PassCost {
    fn new(passes: &[FirstPass]) -> Self {
        let moved = |zeros| {
            let of_kind = passes.iter().filter(|pass| pass.zeros == zeros);
            of_kind.map(|pass| pass.read + pass.written).sum()
        };
        let length = passes.iter().map(|pass| pass.length).sum();
        Self { length, zeros: moved(true), content: moved(false) }
    }
}

/// Rounding of what is written to drives, and trees next to the data, are less than this share.
const SLACK: f64 = 0.05;

impl LayoutCost {
    /// One drive, of which nothing is known.
    pub const SINGLE: Self = Self {
        drives: 1,
        write_bytes: 1.0,
        small_write: SmallWrite { reads: 0.0, writes: 1.0 },
        has_stripe_cache: false,
        is_imported: false,
        making_bytes: 0.0,
        making_moments: 0.0,
        passes: PassCost { length: 0.0, zeros: 0.0, content: 0.0 },
    };

    /// That of a stack which writes so and survives the loss of `tolerates` drives. A layout that
    /// writes fewer bytes than it would need for as many copies as that takes has parity.
    pub fn new(writes: &StackWrites, tolerates: u32) -> Self {
        let write_bytes: f64 = writes.shares.iter().sum();
        let parities = f64::from(tolerates);
        let copies = parities + 1.0;
        let has_parity = tolerates > 0 && write_bytes < copies * (1.0 - SLACK);
        let small_write = match has_parity {
            true => with_parity(parities, write_bytes, writes.are_whole_stripes),
            false => SmallWrite { reads: 0.0, writes: copies },
        };
        // What waits for reads does not fill the drives' caches: the writes of a stripe end together.
        let moments =
            if small_write.reads > 0.0 { small_write.reads + 1.0 } else { small_write.writes };
        let all_bytes: f64 = writes.format.bytes.iter().sum();
        let pass_bytes: f64 = writes.format.passes.iter().map(|pass| pass.written).sum();
        Self {
            drives: writes.shares.iter().filter(|share| **share > 0.0).count().max(1),
            write_bytes: if write_bytes > 0.0 { write_bytes } else { 1.0 },
            small_write,
            has_stripe_cache: has_parity && !writes.are_whole_stripes,
            is_imported: writes.is_imported,
            making_bytes: (all_bytes - pass_bytes).max(0.0),
            passes: PassCost::new(&writes.format.passes),
            making_moments: writes.format.requests * moments,
        }
    }
}

/// Requests for one small write to a stripe whose members together write `write_bytes` bytes for
/// each byte of data.
///
/// md reads the old data and parities, or the other data of the stripe, whatever is less
/// (`handle_stripe_dirtying` in `drivers/md/raid5.c`), and writes data and parities. With two
/// data drives, as of RAID 6 on four, that is one read, and not three. A stripe that is new, as
/// each of ZFS, has the parity of its data alone: nothing is read, and all members are written.
fn with_parity(parities: f64, write_bytes: f64, whole: bool) -> SmallWrite {
    let modify = 1.0 + parities;
    if write_bytes <= 1.0 {
        return SmallWrite { reads: modify, writes: modify };
    }
    let data_drives = (parities / (write_bytes - 1.0)).round();
    if whole {
        return SmallWrite { reads: 0.0, writes: data_drives + parities };
    }
    SmallWrite { reads: modify.min(data_drives - 1.0).max(0.0), writes: modify }
}

#[cfg(test)]
mod tests {
    use disklab_stack::FormatWrites;

    use super::*;

    fn writes(shares: &[f64]) -> StackWrites {
        StackWrites { shares: shares.to_vec(), ..StackWrites::default() }
    }

    #[test]
    fn copies_are_distinguished_from_parity_by_what_is_written() {
        let requests = |drive_writes: &[f64], tolerates| {
            let SmallWrite { reads, writes } =
                LayoutCost::new(&writes(drive_writes), tolerates).small_write;
            (reads, writes)
        };
        for (drive_writes, tolerates, expected) in [
            (&[1.0][..], 0, (0.0, 1.0)),
            // RAID 0, 1, 10, 5, 6 and Btrfs's three copies.
            (&[0.25; 4], 0, (0.0, 1.0)),
            (&[1.0; 2], 1, (0.0, 2.0)),
            (&[0.5; 4], 1, (0.0, 2.0)),
            (&[1.0 / 3.0; 4], 1, (2.0, 2.0)),
            // Of two data drives, md reads the other one and no parity: counted in the lab, a cell
            // with 9,313 writes of mkfs had 10,673 reads and 32,162 writes of all drives.
            (&[0.5; 4], 2, (1.0, 3.0)),
            (&[0.75; 4], 2, (0.0, 3.0)),
            // Of many, it reads what it replaces.
            (&[1.0 / 7.0; 8], 1, (2.0, 2.0)),
            (&[1.0 / 6.0; 8], 2, (3.0, 3.0)),
        ] {
            assert_eq!(requests(drive_writes, tolerates), expected, "{drive_writes:?}");
        }
    }

    #[test]
    fn whole_stripes_are_written_without_reading() {
        // OpenZFS's growth of 128 KiB on RAID-Z1 and RAID-Z2 of four drives, sectors of 4 KiB.
        for (growth, tolerates) in [(44.0 / 32.0, 1), (66.0 / 32.0, 2)] {
            let pool = StackWrites { are_whole_stripes: true, ..writes(&[growth / 4.0; 4]) };
            let cost = LayoutCost::new(&pool, tolerates);
            assert_eq!(cost.small_write, SmallWrite { reads: 0.0, writes: 4.0 });
            assert!(!cost.has_stripe_cache);
        }
        assert!(LayoutCost::new(&writes(&[1.0 / 3.0; 4]), 1).has_stripe_cache);
    }

    #[test]
    fn idle_drives_and_unknown_shares_are_harmless() {
        let format = FormatWrites { bytes: vec![0.0, 5.0, 0.0], ..FormatWrites::default() };
        let cost = LayoutCost::new(&StackWrites { format, ..writes(&[0.0, 1.0, 0.0]) }, 0);
        assert_eq!((cost.drives, cost.write_bytes, cost.making_bytes), (1, 1.0, 5.0));
        assert_eq!(LayoutCost::new(&writes(&[]), 0), LayoutCost::SINGLE);
        let odd = LayoutCost::new(&writes(&[0.25; 4]), 2).small_write;
        assert!(odd.reads.is_finite() && odd.writes.is_finite(), "{odd:?}");
    }
}
