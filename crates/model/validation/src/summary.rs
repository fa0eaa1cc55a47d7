//! What the checks of all drives say together: the generated part of
//! `docs/generated/checks.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use disklab_drive::DriveFile;

use crate::page::{escape, row, show};
use crate::{CHECKS, CheckFigure, Checked, DriveColumns, Expected, Known, SourceKind, values};

/// A drive, the text of its file, and what came out of its checks.
#[derive(Debug, Clone, Copy)]
pub struct ValidatedDrive<'a> {
    /// As read, with what it inherits from a sibling.
    pub file: &'a DriveFile,
    /// Its file.
    pub text: &'a str,
    /// One entry per check that applies to it.
    pub checked: &'a [Checked],
}

/// Between these marks, what is written from the checks.
const BEGIN: &str =
    "<!-- All checks of all drives: written by the tests of disklab-validation. -->\n";
const END: &str = "<!-- The end of the checks. -->\n";

/// A text with the part between its marks renewed; `None` where it has no such marks.
pub fn with_summary(text: &str, drives: &[ValidatedDrive<'_>]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let parts = [models(drives), assumed(drives), checks(drives)].join("\n");
    Some(format!("{before}{BEGIN}\n{parts}\n{END}{after}"))
}

/// The models, how well each is known, and what it passed.
fn models(drives: &[ValidatedDrive<'_>]) -> String {
    let mut text = String::from(
        "## The models\n\nValues by the kind of their source, as [drive models](../reference/drives.md#where-the-parameters-come-from) \
         has the kinds; what a sibling gives counts as assumed. *Unusual* are figures outside what \
         drives usually do, which a right model may be.\n\n\
         | drive | stated | measured | recalled | assumed | checks passed | unusual |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sum = Known::default();
    for drive in drives {
        let known = Known::new(&values(drive.text));
        let figures = || drive.checked.iter().flat_map(|checked| &checked.outcome.figures);
        let binding = figures().filter(|figure| figure.is_binding()).count();
        let passed = figures().filter(|figure| figure.is_binding() && figure.is_met()).count();
        let unusual = figures().filter(|figure| !figure.is_binding() && !figure.is_met()).count();
        let _ = writeln!(
            text,
            "| [{}](../drives/{}.md) | {} | {} | {} | {} | {passed} of {binding} | {unusual} |",
            escape(&drive.file.name),
            drive.file.id,
            known.stated,
            known.measured,
            known.recalled,
            known.assumed,
        );
        sum.stated += known.stated;
        sum.measured += known.measured;
        sum.recalled += known.recalled;
        sum.assumed += known.assumed;
    }
    let _ = writeln!(
        text,
        "| all {} | {} | {} | {} | {} | | |",
        drives.len(),
        sum.stated,
        sum.measured,
        sum.recalled,
        sum.assumed
    );
    text
}

/// Which parameters are assumed, and of how many drives.
fn assumed(drives: &[ValidatedDrive<'_>]) -> String {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for value in drives.iter().flat_map(|drive| values(drive.text)) {
        let dot = if value.table.is_empty() { "" } else { "." };
        let count = counts.entry(format!("{}{dot}{}", value.table, value.name)).or_default();
        count.1 += 1;
        if matches!(value.kind(), Some(SourceKind::Assumed | SourceKind::Sibling) | None) {
            count.0 += 1;
        }
    }
    let mut text = String::from(
        "## What is still assumed\n\nEach with its reason in the drive's file, most with the range \
         that `disklab sensitivity` moves it in.\n\n| parameter | assumed of | drives |\n\
         |---|--:|--:|\n",
    );
    for (name, (assumed, all)) in counts.iter().filter(|(_, (assumed, _))| *assumed > 0) {
        let _ = writeln!(text, "| `{name}` | {assumed} | {all} |");
    }
    text
}

/// Each check with what it rests on, and its figures over all drives.
fn checks(drives: &[ValidatedDrive<'_>]) -> String {
    let mut text = String::from(
        "## The checks\n\nThe farthest is the drive whose figure uses most of its tolerance, or comes \
         nearest to its bound. Each drive's page has its own figures.\n",
    );
    for check in CHECKS {
        let _ = write!(text, "\n### {}\n\n{}\n\n", check.title, check.about);
        if let Some(columns) = check.by_drive {
            text.push_str(&by_drive(drives, check.id, columns));
            continue;
        }
        let mut by_name: Vec<(&str, Vec<(&str, &CheckFigure)>)> = Vec::new();
        for drive in drives {
            let own = drive.checked.iter().filter(|checked| checked.id == check.id);
            for figure in own.flat_map(|checked| &checked.outcome.figures) {
                let entry = (drive.file.id.as_str(), figure);
                match by_name.iter_mut().find(|(name, _)| *name == figure.name) {
                    Some((_, figures)) => figures.push(entry),
                    None => by_name.push((&figure.name, vec![entry])),
                }
            }
        }
        text.push_str("| figure | tolerance | passed | farthest | |\n|---|---|--:|--:|---|\n");
        for (name, figures) in by_name {
            text.push_str(&farthest(name, &figures));
        }
    }
    text
}

/// A row for each drive's figures of a check.
fn by_drive(drives: &[ValidatedDrive<'_>], check: &str, columns: DriveColumns) -> String {
    let mut text = format!(
        "| drive | {} | {} | difference | |\n|---|--:|--:|--:|---|\n",
        columns.model, columns.theory
    );
    for drive in drives {
        let own = drive.checked.iter().filter(|checked| checked.id == check);
        for figure in own.flat_map(|checked| &checked.outcome.figures) {
            let [_, model, theory, difference, word] = row(figure).map(|cell| escape(&cell));
            let name = escape(&drive.file.name);
            let id = &drive.file.id;
            let _ = writeln!(
                text,
                "| [{name}](../drives/{id}.md) | {model} | {theory} | {difference} | {word} |"
            );
        }
    }
    text
}

/// A row: a figure, what is allowed, of how many drives pass, and the drive that is nearest to
/// missing it.
fn farthest(name: &str, figures: &[(&str, &CheckFigure)]) -> String {
    let passed = figures.iter().filter(|(_, figure)| figure.is_met()).count();
    let worst = figures.iter().max_by(|a, b| strain(a.1).total_cmp(&strain(b.1)));
    let Some((id, figure)) = worst else { return String::new() };
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
    let (tolerance, model) = match figure.expected {
        Expected::Near { tolerance, .. } => {
            let percent = figure.difference().map_or(f64::NAN, |part| part * 100.0);
            // No minus before what is rounded to nothing.
            let percent = if percent.abs() < 0.005 { 0.0 } else { percent };
            (format!("{} %", show(tolerance * 100.0)), format!("{percent:+.2} %"))
        }
        Expected::AtMost { bound } => {
            (format!("at most {}{unit}", show(bound)), format!("{}{unit}", show(figure.model)))
        }
        Expected::Usual { low, high } => (
            format!("usually {} to {}{unit}", show(low), show(high)),
            format!("{}{unit}", show(figure.model)),
        ),
    };
    let name = escape(name);
    format!("| {name} | {tolerance} | {passed} of {} | {model} | `{id}` |\n", figures.len())
}

/// How near a figure is to missing what is expected: 1 at the bound, more beyond it.
fn strain(figure: &CheckFigure) -> f64 {
    match figure.expected {
        Expected::Near { value, tolerance } => {
            (figure.model - value).abs() / (tolerance * value.abs()).max(f64::MIN_POSITIVE)
        }
        // Bounds of nothing at all are kept or not.
        Expected::AtMost { bound } if bound > 0.0 => figure.model / bound,
        Expected::AtMost { bound } => figure.model - bound,
        Expected::Usual { low, high } => {
            let middle = f64::midpoint(low, high);
            (figure.model - middle).abs() / (high - middle).max(f64::MIN_POSITIVE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use disklab_drive::{SHIPPED, shipped};

    fn checked(model: f64) -> [Checked; 1] {
        let figures = vec![
            CheckFigure::near("turn", "ms", model, 10.0, 0.1),
            CheckFigure::at_most("falls", "", 0.0, 0.0),
            CheckFigure::usual("gain", "", model, (1.0, 3.0)),
        ];
        let outcome = Outcome { figures, charts: Vec::new() };
        [Checked { id: CHECKS[0].id, title: CHECKS[0].title, about: CHECKS[0].about, outcome }]
    }

    #[test]
    fn a_summary_counts_values_and_shows_the_farthest_drive() {
        let (id, text) = SHIPPED[0];
        let (first, second) = (shipped(id).unwrap(), shipped("md04aca400").unwrap());
        let (near, far) = (checked(10.1), checked(10.9));
        let drives = [
            ValidatedDrive { file: &first, text, checked: &near },
            ValidatedDrive { file: &second, text, checked: &far },
        ];
        let page = format!("above\n{BEGIN}old{END}below\n");
        let renewed = with_summary(&page, &drives).unwrap();
        assert!(renewed.starts_with("above\n") && renewed.ends_with("below\n"), "{renewed}");
        assert!(!renewed.contains("old\n"), "{renewed}");
        assert!(renewed.contains("| turn | 10 % | 2 of 2 | +9.00 % | `md04aca400` |"), "{renewed}");
        assert!(renewed.contains("| falls | at most 0 | 2 of 2 | 0 | "), "{renewed}");
        assert!(renewed.contains("| gain | usually 1 to 3 | 0 of 2 | 10.9 | "), "{renewed}");
        let known = Known::new(&values(text));
        assert!(renewed.contains(&format!("| {} | 2 of 2 | 1 |", known.assumed)), "{renewed}");
        assert!(renewed.contains("| `geometry.zones` | 2 | 2 |"), "{renewed}");
        assert!(!renewed.contains("| `geometry.rpm` |"), "{renewed}");
        assert_eq!(with_summary("no marks", &drives), None);
    }

    #[test]
    fn each_published_pass_has_a_row() {
        let scan = CHECKS.iter().find(|check| check.by_drive.is_some()).unwrap();
        let (id, text) = SHIPPED[0];
        let file = shipped(id).unwrap();
        let outcome = (scan.run)(&file.clone().without_spread()).unwrap();
        let (id, title, about) = (scan.id, scan.title, scan.about);
        let checked = [Checked { id, title, about, outcome }];
        let drives = [ValidatedDrive { file: &file, text, checked: &checked }];
        let rows = by_drive(&drives, scan.id, scan.by_drive.unwrap());
        assert!(rows.contains("(../drives/hdn721010ale604.md) | 1001 min | 1002 min |"), "{rows}");
    }
}
