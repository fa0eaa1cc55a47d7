use disklab_content::{Base, ContentBuffers};

use super::*;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn content(disk_bytes: u64) -> (tempfile::TempDir, DiskContent) {
    let directory = tempfile::tempdir().unwrap();
    let content = DiskContent::new(directory.path(), 2, limits(disk_bytes)).unwrap();
    (directory, content)
}

fn limits(disk_bytes: u64) -> ContentLimits {
    ContentLimits { memory_bytes: 64 * MIB, ..ContentLimits::with_disk(disk_bytes) }
}

/// Bytes that do not repeat.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let words = (0..length.div_ceil(8)).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(length).collect()
}

fn read(content: &DiskContent, volume: usize, sector: u64, length: usize) -> Vec<u8> {
    let mut data = vec![0xAA; length];
    content.read(volume, sector, &mut data).unwrap();
    data
}

#[test]
fn fresh_disks_read_as_zeros() {
    let (_directory, content) = content(MIB);
    assert_eq!(read(&content, 0, 0, 8192), vec![0; 8192]);
    assert_eq!(read(&content, 1, 20_000_000_000_000 / 512, 512), vec![0; 512]);
}

#[test]
fn zeros_and_fills_cost_nothing() {
    let (_directory, mut content) = content(0);
    let before = content.usage();
    for megabyte in 0..2048 {
        content.write(0, megabyte * 2048, &vec![0; 1 << 20]).unwrap();
    }
    assert_eq!(content.usage(), before);
    for megabyte in 0..2048 {
        content.write(0, megabyte * 2048, &vec![0x5A; 1 << 20]).unwrap();
    }
    assert_eq!(content.usage().disk_bytes, 0);
    assert!(content.usage().memory_bytes - before.memory_bytes < 100_000);
    assert_eq!(read(&content, 0, 77, 4096), vec![0x5A; 4096]);
}

#[test]
fn repeats_share_their_data_across_disks() {
    let (_directory, mut content) = content(MIB);
    let buffer = noise(1, 1 << 20);
    for megabyte in 0..64 {
        content.write(0, megabyte * 2048, &buffer).unwrap();
        content.write(1, megabyte * 2048, &buffer).unwrap();
    }
    assert_eq!(content.usage().disk_bytes, MIB);
    content.write(0, 0, &vec![1; 1 << 20]).unwrap();
    assert_eq!(read(&content, 1, 0, 1 << 20), buffer);
}

/// Alters words of each 512 bytes as fio's `scramble_buffers` does, by `number`.
fn scramble(data: &mut [u8], number: u64) {
    let line = (number % 8) as usize * 64;
    for (piece, bytes) in data.chunks_exact_mut(512).enumerate() {
        bytes[line..line + 8].copy_from_slice(&(number << 20 | piece as u64).to_le_bytes());
        bytes[48..56].fill(0);
        bytes[56..64].copy_from_slice(&number.wrapping_mul(0x9E37).to_le_bytes());
    }
}

fn scrambled(seed: u64, length: usize, number: u64) -> Vec<u8> {
    let mut data = noise(seed, length);
    // One buffer is altered again and again.
    for number in number.saturating_sub(8)..=number {
        scramble(&mut data, number);
    }
    data
}

#[test]
fn a_scrambled_buffer_and_its_parity_take_the_space_of_one() {
    let (_directory, mut content) = content(2 * MIB);
    let before = content.usage().memory_bytes;
    for megabyte in 0..16 {
        content.write(0, megabyte * 2048, &scrambled(1, 1 << 20, megabyte)).unwrap();
    }
    assert_eq!(content.usage().disk_bytes, MIB);
    let half = |number| scrambled(1, 1 << 20, number)[..1 << 19].to_vec();
    let parity = |number: u64| {
        let rest = scrambled(1, 1 << 20, number)[1 << 19..].to_vec();
        half(number + 1).iter().zip(rest).map(|(a, b)| a ^ b).collect::<Vec<_>>()
    };
    for row in 0..16 {
        content.write(1, row * 1024, &parity(row)).unwrap();
    }
    assert_eq!(content.usage().disk_bytes, MIB + MIB / 2);
    // 24 MiB, of which 1.5 are in the file.
    assert!(content.usage().memory_bytes - before < 5 * MIB);
    for number in [0, 1, 9, 15] {
        assert!(read(&content, 0, number * 2048, 1 << 20) == scrambled(1, 1 << 20, number));
        assert!(read(&content, 1, number * 1024, 1 << 19) == parity(number));
    }
    // What is written anew in other bytes leaves nothing.
    content.zero(0, 0, 64 * MIB / 512).unwrap();
    content.zero(1, 0, 64 * MIB / 512).unwrap();
    content.write(0, 0, &noise(7, 3 << 19)).unwrap();
    assert_eq!(content.usage().disk_bytes, MIB + MIB / 2);
    assert!(read(&content, 0, 0, 3 << 19) == noise(7, 3 << 19));
}

fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut data = vec![0; length];
    ContentBuffers::plain(Base::Random, seed).fill(&mut data);
    data
}

#[test]
fn random_data_of_files_made_beforehand_take_no_space() {
    let (_directory, mut content) = content(0);
    let before = content.usage().memory_bytes;
    let data = random(1, 16 << 20);
    content.write(0, 8, &data).unwrap();
    assert_eq!(content.usage().disk_bytes, 0);
    assert!(content.usage().memory_bytes - before < MIB / 4);
    assert!(read(&content, 0, 8, 16 << 20) == data);
    // Parts of it, and none of it any more.
    content.write(0, 16, &data[..8192]).unwrap();
    assert!(read(&content, 0, 13, 8192)[1536..] == data[..6656]);
    content.zero(0, 0, 32 * MIB / 512).unwrap();
    assert!(content.usage().memory_bytes - before < MIB / 4);
    assert!(read(&content, 0, 8, 4096) == [0; 4096]);
}

#[test]
fn without_memory_for_deltas_blocks_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let limits = ContentLimits { memory_bytes: 4 * MIB, ..ContentLimits::with_disk(64 * MIB) };
    let mut content = DiskContent::new(directory.path(), 1, limits).unwrap();
    for megabyte in 0..40 {
        content.write(0, megabyte * 2048, &scrambled(1, 1 << 20, megabyte)).unwrap();
    }
    assert!(content.usage().disk_bytes > 10 * MIB);
    for megabyte in 0..40 {
        assert!(read(&content, 0, megabyte * 2048, 1 << 20) == scrambled(1, 1 << 20, megabyte));
    }
}

#[test]
fn repeats_are_found_after_their_first_place_was_written_anew() {
    let (_directory, mut content) = content(2 * MIB);
    let (one, two) = (noise(1, 1 << 20), noise(2, 1 << 20));
    content.write(0, 0, &one).unwrap();
    // Compared in a row, and kept once.
    content.write(1, 0, &one).unwrap();
    assert_eq!(content.usage().disk_bytes, MIB);
    // Only disk 0 uses the slots now, and has them written anew.
    content.zero(1, 0, MIB / 512).unwrap();
    content.write(0, 0, &two).unwrap();
    content.write(1, 0, &two).unwrap();
    assert_eq!(content.usage().disk_bytes, MIB);
    content.write(1, MIB / 512, &one).unwrap();
    assert_eq!(content.usage().disk_bytes, 2 * MIB);
    assert_eq!(read(&content, 1, 0, 1 << 20), two);
    assert_eq!(read(&content, 1, MIB / 512, 1 << 20), one);
}

#[test]
fn overwritten_and_discarded_space_is_reused() {
    let (_directory, mut content) = content(MIB);
    for round in 0..20 {
        content.write(0, 3, &noise(round, 1 << 19)).unwrap();
    }
    content.zero(0, 0, 4 * MIB / 512).unwrap();
    content.write(1, 0, &noise(99, 1 << 20)).unwrap();
    assert_eq!(read(&content, 1, 0, 1 << 20), noise(99, 1 << 20));
    assert_eq!(read(&content, 0, 0, 1 << 20), vec![0; 1 << 20]);
}

#[test]
fn running_out_of_disk_is_an_error() {
    let (_directory, mut content) = content(MIB);
    let error = content.write(0, 0, &noise(1, (1 << 20) + 4096)).unwrap_err();
    assert!(matches!(error, LabError::Full { limit_bytes: 1_048_576, .. }), "{error}");
}

#[test]
fn stores_take_from_the_space_that_they_share() {
    let directory = tempfile::tempdir().unwrap();
    let limits = ContentLimits::with_disk(2 * MIB);
    let store = || DiskContent::new(directory.path(), 1, limits.clone()).unwrap();
    let (mut one, mut other) = (store(), store());
    // More than half for one, and the rest for the other.
    one.write(0, 0, &noise(1, 3 << 19)).unwrap();
    other.write(0, 0, &noise(2, 1 << 19)).unwrap();
    let error = other.write(0, 1 << 20, &noise(3, 4096)).unwrap_err();
    assert!(matches!(error, LabError::Full { limit_bytes: 2_097_152, .. }), "{error}");
    // What is overwritten or zeroed is used again, but by its own store.
    one.zero(0, 0, MIB / 512).unwrap();
    one.write(0, 1 << 20, &noise(4, 1 << 20)).unwrap();
    drop(one);
    store().write(0, 0, &noise(5, 3 << 19)).unwrap();
}

#[test]
fn running_out_of_memory_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let limits = ContentLimits { memory_bytes: 10 * MIB, ..ContentLimits::with_disk(1 << 40) };
    let mut content = DiskContent::new(directory.path(), 1, limits).unwrap();
    // One odd block in each 2 MiB costs a table each.
    let outcome = (0..10_000).try_for_each(|n| content.write(0, n * 4096, &[7; 4096]));
    let error = outcome.unwrap_err();
    assert!(matches!(error, LabError::Full { limit_bytes: 10_485_760, .. }), "{error}");
}

#[derive(Debug, Clone)]
enum Step {
    Write {
        volume: usize,
        sector: u64,
        seed: u64,
        sectors: usize,
        kind: u64,
    },
    Zero {
        volume: usize,
        sector: u64,
        sectors: u64,
    },
    /// Another store begins with what is there.
    On,
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0..2usize, 0..9000u64);
    prop_oneof![
        4 => (place.clone(), 0..4u64, 1..64usize, 0..14u64).prop_map(
            |((volume, sector), seed, sectors, kind)| Step::Write {
                volume, sector, seed, sectors, kind
            }
        ),
        1 => (place, 0..6000u64).prop_map(|((volume, sector), sectors)| Step::Zero {
            volume, sector, sectors
        }),
        1 => Just(Step::On),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// The store is a plain array of bytes, only smaller; so is one on another, which stays as it is.
    #[test]
    fn content_holds_what_an_array_holds(steps in proptest::collection::vec(step(), 1..60)) {
        let (directory, mut content) = content(64 * MIB);
        let mut model = vec![vec![0u8; 16_000 * 512]; 2];
        let mut below = Vec::new();
        for step in steps {
            match step {
                Step::Write { volume, sector, seed, sectors, kind } => {
                    let data = match kind {
                        0 => vec![0; sectors * 512],
                        1 => vec![seed as u8; sectors * 512],
                        2 | 3 => noise(seed, sectors * 512),
                        12.. => random(seed, sectors * 512),
                        number => scrambled(seed, sectors * 512, number),
                    };
                    content.write(volume, sector, &data).unwrap();
                    let at = sector as usize * 512;
                    model[volume][at..at + data.len()].copy_from_slice(&data);
                }
                Step::Zero { volume, sector, sectors } => {
                    content.zero(volume, sector, sectors).unwrap();
                    let at = sector as usize * 512;
                    model[volume][at..at + sectors as usize * 512].fill(0);
                }
                Step::On => {
                    let kept = Arc::new(content);
                    content = DiskContent::on(&kept, directory.path(), limits(64 * MIB)).unwrap();
                    below.push((kept, model.clone()));
                }
            }
        }
        below.push((Arc::new(content), model));
        for (content, model) in &below {
            for (volume, expected) in model.iter().enumerate() {
                prop_assert_eq!(&read(content, volume, 0, expected.len()), expected);
            }
        }
    }
}
