//! A drive's volatile write cache: read and set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_exec::{Executor, Invocation};

use crate::block::BlockDevice;
use crate::{CacheRefusal, MeasureError, SystemRoot};

/// A drive flushes its cache before it turns it off.
const LIMIT: Duration = Duration::from_secs(60);

/// Whether an ATA drive's write cache is on, as `hdparm -W` says; `None` for
/// whatever takes no ATA commands, and without hdparm.
pub fn write_cache(executor: &Executor, device: &Path) -> Option<bool> {
    let asked = Invocation::new("hdparm").arg("-W").arg(device).timeout(LIMIT);
    parse_hdparm(&executor.run(&asked).ok()?.text())
}

fn parse_hdparm(text: &str) -> Option<bool> {
    let value = text.lines().rev().find_map(|line| {
        line.trim().strip_prefix("write-caching")?.trim_start().strip_prefix('=')
    })?;
    match value.split_ascii_whitespace().next()? {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// Turns an ATA drive's write cache on or off with `hdparm -W`, tells the
/// kernel, and makes sure that both took it. The setting lasts until the drive
/// loses power, so callers read [`write_cache`] first and set it back.
///
/// # Errors
/// Where the device is no drive that takes ATA commands (a loop device cannot),
/// hdparm is missing or fails, or the drive did not obey.
pub fn set_write_cache(executor: &Executor, device: &Path, on: bool) -> Result<(), MeasureError> {
    set_write_cache_in(&SystemRoot::here(), executor, device, on)
}

fn set_write_cache_in(
    root: &SystemRoot,
    executor: &Executor,
    device: &Path,
    on: bool,
) -> Result<(), MeasureError> {
    let cannot = |source| MeasureError::WriteCache { device: device.to_owned(), source };
    let block = BlockDevice::at(root, device).ok_or_else(|| cannot(CacheRefusal::NotBlock))?;
    if block.backing_file().is_some() || block.name().starts_with("loop") {
        return Err(cannot(CacheRefusal::Loop));
    }
    if block.is_partition() {
        return Err(cannot(CacheRefusal::Partition));
    }
    if !block.is_physical() {
        return Err(cannot(CacheRefusal::NotDrive));
    }
    if write_cache(executor, device).is_none() {
        return Err(cannot(CacheRefusal::NoAnswer));
    }
    let set = Invocation::new("hdparm").arg(if on { "-W1" } else { "-W0" }).arg(device);
    executor.check(&set.timeout(LIMIT).uninterruptible())?;
    if write_cache(executor, device) != Some(on) {
        return Err(cannot(CacheRefusal::NotObeyed));
    }
    tell_kernel(executor, &block, on);
    let kernel = block.attribute("queue/write_cache");
    if on && kernel.as_deref() == Some("write through") {
        return Err(cannot(CacheRefusal::KernelUnaware));
    }
    Ok(())
}

/// Where the kernel's mode of a disk's write cache is read and switched: of a virtio disk
/// (`cache_type_store` in drivers/block/virtio_blk.c), or of a SCSI disk, which has it in its
/// `scsi_disk` (drivers/scsi/sd.c). `disk` is its directory in `/sys/block`.
pub fn cache_switch(disk: &Path) -> PathBuf {
    let scsi = std::fs::read_dir(disk.join("device/scsi_disk")).into_iter().flatten().flatten();
    let place = scsi.map(|entry| entry.path()).next().unwrap_or_else(|| disk.to_owned());
    place.join("cache_type")
}

/// The SCSI layer looked at the cache when it found the drive; it looks again,
/// and sets the mode page, when this file is written (kernel:
/// Documentation/scsi/sd-parameters.rst, drivers/scsi/sd.c, cache_type_store).
fn tell_kernel(executor: &Executor, block: &BlockDevice, on: bool) {
    let word = if on { "write back" } else { "write through" };
    if !block.attribute_path("device/scsi_disk").exists() {
        return;
    }
    let file = cache_switch(&block.attribute_path(""));
    let shown = file.display().to_string();
    match std::fs::write(&file, word) {
        Ok(()) => executor.trace.note(&["sh", "-c", &format!("echo {word} > {shown}")]),
        Err(error) => tracing::warn!(%error, file = shown, "the kernel was not told"),
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn hdparm_is_understood() {
        let on = "\n/dev/sda:\n write-caching =  1 (on)\n";
        assert_eq!(parse_hdparm(on), Some(true));
        let set =
            "\n/dev/sda:\n setting drive write-caching to 0 (off)\n write-caching =  0 (off)\n";
        assert_eq!(parse_hdparm(set), Some(false));
        assert_eq!(parse_hdparm("\n/dev/sda:\n write-caching = not supported\n"), None);
        assert_eq!(parse_hdparm("\n/dev/loop0:\n"), None);
    }

    #[test]
    fn non_drives_are_refused_before_anything_runs() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.looped("loop0", (7, 0), "/x").stacked("md0", (9, 0), &["sda1"]);
        let executor = Executor::new(Interrupt::new());
        for (device, word) in [
            ("loop0", "loop device"),
            ("sda1", "partition"),
            ("md0", "others"),
            ("x", "not a block device"),
        ] {
            let device = Path::new("/dev").join(device);
            let error = set_write_cache_in(&tree.root(), &executor, &device, true);
            let error = error.expect_err("refused").to_string();
            assert!(error.contains("cannot be set") && error.contains(word), "{error}");
        }
        assert!(executor.trace.entries().is_empty());
    }

    proptest! {
        #[test]
        fn hostile_output_does_no_harm(text in "( ?write-caching ?=?[ 0-9a-z(=]{0,12}\n){0,5}") {
            let _ = parse_hdparm(&text);
        }
    }
}
