//! Whether anything is on a drive that no program signed, such as plain dm-crypt or a
//! file system that has lost its superblocks: a sample of the whole surface.
//!
//! Both ends, and the places where file systems keep what they cannot lose, are looked at
//! always; then as many random offsets as a few seconds allow, in passes that each cover
//! the whole drive. A drive is blank if all that was read is zeros, or 0xFF, or one sector
//! that repeats everywhere, as some drives return where they were trimmed.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use disklab_content::next_splitmix64;
use disklab_units::{Bytes, significant};
use rustix::fs::Advice;

/// What is read at each place.
const PLACE: u64 = 64 << 10;
/// What is read at either end: partition tables, superblocks, labels.
const ENDS: u64 = 4 << 20;
/// Drives up to this size are read from beginning to end.
const WHOLE: u64 = 64 << 20;
/// Each pass looks at one random offset in each of so many equal parts of the drive.
const PARTS: u64 = 128;
/// So many passes at most: 2048 places, enough for 0.15 % (see [`Surface::at_most`]).
const PASSES: u64 = 16;
/// No pass begins later than this. A hard disk does one in about a second.
const LIMIT: Duration = Duration::from_secs(10);
/// A drive that takes longer than this for its first pass is not well.
const PATIENCE: Duration = Duration::from_secs(120);
/// The smallest unit in which drives return what is not there.
const SECTOR: usize = 512;
const ZEROS: [u8; SECTOR] = [0; SECTOR];
const ONES: [u8; SECTOR] = [0xff; SECTOR];

/// What a sample of a drive's surface showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// Size of the drive in bytes.
    pub size: u64,
    /// Bytes that were read.
    pub read: u64,
    /// Random offsets that were read.
    pub places: u64,
    /// Where something was found, in bytes from the beginning; `None` if it is blank.
    pub data_at: Option<u64>,
}

impl Surface {
    /// Whether nothing was found.
    pub fn is_blank(&self) -> bool {
        self.data_at.is_none()
    }

    /// The share of a blank drive that may hold data all the same: a larger share would
    /// have been found with a probability of 95 %. Of n places, one in each of n equal
    /// parts, all miss a share p with at most (1 - p)^n.
    pub fn at_most(&self) -> f64 {
        if self.read >= self.size {
            return 0.0;
        }
        1.0 - 0.05_f64.powf(1.0 / self.places.max(1) as f64)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = Bytes(self.size).si();
        if let Some(offset) = self.data_at {
            return write!(f, "data without a signature at byte {offset} of {size}");
        }
        if self.read >= self.size {
            return write!(f, "all {size} were read, and are blank");
        }
        write!(
            f,
            "blank as far as a sample shows: {} of {size} were read, at both ends and {} random \
             offsets; data on more than {} % of it would have been found with a probability of \
             95 %",
            Bytes(self.read).si(),
            self.places,
            significant(100.0 * self.at_most(), 2),
        )
    }
}

/// Looks at a drive of `size` bytes. `seed` decides the random offsets; `trims` says
/// whether the drive takes discards, and so may have a pattern of its own for what is not
/// there.
///
/// # Errors
/// If it cannot be read, or takes minutes for a few megabytes.
pub(crate) fn sample(file: &File, size: u64, seed: u64, trims: bool) -> io::Result<Surface> {
    // Reading ahead would multiply what is read. It is advice only.
    let _ = rustix::fs::fadvise(file.as_fd(), 0, None, Advice::Random);
    let mut look = Look { file, size, trims, seen: Seen::default(), buffer: Vec::new() };
    if size <= WHOLE {
        look.range(0, size)?;
        return Ok(look.result(0));
    }
    look.range(0, ENDS)?;
    look.range(size - ENDS, size)?;
    for place in telling_places(size) {
        if look.seen.data_at.is_some() {
            break;
        }
        look.range(place, (place + PLACE).min(size))?;
    }
    let began = Instant::now();
    let mut random = seed;
    let mut passes = 0;
    while passes < PASSES && look.seen.data_at.is_none() && began.elapsed() < LIMIT {
        look.pass(&mut random, began)?;
        passes += 1;
    }
    Ok(look.result(passes * PARTS))
}

/// Where file systems keep what they cannot lose, if they begin at the start of the drive
/// or at 1 MiB: copies of ext4's superblock and group descriptors (groups 1 and the powers
/// of 3, 5 and 7, of 128 MiB, and of 8 MiB with blocks of 1 KiB; ext4(5), `sparse_super`),
/// the bitmaps of its flexible groups (each 2 GiB), allocation groups of XFS (quarters of
/// small drives, each TB of large ones), and copies of Btrfs's superblock (64 MiB and
/// 256 GiB); and each power of two.
fn telling_places(size: u64) -> BTreeSet<u64> {
    const MIB: u64 = 1 << 20;
    let mut places = BTreeSet::new();
    for base in [0, MIB] {
        for power in [2, 3, 5, 7] {
            let mut group: u64 = 1;
            while group < size / MIB {
                let unit = [MIB, 8 * MIB, 128 * MIB];
                places.extend(unit.map(|unit| base.saturating_add(group.saturating_mul(unit))));
                group = group.saturating_mul(power);
            }
        }
        places.extend((1..32).map(|flexible| base + flexible * 2048 * MIB));
        places.extend((1..16).map(|part| base + size / 16 * part / 4096 * 4096));
        places.extend((1..64).map(|part| base.saturating_add(part << 40)));
    }
    places.into_iter().filter(|place| *place < size).collect()
}

/// A drive that is being looked at.
struct Look<'a> {
    file: &'a File,
    size: u64,
    trims: bool,
    seen: Seen,
    buffer: Vec<u8>,
}

impl Look<'_> {
    /// Reads from `from` to `to`, up to the first data.
    fn range(&mut self, from: u64, to: u64) -> io::Result<()> {
        let mut at = from;
        while at < to && self.seen.data_at.is_none() {
            let length = (to - at).min(ENDS);
            self.buffer.resize(usize::try_from(length).unwrap_or(0), 0);
            self.file.read_exact_at(&mut self.buffer, at)?;
            self.seen.take(&self.buffer, at);
            at += length;
        }
        Ok(())
    }

    /// One random offset in each part of the drive, in order, so that a hard disk seeks
    /// over short distances.
    fn pass(&mut self, random: &mut u64, began: Instant) -> io::Result<()> {
        let places = self.size / PLACE;
        for part in 0..PARTS {
            if began.elapsed() > PATIENCE {
                return Err(io::Error::other("reading a few megabytes of it takes minutes"));
            }
            let (from, to) = (places * part / PARTS, places * (part + 1) / PARTS);
            let place = from + next_splitmix64(random) % (to - from).max(1);
            self.range(place * PLACE, (place + 1) * PLACE)?;
            if self.seen.data_at.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn result(self, places: u64) -> Surface {
        let data_at = self.seen.verdict(self.trims);
        Surface { size: self.size, read: self.seen.bytes.min(self.size), places, data_at }
    }
}

/// What was seen so far.
#[derive(Default)]
struct Seen {
    bytes: u64,
    sectors: u64,
    /// The one sector that is neither zeros nor 0xFF, where it was first, and how often.
    pattern: Option<(Vec<u8>, u64, u64)>,
    data_at: Option<u64>,
}

impl Seen {
    fn take(&mut self, bytes: &[u8], at: u64) {
        self.bytes += bytes.len() as u64;
        for (number, sector) in (0_u64..).zip(bytes.chunks(SECTOR)) {
            self.sectors += 1;
            if ZEROS.starts_with(sector) || ONES.starts_with(sector) {
                continue;
            }
            let offset = at + number * SECTOR as u64;
            match &mut self.pattern {
                Some((pattern, _, count)) if pattern.as_slice() == sector => *count += 1,
                // A second one: the first was data as well.
                Some((_, first, _)) => {
                    self.data_at = Some(*first);
                    return;
                }
                None => self.pattern = Some((sector.to_vec(), offset, 1)),
            }
        }
    }

    /// A sector that repeats is the drive's own pattern only if the drive can be trimmed
    /// and most of it looks so; elsewhere it is what somebody wrote.
    fn verdict(&self, trims: bool) -> Option<u64> {
        let pattern = self.pattern.as_ref();
        let written = pattern.filter(|(_, _, count)| !trims || *count < self.sectors / 2);
        self.data_at.or(written.map(|(_, first, _)| *first))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// A sparse file of `size` bytes that holds `data` at `offset`.
    fn drive(size: u64, offset: u64, data: &[u8]) -> File {
        let file = tempfile::tempfile().expect("temp");
        file.set_len(size).expect("sparse");
        file.write_all_at(data, offset).expect("written");
        file
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut random = 7;
        (0..length).map(|_| next_splitmix64(&mut random) as u8).collect()
    }

    #[test]
    fn blank_surfaces_are_blank_with_a_confidence() {
        let small = sample(&drive(8 * MIB, 0, &[]), 8 * MIB, 1, true).expect("read");
        assert!(small.is_blank() && small.at_most() <= 0.0, "{small}");
        assert_eq!(small.to_string(), "all 8.39 MB were read, and are blank");
        let size = 4096 * MIB;
        let large = sample(&drive(size, 0, &[]), size, 1, true).expect("read");
        assert!(large.is_blank() && large.read < size / 8, "{large:?}");
        let text = large.to_string();
        assert!(text.contains(&format!("{} random offsets", large.places)), "{text}");
        assert!(text.contains("with a probability of 95 %"), "{text}");
        // Enough places for a small share, however slow this machine is.
        assert!(large.places >= PARTS && large.at_most() < 0.024, "{large:?}");
    }

    #[test]
    fn a_twentieth_of_data_anywhere_is_found() {
        // A twentieth of the drive, away from all ends.
        let size = 1024 * MIB;
        for at in [5, 200, 501, 930] {
            let file = drive(size, at * MIB + 12_288, &noise(1 << 20).repeat(51));
            let surface = sample(&file, size, at, true).expect("read");
            assert!(!surface.is_blank(), "{at}: {surface}");
            let found = surface.data_at.expect("found");
            assert!((at * MIB..(at + 52) * MIB).contains(&found), "{surface}");
        }
    }

    #[test]
    fn a_single_sector_at_a_typical_offset_is_found() {
        let size = 1024 * MIB;
        for at in [0, 1024, MIB, 128 * MIB, 129 * MIB, 384 * MIB, size / 4, size - 512] {
            let surface = sample(&drive(size, at, &noise(512)), size, 1, true).expect("read");
            assert_eq!(surface.data_at, Some(at), "{surface}");
        }
    }

    #[test]
    fn a_pattern_counts_as_blank_only_if_it_fills_a_drive_that_can_be_trimmed() {
        let sector: Vec<u8> = noise(512);
        let mut all = sector.repeat(2 << 10);
        let size = all.len() as u64;
        let blank = |bytes: &[u8], trims| {
            sample(&drive(size, 0, bytes), size, 1, trims).expect("read").is_blank()
        };
        assert!(blank(&all, true) && !blank(&all, false));
        // Erased at its ends: zeros there.
        all[..1024].fill(0);
        assert!(blank(&all, true));
        assert!(blank(&vec![0xff; size as usize], false));
        // One other byte anywhere is data, and so is a pattern on a small part.
        all[70_000] ^= 1;
        assert!(!blank(&all, true));
        assert!(!blank(&sector.repeat(200), true));
    }

    proptest! {
        #[test]
        fn places_lie_on_the_drive(size in 1_u64..=1 << 62) {
            let places = telling_places(size);
            prop_assert!(places.len() < 1000, "{}", places.len());
            prop_assert!(places.iter().all(|place| *place < size));
        }

        #[test]
        fn a_drive_that_ends_before_it_says_is_an_error(size in 1_u64..1 << 20) {
            prop_assert!(sample(&tempfile::tempfile().expect("temp"), size, 1, true).is_err());
        }
    }
}
