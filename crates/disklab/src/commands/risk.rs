//! `disklab risk`: what may be lost in some years.

use std::path::Path;

use disklab_decision::{RebuildSource, RiskTable, RiskTerms};
use disklab_report::failures_at;
use disklab_risk::Uncertain;
use disklab_runner::{PlannedRun, RunOptions, RunnerError, find_study, new_run_directory};
use disklab_store::Run;
use serde_json::{Value, json};

use super::run_at;
use crate::cli::{RiskArgs, all_drives};
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};
use crate::signals;

/// Prints the table.
pub fn risk(args: &RiskArgs, as_json: bool) -> Result<u8, Failure> {
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
    let (directory, levels) = run_at::split(Path::new(&args.of));
    let table = if directory.join("run.sqlite").is_file() {
        if !args.drives.is_empty() {
            return Err(Failure::usage_error("a run has its own drives; --drives is for a study"));
        }
        let run = Run::open(&directory).map_err(RunnerError::Open)?;
        failures_at(&run, &levels, terms)?.risk
    } else {
        of_study(args, terms)?
    };
    if as_json {
        print_json(&describe(&table))?;
    } else {
        print(&table.text())?;
    }
    Ok(DONE)
}

fn of_study(args: &RiskArgs, terms: RiskTerms) -> Result<RiskTable, Failure> {
    let caller = super::caller::caller()?;
    let _planning = signals::planning(&caller.interrupt)?;
    let found = find_study(&args.of)?;
    let directory = new_run_directory(&found.study.id);
    let options = RunOptions { drives: all_drives(&args.drives), ..RunOptions::default() };
    let plan = PlannedRun::new(found, &options, &directory, &caller)?.plan;
    Ok(RiskTable::of_study(&plan.preflight.stacks, &plan.campaign.study, terms))
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
            "rebuild": match stack.source {
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
