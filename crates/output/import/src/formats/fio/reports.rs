//! Reports of fio in their order, and the readings that they become.

use super::figures::{JobDone, together};
use super::report::{DIRECTIONS, FioJob, FioReport, ReportClock};
use super::work::work;
use crate::reading::{Reading, check_count, one_line, step};
use disklab_sample::{Direction, Step, Tool};
use disklab_source::SourceError;
use indexmap::{IndexMap, IndexSet};
use std::collections::HashMap;

/// Reports in their order, of which the later ones of one run replace the earlier ones.
#[derive(Default)]
pub(super) struct FioReports {
    readings: Vec<Reading>,
    last: Option<FioReport>,
    /// How many earlier reports of its run the last one replaced.
    replaced: usize,
}

impl FioReports {
    /// Adds a report.
    ///
    /// # Errors
    /// Where the one before it is no observation, or there are too many.
    pub fn add(&mut self, report: FioReport) -> Result<(), SourceError> {
        match &self.last {
            Some(last) if follows(last, &report, self.replaced > 0) => self.replaced += 1,
            Some(_) => self.close()?,
            None => {}
        }
        self.last = Some(report);
        Ok(())
    }

    /// The readings of all.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn readings(mut self) -> Result<Vec<Reading>, SourceError> {
        self.close()?;
        Ok(self.readings)
    }

    fn close(&mut self) -> Result<(), SourceError> {
        let Some(mut report) = self.last.take() else { return Ok(()) };
        if std::mem::take(&mut self.replaced) > 0 {
            let note = "fio reported this run several times (--status-interval); the last report \
                        counts.";
            report.notes.push(note.to_owned());
        }
        self.readings.extend(readings(&report)?);
        check_count(self.readings.len(), &report.place)
    }
}

/// Growth of time and data between two reports from which on they are of one run if no clock
/// decides it. Repeats differ by less in one of the two: the time is set, or the size.
const GROWTH: f64 = 1.02;

/// Whether `later` is about the same run as `earlier`, which `--status-interval` and the signal
/// USR1 make fio report in between. `grew` says that `earlier` replaced one before it.
fn follows(earlier: &FioReport, later: &FioReport, grew: bool) -> bool {
    if earlier.jobs.iter().any(|job| job.failure.is_some()) {
        return false;
    }
    let Some(growth) = growth(earlier, later) else { return false };
    // Nothing was done yet, as in `ramp_time`: that is no run.
    if growth.is_infinite() {
        return later.continues != Some(false);
    }
    let longest = later.jobs.iter().flat_map(|job| &job.done).map(|(_, d)| d.runtime_ms);
    let longest = longest.fold(0.0, f64::max);
    let by_growth = growth >= GROWTH || grew;
    if let Some(continues) = later.continues {
        return continues;
    }
    match (earlier.clock, later.clock) {
        // It ran already when the earlier report was made.
        (ReportClock::Milliseconds(a), ReportClock::Milliseconds(b)) => b >= a && longest > b - a,
        (ReportClock::Seconds(a), ReportClock::Seconds(b)) => {
            b >= a && longest + 1000.0 > b - a && by_growth
        }
        _ => by_growth,
    }
}

/// By how much the jobs of a report grew until another: the smaller one of data and time. None
/// if it has other jobs, or if anything shrank.
fn growth(earlier: &FioReport, later: &FioReport) -> Option<f64> {
    let mut totals: HashMap<(&str, u64, Direction), Vec<&JobDone>> = HashMap::new();
    for job in later.jobs.iter().rev() {
        for (direction, done) in &job.done {
            let key = (job.name.as_str(), job.group, *direction);
            totals.entry(key).or_default().push(done);
        }
    }
    if earlier.jobs.len() > later.jobs.len() || earlier.global != later.global {
        return None;
    }
    let (mut bytes, mut time) = ((0.0, 0.0), (0.0, 0.0));
    for job in &earlier.jobs {
        for (direction, done) in &job.done {
            let key = (job.name.as_str(), job.group, *direction);
            let now = totals.get_mut(&key)?.pop()?;
            if now.bytes < done.bytes || now.runtime_ms < done.runtime_ms {
                return None;
            }
            bytes = (bytes.0 + done.bytes as f64, bytes.1 + now.bytes as f64);
            time = (time.0 + done.runtime_ms, time.1 + now.runtime_ms);
        }
    }
    let same_jobs = earlier.jobs.iter().zip(&later.jobs).all(|(a, b)| a.name == b.name);
    match bytes.0 > 0.0 {
        true => Some((bytes.1 / bytes.0).min(time.1 / time.0.max(1.0))),
        // Nothing was done yet.
        false => same_jobs.then_some(f64::INFINITY),
    }
}

/// Bytes of the options of all jobs in all readings of a report: each group repeats them.
const MOST_REPEATED: usize = 16 << 20;

/// The readings of a report: one, or one for each group if a name is in several groups.
fn readings(report: &FioReport) -> Result<Vec<Reading>, SourceError> {
    let mut groups: IndexMap<u64, Vec<&FioJob>> = IndexMap::new();
    let mut first: HashMap<&str, u64> = HashMap::new();
    let mut shared = false;
    for job in &report.jobs {
        groups.entry(job.group).or_default().push(job);
        shared |= *first.entry(&job.name).or_insert(job.group) != job.group;
    }
    let parts: Vec<(Option<u64>, Vec<&FioJob>)> = match shared {
        true => groups.into_iter().map(|(group, jobs)| (Some(group), jobs)).collect(),
        false => vec![(None, report.jobs.iter().collect())],
    };
    let repeated = parts.len() * report.global.iter().map(String::len).sum::<usize>();
    if repeated > MOST_REPEATED {
        return Err(report.place.error(format!(
            "the options of all jobs, for each of {} groups, have more than {MOST_REPEATED} bytes",
            parts.len()
        )));
    }
    let mut all = Vec::new();
    for (group, jobs) in parts {
        let reading = reading(report, group, &jobs);
        if !reading.steps.is_empty() || reading.failure.is_some() {
            all.push(reading);
        }
    }
    if all.is_empty() {
        return Err(report.place.error(
            "no job of this report read or wrote anything; expected 'read', 'write', 'trim' or \
             'mixed' with figures",
        ));
    }
    Ok(all)
}

fn reading(report: &FioReport, group: Option<u64>, jobs: &[&FioJob]) -> Reading {
    let mut reading = Reading::new(work(report, group, jobs), report.place.clone());
    reading.notes.clone_from(&report.notes);
    reading.failure = jobs.iter().find_map(|job| job.failure.clone());
    let mut names: IndexMap<&str, Vec<&FioJob>> = IndexMap::new();
    for job in jobs {
        names.entry(&job.name).or_default().push(job);
    }
    let mut notes: IndexSet<String> = IndexSet::new();
    for (name, jobs) in &names {
        let step = step_of_jobs(name, jobs, &mut notes);
        if !step.figures.is_empty() {
            reading.steps.push(step);
        }
    }
    reading.notes.extend(notes);
    if let ([only], None) = (reading.steps.as_mut_slice(), group) {
        only.drives.clone_from(&report.drives);
    }
    reading.tools = report
        .version
        .iter()
        .map(|version| Tool { name: "fio".to_owned(), version: one_line(version) })
        .collect();
    reading.surroundings.clone_from(&report.surroundings);
    reading
}

/// What the jobs of one name did together.
fn step_of_jobs(name: &str, jobs: &[&FioJob], notes: &mut IndexSet<String>) -> Step {
    let mut by_direction: IndexMap<Direction, Vec<&JobDone>> = IndexMap::new();
    for (direction, done) in jobs.iter().flat_map(|job| &job.done) {
        by_direction.entry(*direction).or_default().push(done);
    }
    // With unified_rw_reporting=both, fio adds up what it lists.
    if by_direction.len() > 1 {
        by_direction.shift_remove(&Direction::Mixed);
    }
    by_direction.sort_by_key(|direction, _| DIRECTIONS.iter().position(|(_, d)| d == direction));
    let mut figures = Vec::new();
    for (direction, all) in &by_direction {
        let (figure, note) = together(*direction, all);
        figures.push(figure);
        notes.extend(note);
    }
    notes.extend(jobs.iter().filter_map(|job| job.note.clone()));
    let mut step = step(name, figures);
    for job in jobs {
        step.cpu.user_ns = step.cpu.user_ns.saturating_add(job.cpu.user_ns);
        step.cpu.system_ns = step.cpu.system_ns.saturating_add(job.cpu.system_ns);
    }
    step
}
