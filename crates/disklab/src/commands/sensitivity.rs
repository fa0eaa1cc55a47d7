//! `disklab sensitivity`: which claims depend on a value that is not certain.

mod conditions;
mod drawn_page;
mod outcome;
mod pace;
mod page;

use std::collections::BTreeSet;
use std::time::Instant;

use disklab_cell::Levels;
use disklab_published::{RowComparison, compared_with, own_claims};
use disklab_report::Report;
use disklab_runner::sensitivity::{
    Begun, CaseRun, SensitivityPlan, SensitivityRequest, SensitivityRun, Variation, own_ratios,
};
use disklab_runner::{
    Caller, MovedParameters, RunnerError, find_study, is_shipped, new_run_directory,
};
use disklab_units::show_seconds;
use serde_json::json;

use self::conditions::SensitivityConditions;
use self::outcome::SensitivityOutcome;
use self::pace::SensitivityPace;
use super::caller::caller;
use super::outputs::write_own;
use super::parts::print_parts;
use super::submit::{self, ANALYSIS};
use crate::cli::SensitivityArgs;
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::{print, print_json};
use crate::signals;
use crate::watcher::Watcher;

/// Carries out the runs that are left, and writes the page.
pub fn sensitivity_command(args: &SensitivityArgs, as_json: bool) -> Result<u8, Failure> {
    let caller = caller()?;
    let begun = if args.resume { resumed(args)? } else { new(args)? };
    let planning = signals::planning(&caller.interrupt)?;
    let request = SensitivityRequest {
        begun,
        options: args.campaign.options(),
        moved: MovedParameters {
            drives: args.drive.clone(),
            fields: args.field.clone(),
            drawn: args.drawn,
        },
    };
    let mut analysis = SensitivityRun::new(request, &caller)?;
    eprint!("{}", overview(&analysis));
    if args.plan {
        return print_plan(&analysis.plan, as_json);
    }
    drop(planning);
    if let Some(to) = &args.division.to {
        let parts = analysis.write_parts(args.division.parts, to, &caller)?;
        return print_parts(&parts, to, "disklab merge parts/* --to ANALYSIS", as_json);
    }
    if let Some(engine) = &args.division.submit {
        let (directory, seed) = (analysis.directory().to_owned(), analysis.shipped.seed);
        return submit::begin(directory, engine, &args.campaign, seed, caller, as_json);
    }
    analysis.begin()?;
    eprintln!("  directory     {}", analysis.directory().display());
    finish(&analysis, &caller, as_json)
}

/// Carries out the runs that are left of one that is begun, and writes the page.
pub fn finish(analysis: &SensitivityRun, caller: &Caller, as_json: bool) -> Result<u8, Failure> {
    let measured = Measured::of(analysis, caller)?;
    let outcome = outcome(analysis, &measured);
    write_outcome(analysis, &outcome, as_json)?;
    Ok(if measured.failed > 0 { FAILED } else { DONE })
}

fn new(args: &SensitivityArgs) -> Result<Begun, Failure> {
    let found = find_study(args.study.as_deref().unwrap_or_default())?;
    let named = || new_run_directory(&format!("{}-sensitivity", found.study.id));
    let directory = args.out.clone().unwrap_or_else(named);
    Ok(Begun::new(found, directory)?)
}

fn resumed(args: &SensitivityArgs) -> Result<Begun, Failure> {
    Ok(Begun::resume(args.out.clone().unwrap_or_default(), args.study.as_deref())?)
}

/// What would be run, in lines.
fn overview(analysis: &SensitivityRun) -> String {
    let SensitivityRun { shipped, claims, cases, plan, cells, .. } = analysis;
    format!(
        "{} ({})\n  claims        {}\n  runs          {}: as shipped with {} cells, and {}\n  \
         time          about {}\n",
        shipped.campaign.study.title,
        shipped.campaign.study.id,
        claims.about(cells),
        cases.len() + 1,
        cells.len() as u32 * shipped.repeats,
        plan.about(),
        show_seconds(analysis.total_seconds()),
    )
}

/// Says which runs there would be.
fn print_plan(plan: &SensitivityPlan, as_json: bool) -> Result<u8, Failure> {
    if as_json {
        let value = if plan.draws.is_empty() {
            json!({ "study": plan.study, "runs": plan.variations })
        } else {
            let drawn: Vec<_> = plan.draws.iter().map(|draw| &draw.moves).collect();
            json!({ "study": plan.study, "drawn": drawn })
        };
        print_json(&value)?;
    } else if plan.draws.is_empty() {
        let lines = plan.variations.iter().map(|v| format!("  {}\n", v.words()));
        print(&lines.collect::<String>())?;
    } else {
        let lines = plan.cases().into_iter().map(|case| {
            let moves: String =
                case.moves.iter().map(Variation::words).map(|v| format!("    {v}\n")).collect();
            format!("  {}\n{moves}", case.words)
        });
        print(&lines.collect::<String>())?;
    }
    Ok(DONE)
}

/// What the runs say of the claims.
struct Measured {
    shipped: RowComparison,
    /// By the analysis' cases.
    moved: Vec<RowComparison>,
    /// Cells that failed.
    failed: usize,
}

impl Measured {
    fn of(analysis: &SensitivityRun, caller: &Caller) -> Result<Self, Failure> {
        let mut runs = Runs {
            analysis,
            pace: SensitivityPace::new(analysis.cases.len() + 1, analysis.total_seconds()),
            watcher: Watcher::default(),
            failed: 0,
        };
        let report = runs
            .next("as shipped", &analysis.cells, |watcher| analysis.run_shipped(caller, watcher))?;
        let shipped = match report.published {
            Some(comparison) => comparison,
            None => own_claims(&analysis.plan.study, &own_ratios(&report.analysis)),
        };
        let mut moved = Vec::new();
        for (case, cells) in &analysis.cases {
            let report = runs.next(&case.words, cells, |watcher| {
                analysis.run_case(case, cells, caller, watcher)
            })?;
            moved.push(match report.published {
                Some(comparison) => comparison,
                None => compared_with(&shipped, &own_ratios(&report.analysis)),
            });
        }
        Ok(Self { shipped, moved, failed: runs.failed })
    }
}

/// The runs, one after the other, with a line for each.
struct Runs<'a> {
    analysis: &'a SensitivityRun,
    pace: SensitivityPace,
    watcher: Watcher,
    failed: usize,
}

impl Runs<'_> {
    fn next(
        &mut self,
        words: &str,
        cells: &BTreeSet<Levels>,
        run: impl FnOnce(&mut Watcher) -> Result<CaseRun, RunnerError>,
    ) -> Result<Report, Failure> {
        eprintln!("{}", self.pace.next(words));
        let began = Instant::now();
        let CaseRun { run, failed, was_done } =
            run(&mut self.watcher).map_err(|error| self.stopped(error))?;
        self.failed += failed;
        self.pace.done(self.analysis.seconds(cells), (!was_done).then(|| began.elapsed()));
        Ok(Report::gather(&run)?)
    }

    /// With how to resume the analysis.
    fn stopped(&self, error: RunnerError) -> Failure {
        let directory = self.analysis.directory();
        let kept = match &error {
            RunnerError::Bench(_) | RunnerError::Record(_) if directory.is_dir() => {
                "What was measured is kept. "
            }
            _ => "",
        };
        let out = directory.to_string_lossy();
        let words = shell_words::join(["disklab", "sensitivity", "--resume", "--out", &*out]);
        Failure::from(error).with(&format!("{kept}Continue with: {words}"))
    }
}

fn outcome(analysis: &SensitivityRun, measured: &Measured) -> SensitivityOutcome {
    let SensitivityRun { shipped, plan, claims, .. } = analysis;
    let file = &shipped.campaign.study.source.name;
    let conditions = SensitivityConditions {
        repeats: shipped.repeats,
        seed: shipped.seed,
        failed: measured.failed,
        are_published: claims.are_published,
        study: if is_shipped(file) { plan.study.clone() } else { file.clone() },
    };
    if plan.draws.is_empty() {
        SensitivityOutcome::one_at_a_time(
            plan,
            &conditions,
            &measured.shipped,
            measured.moved.clone(),
        )
    } else {
        SensitivityOutcome::all_at_once(
            plan,
            &conditions,
            &measured.shipped,
            &measured.moved,
            claims,
        )
    }
}

fn write_outcome(
    analysis: &SensitivityRun,
    outcome: &SensitivityOutcome,
    as_json: bool,
) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&outcome.json)? + "\n";
    let directory = analysis.open_directory()?;
    let write = |name: &str, text: &str| {
        write_own(&directory.at(""), name, text, |_| true).map_err(Failure::failed)?;
        Ok::<_, Failure>(analysis.directory().join(name))
    };
    write(ANALYSIS, &text)?;
    let page = write("sensitivity.md", &outcome.page)?;
    let picture = write("sensitivity.html", &outcome.picture)?;
    if as_json {
        return print_json(&outcome.json);
    }
    print(&format!(
        "{}Page: {}, and as a picture {}\n",
        outcome.summary,
        page.display(),
        picture.display()
    ))
}
