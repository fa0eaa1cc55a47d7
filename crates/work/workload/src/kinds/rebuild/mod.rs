//! A drive of the stack fails and is rebuilt: how long that takes, and what other work feels meanwhile.

mod moved;
mod patient;
mod windows;

use std::time::{Duration, Instant};

use disklab_cell::{Caches, Care, WorkloadPlan};
use disklab_config::Fields;
use disklab_exec::Executor;
use disklab_measure::Watched;
use disklab_sample::{Direction, Figure, OperationKind, Rebuild, StepProfile};
use disklab_source::SourceError;
use disklab_units::{Bytes, parse_share_within};

use self::moved::MovedData;
use self::patient::Patient;
use super::fio::native::{ReadyStep, note_run};
use super::fio::{Fio, read_load};
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The phases, as steps.
const HEALTHY: &str = "healthy";
const DEGRADED: &str = "degraded";
const REBUILDING: &str = "rebuilding";
/// The part of the last that has the time for the whole drive.
const REDUNDANT: &str = "redundant";

/// On smaller drives, the gigabytes that Btrfs allocates ahead move the data to slower zones: on 24 GB it seems 4 %
/// slower than on 100 GB.
const SMALL: Bytes = Bytes(64_000_000_000);

/// A member is taken out and put in again between two windows, which takes less than this.
const SWAP: Duration = Duration::from_secs(1);

pub(super) const REBUILD: WorkloadKind = WorkloadKind {
    name: "rebuild",
    summary: "a drive fails and is rebuilt: for how long, and what other work feels meanwhile",
    fields: &[
        ("drive", "the number of the drive that fails [default: drawn for each repeat]"),
        ("hot-spare", "the stack's spare takes the place of the drive at once"),
        ("load", "other work meanwhile, as a table for `fio`; its `runtime` is that of a phase"),
        ("step", "which step of the load, if it has several"),
        (
            "seconds",
            "length of a phase: healthy, degraded, rebuilding [default: 40 s; 80 s with a load]",
        ),
        ("windows", "places of the drive at which the rebuild is measured [default: 8]"),
        (
            "fill",
            "share of a file system that holds data, if only these are rebuilt [default: 50 %]",
        ),
        (
            "small",
            "how large drives may be if only data are rebuilt; smaller ones stand for others (lab) [default: 64 GB]",
        ),
    ],
    read,
};

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the rebuild workload")?;
    let drive = fields.integer("drive", 1..=4096)?.map(|drive| drive as u32);
    let hot_spare = fields.boolean("hot-spare")?.unwrap_or(false);
    let (load, step) = (fields.take("load"), fields.take("step"));
    let phase = fields.duration("seconds")?;
    let windows = fields.integer("windows", 1..=1000)?.unwrap_or(8) as u32;
    let fill = fields.take("fill").map(|node| {
        let share = parse_share_within(&node.as_text()?, 0.01..=0.9);
        share.map_err(|why| node.error(format!("`fill`: {why}")))
    });
    let small = fields.bytes("small")?.unwrap_or(SMALL);
    let phase = phase.unwrap_or(Duration::from_secs(if load.is_some() { 80 } else { 40 }));
    let lost = if load.is_some() { SWAP } else { Duration::ZERO };
    let time = (phase / windows).checked_sub(lost).filter(|time| *time >= Duration::from_secs(1));
    let time = time.ok_or_else(|| {
        let least = ((lost + Duration::from_secs(1)) * windows).as_secs();
        fields.error(format!("{windows} windows need a phase of {least} s at least: `seconds`"))
    })?;
    fields.finish()?;
    let load = load.map(|node| {
        let plan = WorkloadPlan {
            id: "load".to_owned(),
            kind: super::fio::FIO.name.to_owned(),
            body: node.clone(),
            caches: Caches::Keep,
            events: None,
        };
        read_load(&plan, context, (step, phase.as_secs_f64()))
    });
    let moved = MovedData { fill: fill.transpose()?.unwrap_or(0.5), small };
    let load = load.transpose()?;
    Ok(Box::new(RebuildWork { drive, hot_spare, load, windows, time, phase, moved }))
}

/// The workload, read.
#[derive(Debug)]
struct RebuildWork {
    drive: Option<u32>,
    hot_spare: bool,
    /// The load, and its step.
    load: Option<(Fio, usize)>,
    windows: u32,
    /// How long a window is measured.
    time: Duration,
    phase: Duration,
    moved: MovedData,
}

impl RebuildWork {
    fn patient<'a>(&self, context: &WorkContext<'a>) -> Result<Patient<'a>, WorkloadError> {
        let none = WorkloadError::NoCaretaker(Care::Fail.words());
        let caretaker = context.caretaker.ok_or(none)?;
        let drives = caretaker.drives();
        let drawn = disklab_content::splitmix64(context.seed) % (drives.len().max(1) as u64);
        let drawn = drives.get(drawn as usize).copied().unwrap_or(1);
        let drive = self.drive.unwrap_or(drawn);
        // A spare that is spread over all drives is none of them.
        let new = if self.hot_spare { caretaker.spare() } else { Some(drive) };
        let watched = new.and_then(|new| context.watched.get(new as usize - 1));
        let name = watched.map(|watched| watched.name.clone());
        let members = caretaker.rebuilds(new.unwrap_or(drive), context.executor)?;
        let (how, times) = (self.how(), caretaker.times(new.unwrap_or(drive)));
        Ok(Patient { caretaker, drive, how, name, members, times })
    }

    fn how(&self) -> Care {
        if self.hot_spare { Care::TakeSpare } else { Care::Replace }
    }

    /// Runs the load alone, if there is one, as the step `name`.
    fn phase(
        &self,
        name: &str,
        notes: &mut Vec<String>,
        context: &mut WorkContext<'_>,
    ) -> Result<(), WorkloadError> {
        let Some((fio, number)) = &self.load else { return Ok(()) };
        let ready = ReadyStep::new(fio, *number, context)?.called(name);
        context.step(name, |executor| {
            let (outcome, more) = ready.run(executor)?;
            notes.extend(more);
            Ok(outcome)
        })
    }

    /// Measures the rebuild of a drive that failed.
    fn rebuild(
        &self,
        patient: &Patient<'_>,
        (seed, watched): (u64, &[Watched]),
        executor: &Executor,
    ) -> Result<Rebuild, WorkloadError> {
        let lengths: Vec<u64> = patient.members.iter().map(|member| member.length().0).collect();
        let window = |stretch: windows::DrawnWindow| {
            let member = patient.members[stretch.member].as_ref();
            windows::measure((member, stretch), self.time, watched, executor)
        };
        let windows = if patient.members.is_empty() {
            let load = self.load.as_ref().map(|_| self.phase);
            vec![MovedData::measure(patient, load, watched, executor)?]
        } else {
            let stretches = windows::stretches(&lengths, self.windows, seed).into_iter();
            stretches.map(window).collect::<Result<_, _>>()?
        };
        Ok(Rebuild { drive: patient.name.clone().unwrap_or_default(), windows })
    }
}

/// The time for the whole drive.
fn redundant(rebuild: &Rebuild) -> Figure {
    let (bytes, seconds) = (rebuild.bytes(), rebuild.seconds());
    let elapsed = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Figure {
        direction: Direction::Write,
        bytes,
        operations: None,
        elapsed_ns: crate::duration::nanoseconds(elapsed),
        bytes_per_second: Some(bytes as f64 / seconds),
        operations_per_second: None,
        latency: None,
        missed: None,
        operation: OperationKind::Io,
        commit: None,
    }
}

impl Workload for RebuildWork {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let load = self.load.as_ref().map(|(fio, _)| fio.cost()).unwrap_or_default();
        let phases = if self.load.is_some() { 3 } else { 1 };
        let phase = (self.time + SWAP) * self.windows;
        // What a large disk writes in a second, about.
        let rebuilt = Bytes::mib(150 * phase.as_secs());
        Cost {
            sequential_write: load.sequential_write + rebuilt,
            fixed_seconds: (phase * phases).as_secs_f64(),
            paced: true,
            ..load
        }
    }

    fn names(&self) -> Vec<String> {
        let of_load = self.load.iter().flat_map(|(fio, _)| fio.names());
        of_load.chain([moved::FILE.to_owned()]).collect()
    }

    fn steps(&self) -> Vec<String> {
        let phases: &[&str] = match (&self.load, self.hot_spare) {
            (None, _) => &[REBUILDING],
            (Some(_), true) => &[HEALTHY, REBUILDING],
            (Some(_), false) => &[HEALTHY, DEGRADED, REBUILDING],
        };
        phases.iter().map(|phase| (*phase).to_owned()).collect()
    }

    fn care(&self) -> Vec<(Care, Option<u32>)> {
        vec![(Care::Fail, self.drive), (self.how(), self.drive), (Care::Rebuild, None)]
    }

    fn small_drives(&self) -> Option<Bytes> {
        Some(self.moved.small)
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let (fio, number) = self.load.as_ref().filter(|_| step != REDUNDANT)?;
        fio.profile(fio.steps().get(*number)?)
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        if let Some((fio, _)) = &self.load {
            fio.prepare(context)?;
        }
        if self.patient(context)?.members.is_empty() { self.moved.fill(context) } else { Ok(()) }
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let patient = self.patient(context)?;
        let mut notes = Vec::new();
        self.phase(HEALTHY, &mut notes, context)?;
        patient.caretaker.care(Care::Fail, Some(patient.drive), context.executor)?;
        // What lacks a device is not mounted again without being told.
        if context.caches == Caches::Cold {
            context.caches = Caches::Drop;
        }
        if self.hot_spare && !patient.members.is_empty() {
            let began = Instant::now();
            patient.caretaker.care(patient.how, Some(patient.drive), context.executor)?;
            let after = began.elapsed().as_secs_f64();
            context.note("rebuild", format!("it began by itself, {after:.2} s after the failure"));
        }
        let writes = |profile: StepProfile| profile.read_share.is_none_or(|share| share < 1.0);
        if patient.members.is_empty() && self.profile(REBUILDING).is_some_and(writes) {
            let text = "what other work writes to the new drive counts as rebuilt, so that it seems faster than it is";
            context.note("rebuild", text.to_owned());
        }
        for member in &patient.members {
            member.freeze()?;
        }
        if !self.hot_spare {
            self.phase(DEGRADED, &mut notes, context)?;
        }
        let ready = self.load.as_ref().map(|(fio, number)| {
            ReadyStep::new(fio, *number, context).map(|ready| ready.called(REBUILDING))
        });
        let ready = ready.transpose()?;
        let (seed, watched) = (context.seed, context.watched.clone());
        context.step(REBUILDING, |executor| {
            let (load, rebuild) = std::thread::scope(|scope| {
                let load = ready.as_ref().map(|ready| scope.spawn(|| ready.run(executor)));
                let rebuild = self.rebuild(&patient, (seed, &watched), executor);
                let load = load.map(|load| {
                    load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                (load, rebuild)
            });
            let (outcome, more) = load.transpose()?.unwrap_or_default();
            notes.extend(more);
            let rebuild = rebuild?;
            let parts = vec![(REDUNDANT.to_owned(), vec![redundant(&rebuild)])];
            Ok(StepOutcome { parts, rebuild: Some(rebuild), ..outcome })
        })?;
        if let Some((fio, _)) = &self.load {
            note_run(fio, notes, context);
        }
        Ok(())
    }
}
