//! `disklab drive probe`: a drive file of a drive of this machine.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_drive::DriveFile;
use disklab_measure::SystemRoot;
use disklab_probe::{
    Description, Field, Findings, MARK, ProbeError, ProbeWatcher, Siblings, drive_file,
    probe_hard_disk, probe_solid_state,
};
use disklab_units::show_duration;
use serde_json::json;

use super::super::outputs::{OutputError, check_own, write_own};
use super::real::{OtherLoad, RealDrive};
use super::scratch::{MOST, ScratchFile};
use super::subject::{Subject, find};
use crate::cli::ProbeArgs;
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};
use crate::progress::left_words;
use crate::signals;

/// Carries out the command.
pub fn probe(args: &ProbeArgs, as_json: bool) -> Result<u8, Failure> {
    let (directory, name) = place(&args.to)?;
    // Ten minutes later would be too late to say so.
    check_own(directory, name, is_own).map_err(OutputError::into_usage_error)?;
    let root = SystemRoot::here();
    let subject = find(&root, &args.device)?;
    for note in &subject.notes {
        eprintln!("disklab: {}: {note}", args.device.display());
    }
    let interrupt = signals::interrupt()?;
    let scratch = args.writes.as_deref();
    let scratch =
        scratch.map(|place| ScratchFile::within(place, &subject, MOST, &root, &interrupt));
    let scratch = scratch.transpose().map_err(Failure::usage_error)?;
    let bytes = subject.device.size_bytes();
    let mut drive = RealDrive::open(&args.device, bytes, subject.queue_depth, &interrupt)
        .map_err(|error| cannot_open(&args.device, &error))?;
    let moved = drive.moved();
    let load = OtherLoad::watch(&subject.device, moved.clone())?;
    let mut watcher = Lines { load, begun: Instant::now() };
    let siblings = Siblings::of(&subject.names);
    let probe = if subject.rotates { probe_hard_disk } else { probe_solid_state };
    let (mut findings, mut sibling) = probe(&mut drive, &siblings, args.seed, &mut watcher)?;
    let how =
        if scratch.is_some() { "reading, and writing in a place of its own," } else { "reading" };
    if let Some(scratch) = scratch {
        let known = (&findings, &sibling, &siblings);
        let found = scratch.probe(known, args.seed, (moved, &interrupt), &mut watcher)?;
        findings.join(found.0);
        sibling = found.1;
    }
    let took = watcher.begun.elapsed();
    let text = drive_file(&findings, &sibling, &description(&subject, how, took))?;
    let path = write_own(directory, name, &text, is_own).map_err(OutputError::into_usage_error)?;
    let path = path.strip_prefix("./").unwrap_or(&path);
    if as_json {
        print_json(&as_value(&findings, &sibling, path))?;
    } else {
        print(&table(&findings, &sibling, path))?;
    }
    Ok(DONE)
}

/// Where the drive file is to be, and its name there.
fn place(to: &Path) -> Result<(&Path, &str), Failure> {
    let name = to.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| {
        Failure::usage_error(format!("--to {}: expected the name of a file", to.display()))
    })?;
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(Failure::usage_error(format!(
            "--to {}: there is no such directory",
            to.display()
        )));
    }
    Ok((directory, name))
}

/// Whether a file begins as those that a probe writes.
fn is_own(head: &str) -> bool {
    head.starts_with(MARK)
}

/// A device that cannot be opened.
pub fn cannot_open(path: &Path, error: &std::io::Error) -> Failure {
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied => "; only root, or the group disk, may read drives",
        _ => "",
    };
    Failure::usage_error(format!("cannot open {}: {error}{hint}", path.display()))
}

/// Says in a line each what is measured and how long it takes; ends the probe if others
/// use the drive.
struct Lines {
    load: OtherLoad,
    begun: Instant,
}

impl ProbeWatcher for Lines {
    fn step(&mut self, name: &'static str, seconds_left: f64) -> Result<(), ProbeError> {
        self.load.check()?;
        if seconds_left > 0.0 {
            let begun = self.begun.elapsed().as_secs_f64();
            let part = 100.0 * begun / (begun + seconds_left);
            let left = left_words(seconds_left);
            eprintln!("disklab: {part:3.0} % {name}; {left}");
        }
        Ok(())
    }
}

fn description(subject: &Subject, how: &str, took: Duration) -> Description {
    let slug: String = subject
        .model
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let slug = slug.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    Description {
        id: format!("{slug}-measured"),
        model: subject.model.clone(),
        bytes: subject.device.size_bytes(),
        sector_sizes: subject.sector_sizes,
        how: format!(
            "{}, by {how} for {}, with disklab {}.",
            subject.model,
            show_duration(took),
            disklab_runner::VERSION
        ),
    }
}

fn table(findings: &Findings, sibling: &DriveFile, path: &Path) -> String {
    let mut text = format!("{:32}{:>14}   95 % confidence\n", "", "measured");
    for (path, estimate) in &findings.values {
        let Some(field) = Field::by_path(path) else { continue };
        let [value, low, high] =
            [estimate.value, estimate.low, estimate.high].map(|value| field.unit.show(value));
        text.push_str(&format!("{path:32}{value:>14}   {low} to {high}\n"));
    }
    for note in &findings.notes {
        text.push_str(&format!("- {note}\n"));
    }
    text.push_str(&format!(
        "All else is from the nearest shipped drive, {}.\nWritten to {}. `disklab drive` validates \
         it, `disklab drive check` compares it with the drive, `disklab lab shell --drives` and \
         `model = …` in a study use it.\n",
        sibling.id,
        path.display()
    ));
    text
}

fn as_value(findings: &Findings, sibling: &DriveFile, path: &Path) -> serde_json::Value {
    let values: serde_json::Map<String, serde_json::Value> = findings
        .values
        .iter()
        .map(|(path, e)| {
            let value = json!({
                "value": e.value, "low": e.low, "high": e.high, "samples": e.samples,
            });
            ((*path).to_owned(), value)
        })
        .collect();
    let curves: Vec<_> = findings
        .curves
        .iter()
        .map(|c| json!({ "title": c.title, "columns": c.columns, "points": c.points }))
        .collect();
    json!({
        "file": path.display().to_string(),
        "sibling": sibling.id,
        "measured": values,
        "notes": findings.notes,
        "curves": curves,
    })
}
