//! Two stacks as text, Markdown and JSON.

use std::fmt::Write as _;

use disklab_comparisons::ComparisonOutcome;
use disklab_source::{printable, printable_json};
use disklab_units::{Bytes, count};
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
        let mut sentences = Vec::new();
        // Of an import, neither is known.
        if a.usable.or(b.usable).is_some() {
            let spaces = [a.usable, b.usable].map(space);
            sentences.push(format!("Usable space: {} against {}{more}.", spaces[0], spaces[1]));
        }
        if a.survives.or(b.survives).is_some() {
            sentences.push(format!("Drives that may fail: {} against {}.", a.losses(), b.losses()));
        }
        sentences.push(self.counted(&a.label));
        sentences
    }

    /// 'Of 17 figures, RAID 5 is better in 3, worse in 3, inconclusive in 11.'
    fn counted(&self, first: &str) -> String {
        let outcomes = [
            ComparisonOutcome::Better,
            ComparisonOutcome::Worse,
            ComparisonOutcome::Equivalent,
            ComparisonOutcome::Inconclusive,
        ];
        let number = |outcome| self.rows.iter().filter(|row| row.outcome == outcome).count();
        let counted = outcomes.map(|outcome| (number(outcome), word(outcome)));
        let counted = counted.iter().filter(|(n, _)| *n > 0);
        let counted: Vec<String> = counted.map(|(n, word)| format!("{word} in {n}")).collect();
        let (all, once) = (self.rows.len(), number(ComparisonOutcome::Once));
        let figures = count(all, "figure");
        match (all, once) {
            (0, _) => "No figure of both was measured in the same repeat.".to_owned(),
            (_, 0) => format!("Of {figures}, {first} is {}.", counted.join(", ")),
            _ if once == all => format!("Measured once, which decides nothing: {figures}."),
            _ => format!("Of {figures}, {first} is {}; {once} measured once.", counted.join(", ")),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::two_stacks::ComparedStack;

    fn row(outcome: ComparisonOutcome) -> ComparedFigure {
        ComparedFigure {
            ask: String::new(),
            figure: String::new(),
            values: [String::new(), String::new()],
            ratio: String::new(),
            numbers: (1.0, None),
            outcome,
        }
    }

    fn stack(usable: Option<u64>, survives: Option<(usize, u32)>) -> ComparedStack {
        ComparedStack { id: "x".to_owned(), label: "x".to_owned(), usable, survives }
    }

    fn trade(stacks: [ComparedStack; 2], outcomes: &[ComparisonOutcome]) -> Vec<String> {
        let rows = outcomes.iter().map(|outcome| row(*outcome)).collect();
        TwoStacks { title: String::new(), stacks, rows }.trade()
    }

    #[test]
    fn what_is_not_known_of_either_is_left_out() {
        use ComparisonOutcome::{Better, Once};
        let unknown = || [stack(None, None), stack(None, None)];
        assert_eq!(trade(unknown(), &[Better]), ["Of 1 figure, x is better in 1."]);
        let once = trade(unknown(), &[Once, Once]);
        assert_eq!(once, ["Measured once, which decides nothing: 2 figures."]);
        let both = trade(unknown(), &[Better, Once]);
        assert_eq!(both, ["Of 2 figures, x is better in 1; 1 measured once."]);
        let known = [stack(Some(3_000_000), Some((4, 1))), stack(Some(1_000_000), None)];
        assert_eq!(
            trade(known, &[Better])[..2],
            [
                "Usable space: 3 MB against 1 MB (2 MB more).",
                "Drives that may fail: any 1 of 4 against not known.",
            ]
        );
    }
}
