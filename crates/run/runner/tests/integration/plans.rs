//! Studies compiled into the plans of their cells, and plans of strangers.

use std::sync::LazyLock;

use disklab_cell::CellPlan;
use disklab_runner::{
    PlannedRun, RunEstimate, RunOptions, SHIPPED_STUDIES, check_cell, find_study,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::in_a_directory::caller;

/// All plans of the first block of a shipped study in the lab.
fn plans(study: &str) -> Vec<CellPlan> {
    let state = tempfile::tempdir().expect("temp");
    let caller = caller(state.path());
    let found = find_study(study).unwrap_or_else(|e| panic!("{study}: {e}"));
    let options = RunOptions { seed: Some(7), repeats: Some(1), ..RunOptions::default() };
    let planned = PlannedRun::new(found, &options, &state.path().join("out"), &caller);
    let plan = planned.unwrap_or_else(|e| panic!("{study}: {e}")).plan;
    let compiled: Result<Vec<CellPlan>, _> =
        RunEstimate::new(&plan).compiled(&plan.cells).collect();
    let compiled = compiled.unwrap_or_else(|e| panic!("{study}: {e}"));
    assert!(compiled.iter().all(|plan| plan.estimate.seconds > 0.0), "{study}: unknown costs");
    // Identity, order and seeds are those of the run.
    let cells: Vec<_> = compiled.iter().map(|plan| plan.cell.clone()).collect();
    assert_eq!(cells, plan.cells, "{study}");
    compiled
}

#[test]
fn every_shipped_study_compiles_to_plans_that_are_read_back() {
    let in_the_lab = SHIPPED_STUDIES.iter().filter(|(id, _)| *id != "share");
    for (id, _) in in_the_lab {
        let plans = plans(id);
        assert!(!plans.is_empty(), "{id}");
        for plan in plans {
            let json = serde_json::to_string(&plan).expect("JSON");
            let back = CellPlan::parse(&json).unwrap_or_else(|e| panic!("{id}: {e}"));
            // But for the places in the study's file, which errors show.
            assert_eq!(serde_json::to_string(&back).expect("JSON"), json, "{id}");
            assert_eq!(back.digest(), plan.digest(), "{id}");
            check_cell(&back).unwrap_or_else(|e| panic!("{id}: {:?}: {e}", plan.cell));
        }
    }
}

static PLAN: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(&plans("first-look")[0]).expect("JSON"));

/// The places of all values in a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().zip(0..).for_each(|(item, n): (_, usize)| {
                places(item, &format!("{at}/{n}"), found);
            });
        }
        Value::Object(entries) => {
            entries.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        "\\PC{0,24}".prop_map(|text| json!(text)),
        "[a-z0-9./\\[\\],='-]{0,24}".prop_map(|text| json!(text)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("a".repeat(100_000))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever stands anywhere in it: it is understood or refused.
    #[test]
    fn a_plan_with_any_value_is_understood_or_refused(place: prop::sample::Index, value in any_value()) {
        let mut plan = PLAN.clone();
        let mut all = Vec::new();
        places(&plan, "", &mut all);
        let place: &String = place.get(&all);
        if let Some(at) = plan.pointer_mut(place) {
            *at = value;
        }
        if let Ok(plan) = CellPlan::parse(&plan.to_string()) {
            let _ = check_cell(&plan);
        }
    }

    #[test]
    fn any_text_is_a_plan_or_not(text in "\\PC{0,80}") {
        prop_assert!(CellPlan::parse(&text).is_err());
    }
}
