//! What the first program has mapped, all of it in memory before a cell begins.
//!
//! Where the compiler put what is another matter with each build of the program: pages that it used
//! for the first time during a cell would take one more or less of the memory that a cell has.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise};

/// As much is read ahead at a time (`VM_READAHEAD_PAGES`, include/linux/mm.h), in bytes.
const READ_AHEAD: u64 = 128 << 10;
/// What one page of a page table maps, in bytes (`PMD_SIZE`).
pub(super) const TABLE: u64 = 2 << 20;
/// Deeper than any stack of the first thread gets, in bytes. Other threads' stacks are made
/// whole, by `mlockall`.
const STACK: usize = 1 << 20;

/// A line of `/proc/self/maps` (proc(5)) with a file.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    may_write: bool,
    offset: u64,
    path: PathBuf,
}

impl Mapping {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let (start, end) = (number(start)?, number(end)?);
        let may_write = words.next()?.as_bytes().get(1) == Some(&b'w');
        let offset = number(words.next()?)?;
        let path = words.nth(2).filter(|path| path.starts_with('/'))?;
        (start < end).then(|| Self { start, end, may_write, offset, path: path.into() })
    }
}

/// Reads all of the files that are mapped into the page cache, and has page tables, data and stack
/// made.
pub(super) fn populate() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    // Something may be mounted over the directory that it was started from.
    let itself = Path::new("/proc/self/exe");
    let program = fs::read_link(itself).unwrap_or_default();
    for mapping in maps.lines().filter_map(Mapping::parse) {
        let path = if mapping.path == program { itself } else { &mapping.path };
        read(path, mapping.offset, mapping.end - mapping.start);
        if mapping.may_write {
            advise(mapping.start, mapping.end - mapping.start, libc::MADV_POPULATE_WRITE);
        } else {
            let others =
                (mapping.start.next_multiple_of(TABLE)..mapping.end).step_by(TABLE as usize);
            for address in std::iter::once(mapping.start).chain(others) {
                advise(address, 1, libc::MADV_POPULATE_READ);
            }
        }
    }
    deepen_stack();
}

fn read(path: &Path, offset: u64, bytes: u64) {
    let Ok(file) = File::open(path) else { return };
    for at in (offset..offset.saturating_add(bytes)).step_by(READ_AHEAD as usize) {
        let _ = fadvise(&file, at, std::num::NonZeroU64::new(READ_AHEAD), Advice::WillNeed);
    }
}

/// Where the kernel knows the advice (Linux 5.14). Nothing is lost without.
#[allow(unsafe_code)]
fn advise(address: u64, bytes: u64, advice: libc::c_int) {
    // SAFETY: populating changes nothing that a program sees; the kernel checks the addresses.
    let _ = unsafe { libc::madvise(address as *mut libc::c_void, bytes as usize, advice) };
}

#[inline(never)]
fn deepen_stack() {
    let mut room = [0_u8; STACK];
    std::hint::black_box(&mut room);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_with_a_file_is_a_mapping_and_others_are_none() {
        let line = "55d0c8a00000-55d0c94af000 rw-p 02494000 00:1f 1234                  /a/disklab";
        let mapping = Mapping::parse(line).expect("a mapping");
        let (start, end) = (0x55d0_c8a0_0000, 0x55d0_c94a_f000);
        let path = "/a/disklab".into();
        assert_eq!(mapping, Mapping { start, end, may_write: true, offset: 0x249_4000, path });
        for line in [
            "",
            "7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]",
            "7ffc0000-7ffd0000 rw-p 00000000 00:00 0",
            "7ffd0000-7ffc0000 r--p 00000000 00:1f 1 /a",
            "xyz-7ffd0000 r--p 00000000 00:1f 1 /a",
        ] {
            assert_eq!(Mapping::parse(line), None, "{line}");
        }
    }

    #[test]
    fn this_program_is_found_and_survives_being_populated() {
        let maps = fs::read_to_string("/proc/self/maps").expect("maps");
        let program = std::env::current_exe().expect("a path");
        let mut found = maps.lines().filter_map(Mapping::parse);
        assert!(found.any(|mapping| mapping.path == program), "{maps}");
        populate();
    }

    proptest! {
        #[test]
        fn any_line_is_a_mapping_or_none(line in "[0-9a-fx -]{0,40}[rwxp-]{0,5} [0-9a-f]{0,20} .{0,30}") {
            if let Some(mapping) = Mapping::parse(&line) {
                prop_assert!(mapping.start < mapping.end);
            }
        }
    }
}
