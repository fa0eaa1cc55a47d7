//! `disklab run`: runs a study.

use disklab_runner::{
    OpenRun, PlannedRun, ResumeRequest, Resumed, RunEstimate, RunnerError, check_vacant,
    find_study, leftover_lines, new_run_directory, resume, tear_down_leftovers,
};
use disklab_store::CellState;
use disklab_units::count;

use super::caller::caller;
use super::ending::{Ending, finish, kept_note, show};
use super::{parts, plan, submit};
use crate::cli::RunArgs;
use crate::exit::{Failure, INTERRUPTED};
use crate::signals;
use crate::watcher::Watcher;

/// Carries out a study, or the rest of it.
pub fn run(args: RunArgs, as_json: bool) -> Result<u8, Failure> {
    if args.parts.part.is_some() {
        return parts::carry_out(&args, as_json);
    }
    if let Some(to) = &args.parts.division.to {
        return parts::divide(&args, to, as_json);
    }
    if let Some(engine) = &args.parts.division.submit {
        return submit::submit(&args, engine, as_json);
    }
    if args.parts.attach {
        return submit::attach(&args, as_json);
    }
    let mut watcher = Watcher::default();
    let mut open = if args.resume {
        match resume(&resume_request(&args)?, &caller()?, &mut watcher)? {
            // A run whose cells are all done needs no bench, only its report.
            Resumed::Done(run) => {
                eprintln!("all cells of this run are done");
                return finish(&run, 0, as_json);
            }
            Resumed::Open(open) => *open,
        }
    } else {
        begin(&args)?
    };
    match open.carry_out(&mut watcher) {
        Ok(failed) => finish(&open.run, failed, as_json),
        Err(RunnerError::Interrupted) => interrupted(&open, as_json),
        Err(error) => {
            let line = format!("{}{}", kept_note(&open.run), proceed(&open));
            Err(Failure::from(error).with(&line))
        }
    }
}

/// Says what is known of a run that the user stopped, how sure that is, and how to resume it.
fn interrupted(open: &OpenRun, as_json: bool) -> Result<u8, Failure> {
    // Nothing is left to tear down.
    let _ending = signals::ends_at_once();
    let run = &open.run;
    let (mut done, mut all) = (0, 0);
    if run.is_still_there() {
        let records = run.cells().map_err(RunnerError::Record)?;
        (done, all) =
            (records.iter().filter(|r| r.state == CellState::Done).count(), records.len());
    }
    let shown = if done > 0 { show(run, Ending::Interrupted, as_json).map(drop) } else { Ok(()) };
    if let Err(failure) = shown {
        eprintln!("disklab: {failure}");
    }
    let cells = format!("{done} of {} done", count(all, "cell"));
    let torn_down = "everything that was created has been torn down";
    eprintln!("interrupted with {cells}; {torn_down}.\n{}", proceed(open));
    Ok(INTERRUPTED)
}

/// How to resume a run, with the consents that this needs.
fn proceed(open: &OpenRun) -> String {
    let run = &open.run;
    if !run.is_still_there() {
        return "Start a new run.".to_owned();
    }
    let directory = run.path().to_string_lossy().into_owned();
    let words = ["disklab", "run", "--resume", "--out", &directory].map(str::to_owned);
    let words = words.into_iter().chain(open.consents_left());
    format!("Continue with: {}", shell_words::join(words))
}

fn begin(args: &RunArgs) -> Result<OpenRun, Failure> {
    let caller = caller()?;
    let found = args.named_study()?;
    let directory = args.out.clone().unwrap_or_else(|| new_run_directory(&found.study.id));
    check_vacant(&directory)?;
    for line in leftover_lines(&tear_down_leftovers(&caller.state, &caller.interrupt)?) {
        eprintln!("{line}");
    }
    let planning = signals::planning(&caller.interrupt)?;
    let mut planned = PlannedRun::new(found, &args.campaign.options(), &directory, &caller)?;
    planned.stop_by(&args.how_long.options(), args.campaign.repeats)?;
    let mut checked = planned.check()?;
    let estimate = RunEstimate::new(&checked.plan);
    estimate.check_budget()?;
    eprint!("{}", plan::words(&checked, &estimate, false));
    drop(planning);
    let drives = args.campaign.options().drives;
    checked.compare_with_lab(drives.as_ref(), &directory, &caller, &mut Watcher::default())?;
    let open = checked.begin(&directory, args.yes)?;
    eprintln!("  directory     {}", directory.display());
    Ok(open)
}

fn resume_request(args: &RunArgs) -> Result<ResumeRequest, Failure> {
    let study = args.study.as_ref().map(|name| Ok::<_, Failure>((name.clone(), find_study(name)?)));
    Ok(ResumeRequest {
        directory: args.out.clone().unwrap_or_default(),
        options: args.campaign.options(),
        stop: args.how_long.options(),
        study: study.transpose()?,
        retry_failed: args.retry_failed,
        yes: args.yes,
    })
}
