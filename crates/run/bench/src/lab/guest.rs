//! A cell inside the lab's guest: the same code as on real disks.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use disklab_cell::{Cell, MachinePlan};
use disklab_exec::{BootClock, Executor, GuestFacts};
use disklab_lab_guest::{
    LAB_DIRECTORY, PLACE, fixed_start, mount_shown, set_environment, tell_work_began,
};
use disklab_processor::Processor;
use disklab_stack::{Ledger, StackError};

use super::drives::ModelledDrives;
use super::job::{
    ANSWER, GuestAnswer, GuestJob, GuestTask, JOB, PHASES, PROGRAMS, RAW, ReportedFailure, read,
    write,
};
use super::machine::{profile_of, set_up, transport_of};
use super::processor::{check_charges, processor_of};
use crate::making::Making;
use crate::{BenchError, CellExecutor, CellOutcome, CellWatcher, DeviceBench, Phase};

/// Carries out the cell that the host left a job for, and leaves the answer. The
/// caller is the guest's first program and has begun.
///
/// # Errors
/// [`GuestError`] if job or answer cannot be read or written, or the host's directories not be
/// mounted; the console is then all that the host has to tell.
pub fn carry_out_in_guest() -> Result<(), GuestError> {
    let lab = Path::new(LAB_DIRECTORY);
    let job: GuestJob = read(lab, JOB).map_err(GuestError::Job)?.ok_or(GuestError::NoJob)?;
    let answer = |answer: &GuestAnswer| write(lab, ANSWER, answer).map_err(GuestError::Answer);
    let MachinePlan::Lab(machine) = &job.task.making().machine else {
        return answer(&GuestAnswer::failed(&BenchError::OtherBench, Vec::new()));
    };
    let charges = processor_of(machine)
        .map(|processor| processor.as_ref().map(Processor::kernel_arguments).unwrap_or_default());
    let checked = charges.map_err(|e| e.to_string());
    let checked = checked.and_then(|words| check_charges(&words).map_err(|e| e.to_string()));
    if let Err(why) = checked {
        return answer(&GuestAnswer::failed(&why, Vec::new()));
    }
    let programs = job.programs.then(|| host(PROGRAMS)).transpose()?;
    set_environment(programs.as_deref());
    let phases = File::options().append(true).create(true).open(lab.join(PHASES));
    let raw = Path::new(PLACE).join(RAW);
    let tells_work = matches!(&job.task, GuestTask::Work(plan) if !plan.faults.is_empty());
    let mut phases = Phases { file: phases.ok(), tells_work };
    let result = host(RAW).map_err(GuestCellError::from).and_then(|_| {
        // Before: to read the clock moves it.
        let clock = BootClock::read();
        fixed_start();
        set_up(profile_of(machine), transport_of(machine));
        let versions = job.fio.clone().map(|line| ("fio", line)).into_iter().collect();
        carry_out(&job.task, GuestFacts { versions, clock }, &raw, &mut phases)
    });
    answer(&match result {
        Err(why) => GuestAnswer::failed(&why, Vec::new()),
        Ok(CellOutcome { result, trace, .. }) => {
            GuestAnswer { result: result.map_err(|e| ReportedFailure(e.to_string())), trace }
        }
    })
}

/// Mounts a directory that the host shows by this name; returns where it is.
fn host(name: &str) -> Result<PathBuf, MountError> {
    let place = Path::new(PLACE).join(name);
    mount_shown(name, &place)?;
    Ok(place)
}

fn carry_out(
    task: &GuestTask,
    facts: GuestFacts,
    outputs: &Path,
    phases: &mut Phases,
) -> Result<CellOutcome, GuestCellError> {
    let place = Path::new(PLACE);
    let mut ledger = Ledger::open(&place.join("ledger"))?;
    let mut drives = ModelledDrives::default();
    let (executor, scratch) = (Executor::in_guest(facts), place.join("scratch"));
    match task {
        GuestTask::Make(plan) => {
            let making = Making::of(plan).map_err(BenchError::from)?;
            let (executor, began) = (executor.with_raw(outputs), Instant::now());
            let result = making.make_only(&mut drives, &scratch, &mut ledger, &executor);
            let (trace, seconds) = (executor.trace.take(), began.elapsed().as_secs_f64());
            Ok(CellOutcome { result, trace, seconds })
        }
        GuestTask::Work(plan) => {
            let machine = plan.making.machine.clone();
            let mut bench = DeviceBench::in_guest(drives, machine, ledger, executor, &scratch);
            bench.submit((**plan).clone(), outputs)?;
            Ok(bench.next(phases)?.ok_or(GuestCellError::Unended)?.outcome)
        }
    }
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

/// Tells the host how far the cell is.
struct Phases {
    file: Option<File>,
    /// Whether the lab waits for the work's beginning: faults count their time from then.
    tells_work: bool,
}

impl CellWatcher for Phases {
    fn phase(&mut self, _: &Cell, phase: Phase) {
        // Only for the user's eyes: not worth failing for.
        if let (Some(file), Ok(line)) = (&mut self.file, serde_json::to_string(&phase)) {
            let _ = writeln!(file, "{line}").and_then(|()| file.sync_data());
        }
        if phase == Phase::Measure && self.tells_work {
            // Without, no fault happens, and the sample says so.
            let _ = tell_work_began();
        }
    }
}
