//! A cell inside the lab's guest: the same code as on real disks.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use disklab_config::ModelSetting;
use disklab_exec::{Executor, Interrupt};
use disklab_lab::guest::{LAB_FOLDER, PLACE, fixed_start, mount_shown, set_environment};
use disklab_stack::Ledger;
use disklab_study::Cell;
use disklab_workload::Context;

use super::drives::ModelledDrives;
use super::job::{ANSWER, Answer, JOB, Job, PHASES, PROGRAMS, RAW, STUDY, read, write};
use super::processor::check_charges;
use crate::bench::CellRunner;
use crate::{Campaign, CellOutcome, DeviceBench, Phase, Sink, SinkError};

/// Carries out the cell that the host left a job for, and leaves the answer. The
/// caller is the guest's first program and has begun.
///
/// # Errors
/// Where job or answer cannot be read or written; the console is then all that
/// the host has to tell.
pub fn carry_out_in_guest() -> Result<(), String> {
    let lab = Path::new(LAB_FOLDER);
    let job: Job = read(lab, JOB)
        .map_err(|e| format!("cannot read the job: {e}"))?
        .ok_or("the host left no job")?;
    let host = |name: &str| {
        let place = Path::new(PLACE).join(name);
        mount_shown(name, &place).map(|()| place).map_err(|e| e.to_string())
    };
    if let Err(why) = check_charges(&job.charges) {
        let answer = Answer { result: Err(why.to_string()), trace: Vec::new() };
        return write(lab, ANSWER, &answer).map_err(|e| format!("cannot write the answer: {e}"));
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
    let result = host(RAW).and_then(|_| {
        // Before: to read the clock moves it.
        disklab_workload::count_from_boot();
        fixed_start();
        cell(&job, &study, &mut sink)
    });
    let answer = match (result, sink.answer) {
        // What could not be taken down may still matter to what was measured.
        (Err(why), answer) => {
            Answer { result: Err(why), trace: answer.map_or_else(Vec::new, |a| a.trace) }
        }
        (Ok(()), Some(answer)) => answer,
        (Ok(()), None) => Answer { result: Err("the cell did not end".into()), trace: Vec::new() },
    };
    write(lab, ANSWER, &answer).map_err(|e| format!("cannot write the answer: {e}"))
}

fn cell(job: &Job, folder: &Path, sink: &mut GuestSink) -> Result<(), String> {
    let study = job.study()?;
    let context = Context { scale: job.scale, folder: folder.to_owned() };
    let campaign = Campaign::new(study, &context).map_err(|e| e.to_string())?;
    let over = job.set_drive.iter().map(|text| ModelSetting::parse("--set-drive", text));
    let over = over.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    let drives = ModelledDrives::new(&campaign.study, folder, &over).map_err(|e| e.to_string())?;
    let place = Path::new(PLACE);
    let ledger = Ledger::open(&place.join("ledger")).map_err(|e| e.to_string())?;
    let executor = Executor::new(Interrupt::new());
    let mut bench = DeviceBench::in_guest(drives, ledger, executor, &place.join("scratch"));
    bench.run_cells(&campaign, &[&job.cell], sink).map_err(|e| e.to_string())
}

/// Tells the host how far the cell is, and keeps its outcome.
struct GuestSink {
    phases: Option<File>,
    raw: PathBuf,
    answer: Option<Answer>,
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
        let result = outcome.result.map_err(|e| e.to_string());
        self.answer = Some(Answer { result, trace: outcome.trace });
        Ok(())
    }
}
