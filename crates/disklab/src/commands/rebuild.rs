//! `disklab rebuild`: how long a stack lacks redundancy.

use disklab_decision::RebuildSummary;
use disklab_runner::{RebuildRequest, RunnerError, find_study, new_run_folder};
use disklab_store::Run;

use super::run;
use crate::cli::{RebuildArgs, RunArgs};
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::print;

/// Runs the study about a drive that fails, and says what came of it.
pub fn rebuild(args: RebuildArgs, as_json: bool) -> Result<u8, Failure> {
    let RebuildArgs { study, fail, load, mut campaign, yes, out } = args;
    campaign.rebuild = Some(RebuildRequest { fail, load });
    let folder = match out {
        Some(folder) => folder,
        None => new_run_folder(&format!("{}-rebuild", find_study(&study)?.study.id)),
    };
    let args = RunArgs { yes, out: Some(folder.clone()), ..RunArgs::of(study, campaign) };
    let code = run::run(args, as_json)?;
    if !as_json && matches!(code, DONE | FAILED) {
        let mut summary = RebuildSummary::default();
        let run = Run::open(&folder).map_err(RunnerError::Record)?;
        run.for_each_sample(|record, sample| summary.add(&record.cell.levels.stack, &sample))
            .map_err(RunnerError::Record)?;
        let lines = summary.sentences().into_iter().map(|sentence| format!("• {sentence}\n"));
        print(&lines.collect::<String>())?;
    }
    Ok(code)
}
