//! fio's text for people, of versions 1.5x to 3.4x: what it prints if nothing else is asked for.
//!
//! Forms: `stat.c` and `init.c` of fio 1.59, 2.2.10, 2.17 and 3.33. Sizes and rates are rounded to
//! four digits; the operations are not, so that with blocks of one size the bytes are exact.

use std::sync::Arc;

use disklab_sample::{Cpu, Direction, DriveTraffic};
use disklab_source::{Location, Source, SourceError};

use super::figures::{JobDone, JobLatencies, LatencyDetail};
use super::json::SECTOR_BYTES;
use super::json_figures::UNCOUNTED;
use super::report::{FioJob, FioReport};
use super::reports::FioReports;
use super::text_lines::{self as forms, FioHead, FioLatency, FioResult, FioSide};
use crate::format::ImportFormat;
use crate::reading::{Reading, moments, one_line, percentiles};
use crate::text::{TextLine, lines, span};

pub(in crate::formats) const TEXT: ImportFormat = ImportFormat {
    name: "fio-text",
    about: "fio 1.5x to 3.4x: its text for people, with any lines around it",
    looks_like: |text| {
        let known = |line: &str| forms::result(line).is_some() || forms::group_side(line).is_some();
        text.split(['\n', '\r']).any(known)
    },
    read,
};

/// One direction of a job, with its latencies.
struct TextSide {
    side: FioSide,
    latencies: Vec<(FioLatency, Vec<(f64, f64)>)>,
    place: Location,
}

/// One job, or all of a group.
struct TextJob {
    result: FioResult,
    sides: Vec<TextSide>,
    issued: Option<Vec<u64>>,
}

/// What there is so far of a report.
#[derive(Default)]
struct TextReport {
    start: Option<usize>,
    end: usize,
    version: Option<String>,
    heads: Vec<FioHead>,
    /// Whether its processes are those of the report before it.
    continues: bool,
    jobs: Vec<TextJob>,
    /// Lines of the summary of a group.
    groups: Vec<(u64, TextSide)>,
    drives: Vec<DriveTraffic>,
    /// The group whose summary is read; all jobs were reported.
    group: Option<u64>,
    /// The list of percentiles that is read.
    list: Option<(bool, f64)>,
    /// Whether latencies belong to a direction.
    in_side: bool,
}

impl TextReport {
    fn has_results(&self) -> bool {
        !self.jobs.is_empty() || !self.groups.is_empty()
    }
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut reports = FioReports::default();
    let mut open = TextReport::default();
    for line in lines(source) {
        if let Some(whole) = begin(&mut open, &line) {
            reports.add(report(source, whole)?)?;
        }
        if take(&mut open, &line) {
            open.start.get_or_insert(line.start);
            open.end = line.end();
        }
    }
    if open.has_results() {
        reports.add(report(source, open)?)?;
    }
    let readings = reports.readings()?;
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no result of fio here; expected a line such as 'a: (groupid=0, jobs=1): err= \
             0: pid=7: …', or fio's summary, 'READ: bw=…'",
        ));
    }
    Ok(readings)
}

/// The report that ends before a line, if one does.
fn begin(open: &mut TextReport, line: &TextLine<'_>) -> Option<TextReport> {
    if !open.has_results() {
        return None;
    }
    let text = line.text;
    let announced = forms::head(text).is_some()
        || forms::version(text).is_some()
        || text.trim_start().starts_with("Starting ");
    if announced {
        return Some(std::mem::take(open));
    }
    if let Some(next) = forms::result(text).filter(|_| open.group.is_some()) {
        let before = std::mem::take(open);
        // What it reports in between has the same processes; else it is of another run.
        let same = |job: &TextJob| job.result.process == next.process;
        open.continues = before.jobs.iter().any(same);
        if open.continues {
            open.heads.clone_from(&before.heads);
            open.version.clone_from(&before.version);
        }
        return Some(before);
    }
    // Summaries alone, one after another.
    let again = |group: u64, side: Option<&FioSide>| {
        open.groups.iter().any(|(known, other)| {
            *known == group && side.is_none_or(|side| side.direction == other.side.direction)
        })
    };
    let ended = match (summary(text), forms::group_side(text)) {
        (Some(group), _) => again(group, None),
        (None, Some(side)) => again(open.group.unwrap_or(0), Some(&side)),
        (None, None) => false,
    };
    ended.then(|| std::mem::take(open))
}

/// `Run status group 0 (all jobs):`.
fn summary(line: &str) -> Option<u64> {
    let rest = line.trim().strip_prefix("Run status group ")?;
    rest.split(' ').next()?.parse().ok()
}

/// Takes in what a line says; false if it says nothing.
fn take(open: &mut TextReport, line: &TextLine<'_>) -> bool {
    let text = line.text;
    if let Some(head) = forms::head(text) {
        open.heads.push(head);
    } else if let Some(version) = forms::version(text) {
        open.version = Some(one_line(version));
    } else if let Some(result) = forms::result(text) {
        open.in_side = false;
        open.jobs.push(TextJob { result, sides: Vec::new(), issued: None });
    } else if let Some(group) = summary(text) {
        open.group = Some(group);
    } else if let Some(side) = forms::group_side(text) {
        let group = *open.group.get_or_insert(0);
        open.groups.push((group, text_side(side, line)));
    } else if let Some((name, [reads, writes, read, written])) = forms::drive(text) {
        open.drives.push(DriveTraffic {
            drive: one_line(name),
            reads,
            writes,
            read_bytes: read.saturating_mul(SECTOR_BYTES),
            write_bytes: written.saturating_mul(SECTOR_BYTES),
            ..DriveTraffic::default()
        });
    } else {
        return take_of_job(open, line);
    }
    true
}

fn text_side(side: FioSide, line: &TextLine<'_>) -> TextSide {
    TextSide { side, latencies: Vec::new(), place: line.place_of(line.text.trim()) }
}

/// Takes in a line of a job's result.
fn take_of_job(open: &mut TextReport, line: &TextLine<'_>) -> bool {
    let text = line.text;
    let Some(job) = open.jobs.last_mut().filter(|_| open.group.is_none()) else { return false };
    if let Some(side) = forms::side(text) {
        job.sides.push(text_side(side, line));
        open.in_side = true;
        return true;
    }
    if let Some(issued) = forms::issued(text) {
        job.issued = Some(issued);
        return true;
    }
    if text.trim_start().starts_with("fsync/") {
        open.in_side = false;
    }
    let Some(side) = job.sides.last_mut().filter(|_| open.in_side) else { return false };
    if let Some(latency) = forms::latency(text) {
        side.latencies.push((latency, Vec::new()));
    } else if let Some(list) = forms::percentile_list(text) {
        open.list = list;
    } else if let (Some((completion, unit)), Some(points)) = (open.list, forms::percentiles(text)) {
        let of = side.latencies.iter_mut().find(|(latency, _)| latency.completion == completion);
        if let Some((_, list)) = of {
            list.extend(points.into_iter().map(|(share, value)| (share, value * unit)));
        }
    }
    true
}

fn report(source: &Arc<Source>, open: TextReport) -> Result<FioReport, SourceError> {
    let place = span(source, open.start.unwrap_or_default(), open.end);
    let mut report = FioReport::new(place);
    report.version = open.version;
    report.continues = Some(open.continues);
    report.drives = open.drives;
    for job in &open.jobs {
        // Of several machines, fio tells each, and then all together.
        if job.result.name != "All clients" || open.jobs.len() == 1 {
            report.jobs.push(fio_job(job, &open.heads)?);
        }
    }
    if open.jobs.is_empty() {
        report.notes.push("Only fio's summary is here: rounded, and without latencies.".to_owned());
        for (group, side) in &open.groups {
            let heads = open.heads.iter().filter(|head| head.group == *group);
            let mut names: Vec<&str> = heads.map(|head| head.name.as_str()).collect();
            names.dedup();
            let name = if names.is_empty() { "fio".to_owned() } else { names.join("+") };
            let done = (side.side.direction, done(side, None, None)?);
            report.jobs.push(of_group(name, *group, done));
        }
    }
    Ok(report)
}

fn of_group(name: String, group: u64, done: (Direction, JobDone)) -> FioJob {
    FioJob {
        name,
        group,
        options: Vec::new(),
        failure: None,
        done: vec![done],
        cpu: Cpu::default(),
        note: None,
    }
}

fn fio_job(job: &TextJob, heads: &[FioHead]) -> Result<FioJob, SourceError> {
    let FioResult { name, group, members, failure, .. } = job.result.clone();
    let head = heads.iter().find(|head| head.name == name && head.group == group);
    let mut all = Vec::new();
    for side in &job.sides {
        let at = match side.side.direction {
            Direction::Write => 1,
            Direction::Trim => 2,
            _ => 0,
        };
        let operations = job.issued.as_ref().and_then(|issued| issued.get(at).copied());
        let size = head.and_then(|head| head.sizes[at]);
        all.push((side.side.direction, done(side, operations, size)?));
    }
    // As 'both' makes fio 3.33 print the sum of what it lists: without operations.
    if all.len() > 1 {
        all.retain(|(direction, _)| *direction != Direction::Mixed);
    }
    let mut options = head.map_or_else(Vec::new, |head| head.options.clone());
    if members > 1 {
        options.push(format!("numjobs={members}\n"));
        options.sort();
    }
    let cut = job.issued.is_none() && failure.is_none();
    let note = cut.then(|| {
        format!(
            "What fio reports of '{name}' is not all here: the number of operations is missing."
        )
    });
    Ok(FioJob { name, group, options, failure, done: all, cpu: Cpu::default(), note })
}

/// The figures of a direction, exact as far as operations and their size make them so.
fn done(
    text: &TextSide,
    operations: Option<u64>,
    size: Option<u64>,
) -> Result<JobDone, SourceError> {
    let FioSide { bytes, rate, iops, runtime_ms, direction } = &text.side;
    let seconds = runtime_ms / 1000.0;
    let counted = operations.zip(size).map(|(n, size)| n as f64 * size as f64);
    let exact = counted.filter(|counted| bytes.shows(*counted));
    let total = exact.unwrap_or(bytes.value);
    // What fio rounded away of the bytes is missing in the quotient, too.
    let quotient = total / seconds;
    let off = |shown: f64| (shown - quotient).abs() > 1.01 * (rate.step + bytes.step / seconds);
    let mixed_sum = *direction == Direction::Mixed && bytes.value == 0.0;
    if seconds > 0.0 && !mixed_sum && off(rate.value) && !rate.shows(quotient) {
        return Err(text.place.error(format!(
            "{} bytes in {seconds} s are {:.2} MB/s, and the line says {:.2} MB/s: was it changed?",
            total,
            quotient / 1e6,
            rate.value / 1e6
        )));
    }
    let known = exact.is_some() && seconds > 0.0;
    let bytes_per_second = if known { quotient } else { rate.value };
    let per_second = operations.filter(|_| seconds > 0.0).map(|n| n as f64 / seconds);
    let fits = |n: &f64| iops.is_none_or(|iops| iops.shows(*n) || (iops.value - n).abs() < 1.5);
    let iops = per_second.filter(fits).or(iops.map(|iops| iops.value));
    Ok(JobDone {
        bytes: total as u64,
        operations,
        runtime_ms: *runtime_ms,
        bytes_per_second: Some(bytes_per_second),
        iops,
        latency: latencies(text, operations)?,
    })
}

/// The latencies of which most is known.
fn latencies(
    text: &TextSide,
    operations: Option<u64>,
) -> Result<Option<JobLatencies>, SourceError> {
    let mut all = Vec::new();
    let count = operations.map_or(UNCOUNTED, |n| n as f64);
    for (latency, points) in &text.latencies {
        let [min, max, mean, deviation] = latency.moments;
        let mut known = moments(min, mean, max, deviation);
        let mut detail = LatencyDetail::Moments;
        if !points.is_empty() {
            known.histogram = percentiles(points, count, (min, max)).map_err(|_| {
                text.place.error("of its percentiles, a higher one is smaller than a lower one")
            })?;
            detail = LatencyDetail::Percentiles;
        }
        all.push(JobLatencies { completion: latency.completion, detail, count, latency: known });
    }
    Ok(JobLatencies::best(all))
}
