//! Comparisons as a table of rows (CSV) that is committed, and back.
//!
//! `docs/generated/published/rows.csv` has the rows of the last runs of the five studies; the
//! pages of docs/validation are made from it, so that they change without running the studies.

use std::collections::HashMap;
use std::sync::Arc;

use disklab_source::{Source, SourceError, csv_cell, text_of_csv_cell};
use disklab_units::significant;
use serde::{Deserialize, Serialize};

use crate::row::line_error;
use crate::{
    AcceptedBand, Catalogue, JudgedRow, MeasuredValue, Row, RowComparison, RowStatus, RowTally,
};

/// More digits than a page shows, so that a figure is rounded once.
const DIGITS: usize = 6;

/// A line of the table. The first eight columns repeat what was published, for readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    study: String,
    row: String,
    subject: String,
    baseline: Option<String>,
    workload: String,
    metric: String,
    unit: String,
    published: Option<f64>,
    measured: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    blocks: Option<usize>,
    measured_to_published: Option<f64>,
    status: RowStatus,
    is_certain: Option<bool>,
    counted: bool,
    measured_note: Option<String>,
    processor_charged: bool,
    scale: f64,
    drive_settings: String,
}

/// The rows of several studies as CSV, with a header.
pub fn rows_csv(comparisons: &[RowComparison]) -> String {
    // Writing to memory fails for no record of this shape.
    let mut writer = csv::Writer::from_writer(Vec::new());
    for comparison in comparisons {
        for judged in &comparison.rows {
            let _ = writer.serialize(record(comparison, judged));
        }
    }
    let plain = writer.into_inner().unwrap_or_default();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(plain.as_slice());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in reader.records().map_while(Result::ok) {
        let _ = writer.write_record(record.iter().map(csv_cell).map(|cell| cell.into_owned()));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Reads what [`rows_csv`] wrote. Each study in it has all the catalogue's rows.
///
/// # Errors
/// If a line cannot be read, or names a row that nothing was published as, or a row is missing.
pub fn comparisons_of_csv(
    catalogue: &Catalogue,
    table: Source,
) -> Result<Vec<RowComparison>, SourceError> {
    let source = Arc::new(table);
    let mut reader = csv::Reader::from_reader(source.text.as_bytes());
    let mut studies: Vec<String> = Vec::new();
    let mut records: HashMap<(String, String), Record> = HashMap::new();
    let wrong = |e: csv::Error| line_error(&source, e.position(), e.to_string());
    let header = reader.headers().map_err(wrong)?.clone();
    for record in reader.into_records() {
        let record = record.map_err(wrong)?;
        let mut texts: csv::StringRecord = record.iter().map(text_of_csv_cell).collect();
        texts.set_position(record.position().cloned());
        let record: Record = texts.deserialize(Some(&header)).map_err(wrong)?;
        if !studies.contains(&record.study) {
            studies.push(record.study.clone());
        }
        records.insert((record.study.clone(), record.row.clone()), record);
    }
    let mut comparisons = Vec::new();
    for study in studies {
        let of_study = catalogue.rows_of(&study).map(|row| {
            records.remove(&(study.clone(), row.id.clone())).map(|r| (row, r)).ok_or_else(|| {
                line_error(&source, None, format!("{study} has no row '{}': run it again", row.id))
            })
        });
        let of_study: Vec<(&Row, Record)> = of_study.collect::<Result<_, _>>()?;
        comparisons.extend(comparison(catalogue, &study, of_study));
    }
    match records.keys().next() {
        None => Ok(comparisons),
        Some((study, row)) => {
            Err(line_error(&source, None, format!("{study} published no row '{row}'")))
        }
    }
}

fn record(comparison: &RowComparison, judged: &JudgedRow) -> Record {
    let row = &judged.row;
    let interval = judged.measured.and_then(|measured| measured.interval);
    Record {
        study: comparison.study.clone(),
        row: row.id.clone(),
        subject: row.subject.clone(),
        baseline: row.baseline.clone(),
        workload: row.workload.clone(),
        metric: row.metric.clone(),
        unit: judged.read_unit.clone(),
        published: row.value,
        measured: judged.measured.map(|measured| rounded(measured.centre)),
        low: interval.map(|(low, _)| rounded(low)),
        high: interval.map(|(_, high)| rounded(high)),
        blocks: judged.measured.map(|measured| measured.n),
        measured_to_published: judged.measured_to_published().map(rounded),
        status: judged.status,
        is_certain: judged.is_certain,
        counted: judged.counts,
        measured_note: judged.measured_note.clone(),
        processor_charged: comparison.processor_charged,
        scale: comparison.scale,
        drive_settings: comparison.changed_drives.join("; "),
    }
}

fn comparison(
    catalogue: &Catalogue,
    study: &str,
    rows: Vec<(&Row, Record)>,
) -> Option<RowComparison> {
    let (_, first) = rows.first()?;
    let settings = first.drive_settings.split("; ").filter(|s| !s.is_empty());
    let (processor_charged, scale) = (first.processor_charged, first.scale);
    let changed_drives = settings.map(str::to_owned).collect();
    let rows: Vec<JudgedRow> = rows.into_iter().map(|(row, r)| judged(catalogue, row, r)).collect();
    let tally = RowTally::of(&rows);
    let study = study.to_owned();
    Some(RowComparison { study, processor_charged, changed_drives, scale, tally, rows })
}

fn judged(catalogue: &Catalogue, row: &Row, record: Record) -> JudgedRow {
    JudgedRow {
        accepted: AcceptedBand::of(row),
        measured: record.measured.map(|centre| MeasuredValue {
            centre,
            interval: record.low.zip(record.high),
            n: record.blocks.unwrap_or(1),
        }),
        quotient: record.measured_to_published.or_else(|| Some(record.measured? / row.divisor()?)),
        status: record.status,
        is_certain: record.is_certain,
        counts: record.counted,
        read_unit: record.unit,
        measured_note: record.measured_note,
        finding: catalogue.explanation(row, record.status),
        row: row.clone(),
    }
}

fn rounded(value: f64) -> f64 {
    significant(value, DIGITS).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowKind;
    use crate::testing::{comparison, row};

    fn catalogue(comparison: &RowComparison) -> Catalogue {
        let rows = comparison.rows.iter().map(|judged| judged.row.clone()).collect();
        Catalogue { rows, ..Catalogue::default() }
    }

    fn source(text: &str) -> Source {
        Source { name: "rows.csv".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn rows_survive_being_written_and_read() {
        let rows = [(row(RowKind::Value, 180.0), 1026.87), (row(RowKind::Order, -1.0), 0.999)];
        let mut made = comparison(&rows);
        made.rows[0].measured =
            Some(MeasuredValue { centre: 1026.87, interval: Some((1000.0, 1050.5)), n: 3 });
        made.rows[0].is_certain = Some(true);
        made.rows[0].quotient = Some(5.70483);
        made.rows[1].quotient = Some(0.999);
        made.rows[1].measured_note = Some("=a \"quoted\", note".to_owned());
        made.changed_drives = vec!["@a: b = 1".to_owned(), "a: c = 2".to_owned()];
        made.tally = RowTally::of(&made.rows);
        let text = rows_csv(std::slice::from_ref(&made));
        let read = comparisons_of_csv(&catalogue(&made), source(&text)).expect("valid");
        assert_eq!(read, [made]);
        assert_eq!(rows_csv(&read), text);
        assert!(
            text.contains(",\"'=a") && text.contains(",'@a: b"),
            "a spreadsheet's formulas: {text}"
        );
        assert!(text.contains(",-1.0,"), "a number stays one: {text}");
        // An order has no figure that the measured one could be divided by.
        assert!(text.contains(",5.70483,") && text.contains(",0.999,,,1,,"), "{text}");
    }

    #[test]
    fn rows_that_do_not_fit_the_catalogue_are_refused() {
        let made = comparison(&[(row(RowKind::Value, 1.0), 1.0), (row(RowKind::Value, 2.0), 2.0)]);
        let text = rows_csv(std::slice::from_ref(&made));
        let catalogue = catalogue(&made);
        let error = |text: &str| {
            comparisons_of_csv(&catalogue, source(text)).expect_err("invalid").to_string()
        };
        let short: Vec<&str> = text.lines().take(2).collect();
        assert!(error(&short.join("\n")).contains("s has no row 'r1'"));
        assert!(error(&text.replace("\ns,r1,", "\ns,r9,")).contains("s has no row 'r1'"));
        let extra = format!("{text}{}", short[1].replace(",r0,", ",r7,"));
        assert!(error(&extra).contains("s published no row 'r7'"));
        let bad = error(&text.replace(",reproduced,", ",perhaps,"));
        assert!(bad.contains("rows.csv:2"), "{bad}");
    }
}
