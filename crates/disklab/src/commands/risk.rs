//! `disklab risk`: what may be lost in some years.

use std::path::Path;

use disklab_decision::{DriveAtRisk, RebuildSource, RebuildSummary, RiskTable, RiskTerms};
use disklab_drive::{Kind, by_name};
use disklab_risk::Uncertain;
use disklab_runner::{PlannedRun, RunOptions, RunnerError, find_study, new_run_folder};
use disklab_store::{PlannedStack, Run};
use disklab_study::DriveSpec;
use serde_json::{Value, json};

use crate::cli::{RiskArgs, all_drives};
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};
use crate::signals;

/// Prints the table.
pub fn risk(args: &RiskArgs, as_json: bool) -> Result<u8, Failure> {
    let AtRisk { stacks, drives, rebuilds } = at_risk(args)?;
    let hours = |time: std::time::Duration| time.as_secs_f64() / 3600.0;
    let terms = RiskTerms {
        years: args.years,
        failures: args.failures,
        bits_per_unreadable: args.unreadable,
        replaced_after: args.replaced_after.map(hours),
        rebuild: args.rebuild.map(hours),
        spares: args.spares,
        used: args.used,
    };
    let table = RiskTable::new(&stacks, &drives, &|stack| rebuilds.hours(stack), terms);
    if as_json {
        print_json(&describe(&table))?;
    } else {
        print(&table.text())?;
    }
    Ok(DONE)
}

/// What is named: a study, or a run.
struct AtRisk {
    stacks: Vec<PlannedStack>,
    drives: Vec<DriveAtRisk>,
    rebuilds: RebuildSummary,
}

fn at_risk(args: &RiskArgs) -> Result<AtRisk, Failure> {
    let folder = Path::new(&args.of);
    if folder.join("run.sqlite").is_file() {
        if !args.drives.is_empty() {
            return Err(Failure::usage_error("a run has its own drives; --drives is for a study"));
        }
        let run = Run::open(folder).map_err(RunnerError::Open)?;
        let info = run.info().map_err(RunnerError::Open)?;
        let mut rebuilds = RebuildSummary::default();
        run.for_each_sample(|record, sample| rebuilds.add(&record.cell.levels.stack, &sample))
            .map_err(RunnerError::Open)?;
        let study = info.load_study().map_err(RunnerError::from)?;
        let drives = of_study(&study.drives);
        return Ok(AtRisk { stacks: info.stacks, drives, rebuilds });
    }
    let caller = super::caller::caller()?;
    let _planning = signals::planning(&caller.interrupt)?;
    let found = find_study(&args.of)?;
    let folder = new_run_folder(&found.study.id);
    let drives = all_drives(&args.drives);
    let options = RunOptions { drives, ..RunOptions::default() };
    let planned = PlannedRun::new(found, &options, &folder, &caller)?;
    let plan = &planned.plan;
    let (stacks, drives) = (plan.preflight.stacks.clone(), of_study(&plan.campaign.study.drives));
    Ok(AtRisk { stacks, drives, rebuilds: RebuildSummary::default() })
}

fn of_study(drives: &[DriveSpec]) -> Vec<DriveAtRisk> {
    let one = |drive: &DriveSpec| {
        let known = by_name(&drive.model);
        let rate = known.as_ref().and_then(|file| match &file.kind {
            Kind::Hdd(disk) => Some(f64::midpoint(disk.outer_rate, disk.inner_rate)),
            // Nor what a shingled disk nor what an SSD does when all of it is written is its rate.
            Kind::Smr(_) | Kind::Ssd(_) => None,
        });
        DriveAtRisk {
            name: drive.name.to_string(),
            model: known.map_or_else(|| drive.model.clone(), |file| file.id),
            pass: rate.map(|rate| drive.size.0 as f64 / rate / 3600.0),
        }
    };
    drives.iter().map(one).collect()
}

fn describe(table: &RiskTable) -> Value {
    let stacks = table.stacks.iter().map(|stack| {
        let chance = |chance: &Uncertain| {
            json!({ "value": chance.value, "low": chance.low, "high": chance.high })
        };
        json!({
            "stack": stack.stack,
            "drives": stack.drives,
            "may_fail": stack.tolerates,
            "hours_at_risk": stack.exposed.as_ref().map(chance),
            "rebuild": match stack.rebuild {
                RebuildSource::Measured => "measured",
                RebuildSource::OnePass => "one-pass",
                RebuildSource::ByUser => "given",
            },
            "loses_something": chance(&stack.chance.some),
            "loses_all": chance(&stack.chance.all),
            "usual_formula": stack.formula,
            "decided_by": stack.decided_by(),
        })
    });
    let left_out = table.left_out.iter().map(|(stack, why)| json!({ "stack": stack, "why": why }));
    json!({
        "years": table.terms.years,
        "assumptions": table.assumptions().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "stacks": stacks.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "notes": table.notes(),
    })
}
