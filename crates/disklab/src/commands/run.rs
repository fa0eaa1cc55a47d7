//! `disklab run`: a study, carried out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_bench::BenchError;
use disklab_exec::{ExecError, Interrupt};
use disklab_report::{Report, TextStyle, first_screen};
use disklab_store::{CellState, Grounds, LAB_KERNEL, Run, RunInfo, Session};
use disklab_study::{Cell, load};
use disklab_units::count;
use disklab_verdict::Severity;
use jiff::Timestamp;
use serde_json::json;

use super::{has_colour, plan, print, print_json, print_styled, report};
use crate::adaptive;
use crate::cli::{CampaignArgs, RunArgs};
use crate::exit::{DONE, FAILED, Failure, INTERRUPTED};
use crate::leftovers::{self, tear_down_leftovers};
use crate::places::{check_outputs, claim_outputs, new_run_folder};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::setup::{Mode, Setup};
use crate::studies::Found;
use crate::version::VERSION;
use crate::words::Skipped;
use crate::{signals, studies};

/// Carries out a study, or goes on with one.
pub fn run(args: RunArgs, as_json: bool) -> Result<u8, Failure> {
    let interrupt = signals::interrupt()?;
    let (setup, mut run, cells) = if args.resume {
        resume(&args, &interrupt)?
    } else {
        let name = args.study.as_deref().ok_or_else(|| {
            Failure::usage_error("which study? `disklab list studies` shows those that are shipped")
        })?;
        begin(&args, studies::find(name)?, &How::Told, &interrupt)?
    };
    // A run whose cells are all done needs no bench, only its report.
    let Some(mut setup) = setup else { return finish(&run, 0, as_json) };
    run.begin_session(&session()).map_err(Failure::failed)?;
    let outcome = carry_out(&mut setup, &mut run, &cells);
    match outcome {
        Ok(failed) => finish(&run, failed, as_json),
        Err(BenchError::Program(ExecError::Interrupted)) => {
            let left = match &setup.how_long {
                Some(_) => "the campaign is not over".to_owned(),
                None => format!("{} cells are left", waiting(&run)?.len()),
            };
            eprintln!(
                "interrupted; {left}; everything that was made has been taken \
                 down.\n{}",
                go_on(&run, &setup)
            );
            Ok(INTERRUPTED)
        }
        Err(error) => {
            Err(Failure::failed(format!("{error}\n{}{}", what_is_kept(&run), go_on(&run, &setup))))
        }
    }
}

/// Pairs of a stack and a workload, by their ids.
pub type Pairs = BTreeSet<(String, String)>;

/// How a run begins.
pub enum How<'a> {
    /// With all cells, and its plan is told.
    Told,
    /// With these cells alone; who asks for it tells what there is to tell.
    Quietly(&'a Pairs),
}

/// Carries out a run, or goes on with it, until its cells are done; writes no report.
/// Says how many cells failed in it.
pub fn until_done(
    args: &RunArgs,
    found: Option<Found>,
    how: &How<'_>,
    interrupt: &Interrupt,
) -> Result<(Run, usize), Failure> {
    let (setup, mut run, cells) = match found.filter(|_| !args.resume) {
        Some(found) => begin(args, found, how, interrupt)?,
        None => resume(args, interrupt)?,
    };
    if let Some(mut setup) = setup {
        run.begin_session(&session()).map_err(Failure::failed)?;
        carry_out(&mut setup, &mut run, &cells).map_err(|error| match error {
            BenchError::Program(ExecError::Interrupted) => {
                Failure::interrupted("interrupted; everything that was made has been taken down")
            }
            error => Failure::failed(format!("{error}\n{}", what_is_kept(&run).trim_end())),
        })?;
    }
    let records = run.cells().map_err(Failure::failed)?;
    let failed = records.iter().filter(|record| record.state == CellState::Failed).count();
    Ok((run, failed))
}

/// Whether what was measured is kept.
pub(super) fn what_is_kept(run: &Run) -> String {
    if run.is_still_there() {
        return "What was measured is kept. ".to_owned();
    }
    format!(
        "{} was deleted or moved during the run: what was measured is no longer there. ",
        run.folder().display()
    )
}

/// How to resume a run, with the consents that this needs.
fn go_on(run: &Run, setup: &Setup) -> String {
    if !run.is_still_there() {
        return "Start a new run.".to_owned();
    }
    let folder = run.folder().to_string_lossy().into_owned();
    let words = ["disklab", "run", "--resume", "--out", &folder].map(str::to_owned);
    let words = words.into_iter().chain(setup.bench.consents_left());
    format!("Go on with: {}", shell_words::join(words))
}

type Started = (Option<Setup>, Run, Vec<Cell>);

/// Has the bench make what these cells need: all of the run, also those that are done, so that
/// the rest gets the same kernel.
fn get_ready(setup: &mut Setup, cells: &[Cell]) -> Result<(), Failure> {
    let Setup { bench, campaign, .. } = setup;
    bench.get_ready(campaign, cells).map_err(|e| match e {
        BenchError::Program(ExecError::Interrupted) => Failure::interrupted("interrupted"),
        e => Failure::usage_error(e),
    })
}

fn begin(
    args: &RunArgs,
    found: Found,
    how: &How<'_>,
    interrupt: &Interrupt,
) -> Result<Started, Failure> {
    let folder = args.out.clone().unwrap_or_else(|| new_run_folder(&found.study.id));
    if folder.join("run.sqlite").exists() {
        return Err(Failure::usage_error(format!(
            "{} holds a run already; choose another folder with --out, or go on with it by \
             --resume",
            folder.display()
        )));
    }
    // Checked once without touching anything, then made.
    check_outputs(&folder)?;
    for line in leftovers::lines(&tear_down_leftovers(interrupt)?) {
        eprintln!("{line}");
    }
    let planning = signals::planning(interrupt)?;
    let mut setup = Setup::new(found, &args.campaign, &folder, Mode::Run, interrupt)?;
    if let How::Quietly(pairs) = how {
        setup.keep(pairs);
    }
    if let Some(how_long) = args.how_long.understood(&args.campaign)? {
        setup.adapt(&how_long)?;
        setup.options.extend(args.how_long.options());
    }
    setup.check()?;
    setup.look()?;
    setup.check_budget()?;
    if matches!(how, How::Told) {
        let prediction = setup.predict(&setup.cells);
        eprint!("{}", plan::words(&setup, &prediction, false));
    }
    drop(planning);
    setup.bench.confirm(args.yes).map_err(Failure::usage_error)?;
    let claim = claim_outputs(&folder)?;
    let cells = setup.cells.clone();
    get_ready(&mut setup, &cells)?;
    setup.make_scratch()?;
    let study = &setup.campaign.study;
    let info = RunInfo {
        disklab: VERSION.to_owned(),
        study: study.id.to_string(),
        title: study.title.clone(),
        study_file: study.source.name.clone(),
        study_text: study.source.text.clone(),
        bench: setup.bench.name(),
        bench_about: setup.bench.about(),
        options: setup.options.clone(),
        scale: setup.campaign.scale,
        repeats: setup.repeats,
        seed: setup.seed,
        created: Timestamp::now(),
        stacks: setup.survey.stacks.clone(),
        left_out: setup.survey.left_out.clone(),
        environment: setup.bench.environment(),
    };
    // A campaign that decides as it goes adds its cells block by block.
    let first: &[Cell] = if setup.how_long.is_some() { &[] } else { &setup.cells };
    let run = Run::create(&folder, &info, first).map_err(Failure::usage_error)?;
    claim.keep();
    if matches!(how, How::Told) {
        eprintln!("  folder        {}", folder.display());
    }
    Ok((Some(setup), run, cells))
}

/// Goes on with a run: the same study, bench, scale and machine, or not at all.
fn resume(args: &RunArgs, interrupt: &Interrupt) -> Result<Started, Failure> {
    let folder = args.out.clone().unwrap_or_default();
    for line in leftovers::lines(&tear_down_leftovers(interrupt)?) {
        eprintln!("{line}");
    }
    let run = Run::resume(&folder).map_err(Failure::usage_error)?;
    if args.retry_failed {
        run.retry_failed().map_err(Failure::failed)?;
    }
    let info = run.info().map_err(Failure::usage_error)?;
    let study = load(&info.study_file, &info.study_text).map_err(Failure::usage_error)?;
    if let Some(name) = &args.study {
        let named = studies::find(name)?.study;
        if named.digest != study.digest {
            return Err(Failure::usage_error(format!(
                "the run in {} was begun with another '{name}' than there is now; leave the \
                 study's name out to go on with the one it was begun with",
                folder.display()
            )));
        }
    }
    let cells = waiting(&run)?;
    let mut campaign = args.campaign.as_begun(&info)?;
    let how_args = args.how_long.as_begun(&info)?;
    let how_long = how_args.understood(&CampaignArgs { repeats: None, ..campaign.clone() })?;
    let is_over = match &how_long {
        None => true,
        Some(_) => {
            args.how_long.budget.is_none() && run.outcome().map_err(Failure::failed)?.is_some()
        }
    };
    if cells.is_empty() && is_over {
        eprintln!("all cells of this run are done");
        return Ok((None, run, cells));
    }
    if let Some(how_long) = &how_long {
        campaign.repeats = Some(how_long.first_look());
        // Cells that are left out were left out then.
        campaign.only = split(&info, "only");
        campaign.without = split(&info, "without");
    }
    let found = Found { study, folder: study_folder(&info.study_file) };
    let mut setup = Setup::new(found, &campaign, &folder, Mode::Run, interrupt)?;
    match &how_long {
        None => setup.cells.clone_from(&cells),
        Some(how_long) => setup.adapt(how_long)?,
    }
    setup.check()?;
    setup.look()?;
    // Before the question, so that nobody gives his drives for a run that cannot go on.
    let records = run.cells().map_err(Failure::failed)?;
    let all: Vec<Cell> = records.into_iter().map(|record| record.cell).collect();
    get_ready(&mut setup, if all.is_empty() { &cells } else { &all })?;
    same_machine(&info, &setup)?;
    for warning in setup.bench.warnings() {
        eprintln!("  {warning}");
    }
    setup.bench.confirm(args.yes).map_err(Failure::usage_error)?;
    setup.make_scratch()?;
    let begun = all.len();
    if setup.how_long.is_some() {
        eprintln!("{} cells are done; what is left hangs on the samples", begun - cells.len());
    } else {
        eprintln!("{} of {begun} cells are left", cells.len());
    }
    Ok((Some(setup), run, cells))
}

/// A study's own files lie beside it. A shipped study has none, and its file's name is
/// no path of this machine.
pub(super) fn study_folder(file: &str) -> PathBuf {
    if studies::is_shipped(file) && !Path::new(file).exists() {
        return PathBuf::from(".");
    }
    Path::new(file).parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Samples of two kernels, machines or tool versions in one run would be
/// compared with each other as if they were of one.
fn same_machine(info: &RunInfo, setup: &Setup) -> Result<(), Failure> {
    let now = Grounds {
        disklab: VERSION,
        bench: &setup.bench.name(),
        bench_about: &setup.bench.about(),
        environment: &setup.bench.environment(),
    };
    let differences = info.grounds().differences(&now);
    if differences.is_empty() {
        return Ok(());
    }
    let words =
        differences.iter().map(|d| format!("{} was '{}' and is '{}'", d.what, d.one, d.other));
    let other_kernel = differences.iter().any(|d| d.what == LAB_KERNEL);
    let remedy = if other_kernel { "name the run's own kernel with --kernel, or " } else { "" };
    Err(Failure::usage_error(format!(
        "this run cannot be resumed here, because it would mix two machines: {}; {remedy}start a \
         new run",
        words.collect::<Vec<_>>().join("; ")
    )))
}

fn waiting(run: &Run) -> Result<Vec<Cell>, Failure> {
    let records = run.cells().map_err(Failure::failed)?;
    Ok(records
        .into_iter()
        .filter(|record| record.state == CellState::Waiting)
        .map(|record| record.cell)
        .collect())
}

/// Runs the cells. Returns how many failed.
fn carry_out(setup: &mut Setup, run: &mut Run, cells: &[Cell]) -> Result<usize, BenchError> {
    if let Some(how_long) = setup.how_long.clone() {
        return adaptive::go(setup, run, &how_long);
    }
    let predicted: Vec<_> =
        cells.iter().map(|cell| (cell.workload.clone(), setup.seconds(cell))).collect();
    let progress = Progress::new(&predicted, setup.bench.at_once());
    let mut recorder = Recorder::new(run, progress);
    let cells: Vec<&Cell> = cells.iter().collect();
    let result = setup.bench.carry_out(&setup.campaign, &cells, &mut recorder);
    recorder.finish();
    let failed = recorder.failed;
    result.map(|()| failed)
}

/// Writes the report and says where it is.
pub(super) fn finish(run: &Run, failed: usize, as_json: bool) -> Result<u8, Failure> {
    let report = Report::gather(run).map_err(Failure::failed)?;
    let page = report::write_both(run, &report)?;
    let severe = report.analysis.findings.iter().filter(|f| f.severity == Severity::Severe).count();
    if as_json {
        print_json(&json!({
            "run": run.folder(),
            "report": page,
            "failed_cells": failed,
            "severe_findings": severe,
            "summary": report.analysis.summary,
            "campaign": report.campaign,
        }))?;
    } else {
        let style = TextStyle { colour: has_colour(), verbose: false };
        print_styled(&first_screen(&report, &page.to_string_lossy(), style))?;
        let mut text = String::new();
        for sentence in report.campaign.iter().flat_map(disklab_report::campaign_sentences) {
            text.push_str(&format!("◦ {sentence}\n"));
        }
        if failed > 0 {
            let cells = count(failed, "cell");
            text.push_str(&format!("! {cells} failed; the report says why\n"));
        }
        let RunInfo { stacks, left_out, .. } = &report.info;
        if let Some(remedy) = Skipped::new(left_out, stacks.len()).remedy() {
            text.push_str(&format!("! {remedy}\n"));
        }
        text.push_str(&format!("Report: {}\n", page.display()));
        print(&text)?;
    }
    Ok(if failed > 0 || severe > 0 { FAILED } else { DONE })
}

/// This start of the program.
pub(super) fn session() -> Session {
    let uname = rustix::system::uname();
    let part = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    Session {
        began: Timestamp::now(),
        command: std::env::args().collect(),
        disklab: VERSION.to_owned(),
        kernel: [
            part(uname.sysname()),
            part(uname.release()),
            part(uname.version()),
            part(uname.machine()),
        ]
        .join(" "),
    }
}

/// Patterns that a run remembers.
fn split(info: &RunInfo, name: &str) -> Vec<String> {
    let words = info.options.get(name).map(|text| text.split_whitespace().map(str::to_owned));
    words.map(Iterator::collect).unwrap_or_default()
}
