//! `disklab rebuild` and `disklab scrub`: how long a stack lacks redundancy, and how long it is read.

use disklab_bench::SPEED_AXIS;
use disklab_cell::StudyAxis;
use disklab_runner::{RebuildRequest, ScrubRequest, find_study, new_run_directory};

use super::run;
use crate::cli::{PartArgs, PassArgs, RebuildArgs, RunArgs, ScrubArgs};
use crate::exit::Failure;

/// Runs the study about a drive that fails; the report says what came of it.
pub fn rebuild(args: RebuildArgs, as_json: bool) -> Result<u8, Failure> {
    let RebuildArgs { fail, hot_spare, mut pass } = args;
    let load = pass.load.take();
    pass.campaign.rebuild = Some(RebuildRequest { fail, hot_spare, load });
    carry_out(pass, "rebuild", as_json)
}

/// Runs the study about a scrub of all drives.
pub fn scrub(ScrubArgs { mut pass }: ScrubArgs, as_json: bool) -> Result<u8, Failure> {
    pass.campaign.scrub = Some(ScrubRequest { load: pass.load.take() });
    carry_out(pass, "scrub", as_json)
}

/// Runs it; a directory of its own is named after the command.
fn carry_out(args: PassArgs, command: &str, as_json: bool) -> Result<u8, Failure> {
    let PassArgs { study, load: _, speed, mut campaign, yes, out, division } = args;
    if !speed.is_empty() {
        let levels = speed.iter().map(|speed| speed.trim_end_matches("/s"));
        campaign.axis.push(StudyAxis::new(SPEED_AXIS, levels).map_err(Failure::usage_error)?);
    }
    let out = match out {
        // Parts go elsewhere.
        None if division.to.is_none() => {
            Some(new_run_directory(&format!("{}-{command}", find_study(&study)?.study.id)))
        }
        out => out,
    };
    let parts = PartArgs { division, ..PartArgs::default() };
    run::run(RunArgs { yes, out, parts, ..RunArgs::of(study, campaign) }, as_json)
}
