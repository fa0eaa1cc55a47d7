//! Checking what was written, with fio's headers: fio can check our files, and we
//! can check fio's (struct verify_header in fio's verify.h, version 3.33).

use std::collections::BTreeMap;

use disklab_jobfile::{Checksum, Job, PatternPart};

use crate::checksum::{StoredChecksum, fio_crc32c};
use crate::filler::repeat;
use crate::verify_error::{CheckerError, HeaderFault, Mismatch};

/// FIO_HDR_MAGIC.
const MAGIC: u16 = 0xacca;
/// Bytes of struct verify_header.
const HEADER: usize = 40;
/// Bytes that its own checksum covers.
const COVERED: usize = 36;

/// Marks what is written and checks what is read.
#[derive(Debug)]
pub(crate) struct Checker {
    checksum: Checksum,
    interval: Option<u64>,
    offset: usize,
    pattern: Vec<PatternPart>,
    number: u16,
    thread: u16,
    seed: u64,
    expected: Vec<u8>,
}

impl Checker {
    /// That of a job; none where it verifies nothing.
    ///
    /// # Errors
    /// If a header has no room.
    pub(crate) fn new(job: &Job, clone: u32, seed: u64) -> Result<Option<Self>, CheckerError> {
        let Some(verify) = &job.verify else { return Ok(None) };
        let smallest = verify.interval.unwrap_or(job.blocks.min());
        let offset = usize::try_from(verify.offset).unwrap_or(usize::MAX);
        let checker = Self {
            checksum: verify.checksum,
            interval: verify.interval,
            offset,
            pattern: verify.pattern.clone(),
            number: 0,
            thread: clone as u16 + 1,
            seed,
            expected: Vec::new(),
        };
        let head = checker.header();
        // The header swaps places with what lies at the offset.
        let needed = if offset == 0 { head } else { offset.max(head).saturating_add(head) };
        if (smallest as usize) < needed {
            return Err(CheckerError::NoRoom { block: smallest, head, offset });
        }
        Ok(Some(checker))
    }

    /// Bytes of the header; 0 where there is none.
    fn header(&self) -> usize {
        self.checksum.header() as usize
    }

    /// VERIFY_… of fio's verify.h.
    const fn kind(&self) -> u16 {
        match self.checksum {
            Checksum::Meta | Checksum::Pattern | Checksum::Null => 1,
            Checksum::Md5 => 2,
            Checksum::Crc64 => 3,
            Checksum::Crc32 => 4,
            Checksum::Crc32c => 5,
            Checksum::Crc16 => 7,
            Checksum::Crc7 => 8,
            Checksum::Sha256 => 9,
            Checksum::Sha512 => 10,
            Checksum::Sha3224 => 11,
            Checksum::Sha3256 => 12,
            Checksum::Sha3384 => 13,
            Checksum::Sha3512 => 14,
            Checksum::Xxhash => 15,
            Checksum::Sha1 => 16,
        }
    }

    fn piece(&self, block: usize) -> usize {
        match self.interval {
            Some(interval) => usize::try_from(interval).unwrap_or(block).clamp(1, block.max(1)),
            None => block.max(1),
        }
    }

    /// Marks a block that will be written at `offset` of its file.
    pub(crate) fn stamp(&mut self, block: &mut [u8], offset: u64) {
        if self.checksum == Checksum::Null {
            return;
        }
        if !self.pattern.is_empty() {
            repeat(&self.pattern, offset, block);
        }
        let head = self.header();
        if head == 0 {
            return;
        }
        let piece = self.piece(block.len());
        let mut at = offset;
        for piece in block.chunks_mut(piece) {
            if piece.len() >= head {
                self.head(piece, at);
            }
            at += piece.len() as u64;
        }
        self.number = self.number.wrapping_add(1);
    }

    fn head(&self, piece: &mut [u8], offset: u64) {
        let head = self.header();
        let mut put = |at: usize, bytes: &[u8]| piece[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC.to_le_bytes());
        put(2, &self.kind().to_le_bytes());
        put(8, &(self.seed ^ offset).to_le_bytes());
        put(16, &offset.to_le_bytes());
        put(24, &[0; 8]);
        put(32, &self.thread.to_le_bytes());
        put(34, &self.number.to_le_bytes());
        let length = piece.len() as u32;
        piece[4..8].copy_from_slice(&length.to_le_bytes());
        piece[HEADER..head].fill(0);
        let sum = StoredChecksum::of(self.checksum, &piece[head..]);
        piece[HEADER..HEADER + sum.bytes().len()].copy_from_slice(sum.bytes());
        let sum = fio_crc32c(&piece[..COVERED]);
        piece[COVERED..HEADER].copy_from_slice(&sum.to_le_bytes());
        swap(piece, self.offset, head);
    }

    /// # Errors
    /// If a block that was read at `offset` is not as it was written.
    pub(crate) fn check(&mut self, block: &mut [u8], offset: u64) -> Result<(), Mismatch> {
        match self.checksum {
            Checksum::Null => Ok(()),
            Checksum::Pattern => self.check_pattern(block, offset, 0),
            _ => {
                let piece = self.piece(block.len());
                let mut at = offset;
                for piece in block.chunks_mut(piece) {
                    self.check_piece(piece, at)?;
                    at += piece.len() as u64;
                }
                Ok(())
            }
        }
    }

    fn check_piece(&self, piece: &mut [u8], offset: u64) -> Result<(), Mismatch> {
        let head = self.header();
        if piece.len() < head {
            return Ok(());
        }
        swap(piece, self.offset, head);
        let wrong = |fault| Err(Mismatch::Header { offset, fault });
        let two = |at: usize| u16::from_le_bytes([piece[at], piece[at + 1]]);
        let four = |at: usize| u32::from(two(at)) | u32::from(two(at + 2)) << 16;
        let eight = |at: usize| u64::from(four(at)) | u64::from(four(at + 4)) << 32;
        if two(0) != MAGIC {
            return wrong(HeaderFault::Missing(two(0)));
        }
        if four(COVERED) != fio_crc32c(&piece[..COVERED]) {
            return wrong(HeaderFault::Damaged);
        }
        if eight(16) != offset {
            return wrong(HeaderFault::Elsewhere(eight(16)));
        }
        if four(4) as usize != piece.len() || two(2) != self.kind() {
            return wrong(HeaderFault::Otherwise {
                length: four(4),
                kind: two(2),
                own_length: piece.len(),
                own_kind: self.kind(),
            });
        }
        let sum = StoredChecksum::of(self.checksum, &piece[head..]);
        let stored = &piece[HEADER..HEADER + sum.bytes().len()];
        if stored != sum.bytes() {
            return wrong(HeaderFault::Checksum {
                checksum: self.checksum,
                found: StoredChecksum::first(sum.bytes()),
                stored: StoredChecksum::first(stored),
            });
        }
        Ok(())
    }

    fn check_pattern(&mut self, block: &[u8], offset: u64, from: usize) -> Result<(), Mismatch> {
        self.expected.resize(block.len(), 0);
        repeat(&self.pattern, offset, &mut self.expected);
        let differs = (from..block.len()).find(|at| block[*at] != self.expected[*at]);
        match differs {
            None => Ok(()),
            Some(at) => Err(Mismatch::Pattern {
                offset: offset + at as u64,
                found: block[at],
                expected: self.expected[at],
            }),
        }
    }
}

/// Swaps the header at the start of a piece with what lies at `offset`.
fn swap(piece: &mut [u8], offset: usize, head: usize) {
    if offset == 0 || piece.len() < head || piece.len() - head < offset || offset < head {
        return;
    }
    let (first, second) = piece.split_at_mut(offset);
    first[..head].swap_with_slice(&mut second[..head]);
}

/// What was written and has to be checked: the last write of each place.
#[derive(Debug, Default)]
pub(crate) struct Written {
    blocks: BTreeMap<(u32, u64), u32>,
}

impl Written {
    /// Takes note of a write. What it covers need not be checked any more.
    pub(crate) fn add(&mut self, file: u32, offset: u64, length: u32) {
        let end = offset.saturating_add(u64::from(length));
        while let Some((&key, &before)) = self.blocks.range(..(file, end)).next_back() {
            if key.0 != file || key.1.saturating_add(u64::from(before)) <= offset {
                break;
            }
            self.blocks.remove(&key);
        }
        self.blocks.insert((file, offset), length);
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// All of them, by file and offset; none are left.
    pub(crate) fn take(&mut self) -> Vec<(u32, u64, u32)> {
        std::mem::take(&mut self.blocks)
            .into_iter()
            .map(|((file, offset), length)| (file, offset, length))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::job;

    fn checker(options: &str) -> Result<Option<Checker>, CheckerError> {
        Checker::new(&job(&format!("rw=write\nsize=1m\nbs=8k\n{options}")), 0, 1)
    }

    #[test]
    fn stamped_blocks_pass_and_changes_are_found() {
        for options in [
            "verify=crc32c",
            "verify=crc32c\nverify_interval=512",
            "verify=crc32c\nverify_interval=4k\nverify_offset=100",
            "verify=md5\nverify_interval=512",
            "verify=sha512",
            "verify=crc7",
            "verify=meta",
            "verify=pattern\nverify_pattern=0xdeadbeef",
        ] {
            let mut checker = checker(options).expect("valid").expect("verifies");
            let mut block: Vec<u8> = (0..8192_u32).map(|i| (i * 7) as u8).collect();
            checker.stamp(&mut block, 1 << 33);
            let mut copy = block.clone();
            assert_eq!(checker.check(&mut copy, 1 << 33), Ok(()), "{options}");
            if options != "verify=pattern\nverify_pattern=0xdeadbeef" {
                let fault = HeaderFault::Elsewhere(8_589_934_592);
                let error = Mismatch::Header { offset: 4096, fault };
                assert_eq!(checker.check(&mut block.clone(), 4096), Err(error), "{options}");
            }
            let places: &[usize] = if options == "verify=meta" { &[0, 20] } else { &[0, 20, 8191] };
            for place in places {
                let mut damaged = block.clone();
                damaged[*place] ^= 4;
                let found = checker.check(&mut damaged, 1 << 33);
                assert!(found.is_err() || options.contains("offset=100"), "{options} {place}");
            }
        }
    }

    #[test]
    fn null_checks_nothing() {
        let mut null = checker("verify=null").expect("valid").expect("verifies");
        assert_eq!(null.check(&mut [1, 2, 3], 0), Ok(()));
        assert!(checker("").expect("valid").is_none());
    }

    #[test]
    fn the_last_write_of_a_place_counts() {
        let mut written = Written::default();
        written.add(0, 0, 8192);
        written.add(1, 0, 4096);
        written.add(0, 4096, 4096);
        written.add(0, 8192, 4096);
        written.add(0, 8192, 4096);
        assert_eq!(written.len(), 3);
        assert_eq!(written.take(), [(0, 4096, 4096), (0, 8192, 4096), (1, 0, 4096)]);
        assert_eq!(written.len(), 0);
    }

    proptest! {
        #[test]
        fn hostile_blocks_are_no_trouble(mut block in prop::collection::vec(any::<u8>(), 0..300),
                                         magic: bool) {
            let mut checker = checker("verify=crc32c\nverify_interval=80").expect("valid").expect("on");
            if magic && block.len() > 1 {
                block[..2].copy_from_slice(&MAGIC.to_le_bytes());
            }
            let found = checker.check(&mut block, 0);
            prop_assert!(block.len() < 44 || found.is_err());
        }
    }
}
