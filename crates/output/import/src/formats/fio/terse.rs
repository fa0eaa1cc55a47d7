//! fio's terse lines (`--minimal`, `--output-format=terse`), versions 2 to 5.
//!
//! Fields: `stat.c` of fio 3.33 (`show_thread_status_terse_all`) and fio's HOWTO. Data are KiB and
//! KiB/s, latencies microseconds; all are cut off to integers.

use std::collections::HashMap;
use std::sync::Arc;

use disklab_sample::{Cpu, Direction};
use disklab_source::{Source, SourceError};

use super::figures::{JobDone, JobLatencies, LatencyDetail};
use super::json_figures::UNCOUNTED;
use super::report::{FioJob, FioReport};
use super::reports::FioReports;
use super::work::section_name;
use crate::format::ImportFormat;
use crate::reading::{Reading, moments, percentiles};
use crate::text::{TextLine, decimal, lines, span};

pub(in crate::formats) const TERSE: ImportFormat = ImportFormat {
    name: "fio-terse",
    about: "fio 1.5x to 3.4x: --minimal or --output-format=terse, versions 2 to 5 of the format",
    looks_like: |text| text.split(['\n', '\r']).any(|line| fields(line).is_some()),
    read,
};

/// The fields of a line: the format's version, fio's (not in 2), name, group, error, and more.
fn fields(line: &str) -> Option<Vec<&str>> {
    let line = line.trim();
    let start = ["2;", "3;fio-", "4;fio-", "5;fio-"].iter().any(|start| line.starts_with(start));
    // As many as the first version has.
    let fields: Vec<&str> = line.split(';').map(str::trim).collect();
    let general = if line.starts_with("2;") { 2 } else { 3 };
    let numbers = |at: usize| fields.get(at).is_some_and(|f| f.parse::<i64>().is_ok());
    (start && fields.len() > 20 && numbers(general) && numbers(general + 1)).then_some(fields)
}

/// A line, and what of it tells clones from repeats.
struct TerseLine {
    report: FioReport,
    /// What the drives did until then: the same in all lines of a run.
    drives: Vec<String>,
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut reports = FioReports::default();
    let mut open: Option<TerseLine> = None;
    // How many lines the last report of a job has.
    let mut clones: HashMap<String, usize> = HashMap::new();
    for line in lines(source) {
        let Some(fields) = fields(line.text) else { continue };
        let next = terse_line(&line, &fields)?;
        match open.take() {
            Some(mut one) if is_of_one_run(&one, &next, &clones) => {
                one.report.place.span.end = line.end();
                one.report.jobs.extend(next.report.jobs);
                open = Some(one);
            }
            before => {
                if let Some(before) = before {
                    clones.clear();
                    for job in &before.report.jobs {
                        *clones.entry(job.name.clone()).or_default() += 1;
                    }
                    reports.add(before.report)?;
                }
                open = Some(next);
            }
        }
    }
    open.map_or(Ok(()), |last| reports.add(last.report))?;
    let readings = reports.readings()?;
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no terse line of fio here; expected one that begins with '3;fio-', as \
             --minimal writes it",
        ));
    }
    Ok(readings)
}

/// Whether a line is of the same run as those before: another job, or a clone, which saw the same
/// drives do the same. So does the last report of `--status-interval`, but of as many clones as the
/// one before.
fn is_of_one_run(run: &TerseLine, next: &TerseLine, clones: &HashMap<String, usize>) -> bool {
    let Some(job) = next.report.jobs.first() else { return false };
    let known = run.report.jobs.iter().filter(|known| known.name == job.name);
    let again = known.clone().any(|known| known.group == job.group);
    let is_full = clones.get(&job.name).is_some_and(|most| known.count() >= *most);
    run.report.version == next.report.version
        && run.drives == next.drives
        && !is_full
        && (!again || moved(&run.drives))
}

/// Whether the drives did anything: if not, their numbers are the same in every run.
fn moved(drives: &[String]) -> bool {
    drives.iter().any(|field| field.parse::<u64>().is_ok_and(|n| n > 0))
}

/// Reads the fields of a line one after another.
struct TerseFields<'a> {
    line: &'a TextLine<'a>,
    all: &'a [&'a str],
    at: usize,
}

impl<'a> TerseFields<'a> {
    fn next(&mut self, what: &str) -> Result<&'a str, SourceError> {
        let field = self.all.get(self.at).copied();
        self.at += 1;
        field.ok_or_else(|| self.line.error(format!("{what} is missing: the line is cut off")))
    }

    fn number(&mut self, what: &str) -> Result<f64, SourceError> {
        let field = self.next(what)?;
        // fio prints 'nan' where nothing was measured.
        if field.trim_start_matches('-') == "nan" {
            return Ok(0.0);
        }
        decimal(field.trim_end_matches('%')).ok_or_else(|| {
            self.line
                .place_of(field)
                .error(format!("{what}: expected a number from 0, found '{field}'"))
        })
    }

    /// Latencies in nanoseconds: the least, the largest, the mean and the deviation.
    fn latency(&mut self, what: &str) -> Result<[f64; 4], SourceError> {
        let mut all = [0.0; 4];
        for value in &mut all {
            *value = self.number(what)? * 1e3;
        }
        Ok(all)
    }

    fn is_percentile(&self) -> bool {
        self.all.get(self.at).is_some_and(|field| field.contains("%="))
    }
}

fn terse_line(line: &TextLine<'_>, all: &[&str]) -> Result<TerseLine, SourceError> {
    let version: u32 = all[0].parse().unwrap_or_default();
    let mut fields = TerseFields { line, all, at: 1 };
    let mut report = FioReport::new(line.place_of(line.text.trim()));
    if version > 2 {
        report.version = Some(fields.next("fio's version")?.to_owned());
    }
    let name = section_name(fields.next("the job's name")?);
    let group = fields.next("the group")?.parse().unwrap_or(0);
    let error = fields.next("the error")?;
    let failed = error.trim_start_matches('-') != "0";
    let mut sides = Vec::new();
    // The processor's shares come behind the last direction.
    while fields.all.get(fields.at).is_some_and(|field| !field.ends_with('%')) {
        sides.push(side(&mut fields, version)?);
    }
    let directions: &[Direction] = match sides.len() {
        1 => &[Direction::Mixed],
        _ => &[Direction::Read, Direction::Write, Direction::Trim],
    };
    // What is left is 'mixed', the sum of the others: in version 3 the third.
    let known = if version == 3 { 2 } else { 3 };
    let sides = directions.iter().copied().zip(sides).take(known);
    let done = sides.filter_map(|(direction, done)| Some((direction, done?))).collect();
    // Its share and system time, three counts, 7 depths and 22 latencies stand before the drives.
    let drives = all.get(fields.at + 34..).unwrap_or_default();
    let drives = drives.iter().map(|field| (*field).to_owned()).collect();
    report.jobs.push(FioJob {
        failure: failed.then(|| format!("fio's job '{name}' ended with error {error}")),
        name,
        group,
        options: Vec::new(),
        done,
        cpu: Cpu::default(),
        note: None,
    });
    Ok(TerseLine { report, drives })
}

/// One direction; none if nothing was done in it.
fn side(fields: &mut TerseFields<'_>, version: u32) -> Result<Option<JobDone>, SourceError> {
    let place = fields.line.place_of(fields.all[fields.at]);
    let kib = fields.number("the KiB")?;
    let rate = fields.number("the KiB/s")?;
    // fio 1 does not print it.
    let is_oldest = version == 2 && !fields.all.iter().any(|field| field.contains("%="));
    let iops = if is_oldest { 0.0 } else { fields.number("the operations per second")? };
    let runtime_ms = fields.number("the runtime")?;
    fields.latency("the submission latency")?;
    let completion = fields.latency("the completion latency")?;
    let mut points = Vec::new();
    while fields.is_percentile() {
        let (share, value) = fields.next("a percentile")?.split_once("%=").unwrap_or_default();
        let share = decimal(share).filter(|share| *share > 0.0 && *share <= 100.0);
        points.extend(share.zip(decimal(value)).map(|(share, us)| (share / 100.0, us * 1e3)));
    }
    let total = fields.latency("the latency")?;
    // The spread of bandwidth samples, and since version 5 of operations.
    for _ in 0..if version == 5 { 11 } else { 5 } {
        fields.number("the bandwidth samples")?;
    }
    if kib == 0.0 && iops == 0.0 {
        return Ok(None);
    }
    let seconds = runtime_ms / 1000.0;
    let quotient = kib / seconds;
    // fio 1 divided bytes by milliseconds.
    let allowed = if is_oldest { 0.03 } else { 0.02 };
    if seconds > 0.0 && (quotient - rate).abs() > 1.5 + 1.0 / seconds + allowed * quotient {
        return Err(place.error(format!(
            "{kib} KiB in {seconds} s are {quotient:.0} KiB/s, and the line says {rate}: was it \
             changed?"
        )));
    }
    let bytes_per_second = if seconds > 0.0 { quotient } else { rate } * 1024.0;
    Ok(Some(JobDone {
        bytes: (kib * 1024.0) as u64,
        operations: None,
        runtime_ms,
        bytes_per_second: Some(bytes_per_second),
        iops: Some(iops).filter(|iops| *iops > 0.0),
        latency: latencies(&points, completion, total, iops * seconds)
            .map_err(|()| place.error("a higher percentile is smaller than a lower one"))?,
    }))
}

/// The latencies of which most is known.
fn latencies(
    points: &[(f64, f64)],
    completion: [f64; 4],
    total: [f64; 4],
    count: f64,
) -> Result<Option<JobLatencies>, ()> {
    let mut all = Vec::new();
    for (is_completion, [min, max, mean, deviation]) in [(false, total), (true, completion)] {
        if max == 0.0 && mean == 0.0 {
            continue;
        }
        let mut latency = moments(min, mean, max, deviation);
        let mut detail = LatencyDetail::Moments;
        if is_completion && points.iter().any(|(_, ns)| *ns > 0.0) {
            latency.histogram =
                percentiles(points, count.max(UNCOUNTED), (min, max)).map_err(|_| ())?;
            detail = LatencyDetail::Percentiles;
        }
        all.push(JobLatencies { completion: is_completion, detail, count, latency });
    }
    Ok(JobLatencies::best(all))
}
