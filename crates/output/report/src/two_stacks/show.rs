//! Two stacks as text, Markdown and JSON.

use std::fmt::Write as _;

use disklab_comparisons::ComparisonOutcome;
use disklab_source::{printable, printable_json};
use disklab_units::Bytes;
use serde_json::json;

use super::{ComparedFigure, TwoStacks};
use crate::first_screen::{space, wrapped};
use crate::markdown::{MarkdownTable, escape as escaped};

impl TwoStacks {
    /// For a terminal of so many columns.
    pub fn text(&self, width: usize) -> String {
        let [a, b] = &self.stacks;
        let mut out = format!("{}\n{}\n\n", self.title, self.heading());
        for line in self.trade().iter().flat_map(|sentence| wrapped(sentence, width)) {
            let _ = writeln!(out, "{line}");
        }
        let label = [a, b].map(|stack| stack.label.chars().count()).into_iter().max().unwrap_or(0);
        let mut asked = "";
        for row in &self.rows {
            if row.ask != asked {
                asked = &row.ask;
                let _ = writeln!(out, "\n{asked}");
            }
            if !row.figure.is_empty() {
                let _ = writeln!(out, "  {}", row.figure);
            }
            for (stack, value) in [a, b].into_iter().zip(&row.values) {
                let _ = writeln!(out, "  {:label$}  {value}", stack.label);
            }
            let _ = writeln!(out, "  {} {}: {}", sign(row), row.ratio, word(row.outcome));
        }
        printable(&out).into_owned()
    }

    /// For a forum.
    pub fn markdown(&self) -> String {
        let mut md = format!("# {}\n\n{}\n\n", escaped(&self.heading()), escaped(&self.title));
        for sentence in self.trade() {
            let _ = writeln!(md, "- {}", escaped(&sentence));
        }
        md.push('\n');
        let [a, b] = &self.stacks;
        let head = ["", &a.label, &b.label, "ratio", &format!("{} is", a.label)];
        let row = |row: &ComparedFigure| {
            let asked = format!("{} {}", row.ask, row.figure);
            let [x, y] = &row.values;
            let cells = [asked.trim(), x, y, &row.ratio, word(row.outcome)];
            cells.map(escaped).to_vec()
        };
        let rows = self.rows.iter().map(row).collect();
        MarkdownTable { head: head.map(escaped).to_vec(), rows }.write(&mut md);
        printable(&md).into_owned()
    }

    /// For programs.
    pub fn json(&self) -> String {
        let stacks = self.stacks.each_ref().map(|stack| {
            json!({
                "id": stack.id,
                "label": stack.label,
                "usable_bytes": stack.usable,
                "drives": stack.survives.map(|(drives, _)| drives),
                "survives": stack.survives.map(|(_, most)| most),
            })
        });
        let figures: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "ask": row.ask,
                    "figure": row.figure,
                    "values": row.values,
                    "ratio": row.numbers.0,
                    "interval": row.numbers.1,
                    "outcome": word(row.outcome),
                })
            })
            .collect();
        let value = json!({ "title": self.title, "stacks": stacks, "figures": figures });
        printable_json(&format!("{value:#}\n")).into_owned()
    }

    pub(super) fn heading(&self) -> String {
        let [a, b] = &self.stacks;
        format!("{} against {}", a.label, b.label)
    }

    /// Space, drives that may fail, and how many figures are better and worse.
    pub(super) fn trade(&self) -> Vec<String> {
        let [a, b] = &self.stacks;
        let more = match (a.usable, b.usable) {
            (Some(x), Some(y)) if x > y => format!(" ({} more)", Bytes(x - y).si()),
            (Some(x), Some(y)) if x < y => format!(" ({} less)", Bytes(y - x).si()),
            _ => String::new(),
        };
        let mut sentences = vec![
            format!("Usable space: {} against {}{more}.", space(a.usable), space(b.usable)),
            format!("Drives that may fail: {} against {}.", a.losses(), b.losses()),
        ];
        let outcomes = [
            ComparisonOutcome::Better,
            ComparisonOutcome::Worse,
            ComparisonOutcome::Equivalent,
            ComparisonOutcome::Inconclusive,
            ComparisonOutcome::Once,
        ];
        let number = |outcome| self.rows.iter().filter(|row| row.outcome == outcome).count();
        let counted = outcomes.map(|outcome| (number(outcome), word(outcome)));
        let counted = counted.iter().filter(|(n, _)| *n > 0);
        let counted: Vec<String> = counted.map(|(n, word)| format!("{word} in {n}")).collect();
        sentences.push(match self.rows.len() {
            0 => "No figure of both was measured in the same repeat.".to_owned(),
            all => {
                let figures = disklab_units::count(all, "figure");
                format!("Of {figures}, {} is {}.", a.label, counted.join(", "))
            }
        });
        sentences
    }
}

pub(super) fn word(outcome: ComparisonOutcome) -> &'static str {
    match outcome {
        ComparisonOutcome::Better => "better",
        ComparisonOutcome::Worse => "worse",
        ComparisonOutcome::Equivalent => "equivalent",
        ComparisonOutcome::Inconclusive => "inconclusive",
        ComparisonOutcome::Once => "measured once",
    }
}

/// One character that tells the outcomes apart in a column.
pub(super) fn sign(row: &ComparedFigure) -> char {
    match row.outcome {
        ComparisonOutcome::Better => '+',
        ComparisonOutcome::Worse => '-',
        ComparisonOutcome::Equivalent => '=',
        ComparisonOutcome::Inconclusive | ComparisonOutcome::Once => '?',
    }
}
