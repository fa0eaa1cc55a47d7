//! The end of a console, for messages.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use disklab_exec::UntrustedDirectory;

/// The console's name in the lab's directory.
pub const FILE: &str = "console";
const LINES: usize = 15;
/// Bytes that are looked at: a panic's trace fits in.
const BYTES: u64 = 32 << 10;
/// How a kernel begins its last words (`kernel/panic.c`).
pub(crate) const PANIC: &str = "Kernel panic - not syncing";
/// What follows PANIC where memory ran out (`mm/oom_kill.c`).
pub(crate) const NO_MEMORY: [&str; 2] =
    ["not syncing: Out of memory", "not syncing: System is deadlocked on memory"];
/// What User-Mode Linux says if the system refuses it another mapping
/// (`arch/um/kernel/skas/uaccess.c`, `arch/um/kernel/trap.c`).
pub(crate) const NO_MAPPING: &str = "UML ran out of memory on the host side";

/// The last lines of the console at `path`, up to 15; of a kernel that panicked, those
/// before the trace, which says nothing to a user. If it cannot be read, why.
pub fn tail(path: &Path) -> String {
    read(path).unwrap_or_else(|e| format!("(cannot read '{}': {e})", path.display()))
}

fn read(path: &Path) -> io::Result<String> {
    // The guest may write to the directory, and so make the console a link to anything.
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut file = UntrustedDirectory::open(directory)?.file(name)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    let panic = lines.iter().position(|line| line.contains(PANIC));
    let end = panic.map_or(lines.len(), |at| at + 1);
    Ok(lines[end.saturating_sub(LINES)..end].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panics_trace_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console");
        let noise = "[<60652d24>] ? _printk+0x0/0x57\n".repeat(100);
        std::fs::write(&path, format!("one\ntwo\n{PANIC}: why\n{noise}")).unwrap();
        assert_eq!(tail(&path), format!("one\ntwo\n{PANIC}: why"));
        std::fs::write(&path, "x\r\n\n".repeat(100_000)).unwrap();
        assert_eq!(tail(&path), vec!["x"; LINES].join("\n"));
    }

    #[test]
    fn a_console_that_became_a_link_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let (user, path) = (directory.path().join("user"), directory.path().join("console"));
        std::fs::write(&user, "the user's").unwrap();
        std::os::unix::fs::symlink(&user, &path).unwrap();
        assert!(!tail(&path).contains("the user's"));
        assert!(tail(&path).contains("cannot read"));
    }

    #[test]
    fn an_unreadable_console_is_reported() {
        assert!(tail(Path::new("/no/such/console")).contains("/no/such/console"));
    }
}
