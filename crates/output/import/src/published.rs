//! What was published about a study, as a run of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use disklab_cell::{Cell, Levels};
use disklab_published::{Catalogue, MeasuredStep, MeasuredTarget, NoFigure, Row, RowKind};
use disklab_sample::{Figure, Note, Sample, Step};
use disklab_study::{LeftOut, Study, matches};
use indexmap::IndexMap;

use crate::drives::of_stack;
use crate::import::number;
use crate::reading::{figure, moments, nanoseconds, step};
use disklab_options::RunSettings;

use crate::{Import, ImportError, ImportedCell, ImportedSample, profile};

/// The option of a run that says that its figures are those that were published.
pub const PUBLISHED: &str = "published";

/// A figure's place: stack, workload, step, direction.
type Key = (String, String, String, String);

impl Import {
    /// The published figures of a study: each was published once, whatever was behind
    /// it. Claims without a figure are left out by name.
    ///
    /// # Errors
    /// Where nothing was published about the study, or no figure was.
    pub fn published(catalogue: &Catalogue, study: Study) -> Result<Self, ImportError> {
        if !catalogue.knows(&study.id) {
            let known: indexmap::IndexSet<&String> =
                catalogue.rows.iter().map(|row| &row.study).collect();
            return Err(ImportError::NothingPublished {
                study: study.id.to_string(),
                known: known.into_iter().cloned().collect(),
            });
        }
        let mut figures: IndexMap<Key, Figure> = IndexMap::new();
        let mut notes: BTreeMap<(String, String), Vec<Note>> = BTreeMap::new();
        let mut left_out = Vec::new();
        for row in catalogue.rows_of(&study.id) {
            match place(catalogue, &study, row) {
                Ok((key, target)) => {
                    let cell = (key.0.clone(), key.1.clone());
                    notes
                        .entry(cell)
                        .or_default()
                        .push(Note { about: row.id.clone(), text: note(row) });
                    let direction = direction_of(&key.3);
                    let entry = figures.entry(key).or_insert_with(|| figure(direction, 0.0));
                    add(entry, row, target);
                }
                Err(why) => {
                    left_out.push(LeftOut::pair(&row.subject, &row.workload, why.to_string()));
                }
            }
        }
        let cells = cells(&study, figures, notes);
        if cells.is_empty() {
            return Err(ImportError::OnlyComparisons { study: study.id.to_string() });
        }
        let about = format!("what was published about '{}', each figure once", study.id);
        let options =
            RunSettings { published: Some(study.id.to_string()), ..RunSettings::default() };
        Ok(Self { study, cells, left_out, about, options })
    }
}

/// Why a published row is not a figure of a run.
#[derive(Debug, thiserror::Error)]
enum NoCell {
    /// It compares two stacks.
    #[error("published as a comparison, without a figure of its own")]
    Comparison,
    /// Its author found nothing to measure.
    #[error("published as not measurable")]
    NotMeasurable,
    /// No rule of the mapping names a figure in its unit.
    #[error(transparent)]
    NoFigure(#[from] NoFigure),
    /// The study does without its stack.
    #[error("the study has no such stack")]
    NoStack,
    /// The study does without its workload on that stack.
    #[error("the study has no such workload")]
    NoWorkload,
}

/// Where a row's figure belongs.
///
/// # Errors
/// [`NoCell`]: the row is listed as left out, with its text.
fn place<'a>(
    catalogue: &'a Catalogue,
    study: &Study,
    row: &Row,
) -> Result<(Key, &'a MeasuredTarget), NoCell> {
    if row.kind != RowKind::Value {
        return Err(NoCell::Comparison);
    }
    if row.value.is_none() {
        return Err(NoCell::NotMeasurable);
    }
    let target = catalogue.target(row, &row.subject)?;
    let unit = target.unit.as_deref().unwrap_or(&row.unit);
    if target.measure.unit_size(unit).is_none() {
        return Err(NoFigure::Unit(unit.to_owned()).into());
    }
    let stack = target.stack.clone().unwrap_or_else(|| row.subject.clone());
    let stack_at = study.stack_index(&stack).ok_or(NoCell::NoStack)?;
    let workload = study
        .workloads
        .iter()
        .enumerate()
        .find(|(at, w)| matches(&target.workload, &w.id) && !study.is_excluded(stack_at, *at))
        .map(|(_, w)| w.id.clone())
        .ok_or(NoCell::NoWorkload)?;
    // A pattern for whatever a run calls it: the workload's own name will do.
    let step = match target.step.as_str() {
        "*" => workload.clone(),
        pattern => pattern.replace('*', "device"),
    };
    Ok(((stack, workload, step, target.direction.clone()), target))
}

fn direction_of(pattern: &str) -> disklab_sample::Direction {
    use disklab_sample::Direction as D;
    let all = [D::Read, D::Write, D::Trim, D::Copy, D::Remove, D::Mixed];
    all.into_iter().find(|d| d.word() == pattern).unwrap_or(D::Copy)
}

/// Puts a row's value into its figure.
fn add(figure: &mut Figure, row: &Row, target: &MeasuredTarget) {
    let unit = target.unit.as_deref().unwrap_or(&row.unit);
    let (Some(value), Some(size)) = (row.value, target.measure.unit_size(unit)) else { return };
    let value = value * size;
    let mut latency = |mean: Option<f64>, worst: Option<f64>| {
        let latency = figure.latency.get_or_insert_with(|| moments(0.0, 0.0, 0.0, 0.0));
        latency.mean_ns = mean.unwrap_or(latency.mean_ns);
        latency.max_ns = worst.map_or(latency.max_ns, |ns| ns as u64);
    };
    match target.measure {
        MeasuredStep::Throughput => figure.bytes_per_second = Some(value),
        MeasuredStep::Iops => figure.operations_per_second = Some(value),
        MeasuredStep::Operations => {
            figure.operations = Some(value as u64);
            figure.elapsed_ns = nanoseconds(seconds_in(&row.workload).unwrap_or(0.0));
        }
        MeasuredStep::MeanLatency => latency(Some(value), None),
        MeasuredStep::WorstLatency => latency(None, Some(value)),
        MeasuredStep::Elapsed => {
            figure.elapsed_ns = nanoseconds(value);
            figure.bytes = target.work_bytes.unwrap_or(figure.bytes);
        }
        // An order, which has no value.
        MeasuredStep::Completes => {}
    }
}

/// How long Filebench ran, as its author told it: `run=36000` is seconds.
fn seconds_in(workload: &str) -> Option<f64> {
    let words = workload.split_whitespace();
    words.filter_map(|word| word.strip_prefix("run=")?.parse().ok()).next()
}

/// What accompanies a value in the table.
fn note(row: &Row) -> String {
    let range = match (row.low, row.high) {
        (Some(low), Some(high)) => format!(", from {low} to {high}"),
        _ => String::new(),
    };
    let note = if row.note.is_empty() { String::new() } else { format!("; {}", row.note) };
    let value = row.value.unwrap_or_default();
    format!("published as {} {value} {}{range}, for '{}'{note}", row.metric, row.unit, row.workload)
}

fn cells(
    study: &Study,
    figures: IndexMap<Key, Figure>,
    mut notes: BTreeMap<(String, String), Vec<Note>>,
) -> Vec<ImportedCell> {
    let mut samples: IndexMap<(String, String), Sample> = IndexMap::new();
    for ((stack, workload, name, _), figure) in figures {
        let spec = study.workloads.iter().find(|spec| spec.id == workload);
        let sample = samples.entry((stack, workload)).or_default();
        match sample.steps.iter_mut().find(|s| s.name == name) {
            Some(step) => step.figures.push(figure),
            None => {
                let profile = spec.and_then(|spec| profile::of_spec(spec, &name));
                sample.steps.push(Step { profile, ..step(&name, vec![figure]) });
            }
        }
    }
    let mut cells: Vec<ImportedCell> = samples
        .into_iter()
        .map(|((stack, workload), mut sample)| {
            // A study names the drives that its author had.
            sample.environment.drives = of_stack(study, &stack);
            sample.notes = notes.remove(&(stack.clone(), workload.clone())).unwrap_or_default();
            let cell = Cell { number: 0, block: 0, levels: Levels::new(stack, workload), seed: 0 };
            let sample = ImportedSample::new(Arc::new(sample), None);
            ImportedCell { cell, result: Ok(sample), origin: None }
        })
        .collect();
    cells.sort_by_key(|c| {
        (study.stack_index(&c.cell.levels.stack), study.workload_index(&c.cell.levels.workload))
    });
    number(&mut cells);
    cells
}
