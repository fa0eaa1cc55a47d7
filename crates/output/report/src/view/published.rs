//! Published and measured results, as text.

use disklab_comparisons::range;
use disklab_published::{JudgedRow, RowComparison, RowKind, RowStatus, RowTally};
use disklab_units::significant;

use crate::view::count;

/// The rule of judging, for readers.
pub(crate) const RULE: &str = "A value is reproduced within ±15 % of the published one, a ratio \
     within ±25 %, or either within the published range; an order by its sign, where 'equal' \
     means within ±10 %. Rows that were probably CPU-bound, and rows without a published value, \
     are shown and not counted.";

/// A row's subject, over its baseline where it has one.
pub(crate) fn subject(judged: &JudgedRow) -> String {
    match &judged.row.baseline {
        Some(baseline) => format!("{} ÷ {baseline}", judged.row.subject),
        None => judged.row.subject.clone(),
    }
}

/// What was published: `180 kB/s`, `0.111×`, `above`, `equal`.
pub(crate) fn published(judged: &JudgedRow) -> String {
    let row = &judged.row;
    let Some(value) = row.value else { return "not measurable".to_owned() };
    match row.kind {
        RowKind::Value => format!("{} {}", figure(value), judged.read_unit),
        RowKind::Ratio => match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{}× ({})", figure(value), range(low, high)),
            (Some(_), None) => format!("over {}×", figure(value)),
            _ => format!("{}×", figure(value)),
        },
        RowKind::Order if value > 0.0 => "above".to_owned(),
        RowKind::Order if value < 0.0 => "below".to_owned(),
        RowKind::Order => "equal".to_owned(),
    }
}

/// The measured value, with its interval or 'once'; a dash if there is none.
pub(crate) fn measured(judged: &JudgedRow) -> String {
    let Some(measured) = judged.measured else { return "–".to_owned() };
    let (factor, unit) = match judged.row.kind {
        // 0.00000691 s is hard to read.
        RowKind::Value if judged.read_unit == "s" && measured.centre < 1e-3 => {
            (1e6, " µs".to_owned())
        }
        RowKind::Value => (1.0, format!(" {}", judged.read_unit)),
        RowKind::Ratio | RowKind::Order => (1.0, "×".to_owned()),
    };
    let interval = match measured.interval {
        Some((low, high)) if low == high => "all equal".to_owned(),
        Some(_) if !measured.has_telling_interval() => {
            format!("{} repeats, no interval", measured.n)
        }
        Some((low, high)) => range(low * factor, high * factor),
        None => "once".to_owned(),
    };
    format!("{}{unit} ({interval})", figure(measured.centre * factor))
}

/// Measured ÷ published; a dash for orders, which have no figure to divide by.
pub(crate) fn quotient(judged: &JudgedRow) -> String {
    match judged.measured_to_published() {
        Some(quotient) => figure(quotient),
        None => "–".to_owned(),
    }
}

/// A row's status, as text.
pub(crate) fn status(judged: &JudgedRow) -> String {
    let uncertain = if judged.is_certain == Some(false) { ", inconclusive" } else { "" };
    let counted = if judged.counts || judged.row.value.is_none() { "" } else { ", not counted" };
    format!("{}{uncertain}{counted}", status_word(judged.status))
}

pub(crate) fn status_word(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Reproduced => "reproduced",
        RowStatus::NotReproduced => "not reproduced",
        RowStatus::NotRun => "not run",
        RowStatus::NothingPublished => "nothing published",
    }
}

/// Why a row has its status, as far as that is known: why there is no figure, or why it is
/// not reproduced, with the evidence.
pub(crate) fn why(judged: &JudgedRow) -> Option<String> {
    let miss = (judged.status == RowStatus::NotReproduced).then(|| match &judged.finding {
        Some(finding) => format!("{} Evidence: {}", finding.why, finding.evidence),
        None => without_finding(judged).to_owned(),
    });
    let suspicion = (judged.is_certain == Some(false))
        .then(|| "The interval crosses the tolerance; more repeats may decide.".to_owned());
    let parts: Vec<String> =
        judged.measured_note.clone().into_iter().chain(suspicion).chain(miss).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// What is said of a row that is not reproduced if no finding explains it.
pub(crate) fn without_finding(judged: &JudgedRow) -> &'static str {
    if judged.counts { "Not explained yet." } else { "CPU-bound." }
}

/// The counts in a sentence.
pub(crate) fn tally(tally: &RowTally) -> String {
    let share = tally.share_met().map_or_else(String::new, |s| format!(" ({:.0} %)", s * 100.0));
    let mut text = format!(
        "{} published, {} counted: {} reproduced{share}, {} not reproduced, {} not run.",
        count(tally.rows, "row"),
        tally.countable,
        tally.reproduced,
        tally.not_reproduced,
        tally.not_run
    );
    if tally.uncertain > 0 {
        text.push_str(&format!(" {} of these are inconclusive.", tally.uncertain));
    }
    if tally.unexplained > 0 {
        text.push_str(&format!(
            " {} of those not reproduced are not explained yet.",
            tally.unexplained
        ));
    }
    if tally.cpu_bound > 0 {
        text.push_str(&format!(
            " {} are CPU-bound and not counted ({} reproduced, {} not reproduced).",
            tally.cpu_bound, tally.cpu_bound_reproduced, tally.cpu_bound_not_reproduced
        ));
    }
    if tally.without_value > 0 {
        text.push_str(&format!(" {} have no published value.", tally.without_value));
    }
    text
}

/// What applies to the whole comparison.
pub(crate) fn notes(comparison: &RowComparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.processor_charged {
        notes.push(
            "This run charged for CPU time, so the CPU-bound rows can be read; they are still not \
             counted."
                .to_owned(),
        );
    }
    if !comparison.changed_drives.is_empty() {
        notes.push(format!(
            "Drive models were changed ({}): these are not results of the shipped models.",
            comparison.changed_drives.join("; ")
        ));
    }
    if comparison.scale != 1.0 {
        notes.push(format!(
            "Sizes were scaled by {}: this is not the work that the authors measured.",
            significant(comparison.scale, 3)
        ));
    }
    notes
}

fn figure(value: f64) -> String {
    significant(value, 3)
}
