//! For a comment on a pull request: the verdict and what is not as it was; the rest folded.

use std::fmt::Write as _;

use disklab_comparisons::Change;
use disklab_decision::Pair;

use super::two_runs::TwoRuns;
use crate::headings::{DIFFERENCES, NO_DIFFERENCE};
use crate::markdown::{MarkdownTable, escape};

/// So many rows stand open.
const OPEN: usize = 20;
/// At most this many rows: a comment on GitHub takes 65,536 characters.
const MOST: usize = 200;
/// Differences that stand open before they are folded.
const OPEN_DIFFERENCES: usize = 6;
/// A value of a difference is cut after so many characters.
const CUT: usize = 160;

/// The whole text.
pub(super) fn text(runs: &TwoRuns) -> String {
    let mut md = String::from("### disklab: B against A\n\n");
    let _ = writeln!(md, "**{}**\n", escape(&runs.versus.headline()));
    for (letter, name, about) in runs.runs() {
        let _ = writeln!(md, "- {letter}: {} ({})", escape(name), escape(&about));
    }
    md.push('\n');
    differences(&mut md, runs);
    for found in runs.severe() {
        let (audit, text) = (escape(found.audit), escape(&found.text()));
        let _ = writeln!(md, "- **Severe in {}**, *{audit}*: {text}", found.run);
    }
    if !runs.severe().is_empty() {
        md.push('\n');
    }
    let ranked = runs.versus.worst_first();
    let (listed, rest): (Vec<&Pair>, Vec<&Pair>) = ranked
        .into_iter()
        .partition(|p| !matches!(p.change, Change::Equivalent | Change::Identical));
    let (open, folded) = listed.split_at(listed.len().min(OPEN));
    table(&mut md, runs, open);
    fold(&mut md, runs, "more that is not the same", folded);
    fold(&mut md, runs, "that are the same or identical", &rest);
    notes(&mut md, runs);
    md
}

fn differences(md: &mut String, runs: &TwoRuns) {
    if runs.differences.is_empty() {
        let _ = writeln!(md, "{NO_DIFFERENCE}\n");
        return;
    }
    let line = |md: &mut String, d: &super::FigureDifference| {
        let work = if d.other_work { "**not the same work**: " } else { "" };
        let (a, b) = (cut(&d.a), cut(&d.b));
        let _ = writeln!(md, "- {work}{}: {} → {}", escape(&d.what), escape(&a), escape(&b));
    };
    let (open, folded) = runs.differences.split_at(runs.differences.len().min(OPEN_DIFFERENCES));
    let _ = writeln!(md, "{DIFFERENCES}:\n");
    open.iter().for_each(|d| line(md, d));
    md.push('\n');
    if !folded.is_empty() {
        let _ = writeln!(md, "<details><summary>{} more</summary>\n", folded.len());
        folded.iter().for_each(|d| line(md, d));
        md.push_str("\n</details>\n\n");
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= CUT {
        return text.to_owned();
    }
    text.chars().take(CUT).chain("…".chars()).collect()
}

fn table(md: &mut String, runs: &TwoRuns, pairs: &[&Pair]) {
    if pairs.is_empty() {
        return;
    }
    let head = ["figure", "A", "B", "B ÷ A", "verdict"].map(str::to_owned).to_vec();
    let row = |pair: &&Pair| {
        let [a, b] = pair.values();
        let verdict = pair.verdict(runs.versus.margin);
        let verdict = match pair.change {
            Change::Slower => format!("**{}**", escape(&verdict)),
            _ => escape(&verdict),
        };
        vec![
            format!("{}, {}", escape(&pair.stack), escape(&pair.noun)),
            escape(&a),
            escape(&b),
            escape(&pair.ratio_text()),
            verdict,
        ]
    };
    MarkdownTable { head, rows: pairs.iter().take(MOST).map(row).collect() }.write(md);
    if pairs.len() > MOST {
        let _ = writeln!(md, "And {} more.\n", pairs.len() - MOST);
    }
}

fn fold(md: &mut String, runs: &TwoRuns, what: &str, pairs: &[&Pair]) {
    if pairs.is_empty() {
        return;
    }
    let figures = if pairs.len() == 1 { "figure" } else { "figures" };
    let _ = writeln!(md, "<details><summary>{} {figures} {what}</summary>\n", pairs.len());
    table(md, runs, pairs);
    md.push_str("</details>\n\n");
}

fn notes(md: &mut String, runs: &TwoRuns) {
    let versus = &runs.versus;
    for missing in &versus.missing {
        let _ = writeln!(md, "- {}", escape(&missing.text()));
    }
    for sentence in versus.unmatched.sentences() {
        let _ = writeln!(md, "- {}", escape(&sentence));
    }
    for note in runs.notes() {
        let _ = writeln!(md, "- {}", escape(&note));
    }
}
