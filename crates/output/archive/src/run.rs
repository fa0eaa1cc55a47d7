//! A run as the archive has it: who it is, and its figures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use disklab_audits::{Audited, Auditor, SuspectGroups};
use disklab_sample::{DriveState, Environment};
use disklab_stats::estimate;
use disklab_store::{CellState, Run, RunInfo};
use disklab_study::{Measure, Study};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::ArchiveError;
use crate::database::ColumnValue;

/// What a run is to the archive.
#[derive(Debug)]
pub struct ArchivedRun {
    /// Of what was fixed when it began: it stays while cells are added, and wherever the run lies.
    pub(crate) id: String,
    /// Of all rows: whether anything has come since.
    pub(crate) content: String,
    pub(crate) path: PathBuf,
    pub(crate) row: Vec<ColumnValue>,
    pub(crate) stacks: Vec<Vec<ColumnValue>>,
    pub(crate) figures: Vec<Vec<ColumnValue>>,
}

impl ArchivedRun {
    /// Reads a run, which may still be continuing, have been cut off, or come from a stranger.
    ///
    /// # Errors
    /// [`ArchiveError::Run`] if there is none or it cannot be read, [`ArchiveError::Study`] if this
    /// version refuses its study.
    pub fn read(directory: &Path) -> Result<Self, ArchiveError> {
        let path = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let run = Run::open(directory)?;
        let info = run.info()?;
        let refused = |source| ArchiveError::Study { path: path.clone(), source };
        let study = info.load_study().map_err(refused)?;
        let records = run.cells()?;
        let done = records.iter().filter(|record| record.state == CellState::Done).count();
        let mut surroundings = Surroundings::default();
        let mut auditors: Vec<(_, Auditor)> = Vec::new();
        for at in study.axes.combinations() {
            let mut auditor = Auditor::new(study.clone(), info.at(&at)).at(at.clone());
            records.iter().for_each(|record| auditor.add_unfinished(record));
            auditors.push((at, auditor));
        }
        run.for_each_sample(|record, sample| {
            let levels = &record.cell.levels;
            surroundings.add(&study, &levels.stack, &sample.environment);
            if let Some((_, auditor)) = auditors.iter_mut().find(|(at, _)| *at == levels.further) {
                auditor.add(record, sample);
            }
        })?;
        let id = identity(&info);
        let audited = auditors.into_iter().map(|(_, auditor)| auditor.finish());
        let figures: Vec<_> = audited.flat_map(|audited| figures(&id, &audited)).collect();
        let stacks = surroundings.drives.iter().map(|(stack, drives)| {
            vec![id.as_str().into(), stack.as_str().into(), listed(drives).into()]
        });
        let stacks: Vec<_> = stacks.collect();
        let kernel = listed(&surroundings.kernels);
        let row = row(&info, &study, kernel, [records.len(), done]);
        let content = digest([&format!("{row:?}{stacks:?}{figures:?}")]);
        Ok(Self { id, content, path, row, stacks, figures })
    }
}

/// On which kernels and drives the cells ran.
#[derive(Default)]
struct Surroundings {
    kernels: BTreeSet<String>,
    drives: BTreeMap<String, BTreeSet<String>>,
}

impl Surroundings {
    fn add(&mut self, study: &Study, stack: &str, environment: &Environment) {
        if !environment.kernel.is_empty() {
            self.kernels.insert(environment.kernel.clone());
        }
        let drives = self.drives.entry(stack.to_owned()).or_default();
        // A modelled drive tells the kernel no model: the study has it.
        let modelled = |name: &str| study.drives.iter().find(|drive| drive.name.as_str() == name);
        let name = |drive: &DriveState| {
            let model = || modelled(&drive.drive).map(|drive| drive.model.clone());
            drive.model.clone().or_else(model).unwrap_or_else(|| drive.drive.clone())
        };
        drives.extend(environment.drives.iter().map(name));
    }
}

fn listed(words: &BTreeSet<String>) -> String {
    words.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// What of a run was fixed when it began, as far as no version of disklab writes it differently.
fn identity(info: &RunInfo) -> String {
    let part = info.options.part.map(|part| format!("{part:?}")).unwrap_or_default();
    let axes: Vec<String> = info.options.axis.iter().map(ToString::to_string).collect();
    digest([
        &info.created.to_string(),
        &info.disklab,
        &info.study_text,
        &info.seed.to_string(),
        &info.repeats.to_string(),
        &info.bench.to_string(),
        &info.environment.kernel,
        &part,
        &axes.join(" "),
    ])
}

fn digest<const N: usize>(parts: [&String; N]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // Its length tells where each ends.
        hash.update(format!("{}:{part}", part.len()));
    }
    format!("{:x}", hash.finalize())
}

/// The columns of `run` from `study` on, without `added`, which is when the row is written.
fn row(info: &RunInfo, study: &Study, kernel: String, cells: [usize; 2]) -> Vec<ColumnValue> {
    let kernel = if kernel.is_empty() { info.environment.kernel.clone() } else { kernel };
    // Of two builds of the lab's kernel only this is different.
    let digest = info.environment.lab_kernel.as_ref().and_then(|kernel| kernel.digest.get(..16));
    let kernel = digest.map_or(kernel.clone(), |digest| format!("{kernel} (SHA-256 {digest})"));
    vec![
        info.study.as_str().into(),
        study.digest.as_str().into(),
        setting(info).into(),
        info.disklab.as_str().into(),
        kernel.into(),
        time(info.created).into(),
        ColumnValue::Count(cells[0] as i64),
        ColumnValue::Count(cells[1] as i64),
    ]
}

/// How a time is stored: as text that sorts as times do.
pub(crate) fn time(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// What two runs must have in common for their figures to be of one series: the bench, the scale and
/// the options on which figures depend; of a real machine, which it is.
fn setting(info: &RunInfo) -> String {
    /// These say how often cells run, or are levels, which each figure has.
    const OTHERS: [&str; 7] =
        ["axis", "budget", "files", "goal", "looks", "precision", "published"];
    let mut words = vec![info.bench.to_string()];
    if info.scale != 1.0 {
        words.push(format!("scale {}", info.scale));
    }
    let options = info.options.of_figures().into_iter();
    let options = options.filter(|(name, _)| !OTHERS.contains(&name.as_str()));
    words.extend(options.map(|(name, value)| format!("{name} {value}")));
    if !info.is_lab() && !info.is_import() {
        let environment = &info.environment;
        let processor = environment.processor.as_deref().unwrap_or("unknown processor");
        let memory = environment.memory_bytes >> 30;
        words.push(format!("{} × {processor}, {memory} GiB", environment.processors));
    }
    words.join(", ")
}

/// Rows of `figure`.
fn figures(run: &str, audited: &Audited) -> Vec<Vec<ColumnValue>> {
    let suspects = SuspectGroups::of(&audited.findings);
    let mut rows = Vec::new();
    for (index, group) in audited.groups.iter().enumerate() {
        let key = &group.key;
        let operation = serde_json::to_value(group.operation).unwrap_or_default();
        let head: [ColumnValue; 7] = [
            run.into(),
            key.levels.stack.as_str().into(),
            key.levels.workload.as_str().into(),
            key.levels.further_words().into(),
            key.step.as_str().into(),
            key.direction.word().into(),
            key.part.word().into(),
        ];
        for (word, measure) in Measure::WORDS {
            let values = group.values(measure);
            let Some(estimate) = estimate(&values.collect::<Vec<_>>()) else { continue };
            let end = |end: fn(disklab_stats::Interval) -> f64| {
                estimate.interval.map(end).filter(|end| end.is_finite())
            };
            let mut row = head.to_vec();
            row.extend([
                word.into(),
                operation.as_str().unwrap_or_default().into(),
                ColumnValue::Number(Some(estimate.centre)),
                ColumnValue::Number(end(|interval| interval.low)),
                ColumnValue::Number(end(|interval| interval.high)),
                ColumnValue::Count(estimate.n as i64),
                suspects.about(&[index]).join(" ").into(),
            ]);
            rows.push(row);
        }
    }
    rows
}
