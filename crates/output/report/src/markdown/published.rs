//! Published and measured results.

use std::fmt::Write as _;

use disklab_published::{FindingCause, JudgedRow, RowComparison, RowStatus, RowTally};
use indexmap::IndexMap;

use crate::headings::PUBLISHED;
use crate::markdown::escape::text as escape;
use crate::markdown::table::MarkdownTable;
use crate::view::published::{
    RULE, measured, notes, published, quotient, status, subject, tally, why,
};

/// Several studies compared with what was published about them, in Markdown: the counts
/// of each and of all, then each study's rows and why some are not reproduced.
pub fn published_text(comparisons: &[RowComparison]) -> String {
    let mut md = format!("{RULE}\n\n");
    if comparisons.len() > 1 {
        summary(&mut md, comparisons, escape);
    }
    for comparison in comparisons {
        write(&mut md, comparison, "##");
    }
    md
}

/// The counts of each study and of all; `name` makes a study's first cell.
pub(super) fn summary(
    md: &mut String,
    comparisons: &[RowComparison],
    name: impl Fn(&str) -> String,
) {
    let head = [
        "study",
        "rows",
        "counted",
        "reproduced",
        "not reproduced",
        "not run",
        "reproduced of counted",
        "inconclusive",
        "CPU-bound, not counted (reproduced)",
        "without a published value",
        "why not",
    ];
    let mut table = MarkdownTable { head: head.map(str::to_owned).to_vec(), rows: Vec::new() };
    let mut all = RowTally::default();
    for comparison in comparisons {
        let (tally, rows) = (comparison.tally, comparison.rows.iter());
        table.rows.push(line(&name(&comparison.study), tally, rows));
        all = all.plus(tally);
    }
    let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    table.rows.push(line("all", all, rows));
    table.write(md);
}

fn line<'a>(name: &str, t: RowTally, rows: impl Iterator<Item = &'a JudgedRow>) -> Vec<String> {
    let share = t.share_met().map_or_else(|| "–".to_owned(), |s| format!("{:.0} %", s * 100.0));
    vec![
        name.to_owned(),
        t.rows.to_string(),
        t.countable.to_string(),
        t.reproduced.to_string(),
        t.not_reproduced.to_string(),
        t.not_run.to_string(),
        share,
        t.uncertain.to_string(),
        format!("{} ({})", t.cpu_bound, t.cpu_bound_reproduced),
        t.without_value.to_string(),
        causes(rows),
    ]
}

/// How many of the counted rows are not reproduced by each cause.
fn causes<'a>(rows: impl Iterator<Item = &'a JudgedRow>) -> String {
    let not_reproduced =
        rows.filter(|judged| judged.counts && judged.status == RowStatus::NotReproduced);
    let found: Vec<FindingCause> = not_reproduced
        .map(|judged| {
            judged.finding.as_ref().map_or(FindingCause::Unexplained, |finding| finding.cause)
        })
        .collect();
    let counts = FindingCause::ALL
        .into_iter()
        .map(|(cause, _, label)| (found.iter().filter(|found| **found == cause).count(), label));
    let counts = counts.filter(|(n, _)| *n > 0).map(|(n, label)| format!("{label}: {n}"));
    counts.collect::<Vec<_>>().join("; ")
}

/// One study: its counts, its rows, and why some are not reproduced or have no figure.
pub(super) fn write(md: &mut String, comparison: &RowComparison, heading: &str) {
    let study = escape(&comparison.study);
    let _ = write!(md, "{heading} {PUBLISHED}: {study}\n\n");
    rows(md, comparison);
    reasons(md, comparison);
}

/// The counts and the rows.
pub(super) fn rows(md: &mut String, comparison: &RowComparison) {
    let _ = write!(md, "{}\n\n", escape(&tally(&comparison.tally)));
    for note in notes(comparison) {
        let _ = write!(md, "{}\n\n", escape(&note));
    }
    for (workload, rows) in by_workload(comparison) {
        let _ = write!(md, "**{}**\n\n", escape(workload));
        let head = ["stack", "published", "measured", "measured ÷ published", "", "row"];
        let mut table = MarkdownTable { head: head.map(str::to_owned).to_vec(), rows: Vec::new() };
        for judged in &rows {
            table.rows.push(vec![
                escape(&subject(judged)),
                escape(&published(judged)),
                escape(&measured(judged)),
                quotient(judged),
                format!("{} {}", mark(judged), status(judged)).trim().to_owned(),
                escape(&judged.row.id),
            ]);
        }
        table.write(md);
    }
}

/// The rows of each workload and metric, in the order of the file.
fn by_workload(comparison: &RowComparison) -> IndexMap<&str, Vec<&JudgedRow>> {
    let mut groups: IndexMap<&str, Vec<&JudgedRow>> = IndexMap::new();
    for judged in &comparison.rows {
        groups.entry(&judged.row.workload).or_default().push(judged);
    }
    groups
}

/// Why rows are not reproduced or have no figure: each reason once, with its rows.
fn reasons(md: &mut String, comparison: &RowComparison) {
    let reasons = grouped(comparison, why);
    if reasons.is_empty() {
        return;
    }
    md.push_str("**Why**\n\n");
    for (why, rows) in &reasons {
        let _ = writeln!(md, "- {}: {}", ids(rows), escape(why));
    }
    md.push('\n');
}

/// Rows that have something in common, in the order in which that first occurs.
pub(super) fn grouped<K: std::hash::Hash + Eq>(
    comparison: &RowComparison,
    key: impl Fn(&JudgedRow) -> Option<K>,
) -> IndexMap<K, Vec<&JudgedRow>> {
    let mut groups: IndexMap<K, Vec<&JudgedRow>> = IndexMap::new();
    for judged in &comparison.rows {
        if let Some(key) = key(judged) {
            groups.entry(key).or_default().push(judged);
        }
    }
    groups
}

pub(super) fn ids(rows: &[&JudgedRow]) -> String {
    rows.iter().map(|judged| escape(&judged.row.id)).collect::<Vec<_>>().join(", ")
}

/// A mark that is seen in a column of words.
fn mark(judged: &JudgedRow) -> &'static str {
    match judged.status {
        RowStatus::Reproduced => "✓",
        RowStatus::NotReproduced => "✗",
        RowStatus::NotRun | RowStatus::NothingPublished => "",
    }
}
