//! fio's JSON (`--output-format=json`, `json+`, `normal,json`), versions 2.1 to 3.4x.

mod documents;
mod figures;
mod flushes;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;

use disklab_sample::{Cpu, DriveTraffic, Step, Tool};
use disklab_source::{Location, Source, SourceError};

use super::ImportFormat;
use crate::json::Json;
use crate::reading::{Reading, check_count, nanoseconds, one_line, step};
use documents::{each_document, next_start};
use figures::{done, together};
use work::{DIRECTIONS, JobSection, section_name, work};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "fio-json",
    about: "fio 2.1 to 3.4x: --output-format=json or json+, with any lines around it",
    looks_like,
    read,
};

/// The kernel's sectors, whatever the drive's are (`include/linux/types.h`).
const SECTOR_BYTES: u64 = 512;

fn looks_like(text: &str) -> bool {
    next_start(text, 0).is_some()
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    each_document(source, &mut |report| {
        readings.push(reading(report)?);
        check_count(readings.len(), &report.place)
    })?;
    if readings.is_empty() {
        return Err(Location { source: Arc::clone(source), span: 0..0 }.error(
            "there is no report of fio here; expected JSON with 'jobs', as --output-format=json \
             writes it",
        ));
    }
    Ok(readings)
}

fn reading(report: &Json) -> Result<Reading, SourceError> {
    // Of several machines, fio tells each, and then all together.
    let clients = report.list("client_stats")?.iter();
    let jobs: Vec<&Json> = clients
        .filter(|job| job.text("jobname").as_deref() != Some("All clients"))
        .chain(report.list("jobs")?)
        .collect();
    if jobs.is_empty() {
        return Err(report.place.error("this report of fio has no jobs: nothing was measured"));
    }
    let sections: Vec<JobSection<'_>> = jobs
        .iter()
        .map(|job| JobSection { name: section_name(job), options: job.get("job options") })
        .collect();
    let mut reading = Reading::new(work(report, &sections), report.place.clone());
    reading.failure = failure(&jobs)?;
    let mut names: Vec<&str> = Vec::new();
    for section in &sections {
        if !names.contains(&section.name.as_str()) {
            names.push(&section.name);
        }
    }
    for name in &names {
        let of_name = jobs.iter().zip(&sections).filter(|(_, s)| s.name == *name);
        let of_name: Vec<&Json> = of_name.map(|(job, _)| *job).collect();
        let step = step_of_jobs(name, &of_name, report, &mut reading.notes)?;
        if !step.figures.is_empty() {
            reading.steps.push(step);
        }
    }
    if reading.steps.is_empty() && reading.failure.is_none() {
        return Err(report.place.error(
            "no job of this report read or wrote anything; expected 'read', 'write' or 'trim' \
             with figures",
        ));
    }
    if let [only] = reading.steps.as_mut_slice() {
        only.drives = traffic(report)?;
    }
    reading.tools = version(report).into_iter().collect();
    for (name, field) in [("measured at", "time"), ("hostname", "hostname")] {
        if let Some(text) = report.text(field) {
            reading.surroundings.insert(name.to_owned(), one_line(&text));
        }
    }
    Ok(reading)
}

/// What the jobs of one name did together. Adds to the notes what is new.
fn step_of_jobs(
    name: &str,
    jobs: &[&Json],
    report: &Json,
    notes: &mut Vec<String>,
) -> Result<Step, SourceError> {
    let mut figures = Vec::new();
    for (key, direction) in DIRECTIONS {
        let all: Vec<_> =
            jobs.iter().filter_map(|job| done(job, key).transpose()).collect::<Result<_, _>>()?;
        if !all.is_empty() {
            let (figure, note) = together(direction, &all);
            figures.push(figure);
            notes.extend(note.filter(|n| !notes.contains(n)));
        }
    }
    for job in jobs {
        let note = flushes::extra(job, report.get("global options"))?;
        notes.extend(note.filter(|n| !notes.contains(n)));
    }
    let mut step = step(name, figures);
    step.cpu = cpu(jobs)?;
    Ok(step)
}

/// Why jobs failed: fio tells an errno.
fn failure(jobs: &[&Json]) -> Result<Option<String>, SourceError> {
    for job in jobs {
        // Negative in some versions; any but 0 is a failure.
        let error = job.get("error").and_then(Json::as_text).unwrap_or_else(|| "0".to_owned());
        if error.trim_start_matches('-') != "0" {
            return Ok(Some(format!("fio's job '{}' ended with error {error}", section_name(job))));
        }
    }
    Ok(None)
}

/// CPU time: fio tells per cent of the job's runtime, summed over its processes.
fn cpu(jobs: &[&Json]) -> Result<Cpu, SourceError> {
    let mut cpu = Cpu::default();
    for job in jobs {
        // `job_runtime` since 2.20; what took its place before is too coarse.
        let Some(runtime_ms) = job.number("job_runtime")? else { continue };
        let of = |name: &str| -> Result<u64, SourceError> {
            Ok(nanoseconds(job.number(name)?.unwrap_or(0.0) / 100.0 * runtime_ms / 1000.0))
        };
        cpu.user_ns = cpu.user_ns.saturating_add(of("usr_cpu")?);
        cpu.system_ns = cpu.system_ns.saturating_add(of("sys_cpu")?);
    }
    Ok(cpu)
}

/// What the drives did, where fio tells it in sectors, as newer versions do. Of a device that
/// is built on others, those others are reported too, and count alone.
fn traffic(report: &Json) -> Result<Vec<DriveTraffic>, SourceError> {
    let mut drives = Vec::new();
    for drive in report.list("disk_util")? {
        let is_master = drive.get("aggr_read_ios").is_some();
        let sectors = (drive.count("read_sectors")?, drive.count("write_sectors")?);
        let (false, (Some(read), Some(written))) = (is_master, sectors) else { continue };
        drives.push(DriveTraffic {
            drive: one_line(&drive.text("name").unwrap_or_default()),
            read_bytes: read.saturating_mul(SECTOR_BYTES),
            reads: drive.count("read_ios")?.unwrap_or(0),
            write_bytes: written.saturating_mul(SECTOR_BYTES),
            writes: drive.count("write_ios")?.unwrap_or(0),
            ..DriveTraffic::default()
        });
    }
    Ok(drives)
}

fn version(report: &Json) -> Option<Tool> {
    let version = report.text("fio version")?;
    Some(Tool { name: "fio".to_owned(), version: one_line(&version) })
}
