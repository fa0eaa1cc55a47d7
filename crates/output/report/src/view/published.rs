//! What was published beside ours, in words.

use disklab_published::{Comparison, JudgedRow, Kind, RowStatus, Tally};
use disklab_units::significant;

use crate::quantity::range;
use crate::view::count;

/// The rule of judging, for readers.
pub(crate) const RULE: &str = "A figure is met within ±15 % of the published one, a ratio \
     within ±25 %, or either within the range that was published; an order by its sign, where \
     'level' means within ±10 %. Rows that the processor probably set, and rows without a \
     published value, are shown and not counted.";

/// A row's subject, over its baseline where it has one.
pub(crate) fn subject(judged: &JudgedRow) -> String {
    match &judged.row.baseline {
        Some(baseline) => format!("{} ÷ {baseline}", judged.row.subject),
        None => judged.row.subject.clone(),
    }
}

/// What was published: `180 kB/s`, `0.111×`, `above`, `level`.
pub(crate) fn published(judged: &JudgedRow) -> String {
    let row = &judged.row;
    let Some(value) = row.value else { return "not measurable".to_owned() };
    match row.kind {
        Kind::Value => format!("{} {}", figure(value), judged.read_unit),
        Kind::Ratio => match (row.low, row.high) {
            (Some(low), Some(high)) => format!("{}× ({})", figure(value), range(low, high)),
            (Some(_), None) => format!("over {}×", figure(value)),
            _ => format!("{}×", figure(value)),
        },
        Kind::Order if value > 0.0 => "above".to_owned(),
        Kind::Order if value < 0.0 => "below".to_owned(),
        Kind::Order => "level".to_owned(),
    }
}

/// Ours, with its interval or 'once'; a dash where there is none.
pub(crate) fn measured(judged: &JudgedRow) -> String {
    let Some(measured) = judged.measured else { return "–".to_owned() };
    let unit = match judged.row.kind {
        Kind::Value => format!(" {}", judged.read_unit),
        Kind::Ratio | Kind::Order => "×".to_owned(),
    };
    let interval = match measured.interval {
        Some((low, high)) if low == high => "all equal".to_owned(),
        Some((low, high)) => range(low, high),
        None => "once".to_owned(),
    };
    format!("{}{unit} ({interval})", figure(measured.centre))
}

/// Ours ÷ published; a dash for orders, which have no figure to divide by.
pub(crate) fn quotient(judged: &JudgedRow) -> String {
    match judged.quotient.filter(|_| judged.row.kind != Kind::Order) {
        Some(quotient) => figure(quotient),
        None => "–".to_owned(),
    }
}

/// Where it stands, in words.
pub(crate) fn status(judged: &JudgedRow) -> String {
    let uncertain = if judged.is_certain == Some(false) { ", not certain" } else { "" };
    let counted = if judged.counts || judged.row.value.is_none() { "" } else { ", not counted" };
    format!("{}{uncertain}{counted}", status_word(judged.status))
}

/// The word for a standing.
pub(crate) fn status_word(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Reproduced => "met",
        RowStatus::NotReproduced => "missed",
        RowStatus::NotRun => "not run",
        RowStatus::NothingPublished => "nothing published",
    }
}

/// Why a row stands where it does, as far as that is known: why there is no figure, or
/// why it is missed, with the evidence.
pub(crate) fn why(judged: &JudgedRow) -> Option<String> {
    let miss = (judged.status == RowStatus::NotReproduced).then(|| match &judged.finding {
        Some(finding) => format!("{} Evidence: {}", finding.why, finding.evidence),
        None if judged.counts => "Not explained yet.".to_owned(),
        None => "Bound by the processor.".to_owned(),
    });
    let suspicion = (judged.is_certain == Some(false))
        .then(|| "The interval reaches over the border: repeats would tell.".to_owned());
    let parts: Vec<String> = judged.note.clone().into_iter().chain(suspicion).chain(miss).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The counts in a sentence.
pub(crate) fn tally(tally: &Tally) -> String {
    let share = tally.share_met().map_or_else(String::new, |s| format!(" ({:.0} %)", s * 100.0));
    let mut text = format!(
        "{} published, {} countable: {} met{share}, {} missed, {} not run.",
        count(tally.rows, "row"),
        tally.countable,
        tally.reproduced,
        tally.not_reproduced,
        tally.not_run
    );
    if tally.uncertain > 0 {
        text.push_str(&format!(" {} of these are not certain.", tally.uncertain));
    }
    if tally.unexplained > 0 {
        text.push_str(&format!(" {} of the misses are not explained yet.", tally.unexplained));
    }
    if tally.cpu_bound > 0 {
        text.push_str(&format!(
            " {} are bound by the processor and not counted ({} met, {} missed).",
            tally.cpu_bound, tally.cpu_bound_reproduced, tally.cpu_bound_not_reproduced
        ));
    }
    if tally.without_value > 0 {
        text.push_str(&format!(" {} have no published value.", tally.without_value));
    }
    text
}

/// What a reader must know of the whole comparison.
pub(crate) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.processor_charged {
        notes.push(
            "This run charged for the processor's work, so the rows that the processor set can be \
             read; they are still not counted."
                .to_owned(),
        );
    }
    if !comparison.changed_drives.is_empty() {
        notes.push(format!(
            "Drive models were changed ({}): the figures are not those of the shipped models.",
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
