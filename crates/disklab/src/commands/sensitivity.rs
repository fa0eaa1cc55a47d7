//! `disklab sensitivity`: which claims hang on a value that is not certain.

mod cells;
mod draw;
mod drawn_page;
mod outcome;
mod own;
mod pace;
mod page;
mod plan;
mod variation;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_published::{Catalogue, Comparison, held_against, own_claims};
use disklab_report::Report;
use disklab_store::{CellState, Run};
use disklab_study::load;
use disklab_units::show_duration;

use self::cells::Claims;
use self::draw::draw;
use self::outcome::{Conditions, Outcome};
use self::pace::Pace;
use self::plan::Plan;
use self::variation::Variation;
use super::outputs::write_own;
use super::run::{How, Pairs, study_folder, until_done};
use super::{print, print_json};
use crate::cli::{CampaignArgs, HowLongArgs, RunArgs, SensitivityArgs};
use crate::exit::{DONE, FAILED, Failure};
use crate::on::On;
use crate::places::{check_outputs, new_run_folder};
use crate::setup::{Mode, Setup};
use crate::studies::Found;
use crate::{signals, studies};

/// The folder of the run that nothing was moved in.
const SHIPPED: &str = "as-shipped";

/// Carries out the runs that are left, and writes the page.
pub fn sensitivity_command(args: &SensitivityArgs, as_json: bool) -> Result<u8, Failure> {
    let interrupt = signals::interrupt()?;
    if args.campaign.on() != On::Lab {
        return Err(Failure::usage_error(
            "only the lab has models of drives whose parameters can be moved; leave --on out",
        ));
    }
    let (found, folder, plan) = if args.resume { resumed(args)? } else { begun(args)? };
    let planning = signals::planning(&interrupt)?;
    let study = found.study.id.to_string();
    let catalogue = Catalogue::shipped().map_err(Failure::failed)?;
    let setup = |campaign: &CampaignArgs| {
        let found = Found { study: found.study.clone(), folder: found.folder.clone() };
        Setup::new(found, campaign, &folder, Mode::Look, &interrupt)
    };
    // What was begun says what belongs to it.
    let campaign = begun_campaign(&args.campaign, &folder.join(SHIPPED))?;
    let first = setup(&campaign)?;
    let claims = Claims::of(&catalogue, &first)?;
    let study_models =
        |set: &[String]| variation::models(&first.campaign.study, &found.folder, set);
    let models = study_models(&campaign.set_drive)?;
    let plan = match plan {
        Some(plan) => plan,
        None => {
            let mut plan = Plan::new(&study, &models, &claims, &args.drive, &args.field)?;
            if let Some(n) = args.drawn {
                let why_not = |moves: &[Variation]| {
                    let moves = moves.iter().map(Variation::setting);
                    let set = campaign.set_drive.iter().cloned().chain(moves);
                    study_models(&set.collect::<Vec<_>>()).err().map(|error| error.to_string())
                };
                plan.draws = draw(&plan.variations, n, first.seed, why_not)?;
            }
            plan
        }
    };
    let cases = plan.cases();
    // All that is wrong is found before the first run.
    for case in &cases {
        setup(&case.campaign(&campaign))?;
    }
    let campaign = CampaignArgs { seed: Some(first.seed), ..campaign };
    let pairs: Vec<Pairs> = cases.iter().map(|case| case.pairs(&claims, &models)).collect();
    let seconds = |pairs: &Pairs| -> f64 {
        let cells =
            first.cells.iter().filter(|c| pairs.contains(&(c.stack.clone(), c.workload.clone())));
        first.predict(cells).seconds
    };
    // What hangs on no drive of the plan stays as it is, and is not asked about.
    let all: Pairs = pairs.iter().flatten().cloned().collect();
    let total = seconds(&all) + pairs.iter().map(seconds).sum::<f64>();
    eprintln!(
        "{} ({study})\n  claims        {}\n  runs          {}: as shipped with {} cells, and {}\n  \
         time          about {}",
        first.campaign.study.title,
        claims.about(&all),
        cases.len() + 1,
        all.len() as u32 * first.repeats,
        plan.about(),
        show_duration(Duration::from_secs_f64(total)),
    );
    if args.plan {
        return plan.print(as_json);
    }
    drop(planning);
    if !args.resume {
        plan.save(&folder)?;
    }
    eprintln!("  folder        {}", folder.display());

    let one = |campaign: &CampaignArgs, folder: PathBuf, pairs: &Pairs| {
        let found = Found { study: found.study.clone(), folder: found.folder.clone() };
        let is_begun = folder.join("run.sqlite").exists();
        let campaign = if is_begun { without_choices(campaign) } else { campaign.clone() };
        let args = RunArgs {
            study: None,
            campaign,
            how_long: HowLongArgs::default(),
            out: Some(folder),
            resume: is_begun,
            retry_failed: false,
            yes: false,
        };
        let (run, failed) = until_done(&args, Some(found), &How::Quietly(pairs), &interrupt)?;
        Ok::<_, Failure>((Report::gather(&run).map_err(Failure::failed)?, failed))
    };
    let again = |failure: Failure| {
        let out = folder.to_string_lossy();
        let words = shell_words::join(["disklab", "sensitivity", "--resume", "--out", &*out]);
        failure.with(&format!("Go on with: {words}"))
    };
    let mut pace = Pace::new(cases.len() + 1, total);
    let mut paced = |words: &str, campaign: &CampaignArgs, folder: PathBuf, pairs: &Pairs| {
        eprintln!("{}", pace.next(words));
        let was_over = is_over(&folder);
        let began = Instant::now();
        let done = one(campaign, folder, pairs).map_err(again)?;
        pace.done(seconds(pairs), (!was_over).then(|| began.elapsed()));
        Ok::<_, Failure>(done)
    };
    let (report, mut failed) = paced("as shipped", &campaign, folder.join(SHIPPED), &all)?;
    let shipped = match &report.published {
        Some(comparison) => comparison.clone(),
        None => own_claims(&study, &own::ratios(&report)),
    };
    let mut moved: Vec<Comparison> = Vec::new();
    for (case, pairs) in cases.iter().zip(&pairs) {
        let folder = folder.join(&case.folder);
        let (report, cells) = paced(&case.words, &case.campaign(&campaign), folder, pairs)?;
        failed += cells;
        moved.push(match report.published {
            Some(comparison) => comparison,
            None => held_against(&shipped, &own::ratios(&report)),
        });
    }
    let named = &first.campaign.study.source.name;
    let conditions = Conditions {
        repeats: first.repeats,
        seed: first.seed,
        failed,
        are_published: claims.are_published,
        study: if studies::is_shipped(named) { study } else { named.clone() },
    };
    let outcome = if plan.draws.is_empty() {
        Outcome::one_at_a_time(&plan, &conditions, &shipped, moved)
    } else {
        Outcome::all_at_once(&plan, &conditions, &shipped, &moved, &claims)
    };
    let text = serde_json::to_string_pretty(&outcome.json).map_err(Failure::failed)? + "\n";
    let write =
        |name: &str, text: &str| write_own(&folder, name, text, |_| true).map_err(Failure::failed);
    write("sensitivity.json", &text)?;
    let page = write("sensitivity.md", &outcome.page)?;
    let picture = write("sensitivity.html", &outcome.picture)?;
    if as_json {
        print_json(&outcome.json)?;
    } else {
        print(&format!(
            "{}Page: {}, and as a picture {}\n",
            outcome.summary,
            page.display(),
            picture.display()
        ))?;
    }
    Ok(if failed > 0 { FAILED } else { DONE })
}

type Started = (Found, PathBuf, Option<Plan>);

fn begun(args: &SensitivityArgs) -> Result<Started, Failure> {
    let found = studies::find(args.study.as_deref().unwrap_or_default())?;
    let named = || new_run_folder(&format!("{}-sensitivity", found.study.id));
    let folder = args.out.clone().unwrap_or_else(named);
    if Plan::path(&folder).exists() {
        return Err(Failure::usage_error(format!(
            "{} holds an analysis already; choose another folder with --out, or go on with it by \
             --resume",
            folder.display()
        )));
    }
    check_outputs(&folder)?;
    Ok((found, folder, None))
}

fn resumed(args: &SensitivityArgs) -> Result<Started, Failure> {
    let folder = args.out.clone().unwrap_or_default();
    let plan = Plan::open(&folder)?;
    let begun = folder.join(SHIPPED);
    if !begun.join("run.sqlite").exists() {
        return Err(Failure::usage_error(format!(
            "nothing was run in {} yet; begin it again in another folder",
            folder.display()
        )));
    }
    let info = Run::open(&begun).and_then(|run| run.info()).map_err(Failure::usage_error)?;
    let study = load(&info.study_file, &info.study_text).map_err(Failure::usage_error)?;
    if let Some(name) = &args.study
        && studies::find(name)?.study.digest != study.digest
    {
        return Err(Failure::usage_error(format!(
            "what is in {} was begun with another '{name}' than there is now; leave the study's \
             name out to go on with the one it was begun with",
            folder.display()
        )));
    }
    Ok((Found { study, folder: study_folder(&info.study_file) }, folder, Some(plan)))
}

/// What the runs have in common: as the first was begun, where it was.
fn begun_campaign(args: &CampaignArgs, shipped: &Path) -> Result<CampaignArgs, Failure> {
    if !shipped.join("run.sqlite").exists() {
        return Ok(args.clone());
    }
    let info = Run::open(shipped).and_then(|run| run.info()).map_err(Failure::usage_error)?;
    let patterns = |name: &str| -> Vec<String> {
        let words = info.options.get(name);
        words.map(|w| w.split(' ').map(str::to_owned).collect()).unwrap_or_default()
    };
    Ok(CampaignArgs {
        only: patterns("only"),
        without: patterns("without"),
        ..args.as_begun(&info)?
    })
}

/// For a run that was begun, whose cells are fixed.
fn without_choices(campaign: &CampaignArgs) -> CampaignArgs {
    CampaignArgs { only: Vec::new(), without: Vec::new(), ..campaign.clone() }
}

/// Whether there is a run in `folder` of which all cells have ended.
fn is_over(folder: &Path) -> bool {
    let cells = Run::open(folder).and_then(|run| run.cells());
    cells.is_ok_and(|cells| cells.iter().all(|cell| cell.state != CellState::Waiting))
}
