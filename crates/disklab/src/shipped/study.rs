//! The study of a shipped run.

use std::collections::BTreeSet;

use disklab_bench::LoadedStudy;
use disklab_stack::Need;
use disklab_store::RunInfo;
use disklab_study::load;
use disklab_workload::Context;

use crate::exit::Failure;

/// A run's study, ready to be run.
pub fn campaign(info: &RunInfo) -> Result<LoadedStudy, Failure> {
    let study = load(&info.study_file, &info.study_text).map_err(Failure::failed)?;
    let context = Context::new(info.scale, ".");
    LoadedStudy::new(study, &context).map_err(Failure::failed)
}

/// The programs that the stacks and workloads of a run's study need.
pub fn programs(info: &RunInfo) -> Result<BTreeSet<&'static str>, Failure> {
    let campaign = campaign(info)?;
    let of_stacks = campaign.stacks.iter().flat_map(|stack| stack.needs());
    let mut names: BTreeSet<&'static str> = of_stacks
        .filter_map(|need| match need {
            Need::Program { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    names.extend(campaign.workloads.iter().flat_map(|w| w.programs()).map(|(name, _)| name));
    Ok(names)
}
