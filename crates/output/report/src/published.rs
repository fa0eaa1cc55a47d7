//! A run, compared with what was published about its study.

use disklab_decision::Analysis;
use disklab_published::{Catalogue, CellEnd, CellFate, MeasuredRun, RowComparison, compare};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::Study;

use crate::ReportError;

/// What was published about the run's study, with what the run measured; `None` if
/// nothing was.
pub(crate) fn published_rows(
    info: &RunInfo,
    study: &Study,
    cells: &[CellRecord],
    analysis: &Analysis,
) -> Result<Option<RowComparison>, ReportError> {
    let catalogue = Catalogue::shipped().map_err(ReportError::Published)?;
    // What was published would be compared with itself.
    if !catalogue.knows(&study.id) || info.options.published.is_some() {
        return Ok(None);
    }
    let fates: Vec<CellFate> = cells.iter().map(fate).collect();
    let mut comparison = compare(
        &catalogue,
        &MeasuredRun {
            study,
            groups: &analysis.groups,
            cells: &fates,
            left_out: &info.left_out,
            processor_charged: info.charges_processor(study.processor.is_some()),
            scale: info.scale,
        },
    );
    if let Some(comparison) = &mut comparison
        && !info.options.set_drive.is_empty()
    {
        comparison.changed_drives.push(shell_words::join(&info.options.set_drive));
    }
    Ok(comparison)
}

fn fate(record: &CellRecord) -> CellFate {
    let end = match record.state {
        CellState::Waiting => None,
        CellState::Done => Some(CellEnd::Done),
        CellState::Failed => Some(CellEnd::Failed(record.error.clone().unwrap_or_default())),
    };
    CellFate {
        stack: record.cell.levels.stack.clone(),
        workload: record.cell.levels.workload.clone(),
        block: record.cell.block,
        end,
    }
}
