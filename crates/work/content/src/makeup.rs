//! What data really are.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};

use foldhash::quality::FixedState;
use lz4_flex::block::{compress_into, get_maximum_output_size};

use crate::spec::PAGE;

/// Data are compressed in records of this size, each by itself, as Btrfs does
/// (BTRFS_MAX_COMPRESSED in fs/btrfs/compression.h) and ZFS by default
/// (SPA_OLD_MAXBLOCKSIZE in include/sys/spa.h).
pub const RECORD_BYTES: usize = 128 << 10;

/// What data really are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Makeup {
    /// How many bytes were looked at.
    pub bytes: u64,
    /// Share of the bytes that lie in pages of 4 KiB of zeros: 0 to 1.
    pub zero_share: f64,
    /// How much of them is distinct, for each block size that was asked for.
    pub distinct: Vec<Distinct>,
    /// What LZ4 leaves of them, record by record ([`RECORD_BYTES`]): 0 to 1, where 1
    /// is all. Stronger compressors leave less; LZ4 is the one that finds least.
    pub lz4_share: f64,
}

/// How much of data is distinct, in blocks of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distinct {
    /// Bytes of a block.
    pub block: usize,
    /// Share of the blocks that are not equal to an earlier one: 0 to 1.
    pub share: f64,
}

impl Makeup {
    /// The distinct share in blocks of this size, where it was asked for.
    pub fn distinct_share(&self, block: usize) -> Option<f64> {
        self.distinct.iter().find(|d| d.block == block).map(|d| d.share)
    }
}

/// Looks at data as they come, in pieces of any size.
///
/// It holds 8 bytes for each distinct block, so 2 GiB of pages cost about 8 MiB.
#[derive(Debug)]
pub struct Measurement {
    bytes: u64,
    zeros: u64,
    pages: Cut,
    records: Cut,
    compressed: u64,
    scratch: Vec<u8>,
    blocks: Vec<Seen>,
}

/// The blocks of one size that were seen, by their hashes: the chance that two of a
/// million share one is 1 in 37 million.
#[derive(Debug)]
struct Seen {
    cut: Cut,
    count: u64,
    hashes: HashSet<u64, foldhash::fast::FixedState>,
}

/// Cuts a stream into blocks of one size; the last one may be shorter.
#[derive(Debug)]
struct Cut {
    block: usize,
    kept: Vec<u8>,
}

impl Cut {
    fn new(block: usize) -> Self {
        Self { block, kept: Vec::new() }
    }

    fn add(&mut self, data: &[u8], mut see: impl FnMut(&[u8])) {
        let mut data = data;
        if !self.kept.is_empty() {
            let missing = (self.block - self.kept.len()).min(data.len());
            let (head, rest) = data.split_at(missing);
            self.kept.extend_from_slice(head);
            data = rest;
            if self.kept.len() < self.block {
                return;
            }
            see(&self.kept);
            self.kept.clear();
        }
        let whole = data.chunks_exact(self.block);
        self.kept.extend_from_slice(whole.remainder());
        whole.for_each(see);
    }

    fn finish(&mut self, see: impl FnOnce(&[u8])) {
        if !self.kept.is_empty() {
            see(&self.kept);
            self.kept.clear();
        }
    }
}

impl Measurement {
    /// One that looks for repeats in blocks of these sizes; a size of 0 is left out.
    pub fn new(blocks: &[usize]) -> Self {
        let seen = |block| Seen { cut: Cut::new(block), count: 0, hashes: HashSet::default() };
        Self {
            bytes: 0,
            zeros: 0,
            pages: Cut::new(PAGE),
            records: Cut::new(RECORD_BYTES),
            compressed: 0,
            scratch: vec![0; get_maximum_output_size(RECORD_BYTES)],
            blocks: blocks.iter().copied().filter(|b| *b > 0).map(seen).collect(),
        }
    }

    /// Looks at what comes next.
    pub fn add(&mut self, data: &[u8]) {
        self.bytes += data.len() as u64;
        let Self { zeros, pages, records, compressed, scratch, blocks, .. } = self;
        pages.add(data, |page| *zeros += zeros_of(page));
        records.add(data, |record| *compressed += compressed_size(record, scratch));
        for seen in blocks {
            let Seen { cut, count, hashes } = seen;
            cut.add(data, |block| see(block, count, hashes));
        }
    }

    /// What all of it is made up of.
    pub fn finish(mut self) -> Makeup {
        let Self { zeros, pages, records, compressed, scratch, .. } = &mut self;
        pages.finish(|page| *zeros += zeros_of(page));
        records.finish(|record| *compressed += compressed_size(record, scratch));
        let share = |part: u64, of: u64| if of == 0 { 1.0 } else { part as f64 / of as f64 };
        let mut distinct = Vec::new();
        for seen in &mut self.blocks {
            let Seen { cut, count, hashes } = seen;
            cut.finish(|block| see(block, count, hashes));
            distinct.push(Distinct { block: cut.block, share: share(hashes.len() as u64, *count) });
        }
        Makeup {
            bytes: self.bytes,
            zero_share: if self.bytes == 0 { 0.0 } else { share(self.zeros, self.bytes) },
            distinct,
            lz4_share: share(self.compressed, self.bytes),
        }
    }
}

fn zeros_of(page: &[u8]) -> u64 {
    if page.iter().all(|b| *b == 0) { page.len() as u64 } else { 0 }
}

/// Bytes that LZ4 makes of `record`, but no more than it has: what does not
/// compress is stored as it is.
fn compressed_size(record: &[u8], scratch: &mut [u8]) -> u64 {
    let size = compress_into(record, scratch).unwrap_or(record.len());
    size.min(record.len()) as u64
}

fn see(block: &[u8], count: &mut u64, hashes: &mut HashSet<u64, foldhash::fast::FixedState>) {
    // A fixed seed: the same data give the same answer, whatever the chance.
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(block);
    *count += 1;
    hashes.insert(hasher.finish());
}

/// What up to `most` bytes of `reader` are, with repeats looked for in blocks of
/// these sizes.
///
/// # Errors
/// The first error of `reader`; what was read before it is not reported.
pub fn measure(mut reader: impl Read, most: u64, blocks: &[usize]) -> io::Result<Makeup> {
    let mut measurement = Measurement::new(blocks);
    let mut buffer = vec![0; 1 << 20];
    let mut left = most;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        match reader.read(&mut buffer[..wanted]) {
            Ok(0) => break,
            Ok(got) => {
                measurement.add(&buffer[..got]);
                left -= got as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(measurement.finish())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ContentBuffers, Spec};

    #[test]
    fn nothing_random_zeros_and_patterns_are_distinguished() {
        let of = |spec| {
            measure(ContentBuffers::new(spec, 1).expect("valid"), 1 << 20, &[4096])
                .expect("endless")
        };
        let nothing = measure(io::empty(), 10, &[4096]).expect("empty");
        assert_eq!((nothing.bytes, nothing.zero_share, nothing.lz4_share), (0, 0.0, 1.0));
        let random = of(Spec::random());
        assert_eq!((random.bytes, random.zero_share, random.lz4_share), (1 << 20, 0.0, 1.0));
        assert_eq!(random.distinct_share(4096), Some(1.0));
        assert_eq!(random.distinct_share(512), None);
        let zeros = of(Spec::zeros());
        assert_eq!((zeros.zero_share, zeros.distinct_share(4096)), (1.0, Some(1.0 / 256.0)));
        assert!(zeros.lz4_share < 0.01);
        let pattern = of(Spec::pattern(*b"disklab"));
        // A pattern of 7 bytes begins 7 different blocks.
        assert_eq!(pattern.distinct_share(4096), Some(7.0 / 256.0));
        assert_eq!(pattern.zero_share, 0.0);
        assert!(pattern.lz4_share < 0.01);
    }

    proptest! {
        #[test]
        fn makeup_does_not_depend_on_how_data_come(
            data in prop::collection::vec(0_u8..2, 0..5000), cuts in prop::collection::vec(1_usize..900, 0..20),
        ) {
            let sizes = [0, 1, 7, 512];
            let whole = measure(&data[..], u64::MAX, &sizes).expect("slice");
            let mut measurement = Measurement::new(&sizes);
            let mut rest = &data[..];
            for cut in cuts {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                measurement.add(now);
                rest = later;
            }
            measurement.add(rest);
            prop_assert_eq!(measurement.finish(), whole);
        }
    }
}
