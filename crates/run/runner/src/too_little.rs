//! Which workloads do too little for an answer, known before they run.

use disklab_audits::floors::BelowFloor;
use disklab_sample::Direction;
use disklab_workload::Workload;

/// Steps and what is looked at in them: a workload with one step names it after itself, and
/// those of work on files are `cp` and `rm`.
const OF_FILES: [(&str, Direction); 2] = [("cp", Direction::Copy), ("rm", Direction::Remove)];

/// What each step of the workload `id` has too little of, by the step's name. `drive_memory`
/// is that of a hard disk, where it is known.
pub(crate) fn too_little<'a>(
    id: &'a str,
    workload: &dyn Workload,
    drive_memory: Option<u64>,
) -> Vec<(&'a str, BelowFloor)> {
    let own = [(id, Direction::Read), (id, Direction::Write)];
    let mut found: Vec<(&str, BelowFloor)> = Vec::new();
    for (step, direction) in own.into_iter().chain(OF_FILES) {
        let Some(profile) = workload.profile(step) else { continue };
        let below = BelowFloor::of(&profile, direction, drive_memory);
        found.extend(below.map(|below| (step, below)));
    }
    found
}
