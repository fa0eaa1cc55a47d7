//! Arrays in use: a member fails, is replaced, the members are compared.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_measure::{BlockDevice, SystemRoot};

use crate::member_rebuild::{mdadm, position_in, replace_member};
use crate::on_drive::is_on;
use crate::{Form, LayerInUse, MemberRebuild, RebuildProgress, StackError};

/// How long the kernel may take until a spare is rebuilt.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

/// The arrays that these devices are, or are built on.
fn arrays(at: &LayerInUse<'_>) -> Vec<BlockDevice> {
    fn add(device: BlockDevice, found: &mut Vec<BlockDevice>) {
        if device.attribute("md/level").is_none() {
            device.slaves().into_iter().for_each(|below| add(below, found));
        } else if !found.iter().any(|known| known.name() == device.name()) {
            found.push(device);
        }
    }
    let mut found = Vec::new();
    if let Form::Devices(devices) = at.form {
        let root = SystemRoot::here();
        let devices = devices.iter().filter_map(|node| BlockDevice::at(&root, node));
        devices.for_each(|device| add(device, &mut found));
    }
    found
}

/// Each member on this drive, with its array.
fn members(
    at: &LayerInUse<'_>,
    drive: &Path,
) -> Result<Vec<(BlockDevice, BlockDevice)>, StackError> {
    let of = |array: BlockDevice| {
        let members = array.slaves().into_iter().filter(|member| is_on(member, drive));
        members.map(|member| (array.clone(), member)).collect::<Vec<_>>()
    };
    let members: Vec<_> = arrays(at).into_iter().flat_map(of).collect();
    if members.is_empty() { Err(at.not_on(drive)) } else { Ok(members) }
}

/// `mdadm --fail`.
pub(in crate::layers) fn fail(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    for (array, member) in members(at, drive)? {
        at.run(&mdadm(&array, "--fail", &member))?;
    }
    Ok(())
}

/// Puts a new device in the place of each member on this drive.
pub(in crate::layers) fn replace(at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
    for (array, member) in members(at, drive)? {
        replace_member(at.layer, &array, &member, at.executor)?;
    }
    Ok(())
}

/// The members on this drive, each of which can be rebuilt from anywhere.
pub(in crate::layers) fn rebuilds(
    at: &LayerInUse<'_>,
    drive: &Path,
) -> Result<Vec<MemberRebuild>, StackError> {
    let of = |(array, member)| MemberRebuild::new(at.layer, array, member);
    Ok(members(at, drive)?.into_iter().map(of).collect())
}

/// The least that one of the arrays is.
pub(in crate::layers) fn progress(at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
    let mut least = RebuildProgress::Redundant;
    for array in arrays(at) {
        let word = |name: &str| array.attribute(&format!("md/{name}")).unwrap_or_default();
        let own = progress_of(&word("sync_action"), &word("degraded"), &word("sync_completed"));
        least = match (least, own) {
            (RebuildProgress::Degraded, _) | (_, RebuildProgress::Degraded) => {
                RebuildProgress::Degraded
            }
            (RebuildProgress::Rebuilding(one), RebuildProgress::Rebuilding(other)) => {
                RebuildProgress::Rebuilding(one.min(other))
            }
            (RebuildProgress::Redundant, other) | (other, RebuildProgress::Redundant) => other,
        };
    }
    Ok(least)
}

/// Waits until the kernel rebuilds: with a spare it begins by itself. Its word for that comes before the spare
/// has the place of what failed.
pub(in crate::layers) fn await_rebuild(at: &LayerInUse<'_>) -> Result<(), StackError> {
    let began = Instant::now();
    let moves = |array: &BlockDevice| {
        let mdstat = std::fs::read_to_string("/proc/mdstat").unwrap_or_default();
        position_in(&mdstat, array.name()).is_some_and(|at| at.0 > 0)
    };
    let is_degraded =
        |array: &BlockDevice| array.attribute("md/degraded").is_some_and(|n| n.trim() != "0");
    while arrays(at).iter().any(|array| is_degraded(array) && !moves(array)) {
        if began.elapsed() > BEGINS_WITHIN {
            return Err(StackError::StaysDegraded { layer: at.layer.to_owned() });
        }
        at.sleep_for(Duration::from_millis(50))?;
    }
    Ok(())
}

/// From the words of `/sys/block/md*/md` (kernel: `Documentation/admin-guide/md.rst`).
fn progress_of(action: &str, degraded: &str, completed: &str) -> RebuildProgress {
    match (action.trim(), degraded.trim()) {
        ("recover" | "resync" | "reshape", _) => RebuildProgress::Rebuilding(share(completed)),
        (_, "0" | "") => RebuildProgress::Redundant,
        _ => RebuildProgress::Degraded,
    }
}

/// `4096 / 65536`; nothing is done if it says something else.
fn share(completed: &str) -> f64 {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let shares = completed.split_once('/').and_then(|(done, all)| number(done).zip(number(all)));
    shares.filter(|(_, all)| *all > 0.0).map_or(0.0, |(done, all)| (done / all).min(1.0))
}

/// Has the members compared, as Debian's checkarray does, and waits for it.
pub(in crate::layers) fn scrub(at: &LayerInUse<'_>) -> Result<String, StackError> {
    let mut said = Vec::new();
    for array in arrays(at) {
        let action = array.attribute_path("md/sync_action");
        std::fs::write(&action, "check").map_err(|e| StackError::io("cannot write", &action, e))?;
        while array.attribute("md/sync_action").is_some_and(|action| action.trim() != "idle") {
            at.sleep()?;
        }
        let differ = array.attribute("md/mismatch_cnt").unwrap_or_default();
        said.push(format!("{}: {} sectors differ", at.layer, differ.trim()));
    }
    Ok(said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_parsed() {
        for (action, degraded, completed, progress) in [
            ("idle\n", "0\n", "none\n", RebuildProgress::Redundant),
            ("check\n", "0\n", "8 / 16\n", RebuildProgress::Redundant),
            ("recover\n", "1\n", "16384 / 65536\n", RebuildProgress::Rebuilding(0.25)),
            ("resync\n", "0\n", "delayed\n", RebuildProgress::Rebuilding(0.0)),
            ("recover\n", "1\n", "7 / 0\n", RebuildProgress::Rebuilding(0.0)),
            ("idle\n", "1\n", "none\n", RebuildProgress::Degraded),
            ("frozen", "2", "", RebuildProgress::Degraded),
        ] {
            assert_eq!(progress_of(action, degraded, completed), progress, "{action}{degraded}");
        }
    }
}
