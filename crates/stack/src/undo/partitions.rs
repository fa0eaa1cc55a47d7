//! Removing a partition table and its partitions.

use std::path::Path;

use disklab_exec::Invocation;

use super::{Hand, probe};
use crate::StackError;

/// Removes the partitions of `device` from the kernel and the table from the
/// device, if the table has this GUID.
pub(super) fn remove(device: &Path, guid: &str, hand: &mut Hand<'_>) -> Result<bool, StackError> {
    if !device.exists()
        || !probe(device, "PTUUID", hand)?.is_some_and(|found| found.eq_ignore_ascii_case(guid))
    {
        return Ok(false);
    }
    // There may be nothing to delete, where the kernel never saw the table.
    let _ =
        hand.executor.run(&Invocation::new("partx").arg("--delete").arg(device).uninterruptible());
    let wipe = Invocation::new("wipefs").args(["--all", "--force"]).arg(device).uninterruptible();
    hand.executor
        .check(&wipe)
        .map_err(|source| StackError::Program { layer: "partition".to_owned(), source })?;
    Ok(true)
}
