//! One pass over a run's samples, one sample in memory at a time.

use std::collections::BTreeMap;

use disklab_decision::{Analyser, AxisEffect, ComparedRun, FailureSamples, Failures, RiskTerms};
use disklab_sample::{DriveState, Environment, MountState, Overhead, Sample, Tool};
use disklab_store::{CellRecord, Run, RunInfo};
use disklab_study::Study;
use indexmap::{IndexMap, IndexSet};

use crate::published;
use crate::{
    CellTrace, CountedNote, Facts, MediumWrites, Report, ReportError, Spread, StackMounts,
    StackOverhead,
};

impl Report {
    /// Everything that a report on `run` needs. The run may still be continuing. If its study has
    /// axes, it is about their first levels, and says what the others change.
    ///
    /// # Errors
    /// [`ReportError::Store`] if the run cannot be read, [`ReportError::Study`] if this version
    /// refuses its study, [`ReportError::Published`] if the published figures that are built in
    /// cannot be read.
    pub fn gather(run: &Run) -> Result<Self, ReportError> {
        let info = run.info()?;
        let study = info.load_study().map_err(ReportError::Study)?;
        let ordinary = study.axes.ordinary();
        let (mut of_levels, mut others) = (Vec::new(), Vec::new());
        for axis in study.axes.all() {
            let first = &ordinary[axis.name()];
            for level in axis.levels().iter().filter(|level| *level != first) {
                let mut at = ordinary.clone();
                at.insert(axis.name().to_owned(), level.clone());
                others.push((axis.name(), first, level));
                of_levels.push(OfLevels::new(at, &study, &info));
            }
        }
        let mut first = OfLevels::new(ordinary.clone(), &study, &info);
        OfLevels::read(run, std::iter::once(&mut first).chain(&mut of_levels))?;
        let mut report = first.report(run, &study, &info)?;
        for ((axis, first, level), other) in others.into_iter().zip(of_levels) {
            let words = format!("{axis} {level} against {first}");
            report.failures.compare(&words, &other.failures);
            let (info, analysis) = (info.at(&other.at), other.analyser.finish());
            let other = ComparedRun {
                info: &info,
                study: &study,
                cells: &other.cells,
                analysis: &analysis,
            };
            let effect = AxisEffect::of(axis, (first, &report.side()), (level, &other));
            report.effects.extend(effect);
        }
        Ok(report)
    }

    /// The same about other levels of the study's axes, each as axis and level.
    ///
    /// # Errors
    /// As for [`Report::gather`], and [`ReportError::Level`] if the run has not such.
    pub fn gather_at(run: &Run, levels: &[(String, String)]) -> Result<Self, ReportError> {
        let info = run.info()?;
        let study = info.load_study().map_err(ReportError::Study)?;
        let at = at_levels(&study, levels)?;
        let mut of_levels = OfLevels::new(at, &study, &info);
        OfLevels::read(run, [&mut of_levels])?;
        of_levels.report(run, &study, &info)
    }
}

/// What a run says of failures, at these levels of its study's axes or else at the first ones.
///
/// # Errors
/// As for [`Report::gather_at`].
pub fn failures_at(
    run: &Run,
    levels: &[(String, String)],
    terms: RiskTerms,
) -> Result<Failures, ReportError> {
    let info = run.info()?;
    let study = info.load_study().map_err(ReportError::Study)?;
    let at = at_levels(&study, levels)?;
    let mut samples = FailureSamples::default();
    run.for_each_sample(|record, sample| {
        if record.cell.levels.further == at {
            samples.add(&record.cell.levels.stack, &sample);
        }
    })?;
    Ok(samples.finish(&info.at(&at), &study, terms))
}

/// These levels, and the first ones of all other axes.
fn at_levels(
    study: &Study,
    levels: &[(String, String)],
) -> Result<BTreeMap<String, String>, ReportError> {
    let mut at = study.axes.ordinary();
    for (axis, level) in levels {
        let known = study.axes.all().iter().find(|known| known.name() == axis);
        if !known.is_some_and(|known| known.levels().contains(level)) {
            let axes = study.axes.all().iter().map(ToString::to_string);
            let known = match axes.collect::<Vec<_>>().join(" and ") {
                none if none.is_empty() => "its study crosses nothing".to_owned(),
                some => format!("it crosses {some}"),
            };
            let (axis, level) = (axis.clone(), level.clone());
            return Err(ReportError::Level { axis, level, known });
        }
        at.insert(axis.clone(), level.clone());
    }
    Ok(at)
}

/// What a report needs of the cells at some levels of the study's axes.
struct OfLevels {
    at: BTreeMap<String, String>,
    cells: Vec<CellRecord>,
    collector: Collector,
    analyser: Analyser,
    failures: FailureSamples,
}

impl OfLevels {
    fn new(at: BTreeMap<String, String>, study: &Study, info: &RunInfo) -> Self {
        let analyser = Analyser::new(study.clone(), info.at(&at)).at(at.clone());
        let (collector, cells) = (Collector::default(), Vec::new());
        Self { at, cells, collector, analyser, failures: FailureSamples::default() }
    }

    fn has(&self, record: &CellRecord) -> bool {
        record.cell.levels.further == self.at
    }

    /// Reads the run's samples once, for all these levels.
    fn read<'a>(run: &Run, all: impl IntoIterator<Item = &'a mut Self>) -> Result<(), ReportError> {
        let mut all: Vec<&mut Self> = all.into_iter().collect();
        for record in run.cells()? {
            if let Some(own) = all.iter_mut().find(|own| own.has(&record)) {
                own.analyser.add_unfinished(&record);
                own.cells.push(record);
            }
        }
        // Reading a sample costs most of the time, so both look at it at once.
        run.for_each_sample(|record, sample| {
            if let Some(own) = all.iter_mut().find(|own| own.has(record)) {
                own.collector.add(record, &sample);
                own.failures.add(&record.cell.levels.stack, &sample);
                own.analyser.add(record, sample);
            }
        })?;
        Ok(())
    }

    fn report(self, run: &Run, study: &Study, info: &RunInfo) -> Result<Report, ReportError> {
        let Self { at, cells, collector, analyser, failures } = self;
        let info = &info.at(&at);
        let facts = collector.finish(info, study);
        let analysis = analyser.finish();
        let published = published::published_rows(info, study, &cells, &analysis)?;
        let outputs = cells.iter().map(|record| &record.cell);
        let outputs = outputs.filter_map(|cell| Some((cell.number, run.outputs(cell)?))).collect();
        Ok(Report {
            info: info.clone(),
            cells,
            outputs,
            sessions: run.sessions()?,
            at,
            effects: Vec::new(),
            study: study.clone(),
            analysis,
            facts,
            published,
            campaign: crate::campaign::outcome(run)?,
            failures: failures.finish(info, study, RiskTerms::default()),
        })
    }
}

impl Report {
    /// For a comparison with another.
    pub(crate) fn side(&self) -> ComparedRun<'_> {
        let Self { info, study, cells, analysis, .. } = self;
        ComparedRun { info, study, cells, analysis }
    }
}

/// Works [`Facts`] out of samples that pass by.
#[derive(Debug, Default)]
pub struct Collector {
    overheads: IndexMap<String, Vec<Overhead>>,
    notes: IndexMap<disklab_sample::Note, usize>,
    mounts: IndexMap<String, IndexSet<MountState>>,
    drives: IndexMap<DriveKey, DriveState>,
    tools: IndexSet<(String, String)>,
    kernels: IndexSet<String>,
    loads: Vec<f64>,
    background: Vec<f64>,
    traces: BTreeMap<(String, String), CellTrace>,
    /// By stack, workload and step: bytes given and written to the medium.
    media: IndexMap<[String; 3], (u64, u64)>,
}

/// What makes a drive's state another one: drive, model, serial number,
/// scheduler and write cache. Its device node may change from cell to cell.
type DriveKey = (String, [Option<String>; 4]);

impl Collector {
    /// Takes in what a finished cell measured.
    pub fn add(&mut self, record: &CellRecord, sample: &Sample) {
        let cell = &record.cell;
        self.overheads.entry(cell.levels.stack.clone()).or_default().push(sample.overhead);
        let notes: IndexSet<_> = sample.notes.iter().collect();
        for note in notes {
            *self.notes.entry(note.clone()).or_default() += 1;
        }
        if !sample.environment.mounts.is_empty() {
            let mounts = self.mounts.entry(cell.levels.stack.clone()).or_default();
            mounts.extend(sample.environment.mounts.iter().cloned());
        }
        self.add_environment(&sample.environment);
        self.loads.extend(sample.environment.load.map(|(before, _)| before));
        self.background.extend(sample.environment.background_bytes.map(|b| b as f64));
        for step in &sample.steps {
            for drive in &step.drives {
                let Some(written) = drive.medium_write_bytes else { continue };
                let key = [&cell.levels.stack, &cell.levels.workload, &step.name].map(Clone::clone);
                let sum = self.media.entry(key).or_default();
                sum.0 = sum.0.saturating_add(drive.write_bytes);
                sum.1 = sum.1.saturating_add(written);
            }
        }
        self.traces
            .entry((cell.levels.stack.clone(), cell.levels.workload.clone()))
            .or_insert_with(|| CellTrace {
                stack: cell.levels.stack.clone(),
                workload: cell.levels.workload.clone(),
                cell: cell.number,
                entries: sample.trace.clone(),
            });
    }

    fn add_environment(&mut self, environment: &Environment) {
        if !environment.kernel.is_empty() {
            self.kernels.insert(environment.kernel.clone());
        }
        for Tool { name, version } in &environment.tools {
            self.tools.insert((name.clone(), version.clone()));
        }
        for drive in &environment.drives {
            let key = [&drive.model, &drive.serial, &drive.scheduler, &drive.write_cache];
            let key = (drive.drive.clone(), key.map(Clone::clone));
            let known = self.drives.entry(key).or_insert_with(|| drive.clone());
            // The latest that SMART said; counters only grow.
            if drive.smart.is_some() {
                known.smart.clone_from(&drive.smart);
            }
        }
    }

    /// The facts, in the order of the study.
    pub fn finish(mut self, info: &RunInfo, study: &Study) -> Facts {
        self.add_environment(&info.environment);
        let stack = |id: &str| info.stacks.iter().position(|s| s.id == id).unwrap_or(usize::MAX);
        let workload = |id: &str| study.workload_index(id).unwrap_or(usize::MAX);
        let mut overheads: Vec<_> =
            self.overheads.iter().map(|(id, all)| stack_overhead(id, all)).collect();
        overheads.sort_by_key(|o| stack(&o.stack));
        let mut mounts: Vec<_> = self
            .mounts
            .into_iter()
            .map(|(stack, mounts)| StackMounts { stack, mounts: mounts.into_iter().collect() })
            .collect();
        mounts.sort_by_key(|m| stack(&m.stack));
        let mut traces: Vec<_> = self.traces.into_values().collect();
        traces.sort_by_key(|t| (stack(&t.stack), workload(&t.workload)));
        let mut drives: Vec<_> = self.drives.into_values().collect();
        drives.sort_by(|a, b| a.drive.cmp(&b.drive));
        let mut tools: Vec<_> =
            self.tools.into_iter().map(|(name, version)| Tool { name, version }).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        Facts {
            overheads,
            notes: self
                .notes
                .into_iter()
                .map(|(note, cells)| CountedNote { note, cells })
                .collect(),
            mounts,
            drives,
            tools,
            kernels: self.kernels.into_iter().collect(),
            load: Spread::of(&self.loads),
            background_bytes: Spread::of(&self.background),
            traces,
            media: self
                .media
                .into_iter()
                .map(|([stack, workload, step], (given_bytes, medium_bytes))| MediumWrites {
                    stack,
                    workload,
                    step,
                    given_bytes,
                    medium_bytes,
                })
                .collect(),
        }
    }
}

fn stack_overhead(stack: &str, all: &[Overhead]) -> StackOverhead {
    let spread = |part: fn(&Overhead) -> f64| {
        Spread::of(&all.iter().map(part).collect::<Vec<_>>()).unwrap_or_default()
    };
    StackOverhead {
        stack: stack.to_owned(),
        make: spread(|o| o.make_seconds),
        settle: spread(|o| o.settle_seconds),
        caches: spread(|o| o.caches_seconds),
        tear_down: spread(|o| o.tear_down_seconds),
        total: spread(Overhead::total_seconds),
        prewrite: spread(|o| o.prewrite_seconds),
    }
}
