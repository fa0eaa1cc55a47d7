//! What was published, beside ours.

use std::fmt::Write as _;

use disklab_published::{Comparison, JudgedRow, RowStatus, Tally};
use indexmap::IndexMap;

use crate::markdown::escape::text as escape;
use crate::markdown::table::Table;
use crate::view::published::{
    RULE, measured, notes, published, quotient, status, subject, tally, why,
};

/// Several studies held against what was published about them, in Markdown: the counts
/// of each and of all, then each study's rows and why some are missed.
pub fn published_text(comparisons: &[Comparison]) -> String {
    let mut md = format!("{RULE}\n\n");
    if comparisons.len() > 1 {
        summary(&mut md, comparisons);
    }
    for comparison in comparisons {
        write(&mut md, comparison, "##");
    }
    md
}

fn summary(md: &mut String, comparisons: &[Comparison]) {
    let head = [
        "study",
        "rows",
        "countable",
        "met",
        "missed",
        "not run",
        "met of countable",
        "not certain",
        "not explained",
        "bound by the processor (met)",
        "without a value",
    ];
    let line = |name: &str, t: Tally| {
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
            t.unexplained.to_string(),
            format!("{} ({})", t.cpu_bound, t.cpu_bound_reproduced),
            t.without_value.to_string(),
        ]
    };
    let mut table = Table { head: head.map(str::to_owned).to_vec(), rows: Vec::new() };
    let mut all = Tally::default();
    for comparison in comparisons {
        table.rows.push(line(&escape(&comparison.study), comparison.tally));
        all = all.plus(comparison.tally);
    }
    table.rows.push(line("all", all));
    table.write(md);
}

/// One study: its counts, its rows, and why some are missed or have no figure.
pub(super) fn write(md: &mut String, comparison: &Comparison, heading: &str) {
    let _ = write!(md, "{heading} Published, beside ours: {}\n\n", escape(&comparison.study));
    let _ = write!(md, "{}\n\n", escape(&tally(&comparison.tally)));
    for note in notes(comparison) {
        let _ = write!(md, "{}\n\n", escape(&note));
    }
    for (workload, rows) in by_workload(comparison) {
        let _ = write!(md, "**{}**\n\n", escape(workload));
        let head = ["stack", "published", "ours", "ours ÷ published", "", "row"];
        let mut table = Table { head: head.map(str::to_owned).to_vec(), rows: Vec::new() };
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
    reasons(md, comparison);
}

/// The rows of each workload and metric, in the order of the file.
fn by_workload(comparison: &Comparison) -> IndexMap<&str, Vec<&JudgedRow>> {
    let mut groups: IndexMap<&str, Vec<&JudgedRow>> = IndexMap::new();
    for judged in &comparison.rows {
        groups.entry(&judged.row.workload).or_default().push(judged);
    }
    groups
}

/// Why rows are missed or have no figure: each reason once, with its rows.
fn reasons(md: &mut String, comparison: &Comparison) {
    let mut reasons: IndexMap<String, Vec<&JudgedRow>> = IndexMap::new();
    for judged in &comparison.rows {
        if let Some(why) = why(judged) {
            reasons.entry(why).or_default().push(judged);
        }
    }
    if reasons.is_empty() {
        return;
    }
    md.push_str("**Why**\n\n");
    for (why, rows) in &reasons {
        let names: Vec<String> = rows.iter().map(|j| escape(&j.row.id)).collect();
        let _ = writeln!(md, "- {}: {}", names.join(", "), escape(why));
    }
    md.push('\n');
}

/// A mark that is seen in a column of words.
fn mark(judged: &JudgedRow) -> &'static str {
    match judged.status {
        RowStatus::Reproduced => "✓",
        RowStatus::NotReproduced => "✗",
        RowStatus::NotRun | RowStatus::NothingPublished => "",
    }
}
