//! Two runs against each other: every form, what differs, hostile names.

use disklab_decision::ComparisonTerms;
use disklab_report::{Report, TwoRuns, VersusFormat};

use crate::markdown::check_tables;
use crate::{support, wellformed};

fn terms() -> ComparisonTerms {
    ComparisonTerms { margin: 0.05, unplanned: true, ..ComparisonTerms::default() }
}

fn compared(a: Report, b: Report) -> TwoRuns {
    let named = |name: &str, report| (name.to_owned(), report);
    TwoRuns::compare(named("old", a), named("<b>new|`", b), terms()).expect("in common")
}

/// The same run on another kernel, at another scale, with another disklab and seed.
fn changed() -> Report {
    let mut b = support::made(2, 2, "loop", 3);
    b.info.disklab = "9.9".to_owned();
    b.info.seed += 1;
    b.info.scale = 0.5;
    b.facts.kernels = vec!["Linux 9.9 <x>".to_owned()];
    if let Some(drive) = b.facts.drives.first_mut() {
        drive.write_cache = Some("write through".to_owned());
    }
    b
}

#[test]
fn differences_come_first_led_by_different_work() {
    let runs = compared(support::made(2, 2, "loop", 3), changed());
    assert!(runs.differences[0].other_work, "{:?}", runs.differences);
    let what: Vec<&str> = runs.differences.iter().map(|d| d.what.as_str()).collect();
    for wanted in ["scale of sizes", "seed", "disklab", "kernel"] {
        assert!(what.contains(&wanted), "{wanted} {what:?}");
    }
    assert!(what.iter().any(|w| w.starts_with("write cache of ")), "{what:?}");
    let text = runs.render(VersusFormat::Text);
    let (differs, headline) = (text.find("What differs"), text.find("B against A"));
    assert!(differs < headline && differs.is_some(), "{text}");
    assert!(text.contains("NOT THE SAME WORK: scale of sizes: 0.0625 -> 0.5"), "{text}");
}

#[test]
fn different_cache_handling_is_different_work() {
    let mut b = support::made(2, 2, "lab", 1);
    for workload in &mut b.study.workloads {
        workload.caches = disklab_cell::Caches::Keep;
    }
    let runs = compared(support::made(2, 2, "lab", 1), b);
    let first = &runs.differences[0];
    assert!(first.other_work && first.b.ends_with("caches = keep"), "{first:?}");
}

#[test]
fn equal_runs_are_identical() {
    let runs = compared(support::made(2, 2, "lab", 1), support::made(2, 2, "lab", 1));
    assert!(runs.differences.is_empty(), "{:?}", runs.differences);
    assert!(runs.versus.pairs.iter().all(|p| p.change.word() == "identical"));
    let text = runs.render(VersusFormat::Text);
    assert!(text.contains("Both are simulated,"), "{text}");
    assert!(text.contains("Nothing is slower."), "{text}");
}

#[test]
fn every_format_is_valid_with_any_names() {
    let runs = compared(support::made(2, 2, "loop", 3), changed());
    let page = runs.render(VersusFormat::Html);
    wellformed::check(&page);
    assert!(!page.contains("<b>new") && !page.contains("Linux 9.9 <x>"));
    let comment = runs.render(VersusFormat::Markdown);
    check_tables(&comment);
    assert!(comment.len() < 65_536 && comment.contains("<details>"), "{}", comment.len());
    assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
    assert!(!comment.contains("<b>new"), "{comment}");
    let all: serde_json::Value =
        serde_json::from_str(&runs.render(VersusFormat::Json)).expect("JSON");
    assert_eq!(all["differences"][0]["other_work"], true);
    let bmf: serde_json::Value =
        serde_json::from_str(&runs.render(VersusFormat::Bmf)).expect("JSON");
    let metrics = bmf
        .as_object()
        .expect("benchmarks")
        .values()
        .flat_map(|b| b.as_object().expect("measures").values().cloned().collect::<Vec<_>>());
    for metric in metrics {
        assert!(metric["value"].is_number(), "{metric}");
    }
}

#[test]
fn a_large_comparison_still_fits_a_comment() {
    let runs = compared(support::report("loop", 3), support::report("loop", 4));
    let comment = runs.render(VersusFormat::Markdown);
    assert!(comment.len() < 65_536, "a comment takes no {} bytes", comment.len());
}
