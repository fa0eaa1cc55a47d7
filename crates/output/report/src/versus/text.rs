//! For a terminal.

use std::fmt::Write as _;

use disklab_comparisons::Change;
use disklab_decision::Pair;

use super::two_runs::TwoRuns;
use crate::headings::{DIFFERENCES, NO_DIFFERENCE};

/// The whole text.
pub(super) fn text(runs: &TwoRuns) -> String {
    let mut out = String::new();
    for (letter, name, about) in runs.runs() {
        let _ = writeln!(out, "{letter}: {} ({})", plain(name), plain(&about));
    }
    out.push('\n');
    differences(&mut out, runs);
    for note in runs.notes() {
        let _ = writeln!(out, "{note}");
    }
    out.push('\n');
    let _ = writeln!(out, "{}", runs.versus.headline());
    severe(&mut out, runs);
    questions(&mut out, runs);
    rest(&mut out, runs);
    out
}

fn differences(out: &mut String, runs: &TwoRuns) {
    if runs.differences.is_empty() {
        let _ = writeln!(out, "{NO_DIFFERENCE}");
        return;
    }
    let _ = writeln!(out, "{DIFFERENCES}:");
    for difference in &runs.differences {
        let work = if difference.other_work { "NOT THE SAME WORK: " } else { "" };
        let _ = writeln!(
            out,
            "  {work}{}: {} -> {}",
            plain(&difference.what),
            plain(&difference.a),
            plain(&difference.b)
        );
    }
}

fn severe(out: &mut String, runs: &TwoRuns) {
    for found in runs.severe() {
        let _ = writeln!(out, "Severe in {}, {}: {}", found.run, found.audit, plain(&found.text()));
    }
}

fn questions(out: &mut String, runs: &TwoRuns) {
    let mut listed: Vec<usize> = Vec::new();
    for pair in &runs.versus.pairs {
        if listed.contains(&pair.answer) {
            continue;
        }
        listed.push(pair.answer);
        let of_question: Vec<&Pair> =
            runs.versus.pairs.iter().filter(|p| p.answer == pair.answer).collect();
        let _ = writeln!(out, "\n{}", plain(&pair.question));
        let width = of_question.iter().map(|p| p.stack.chars().count()).max().unwrap_or(0);
        let mut noun = "";
        for pair in of_question {
            if pair.noun != noun {
                noun = &pair.noun;
                let _ = writeln!(out, "  {}", plain(noun));
            }
            let [a, b] = pair.values();
            let ratio = match pair.ratio {
                Some(_) => format!("; B/A {}", pair.ratio_text()),
                None => String::new(),
            };
            let _ = writeln!(
                out,
                "  {} {:width$}  {a} -> {b}{ratio}: {}",
                mark(&pair.change),
                plain(&pair.stack),
                pair.verdict(runs.versus.margin)
            );
        }
    }
}

/// One character that tells the changes apart in a column.
fn mark(change: &Change) -> char {
    match change {
        Change::Slower => '-',
        Change::Faster => '+',
        Change::Equivalent | Change::Identical => '=',
        Change::Inconclusive(_) => '?',
    }
}

fn rest(out: &mut String, runs: &TwoRuns) {
    let versus = &runs.versus;
    let missing = versus.missing.iter().map(disklab_decision::Missing::text);
    let all: Vec<String> = missing.chain(versus.unmatched.sentences()).collect();
    if !all.is_empty() {
        out.push('\n');
    }
    for sentence in all {
        let _ = writeln!(out, "{}", plain(&sentence));
    }
}

/// Without what would move a terminal's cursor or colour it.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || disklab_source::is_hidden(c) { ' ' } else { c })
        .collect()
}
