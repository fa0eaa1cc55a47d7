//! The rows that were published.

use std::sync::Arc;

use disklab_source::{Location, Source, SourceError, one_of};
use serde::Serialize;

/// What a row claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// An absolute figure.
    Value,
    /// Subject ÷ baseline.
    Ratio,
    /// The subject is above the baseline (+1), below it (−1) or equivalent to it (0).
    Order,
}

impl RowKind {
    /// Its words in the file.
    pub const WORDS: [(&'static str, Self); 3] =
        [("value", Self::Value), ("ratio", Self::Ratio), ("order", Self::Order)];

    /// Its word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Ratio => "ratio",
            Self::Order => "order",
        }
    }
}

/// One published figure or claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The study's id.
    pub study: String,
    /// Its own id within the study.
    pub id: String,
    /// What it claims.
    pub kind: RowKind,
    /// The stack that it is about.
    pub subject: String,
    /// The stack that it is compared with; absent for values.
    pub baseline: Option<String>,
    /// What its author ran.
    pub workload: String,
    /// What was measured: `throughput`, `iops`, `elapsed`, …
    pub metric: String,
    /// The unit of a value, as published; empty for ratios and orders.
    pub unit: String,
    /// The figure, the ratio, or the sign; absent where its author published that
    /// he could not measure it.
    pub value: Option<f64>,
    /// Lower end of the published range, where there is one.
    pub low: Option<f64>,
    /// Upper end of the published range, where there is one.
    pub high: Option<f64>,
    /// Whether the processor, not the disks, probably set the figure.
    pub cpu_bound: bool,
    /// What the transcriber noted on the row; may be empty.
    pub note: String,
}

impl Row {
    /// What its measured value is divided by: the published value; 1 for an order, of which it is
    /// subject ÷ baseline already. `None` if nothing was published.
    pub fn divisor(&self) -> Option<f64> {
        self.value.map(|value| if self.kind == RowKind::Order { 1.0 } else { value })
    }
}

/// The columns, in this order.
const COLUMNS: [&str; 13] = [
    "study",
    "id",
    "kind",
    "subject",
    "baseline",
    "workload",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "cpu_bound",
    "note",
];

/// Reads all rows.
///
/// # Errors
/// [`SourceError`] at the first row that lacks a column, is there twice, or has an invalid value.
pub(crate) fn rows(source: &Arc<Source>) -> Result<Vec<Row>, SourceError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(source.text.as_bytes());
    let mut rows: Vec<Row> = Vec::new();
    let mut record = csv::StringRecord::new();
    let mut is_first = true;
    loop {
        let start = clamp(source, reader.position().byte());
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(e) => return Err(place(source, start, start).error(format!("not valid CSV: {e}"))),
        }
        let here = place(source, start, clamp(source, reader.position().byte()));
        if std::mem::take(&mut is_first) {
            if record.iter().ne(COLUMNS) {
                return Err(here.error(format!("expected the columns {}", COLUMNS.join(","))));
            }
            continue;
        }
        let row = row(&record, &here)?;
        if rows.iter().any(|r| r.study == row.study && r.id == row.id) {
            return Err(here.error(format!("{} has a row '{}' already", row.study, row.id)));
        }
        rows.push(row);
    }
    if is_first {
        return Err(place(source, 0, 0).error("expected a table, found nothing"));
    }
    Ok(rows)
}

fn row(record: &csv::StringRecord, here: &Location) -> Result<Row, SourceError> {
    let fields: Vec<&str> = record.iter().collect();
    let Ok(fields) = <[&str; 13]>::try_from(fields) else {
        return Err(here.error(format!(
            "expected {} fields, found {}",
            COLUMNS.len(),
            record.len()
        )));
    };
    let [study, id, kind, subject, baseline, workload, metric, unit, value, low, high, cpu, note] =
        fields;
    let kind = choice(here, "kind", kind, &RowKind::WORDS)?;
    let cpu_bound = choice(here, "cpu_bound", cpu, &[("yes", true), ("no", false)])?;
    for (name, text) in [("study", study), ("id", id), ("subject", subject), ("workload", workload)]
    {
        if text.is_empty() {
            return Err(here.error(format!("`{name}` is empty")));
        }
    }
    if baseline.is_empty() != (kind == RowKind::Value) {
        return Err(here.error("ratios and orders need a baseline, and values have none"));
    }
    let value = number(here, "value", value, kind == RowKind::Order)?;
    match (kind, value) {
        (RowKind::Order, Some(sign)) if ![-1.0, 0.0, 1.0].contains(&sign) => {
            return Err(here.error(format!("an order is 1, 0 or -1, found {sign}")));
        }
        (RowKind::Order | RowKind::Ratio, None) => {
            return Err(here.error("only a value may be absent, where it could not be measured"));
        }
        _ => {}
    }
    Ok(Row {
        study: study.to_owned(),
        id: id.to_owned(),
        kind,
        subject: subject.to_owned(),
        baseline: (!baseline.is_empty()).then(|| baseline.to_owned()),
        workload: workload.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        value,
        low: number(here, "low", low, false)?,
        high: number(here, "high", high, false)?,
        cpu_bound,
        note: note.to_owned(),
    })
}

fn number(
    here: &Location,
    name: &str,
    text: &str,
    signed: bool,
) -> Result<Option<f64>, SourceError> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && (signed || *n > 0.0))
        .map(Some)
        .ok_or_else(|| here.error(format!("`{name}`: expected a number above 0, found '{text}'")))
}

fn choice<T: Copy>(
    here: &Location,
    name: &str,
    text: &str,
    choices: &[(&str, T)],
) -> Result<T, SourceError> {
    choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let known = choices.iter().map(|(word, _)| *word);
        here.error(format!("`{name}`: expected {}, found '{text}'", one_of(known)))
    })
}

/// An error at a position of the CSV reader, or at the beginning of the text.
pub(crate) fn line_error(
    source: &Arc<Source>,
    position: Option<&csv::Position>,
    message: String,
) -> SourceError {
    let at = position.map_or(0, |position| clamp(source, position.byte()));
    place(source, at, at).error(message)
}

/// A byte's position as one that a text of this length has, between two characters.
fn clamp(source: &Source, byte: u64) -> usize {
    let mut at = usize::try_from(byte).unwrap_or(usize::MAX).min(source.text.len());
    while !source.text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn place(source: &Arc<Source>, start: usize, end: usize) -> Location {
    Location { source: Arc::clone(source), span: start..end.max(start) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str =
        "study,id,kind,subject,baseline,workload,metric,unit,value,low,high,cpu_bound,note\n";

    fn read(text: &str) -> Result<Vec<Row>, SourceError> {
        rows(&Arc::new(Source { name: "x.csv".to_owned(), text: text.to_owned() }))
    }

    #[test]
    fn quoted_fields_hold_commas() {
        let text =
            format!("{HEAD}s,\"a[b,c]\",ratio,\"x[b,c]\",y,w,iops,,2.0,2.0,,no,\"more, than\"\n");
        let rows = read(&text).expect("valid");
        assert_eq!(rows[0].id, "a[b,c]");
        assert_eq!((rows[0].value, rows[0].low, rows[0].high), (Some(2.0), Some(2.0), None));
        assert_eq!(rows[0].note, "more, than");
    }

    #[test]
    fn mistakes_are_shown_with_their_line() {
        for (line, said) in [
            ("s,a,value,x,,w,iops,IOPS,many,,,no,", "`value`: expected a number above 0"),
            ("s,a,value,x,,w,iops,IOPS,-3,,,no,", "`value`: expected a number above 0"),
            ("s,a,order,x,y,w,iops,,2,,,no,", "an order is 1, 0 or -1"),
            ("s,a,order,x,y,w,iops,,,,,no,", "only a value may be absent"),
            ("s,a,ratio,x,,w,iops,,2,,,no,", "need a baseline"),
            ("s,a,value,x,y,w,iops,IOPS,2,,,no,", "values have none"),
            ("s,a,claim,x,y,w,iops,,2,,,no,", "`kind`: expected 'value', 'ratio' or 'order'"),
            ("s,a,value,x,,w,iops,IOPS,2,,,perhaps,", "`cpu_bound`: expected 'yes' or 'no'"),
            ("s,a,value,x,,w", "expected 13 fields, found 6"),
            (",a,value,x,,w,iops,IOPS,2,,,no,", "`study` is empty"),
        ] {
            let error = read(&format!("{HEAD}{line}\n")).expect_err(line).to_string();
            assert!(error.contains(said), "{line}: {error}");
            assert!(error.contains("x.csv:2"), "{error}");
        }
        let twice = format!("{HEAD}{0}{0}", "s,a,value,x,,w,iops,IOPS,2,,,no,\n");
        assert!(read(&twice).expect_err("twice").to_string().contains("already"));
        assert!(read("").is_err());
        assert!(read("a,b\n").expect_err("columns").to_string().contains("expected the columns"));
    }

    proptest! {
        #[test]
        fn any_text_gives_rows_or_an_error(text in "\\PC*", lines in "[a-z0-9,\"\n.\\-é]{0,200}") {
            for text in [text, lines.clone(), format!("{HEAD}{lines}")] {
                if let Err(error) = read(&text) {
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}
