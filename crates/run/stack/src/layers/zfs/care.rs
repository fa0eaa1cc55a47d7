//! Pools in use: a device fails, is replaced, all is scrubbed.

use std::path::{Path, PathBuf};

use disklab_cell::Care;
use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_units::Bytes;

use crate::udev::zpool;
use crate::{LayerInUse, LayerOutput, RebuildProgress, StackError};

/// The pool's name, without that of a data set.
fn pool<'a>(at: &'a LayerInUse<'_>) -> &'a str {
    let LayerOutput::Pool { name, .. } = at.output else { return "" };
    name.split('/').next().unwrap_or(name)
}

fn status(at: &LayerInUse<'_>) -> Result<String, StackError> {
    Ok(at.run(&Invocation::new("zpool").args(["status", "-LP", pool(at)]))?.text())
}

/// The pool's device on this drive.
fn member(at: &LayerInUse<'_>, drive: &Path) -> Result<PathBuf, StackError> {
    let root = SystemRoot::here();
    let status = status(at)?;
    let mut devices = status.split_whitespace().filter(|word| word.starts_with("/dev/"));
    let is_member =
        |word: &&str| BlockDevice::at(&root, Path::new(word)).is_some_and(|d| d.is_on(drive));
    devices.find(is_member).map(PathBuf::from).ok_or_else(|| at.not_on(drive))
}

/// `zpool offline -f`, which declares it faulted.
pub(super) fn fail(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    let member = member(at, drive)?;
    at.run(&zpool().args(["offline", "-f", pool(at)]).arg(member)).map(drop)
}

/// Has the device, as one that never was in a pool, take its own place.
pub(super) fn replace(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    let member = member(at, drive)?;
    at.run(&zpool().args(["offline", "-f", pool(at)]).arg(&member))?;
    // A drive that is new has no label to clear.
    at.executor.run(&zpool().args(["labelclear", "-f"]).arg(&member)).map_err(|e| at.program(e))?;
    at.run(&zpool().args(["replace", "-f", pool(at)]).arg(&member)).map(drop)
}

/// `zpool replace` by a spare, which is what zed(8) does: the kernel does not do it by itself. One that is
/// spread over a dRAID is filled in the order of the devices, not of the blocks (`replace_with_spare` in
/// `cmd/zed/agents/zfs_retire.c`).
pub(super) fn take_spare(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    let failed = member(at, drive)?;
    let spare = spare_in(&status(at)?).ok_or_else(|| at.cannot(Care::TakeSpare))?;
    let in_order = (!spare.is_absolute()).then_some("-s");
    at.run(&zpool().args(["replace", "-f"]).args(in_order).arg(pool(at)).arg(failed).arg(spare))
        .map(drop)
}

/// A spare that is free, from what `zpool status` prints: a device, or a name such as `draid1-0-0`.
fn spare_in(status: &str) -> Option<PathBuf> {
    let spares = status.lines().skip_while(|line| line.trim() != "spares").skip(1);
    let mut words = spares.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.find(|words| words.get(1) == Some(&"AVAIL")).map(|words| PathBuf::from(words[0]))
}

pub(super) fn progress(at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
    Ok(progress_of(&status(at)?))
}

/// From what `zpool status` prints.
fn progress_of(status: &str) -> RebuildProgress {
    let mut lines = status.lines().map(str::trim);
    let is_resilver = |line: &str| {
        line.trim().strip_prefix("scan: resilver ").is_some_and(|l| l.contains("in progress"))
    };
    if status.lines().any(is_resilver) {
        return RebuildProgress::Rebuilding(share_done(status));
    }
    // With a spare in its place, what failed stays in the pool, which so stays degraded.
    let has_spare = status.contains("INUSE") && status.contains("scan: resilvered");
    match lines.find_map(|line| line.strip_prefix("state:")).map(str::trim) {
        Some("ONLINE") => RebuildProgress::Redundant,
        Some("DEGRADED") if has_spare => RebuildProgress::Redundant,
        _ => RebuildProgress::Degraded,
    }
}

/// What share of a resilver or scrub is done.
fn share_done(status: &str) -> f64 {
    let mut lines = status.lines().filter_map(|line| line.split_once("% done"));
    let done = lines.find_map(|(before, _)| before.rsplit([' ', ',']).next()?.parse::<f64>().ok());
    (done.unwrap_or(0.0) / 100.0).clamp(0.0, 1.0)
}

/// The bytes of the pool that are, of those that it holds.
pub(super) fn scrubbed(at: &LayerInUse<'_>) -> Result<Option<(Bytes, Bytes)>, StackError> {
    let status = status(at)?;
    if !status.contains("scrub in progress") {
        return Ok(None);
    }
    let list = zpool().args(["list", "-Hp", "-o", "allocated", pool(at)]);
    let all: Option<u64> = at.run(&list)?.text().trim().parse().ok();
    Ok(all.map(|all| (Bytes((all as f64 * share_done(&status)) as u64), Bytes(all))))
}

/// Scrubs the pool, and waits for it.
pub(super) fn scrub(at: &LayerInUse<'_>) -> Result<String, StackError> {
    at.run(&zpool().args(["scrub", "-w", pool(at)]))?;
    Ok(format!("{}: {}", at.layer, found(&status(at)?)))
}

/// What a scrub found: `repaired 0B … with 0 errors`.
fn found(status: &str) -> String {
    let scan = status.lines().find_map(|line| line.trim().strip_prefix("scan: scrub "));
    let scan = scan.map(|scan| scan.split(" on ").next().unwrap_or(scan));
    scan.unwrap_or("nothing is known of what it found").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_zpool_prints_is_parsed() {
        let resilvers = " state: DEGRADED\n  scan: resilver in progress since Thu\n\
                         \t25.4M / 52M scanned, 1M / 52M issued\n\t1M resilvered, 12.50% done, no";
        assert_eq!(progress_of(resilvers), RebuildProgress::Rebuilding(0.125));
        let in_order = resilvers.replace("resilver in", "resilver (draid1:2d:4c:1s-0) in");
        assert_eq!(progress_of(&in_order), RebuildProgress::Rebuilding(0.125));
        assert_eq!(progress_of("  pool: p\n state: ONLINE\n"), RebuildProgress::Redundant);
        assert_eq!(progress_of(" state: DEGRADED\n"), RebuildProgress::Degraded);
        assert_eq!(progress_of(""), RebuildProgress::Degraded);
        let spares = " state: DEGRADED\n  scan: resilvered 5G in 00:00:41 with 0 errors on Thu\n\
                      config:\n\tspares\n\t  /dev/vde1  INUSE  currently in use\n\
                      \t  /dev/vdf1  AVAIL\n";
        assert_eq!(progress_of(spares), RebuildProgress::Redundant);
        assert_eq!(spare_in(spares), Some(PathBuf::from("/dev/vdf1")));
        let spread = spares.replace("/dev/vdf1", "draid1-0-0");
        assert_eq!(spare_in(&spread), Some(PathBuf::from("draid1-0-0")));
        assert_eq!(spare_in(resilvers), None);
        let scan = "  scan: scrub repaired 12K in 00:00:01 with 0 errors on Thu Jan  1 2026\n";
        assert_eq!(found(scan), "repaired 12K in 00:00:01 with 0 errors");
    }
}
