//! `disklab drive check`: the same loads on a drive and on its model.

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use disklab_bench::find_model;
use disklab_drive::DriveFile;
use disklab_exec::Interrupt;
use disklab_measure::SystemRoot;
use disklab_probe::{
    DISK_LOADS, DISK_WRITES, FLASH_LOADS, FLASH_WRITES, Load, ModelledDrive, ProbeError,
    ProbedValue, TimedDrive, difference, prepare_writes, run_load, run_write_load, written_range,
};
use disklab_units::Bytes;
use serde_json::json;

use super::probe::cannot_open;
use super::real::{OtherLoad, RealDrive, Slots};
use super::scratch::{BYTES, ScratchFile};
use super::subject::{Subject, find};
use crate::cli::CheckArgs;
use crate::exit::{DONE, Failure, exit_codes};
use crate::printing::{print, print_json};
use crate::signals;

/// The most that is written on the model of a solid-state drive, so that it has data to
/// read.
const FILLED: u64 = 4 << 30;
/// How long it may then empty its SLC cache, ns.
const SETTLED: u64 = 1_000_000_000_000;

/// What a load gave on both.
struct Compared {
    load: &'static Load,
    drive: ProbedValue,
    twin: ProbedValue,
}

/// Carries out the command.
pub fn check(args: &CheckArgs, as_json: bool) -> Result<u8, Failure> {
    let file = find_model(&args.drive, Path::new(""))?;
    let root = SystemRoot::here();
    let subject = find(&root, &args.device)?;
    check_kind(&file, &subject)?;
    for note in &subject.notes {
        eprintln!("disklab: {}: {note}", args.device.display());
    }
    let interrupt = signals::interrupt()?;
    let scratch = args.writes.as_deref();
    let scratch =
        scratch.map(|place| ScratchFile::within(place, &subject, BYTES, &root, &interrupt));
    let scratch = scratch.transpose().map_err(Failure::usage_error)?;
    let mut compared = Vec::new();
    let (mut others, moved) = compare(args, &file, &subject, &interrupt, &mut compared)?;
    if let Some(scratch) = scratch {
        let twin_range = if file.rotates() { scratch.range() } else { 0..BYTES.0 };
        let (mut drive, _held) = scratch.open(Slots::default(), (moved, &interrupt))?;
        compare_writes(args, &file, (&mut drive, twin_range), &mut others, &mut compared)?;
    }
    if as_json {
        print_json(&as_value(&file, &compared))?;
    } else {
        print(&table(&file, &compared))?;
    }
    Ok(DONE)
}

/// A model of another kind or size is another drive's.
fn check_kind(file: &DriveFile, subject: &Subject) -> Result<(), OtherDrive> {
    let (id, name) = (file.id.clone(), subject.device.name().to_owned());
    if file.rotates() != subject.rotates {
        return Err(OtherDrive::Kind { id, model_rotates: file.rotates(), name });
    }
    let (model, drive) = (file.capacity(), subject.device.size_bytes());
    if model.abs_diff(drive) > drive / 100 {
        return Err(OtherDrive::Size { id, model: Bytes(model), name, drive: Bytes(drive) });
    }
    Ok(())
}

/// A model and a drive that have nothing to do with each other.
#[derive(Debug, thiserror::Error)]
pub enum OtherDrive {
    /// One rotates and one does not.
    #[error(
        "'{id}' is the model of {}, and {name} is {}",
        kind_name(*model_rotates),
        kind_name(!*model_rotates)
    )]
    Kind { id: String, model_rotates: bool, name: String },
    /// They differ in size by more than a percent.
    #[error("'{id}' is the model of a drive of {}, and {name} has {}", model.si(), drive.si())]
    Size { id: String, model: Bytes, name: String, drive: Bytes },
}

exit_codes! { OtherDrive => USAGE_ERROR, }

fn kind_name(rotates: bool) -> &'static str {
    if rotates { "a hard disk" } else { "a solid-state drive" }
}

fn compare(
    args: &CheckArgs,
    file: &DriveFile,
    subject: &Subject,
    interrupt: &Interrupt,
    compared: &mut Vec<Compared>,
) -> Result<(OtherLoad, Rc<Cell<u64>>), Failure> {
    let bytes = subject.device.size_bytes();
    let mut drive = RealDrive::open(&args.device, bytes, subject.queue_depth, interrupt)
        .map_err(|error| cannot_open(&args.device, &error))?;
    let moved = drive.moved();
    let mut others = OtherLoad::watch(&subject.device, moved.clone())?;
    let (loads, range): (&'static [Load], Range<u64>) = if file.rotates() {
        (&DISK_LOADS, 0..bytes)
    } else {
        (&FLASH_LOADS, written_range(&mut drive)?)
    };
    for load in loads {
        eprintln!("disklab: {}", load.name);
        let measured = run_load(&mut drive, load, range.clone(), args.seed)?;
        others.check()?;
        let twin = twin(file, load, &range, args.seed)?;
        compared.push(Compared { load, drive: measured, twin });
    }
    Ok((others, moved))
}

/// The loads that write, on the room of its own and on a new drive of the model, at the same place
/// and from the same history on.
fn compare_writes(
    args: &CheckArgs,
    file: &DriveFile,
    (drive, twin_range): (&mut RealDrive, Range<u64>),
    others: &mut OtherLoad,
    compared: &mut Vec<Compared>,
) -> Result<(), Failure> {
    let loads = if file.rotates() { &DISK_WRITES } else { &FLASH_WRITES };
    let range = 0..drive.bytes();
    eprintln!("disklab: filling {} to write in", Bytes(range.end).iec());
    prepare_writes(drive, range.clone())?;
    let mut twin = ModelledDrive::new(file.build(args.seed), Some(file.queue_depth()));
    // The model's last sectors may be some earlier than the drive's.
    let end = twin.bytes().min(twin_range.end);
    let twin_range = end.saturating_sub(range.end)..end;
    prepare_writes(&mut twin, twin_range.clone())?;
    for load in loads {
        eprintln!("disklab: {}", load.name);
        let measured = run_write_load(drive, load, range.clone(), args.seed)?;
        others.check()?;
        let twin = run_write_load(&mut twin, load, twin_range.clone(), args.seed)?;
        compared.push(Compared { load, drive: measured, twin });
    }
    Ok(())
}

/// The load on a new drive of the model, in virtual time.
fn twin(
    file: &DriveFile,
    load: &Load,
    range: &Range<u64>,
    seed: u64,
) -> Result<ProbedValue, ProbeError> {
    let mut drive = ModelledDrive::new(file.build(seed), Some(file.queue_depth()));
    let range = if file.rotates() {
        0..drive.bytes()
    } else {
        let filled = (range.end - range.start).min(FILLED);
        drive.fill(filled, SETTLED)?;
        0..filled
    };
    run_load(&mut drive, load, range, seed)
}

/// A part as a percentage with its sign.
fn percent(part: f64) -> String {
    format!("{:+.1} %", part * 100.0)
}

fn table(file: &DriveFile, compared: &[Compared]) -> String {
    let mut text = format!(
        "{:44}{:>12}{:>12}   twin is apart by (95 % confidence)\n",
        "requests per second", "drive", "twin"
    );
    for Compared { load, drive, twin } in compared {
        let apart = difference(*drive, *twin);
        text.push_str(&format!(
            "{:44}{:>12.1}{:>12.1}   {:>8} ({} to {})\n",
            load.name,
            drive.value,
            twin.value,
            percent(apart.value),
            percent(apart.low),
            percent(apart.high)
        ));
    }
    text.push_str(&format!("The twin is '{}', in virtual time.\n", file.id));
    text
}

fn as_value(file: &DriveFile, compared: &[Compared]) -> serde_json::Value {
    let loads: Vec<_> = compared
        .iter()
        .map(|Compared { load, drive, twin }| {
            let apart = difference(*drive, *twin);
            let value = |e: &ProbedValue| json!({ "value": e.value, "low": e.low, "high": e.high });
            json!({
                "load": load.name,
                "drive": value(drive),
                "twin": value(twin),
                "difference": value(&apart),
            })
        })
        .collect();
    json!({ "twin": file.id, "loads": loads })
}
