//! A cell inside the lab's guest: the same code as on real disks.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use disklab_cell::Cell;
use disklab_config::ModelSetting;
use disklab_exec::Executor;
use disklab_lab_guest::{LAB_FOLDER, PLACE, fixed_start, mount_shown, set_environment};
use disklab_source::SourceError;
use disklab_stack::{Ledger, StackError};
use disklab_workload::Context;

use super::drives::{DrivesError, ModelledDrives};
use super::job::{
    ANSWER, GuestAnswer, GuestJob, JOB, PHASES, PROGRAMS, RAW, ReportedFailure, STUDY, read, write,
};
use super::machine::set_up;
use super::processor::check_charges;
use crate::bench::CellRunner;
use crate::{BenchError, Campaign, CellOutcome, DeviceBench, Phase, Sink, SinkError};

/// Carries out the cell that the host left a job for, and leaves the answer. The
/// caller is the guest's first program and has begun.
///
/// # Errors
/// [`GuestError`] if job or answer cannot be read or written, or the host's folders not be
/// mounted; the console is then all that the host has to tell.
pub fn carry_out_in_guest() -> Result<(), GuestError> {
    let lab = Path::new(LAB_FOLDER);
    let job: GuestJob = read(lab, JOB).map_err(GuestError::Job)?.ok_or(GuestError::NoJob)?;
    let answer = |answer: &GuestAnswer| write(lab, ANSWER, answer).map_err(GuestError::Answer);
    if let Err(why) = check_charges(&job.charges) {
        return answer(&GuestAnswer::failed(&why, Vec::new()));
    }
    let programs = job.programs.then(|| host(PROGRAMS)).transpose()?;
    set_environment(programs.as_deref());
    let study = host(STUDY)?;
    if let Some(version) = &job.fio {
        disklab_workload::assume_fio(version);
    }
    let phases = File::options().append(true).create(true).open(lab.join(PHASES));
    let raw = Path::new(PLACE).join(RAW);
    let mut sink = GuestSink { phases: phases.ok(), raw: raw.clone(), answer: None };
    let result = host(RAW).map_err(GuestCellError::from).and_then(|_| {
        // Before: to read the clock moves it.
        disklab_workload::count_from_boot();
        fixed_start();
        cell(&job, &study, &mut sink)
    });
    answer(&match (result, sink.answer) {
        // What could not be torn down may still matter to what was measured.
        (Err(why), answer) => GuestAnswer::failed(&why, answer.map_or_else(Vec::new, |a| a.trace)),
        (Ok(()), Some(answer)) => answer,
        (Ok(()), None) => GuestAnswer::failed(&GuestCellError::Unended, Vec::new()),
    })
}

/// Mounts a directory that the host shows by this name; returns where it is.
fn host(name: &str) -> Result<PathBuf, MountError> {
    let place = Path::new(PLACE).join(name);
    mount_shown(name, &place)?;
    Ok(place)
}

fn cell(job: &GuestJob, folder: &Path, sink: &mut GuestSink) -> Result<(), GuestCellError> {
    let study = job.study()?;
    set_up(study.lab_machine);
    let context = Context::new(job.scale, folder);
    let campaign = Campaign::new(study, &context)?;
    let over = job.set_drive.iter().map(|text| ModelSetting::parse("--set-drive", text));
    let over = over.collect::<Result<Vec<_>, _>>()?;
    let drives = ModelledDrives::new(&campaign.study, folder, &over)?;
    let place = Path::new(PLACE);
    let ledger = Ledger::open(&place.join("ledger"))?;
    let executor = Executor::in_guest();
    let mut bench = DeviceBench::in_guest(drives, ledger, executor, &place.join("scratch"));
    Ok(bench.run_cells(&campaign, &[(&job.cell).into()], sink)?)
}

/// A directory of the host could not be mounted.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct MountError(#[from] std::io::Error);

/// Why a guest left no answer. Nobody but the console hears of it.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The host's job is not one: host and guest are of different builds.
    #[error("cannot read the job: {0}")]
    Job(#[source] std::io::Error),
    /// The guest was booted for something else.
    #[error("the host left no job")]
    NoJob,
    /// A directory of the host is missing.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The host's directory is full or gone.
    #[error("cannot write the answer: {0}")]
    Answer(#[source] std::io::Error),
}

/// Why a guest has no sample. The host gets its text.
#[derive(Debug, thiserror::Error)]
enum GuestCellError {
    /// The study, its stacks or workloads, or a setting is wrong here, and was right on the host.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A drive's model is.
    #[error(transparent)]
    Drives(#[from] DrivesError),
    /// The directory for raw outputs is missing.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The ledger could not be opened.
    #[error(transparent)]
    Ledger(#[from] StackError),
    /// The cell failed as it would on real disks.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The bench ended, and the cell did not.
    #[error("the cell did not end")]
    Unended,
}

/// Tells the host how far the cell is, and keeps its outcome.
struct GuestSink {
    phases: Option<File>,
    raw: PathBuf,
    answer: Option<GuestAnswer>,
}

impl Sink for GuestSink {
    fn begin(&mut self, _cell: &Cell) -> Result<PathBuf, SinkError> {
        Ok(self.raw.clone())
    }

    fn phase(&mut self, _cell: &Cell, phase: Phase) {
        // Only for the user's eyes: not worth failing for.
        if let (Some(file), Ok(line)) = (&mut self.phases, serde_json::to_string(&phase)) {
            let _ = writeln!(file, "{line}").and_then(|()| file.sync_data());
        }
    }

    fn end(&mut self, _cell: &Cell, outcome: CellOutcome) -> Result<(), SinkError> {
        let result = outcome.result.map_err(|e| ReportedFailure(e.to_string()));
        self.answer = Some(GuestAnswer { result, trace: outcome.trace });
        Ok(())
    }
}
