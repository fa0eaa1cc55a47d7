//! Emptying caches, so that a step reads from the drives.

use std::fs::{self, File};
use std::path::Path;

use disklab_exec::Executor;
use disklab_measure::{NamedDevice, cache_switch};
use rustix::fs::{Advice, fadvise, syncfs};

use crate::WorkloadError;

/// The kernel's switch (Documentation/admin-guide/sysctl/vm.rst): 3 drops the
/// page cache, dentries and inodes. Dirty pages are not dropped, so a sync goes
/// first.
const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// What unmounts the file system of a workload and mounts it again.
pub trait Remounter: std::fmt::Debug + Sync {
    /// Unmounts it. Where something still uses it, it stays, and the reason is returned.
    ///
    /// # Errors
    /// [`WorkloadError::Remount`] if it could not be tried.
    fn unmount(&self, executor: &Executor) -> Result<Option<String>, WorkloadError>;

    /// Mounts it again; what stays in memory all the same is returned, in sentences.
    ///
    /// # Errors
    /// [`WorkloadError::Remount`]: then it is not mounted.
    fn mount(&self, executor: &Executor) -> Result<Vec<String>, WorkloadError>;
}

/// Leaves nothing of the file system of `directory` in memory, as far as that is possible:
/// it is unmounted, caches are dropped, and it is mounted again; where it cannot be
/// unmounted, caches are dropped twice, since XFS gives some of its buffers back only at
/// the second time (seen in Linux 6.12). Returned is what was done, in sentences.
///
/// # Errors
/// Where `directory` cannot be synced, or is not mounted again.
pub(crate) fn make_cold(
    directory: &Path,
    remount: Option<&dyn Remounter>,
    executor: &Executor,
) -> Result<Vec<String>, WorkloadError> {
    let mut notes = Vec::new();
    let why = match remount {
        None => "the file system is not the bench's to unmount".to_owned(),
        Some(remount) => {
            // Written back before, so that unmounting waits for nothing.
            sync_of(directory)?;
            match remount.unmount(executor)? {
                None => {
                    let dropped = drop_switch(executor);
                    notes.extend(remount.mount(executor)?);
                    notes.insert(
                        0,
                        "the file system was unmounted and mounted again before each step"
                            .to_owned(),
                    );
                    if let Err(error) = dropped {
                        notes.push(format!(
                            "what lies below the file system kept its caches, since {SWITCH} \
                             cannot be written ({error})"
                        ));
                    }
                    return Ok(notes);
                }
                Some(why) => format!("the file system could not be unmounted ({why})"),
            }
        }
    };
    notes.push(format!("caches were dropped, twice, before each step: {why}"));
    notes.extend(drop_caches(directory, executor)?);
    // What the first time has set free.
    let _ = drop_switch(executor);
    notes.extend(still_cached(directory).map(str::to_owned));
    Ok(notes)
}

/// Drops caches once, as scripts do it. Returned is what stayed all the same.
///
/// # Errors
/// [`WorkloadError::Io`] if `directory` cannot be synced: dirty pages would stay cached.
pub(crate) fn drop_once(
    directory: &Path,
    executor: &Executor,
) -> Result<Vec<String>, WorkloadError> {
    let mut notes =
        vec!["caches were dropped before each step, once, as the study says".to_owned()];
    notes.extend(drop_caches(directory, executor)?);
    notes.extend(still_cached(directory).map(str::to_owned));
    Ok(notes)
}

pub(crate) fn sync_of(directory: &Path) -> Result<(), WorkloadError> {
    let opened = File::open(directory).map_err(WorkloadError::io("cannot open", directory))?;
    syncfs(&opened)
        .map_err(|e| WorkloadError::io("cannot sync the file system of", directory)(e.into()))
}

/// Writes the kernel's switch.
fn drop_switch(executor: &Executor) -> std::io::Result<()> {
    fs::write(SWITCH, "3")?;
    executor.trace.note(&["sh", "-c", &format!("echo 3 > {SWITCH}")]);
    Ok(())
}

/// Writes back everything and empties the page cache. Where the kernel's switch
/// is not permitted, only the files below `directory` are dropped; the sentence
/// that says so is returned.
///
/// # Errors
/// [`WorkloadError::Io`] if `directory` cannot be synced: dirty pages would stay cached.
pub(crate) fn drop_caches(
    directory: &Path,
    executor: &Executor,
) -> Result<Option<String>, WorkloadError> {
    sync_of(directory)?;
    // Loop files and the caches of block devices belong to other file systems.
    rustix::fs::sync();
    executor.trace.note(&["sync"]);
    match drop_switch(executor) {
        Ok(()) => Ok(None),
        Err(error) => {
            drop_files(directory);
            Ok(Some(format!(
                "caches dropped by fadvise only, file by file, since {SWITCH} cannot be written \
                 ({error}); caches below the file system stay"
            )))
        }
    }
}

/// What of a file system's own data stays in memory although the caches were dropped: a
/// sentence, where something does.
///
/// Seen in Linux 6.12: of 686 buffers of Btrfs's trees, with 30,000 files in them, the
/// switch drops none, once or twice, after a minute or mounted read-only; an unmount does.
/// Its buffers hold their pages, and `mapping_evict_folio` (mm/truncate.c, since 5.18)
/// leaves alone what somebody holds.
fn still_cached(directory: &Path) -> Option<&'static str> {
    // include/uapi/linux/magic.h
    const BTRFS_SUPER_MAGIC: rustix::fs::FsWord = 0x9123_683E;
    let found = rustix::fs::statfs(directory).ok()?;
    (found.f_type == BTRFS_SUPER_MAGIC).then_some(
        "Btrfs keeps its trees in memory when caches are dropped (seen in Linux 6.12): names, \
         inodes and places of files are found without the drives, if they were used since it \
         was mounted; data are read from the drives",
    )
}

/// Whether the kernel has given the disk up.
fn is_offline(disk: &Path) -> bool {
    fs::read_to_string(disk.join("device/state")).is_ok_and(|state| state.trim() == "offline")
}

/// Empties the memories of modelled drives, which forget all when their write
/// cache is switched off. Nothing may be left to be written back.
///
/// # Errors
/// [`WorkloadError::Io`] if the kernel does not let the mode of the drive's cache be switched.
pub(crate) fn empty_drives(
    drives: &[NamedDevice],
    executor: &Executor,
) -> Result<(), WorkloadError> {
    for drive in drives {
        let Some(name) = drive.device.file_name() else { continue };
        let disk = Path::new("/sys/block").join(name);
        let what = "cannot switch the write cache by";
        // Of a virtio disk; nothing else is looked at first, as each look takes the guest's time.
        let own = disk.join("cache_type");
        let (switch, before) = match fs::read_to_string(&own) {
            Ok(before) => (own, before),
            Err(_) if is_offline(&disk) => continue,
            Err(_) => {
                let switch = cache_switch(&disk);
                let before = fs::read_to_string(&switch);
                let before = before.map_err(WorkloadError::io(what, &switch))?;
                (switch, before)
            }
        };
        for state in ["write through", before.trim()] {
            fs::write(&switch, state).map_err(WorkloadError::io(what, &switch))?;
            let line = format!("echo {state} > {}", switch.display());
            executor.trace.note(&["sh", "-c", &line]);
        }
    }
    Ok(())
}

/// Drops the pages of all files below `directory`, as far as they can be opened:
/// a file that cannot is of another user, and not read by the workload.
fn drop_files(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => drop_files(&entry.path()),
            Ok(kind) if kind.is_file() => {
                if let Ok(file) = File::open(entry.path()) {
                    let _ = fadvise(&file, 0, None, Advice::DontNeed);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;

    use super::*;

    #[test]
    fn the_trace_shows_whether_caches_were_dropped() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let note = drop_caches(directory.path(), &executor).expect("dropped");
        let lines: Vec<_> = executor.trace.take().iter().map(|e| e.command_line()).collect();
        assert_eq!(lines[0], "sync");
        // Either the switch was written, or a sentence says that it was not.
        assert_eq!(lines.len() == 2, note.is_none(), "{lines:?} {note:?}");
    }

    #[test]
    fn only_btrfs_is_said_to_keep_metadata_cached() {
        let directory = tempfile::tempdir().expect("temp");
        let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
        if mounts.contains(" btrfs ") {
            eprintln!("skipped: needs a machine without Btrfs");
        } else {
            assert_eq!(still_cached(directory.path()), None);
        }
        assert_eq!(still_cached(Path::new("/no/such/place")), None);
    }

    #[test]
    fn files_can_be_dropped_one_by_one() {
        let directory = tempfile::tempdir().expect("temp");
        fs::create_dir(directory.path().join("inner")).expect("directory");
        fs::write(directory.path().join("inner/file"), "content").expect("file");
        std::os::unix::fs::symlink(directory.path(), directory.path().join("cycle")).expect("link");
        drop_files(directory.path());
        assert_eq!(fs::read(directory.path().join("inner/file")).expect("kept"), b"content");
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let executor = Executor::new(Interrupt::new());
        let error = drop_caches(Path::new("/no/such/place"), &executor).expect_err("missing");
        assert!(error.to_string().contains("/no/such/place"), "{error}");
    }
}
