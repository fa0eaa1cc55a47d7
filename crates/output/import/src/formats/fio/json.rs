//! fio's JSON (`--output-format=json`, `json+`, `normal,json`), versions 2.1 to 3.4x.

use std::sync::Arc;

use disklab_sample::{Cpu, DriveTraffic};
use disklab_source::{Location, Source, SourceError};

use super::documents::{each_document, next_start};
use super::flushes;
use super::json_figures::done;
use super::report::{DIRECTIONS, FioJob, FioReport, ReportClock};
use super::reports::FioReports;
use super::work::{option_lines, section_name};
use crate::format::ImportFormat;
use crate::json::Json;
use crate::reading::{Reading, nanoseconds, one_line};

pub(in crate::formats) const JSON: ImportFormat = ImportFormat {
    name: "fio-json",
    about: "fio 2.1 to 3.4x: --output-format=json or json+, with any lines around it",
    looks_like: |text| next_start(text, 0).is_some(),
    read,
};

/// The kernel's sectors, whatever the drive's are (`include/linux/types.h`).
pub(super) const SECTOR_BYTES: u64 = 512;

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut reports = FioReports::default();
    each_document(source, &mut |document| reports.add(report(document)?))?;
    let readings = reports.readings()?;
    if readings.is_empty() {
        return Err(Location { source: Arc::clone(source), span: 0..0 }.error(
            "there is no report of fio here; expected JSON with 'jobs', as --output-format=json \
             writes it",
        ));
    }
    Ok(readings)
}

fn report(document: &Json) -> Result<FioReport, SourceError> {
    // Of several machines, fio tells each, and then all together.
    let clients = document.list("client_stats")?.iter();
    let jobs: Vec<&Json> = clients
        .filter(|job| job.text("jobname").as_deref() != Some("All clients"))
        .chain(document.list("jobs")?)
        .collect();
    if jobs.is_empty() {
        return Err(document.place.error("this report of fio has no jobs: nothing was measured"));
    }
    let mut report = FioReport::new(document.place.clone());
    report.version = document.text("fio version");
    report.global = option_lines(document.get("global options"));
    report.lists_options = document.get("global options").is_some()
        || jobs.iter().any(|job| job.get("job options").is_some());
    report.clock = match (document.number("timestamp_ms")?, document.number("timestamp")?) {
        (Some(ms), _) => ReportClock::Milliseconds(ms),
        (None, Some(seconds)) => ReportClock::Seconds(seconds * 1000.0),
        (None, None) => ReportClock::Absent,
    };
    report.drives = traffic(document)?;
    for (name, field) in [("measured at", "time"), ("hostname", "hostname")] {
        if let Some(text) = document.text(field) {
            report.surroundings.insert(name.to_owned(), one_line(&text));
        }
    }
    let global = document.get("global options");
    let version = report.version.as_deref();
    report.jobs =
        jobs.into_iter().map(|one| job(one, global, version)).collect::<Result<_, _>>()?;
    Ok(report)
}

fn job(job: &Json, global: Option<&Json>, version: Option<&str>) -> Result<FioJob, SourceError> {
    let name = section_name(&job.text("jobname").unwrap_or_default());
    // Negative in some versions; any but 0 is a failure.
    let error = job.get("error").and_then(Json::as_text).unwrap_or_else(|| "0".to_owned());
    let failed = error.trim_start_matches('-') != "0";
    let mut all = Vec::new();
    for (key, direction) in DIRECTIONS {
        all.extend(done(job, key, version)?.map(|done| (direction, done)));
    }
    Ok(FioJob {
        group: job.count("groupid")?.unwrap_or(0),
        options: option_lines(job.get("job options")),
        failure: failed.then(|| format!("fio's job '{name}' ended with error {error}")),
        done: all,
        cpu: cpu(job)?,
        note: flushes::extra(job, global)?,
        name,
    })
}

/// CPU time: fio tells per cent of the job's runtime, summed over its processes.
fn cpu(job: &Json) -> Result<Cpu, SourceError> {
    // `job_runtime` since 2.20; what took its place before is too coarse.
    let Some(runtime_ms) = job.number("job_runtime")? else { return Ok(Cpu::default()) };
    let of = |name: &str| -> Result<u64, SourceError> {
        Ok(nanoseconds(job.number(name)?.unwrap_or(0.0) / 100.0 * runtime_ms / 1000.0))
    };
    Ok(Cpu { user_ns: of("usr_cpu")?, system_ns: of("sys_cpu")?, ..Cpu::default() })
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
