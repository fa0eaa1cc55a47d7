//! Whether there is room for what shall be made.

use std::path::Path;

use rustix::fs::FsWord;

use crate::{ContentKind, FilebenchError};

/// The type of file systems that keep what is written in memory (`TMPFS_MAGIC`,
/// `RAMFS_MAGIC` of linux/magic.h).
const IN_MEMORY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];

/// What a directory's file system still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FreeSpace {
    bytes: u64,
    /// Whether it is the machine's memory.
    memory: bool,
}

/// Refuses to begin what is sure to fail, before anything is touched: on a file system
/// in memory it would take the memory of all programs first, as tmpfs promises more
/// than there is. Zeros may take no room on a disk, since some file systems leave them
/// out. Where the room is not known, nothing is refused.
///
/// # Errors
/// Where `bytes` are more than there is room for in `directory`.
pub(crate) fn check(
    directory: &Path,
    bytes: u64,
    content: ContentKind,
) -> Result<(), FilebenchError> {
    let Some(room) = room(directory) else { return Ok(()) };
    if fits(room, bytes, content) {
        return Ok(());
    }
    let (free, in_memory, directory) = (room.bytes, room.memory, directory.to_owned());
    Err(FilebenchError::NoRoom { needed: bytes, free, in_memory, directory })
}

fn fits(room: FreeSpace, bytes: u64, content: ContentKind) -> bool {
    bytes <= room.bytes || (content == ContentKind::Zeros && !room.memory)
}

fn room(directory: &Path) -> Option<FreeSpace> {
    let system = rustix::fs::statfs(directory).ok()?;
    let block = u64::try_from(system.f_bsize).ok()?;
    let bytes = system.f_bavail.saturating_mul(block);
    let memory = IN_MEMORY.contains(&system.f_type);
    if !memory {
        return Some(FreeSpace { bytes, memory });
    }
    let known = std::fs::read_to_string("/proc/meminfo").ok()?;
    // A ramfs has no limit, and says so by zero blocks.
    let limit = if system.f_blocks == 0 { u64::MAX } else { bytes };
    Some(FreeSpace { bytes: limit.min(available(&known)?), memory })
}

/// Bytes that programs can still have, of /proc/meminfo; `None` where it does not say.
fn available(meminfo: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    field("MemAvailable")?.checked_add(field("SwapFree").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_that_cannot_fit_are_refused() {
        let disk = FreeSpace { bytes: 10 << 20, memory: false };
        let memory = FreeSpace { memory: true, ..disk };
        for (room, bytes, content, expected) in [
            (disk, 10 << 20, ContentKind::Pool, true),
            (disk, (10 << 20) + 1, ContentKind::Pool, false),
            (disk, 1 << 40, ContentKind::Random, false),
            // A compressing file system may take any number of zeros.
            (disk, 1 << 40, ContentKind::Zeros, true),
            (memory, 1 << 40, ContentKind::Zeros, false),
            (memory, 1, ContentKind::Zeros, true),
        ] {
            assert_eq!(fits(room, bytes, content), expected, "{room:?} {bytes} {content:?}");
        }
    }

    #[test]
    fn refusal_says_what_is_needed_and_what_there_is() {
        let refusal = |in_memory| {
            let (needed, free, directory) = ((10 << 20) + 1, 10 << 20, "/pool".into());
            FilebenchError::NoRoom { needed, free, in_memory, directory }.to_string()
        };
        assert!(refusal(false).contains("need 11 MiB, but there are 10 MiB free in /pool; make"));
        assert!(refusal(true).contains("there are 10 MiB of memory for /pool; make"));
    }

    #[test]
    fn memory_is_read_with_swap_or_without() {
        let text = "MemTotal:  9 kB\nMemAvailable:      4 kB\nSwapFree: 2 kB\n";
        assert_eq!(available(text), Some(6 << 10));
        assert_eq!(available("MemAvailable: 4 kB\n"), Some(4 << 10));
        assert_eq!(available("MemFree: 4 kB\n"), None);
    }

    #[test]
    fn a_directory_that_is_not_there_refuses_nothing() {
        assert!(check(Path::new("/no/such"), u64::MAX, ContentKind::Pool).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_of_the_system_panics(text in "(MemAvailable|SwapFree|:| |[0-9]{1,25}|\n|kB|\\PC){0,40}") {
            let _ = available(&text);
        }
    }
}
