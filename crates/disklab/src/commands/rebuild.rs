//! `disklab rebuild`: how long a stack lacks redundancy.

use disklab_bench::SPEED_AXIS;
use disklab_cell::StudyAxis;
use disklab_runner::{RebuildRequest, find_study, new_run_folder};

use super::run;
use crate::cli::{PartArgs, RebuildArgs, RunArgs};
use crate::exit::Failure;

/// Runs the study about a drive that fails; the report says what came of it.
pub fn rebuild(args: RebuildArgs, as_json: bool) -> Result<u8, Failure> {
    let RebuildArgs { study, fail, hot_spare, load, speed, mut campaign, yes, out, division } =
        args;
    campaign.rebuild = Some(RebuildRequest { fail, hot_spare, load });
    if !speed.is_empty() {
        let levels = speed.iter().map(|speed| speed.trim_end_matches("/s"));
        campaign.axis.push(StudyAxis::new(SPEED_AXIS, levels).map_err(Failure::usage_error)?);
    }
    let out = match out {
        // Parts go elsewhere.
        None if division.to.is_none() => {
            Some(new_run_folder(&format!("{}-rebuild", find_study(&study)?.study.id)))
        }
        out => out,
    };
    let parts = PartArgs { division, ..PartArgs::default() };
    run::run(RunArgs { yes, out, parts, ..RunArgs::of(study, campaign) }, as_json)
}
