//! Arrays in use: a member fails, is replaced, the members are compared.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_measure::{BlockDevice, SystemRoot};

use crate::array_scrub::ArrayScrub;
use crate::differ_words::differ_words;
use crate::member_rebuild::{MemberRebuild, mdadm, replace_member};
use crate::windowed_pass::{position, set};
use crate::{LayerInUse, LayerOutput, RebuildProgress, StackError, WindowedPass};

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
    if let LayerOutput::Devices(devices) = at.output {
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
        let members = array.slaves().into_iter().filter(|member| member.is_on(drive));
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

/// The rebuilds of the members on this drive, or the scrubs of all arrays; see [`Layer::passes`](crate::Layer::passes).
pub(in crate::layers) fn passes(
    at: &LayerInUse<'_>,
    drive: Option<&Path>,
) -> Result<Vec<Box<dyn WindowedPass>>, StackError> {
    let Some(drive) = drive else {
        let rounds = ArrayScrub::rounds(at.layer, arrays(at)).into_iter();
        return Ok(rounds.map(|round| Box::new(round) as Box<dyn WindowedPass>).collect());
    };
    let of = |(array, member)| {
        let layer = at.layer.to_owned();
        Box::new(MemberRebuild { layer, array, member }) as Box<dyn WindowedPass>
    };
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
    let moves = |array: &BlockDevice| position(array).is_some_and(|at| at.0 > 0);
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
        let before = unreadable(&array);
        set(&array, "md/sync_action", "check")?;
        while array.attribute("md/sync_action").is_some_and(|action| action.trim() != "idle") {
            at.sleep()?;
        }
        let word = |name: &str| array.attribute(&format!("md/{name}")).unwrap_or_default();
        let mut words = differ_words(&word("mismatch_cnt"), &word("level"));
        let bad = unreadable(&array).saturating_sub(before);
        if bad > 0 {
            words.push_str(&format!(", {bad} were in reads that failed, and were written anew"));
        }
        said.push(format!("{}: {words}", at.layer));
    }
    Ok(said.join("; "))
}

/// Sectors of reads that failed on a member, and that were corrected: for a scrub, RAID 1 does not count them.
fn unreadable(array: &BlockDevice) -> u64 {
    let errors = |member: &BlockDevice| {
        array.attribute(&format!("md/dev-{}/errors", member.name()))?.trim().parse::<u64>().ok()
    };
    array.slaves().iter().filter_map(errors).sum()
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
