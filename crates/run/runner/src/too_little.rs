//! Which workloads do too little for an answer, known before they run.

use disklab_audits::floors::BelowFloor;
use disklab_sample::Direction;
use disklab_workload::Workload;

/// Steps and what is looked at in them: a workload that does not name its steps names one after
/// itself, and those of work on files are `cp` and `rm`.
const OF_FILES: [(&str, Direction); 2] = [("cp", Direction::Copy), ("rm", Direction::Remove)];

/// What each step of the workload `id` has too little of, by the step's name. `drive_memory`
/// is that of a hard disk, where it is known.
pub(crate) fn too_little(
    id: &str,
    workload: &dyn Workload,
    drive_memory: Option<u64>,
) -> Vec<(String, BelowFloor)> {
    let mut own = workload.steps();
    if own.is_empty() {
        own.push(id.to_owned());
    }
    let both = |step: String| [(step.clone(), Direction::Read), (step, Direction::Write)];
    let files = OF_FILES.map(|(step, direction)| (step.to_owned(), direction));
    let mut found: Vec<(String, BelowFloor)> = Vec::new();
    for (step, direction) in own.into_iter().flat_map(both).chain(files) {
        let Some(profile) = workload.profile(&step) else { continue };
        let below = BelowFloor::of(&profile, direction, drive_memory);
        found.extend(below.map(|below| (step, below)));
    }
    found
}
