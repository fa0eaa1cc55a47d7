//! Removing a partition table and its partitions.

use std::path::Path;

use disklab_exec::Invocation;

use super::Hand;
use crate::StackError;

/// Removes the partitions of `device` from the kernel and the table from the
/// device, if the table has this GUID.
pub(super) fn remove(device: &Path, guid: &str, hand: &mut Hand<'_>) -> Result<bool, StackError> {
    if !device.exists() {
        return Ok(false);
    }
    let program = |source| StackError::Program { layer: "partition".to_owned(), source };
    let probe = Invocation::new("blkid")
        .args(["--probe", "--output", "value", "--match-tag", "PTUUID"])
        .arg(device)
        .uninterruptible();
    // Exit code 2: there is no table, or an ambivalent one (blkid(8)).
    let found = hand.executor.run(&probe).map_err(program)?;
    if found.code != 0 || !found.text().trim().eq_ignore_ascii_case(guid) {
        return Ok(false);
    }
    // There may be nothing to delete, where the kernel never saw the table.
    let _ =
        hand.executor.run(&Invocation::new("partx").arg("--delete").arg(device).uninterruptible());
    let wipe = Invocation::new("wipefs").args(["--all", "--force"]).arg(device).uninterruptible();
    hand.executor.check(&wipe).map_err(program)?;
    Ok(true)
}
