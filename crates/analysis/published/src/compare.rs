//! Each row, judged.

use disklab_study::Study;
use serde::Serialize;

use crate::measured::Summed;
use crate::{
    AcceptedBand, Catalogue, JudgedRow, MeasuredRun, MeasuredValue, NoFigure, Row, RowStatus,
    RowTally,
};

/// All rows of a run's study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowComparison {
    /// The study's id.
    pub study: String,
    /// Whether the lab charged for CPU time.
    pub processor_charged: bool,
    /// What of the drives' models was otherwise than in their files, as
    /// `hgst-10tb: cache.dirty-limit = 32 MiB`: the figures are not those of the models.
    pub changed_drives: Vec<String>,
    /// By how much sizes were scaled.
    pub scale: f64,
    /// The counts.
    pub tally: RowTally,
    /// The rows, in the order in which they were published.
    pub rows: Vec<JudgedRow>,
}

/// Compares a run with what was published about its study; nothing where nothing was.
pub fn compare(catalogue: &Catalogue, measured: &MeasuredRun<'_>) -> Option<RowComparison> {
    let study = &measured.study.id;
    if !catalogue.knows(study) {
        return None;
    }
    let rows: Vec<JudgedRow> =
        catalogue.rows_of(study).map(|row| judge(catalogue, measured, row)).collect();
    Some(RowComparison {
        study: study.to_string(),
        processor_charged: measured.processor_charged,
        changed_drives: changed_drives(measured.study),
        scale: measured.scale,
        tally: RowTally::of(&rows),
        rows,
    })
}

/// What the study itself sets of its drives' models, each once.
fn changed_drives(study: &Study) -> Vec<String> {
    let mut changed: Vec<String> = Vec::new();
    for drive in &study.drives {
        for setting in &drive.set {
            let words = format!("{}: {}", drive.model, setting.words());
            if !changed.contains(&words) {
                changed.push(words);
            }
        }
    }
    changed
}

/// What was looked up for a row.
struct Found {
    measured: Summed,
    unit: String,
    note: Option<String>,
}

fn judge(catalogue: &Catalogue, measured: &MeasuredRun<'_>, row: &Row) -> JudgedRow {
    let accepted = AcceptedBand::of(row);
    let mut judged = JudgedRow {
        row: row.clone(),
        accepted,
        measured: None,
        quotient: None,
        status: RowStatus::NotRun,
        is_certain: None,
        counts: row.value.is_some() && !row.cpu_bound,
        read_unit: row.unit.clone(),
        measured_note: None,
        finding: None,
    };
    let found = match find(catalogue, measured, row) {
        Ok(found) => found,
        Err(why) => {
            judged.measured_note = Some(why.to_string());
            return judged;
        }
    };
    let (centre, interval, n) = found.measured;
    judged.measured = Some(MeasuredValue { centre, interval, n });
    judged.read_unit = found.unit;
    judged.measured_note = found.note;
    let (Some(band), Some(divisor)) = (accepted, row.divisor()) else {
        judged.status = RowStatus::NothingPublished;
        return judged;
    };
    judged.quotient = Some(centre / divisor);
    judged.status =
        if band.holds(centre) { RowStatus::Reproduced } else { RowStatus::NotReproduced };
    judged.is_certain = interval.map(|(low, high)| band.is_clear_of(low, high));
    judged.finding = catalogue.explanation(row, judged.status);
    judged
}

fn find(catalogue: &Catalogue, measured: &MeasuredRun<'_>, row: &Row) -> Result<Found, NoFigure> {
    let target = catalogue.target(row, &row.subject)?;
    let subject = measured.values(target, &row.subject)?;
    let unit = target.unit.clone().unwrap_or_else(|| row.unit.clone());
    let note = subject.note.clone();
    let Some(baseline) = &row.baseline else {
        let Some(size) = target.measure.unit_size(&unit) else {
            return Err(NoFigure::Unit(unit));
        };
        let (centre, interval, n) = subject.summed().ok_or(NoFigure::NoValue)?;
        let interval = interval.map(|(low, high)| (low / size, high / size));
        return Ok(Found { measured: (centre / size, interval, n), unit, note });
    };
    let target = catalogue.target(row, baseline)?;
    let other = measured
        .values(target, baseline)
        .map_err(|why| NoFigure::Baseline { stack: baseline.clone(), why: Box::new(why) })?;
    let measured = subject.ratio_to(&other).ok_or(NoFigure::NoValue)?;
    // One unit divided by the same has none, whatever the figures themselves are given in.
    Ok(Found { measured, unit: row.unit.clone(), note })
}
