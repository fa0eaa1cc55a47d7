//! Whether there is room for what shall be made.

use std::path::Path;

use rustix::fs::FsWord;

use crate::{ContentKind, FilebenchError};

/// The type of file systems that keep what is written in memory (`TMPFS_MAGIC`,
/// `RAMFS_MAGIC` of linux/magic.h).
const IN_MEMORY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];

/// What a directory's file system still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
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
    verdict(room, bytes, content, directory).map_or(Ok(()), |why| Err(FilebenchError::Other(why)))
}

fn verdict(room: Room, bytes: u64, content: ContentKind, directory: &Path) -> Option<String> {
    if bytes <= room.bytes || (content == ContentKind::Zeros && !room.memory) {
        return None;
    }
    let where_to = if room.memory { "there are {} of memory for" } else { "there are {} free in" };
    let left = where_to.replace("{}", &mebibytes(room.bytes));
    Some(format!(
        "the files to make beforehand need {}, but {left} {}; make fewer or smaller ones, as by \
         --set nfiles=…",
        mebibytes(bytes),
        directory.display()
    ))
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

fn room(directory: &Path) -> Option<Room> {
    let system = rustix::fs::statfs(directory).ok()?;
    let block = u64::try_from(system.f_bsize).ok()?;
    let bytes = system.f_bavail.saturating_mul(block);
    let memory = IN_MEMORY.contains(&system.f_type);
    if !memory {
        return Some(Room { bytes, memory });
    }
    let known = std::fs::read_to_string("/proc/meminfo").ok()?;
    // A ramfs has no limit, and says so by zero blocks.
    let limit = if system.f_blocks == 0 { u64::MAX } else { bytes };
    Some(Room { bytes: limit.min(available(&known)?), memory })
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
    fn what_cannot_fit_is_refused() {
        let at = Path::new("/pool");
        let disk = Room { bytes: 10 << 20, memory: false };
        let memory = Room { memory: true, ..disk };
        for (room, bytes, content, refused) in [
            (disk, 10 << 20, ContentKind::Pool, None),
            (disk, (10 << 20) + 1, ContentKind::Pool, Some("need 11 MiB")),
            (disk, 1 << 40, ContentKind::Random, Some("10 MiB free in /pool")),
            // A compressing file system may take any number of zeros.
            (disk, 1 << 40, ContentKind::Zeros, None),
            (memory, 1 << 40, ContentKind::Zeros, Some("10 MiB of memory for /pool")),
            (memory, 1, ContentKind::Zeros, None),
        ] {
            let why = verdict(room, bytes, content, at);
            assert_eq!(why.is_some(), refused.is_some(), "{room:?} {bytes} {content:?}");
            if let (Some(why), Some(part)) = (why, refused) {
                assert!(why.contains(part), "{why}");
            }
        }
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
