//! What passes over the drives of a stack, a rebuild or a scrub: how long that takes, and what other work feels
//! meanwhile.

mod moved;
mod stack_pass;
mod windows;

use std::time::Duration;

use disklab_cell::{Caches, WorkloadPlan};
use disklab_config::Fields;
use disklab_exec::Executor;
use disklab_measure::NamedDevice;
use disklab_sample::{Direction, DrivePass, Figure, OperationKind, StepProfile};
use disklab_source::SourceError;
use disklab_units::{Bytes, parse_share_within};

use self::moved::MovedData;
pub(super) use self::stack_pass::StackPass;
use super::fio::native::{ReadyStep, note_run};
use super::fio::{Fio, read_load};
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError};

/// The phase before, as a step.
pub(super) const HEALTHY: &str = "healthy";

/// On smaller drives, the gigabytes that Btrfs allocates ahead move the data to slower zones: on 24 GB it seems 4 %
/// slower than on 100 GB.
const SMALL: Bytes = Bytes(64_000_000_000);

/// A member is taken out and put in again between two windows, which takes less than this.
const SWAP: Duration = Duration::from_secs(1);

/// A field of a kind, and what it means.
type KnownField = (&'static str, &'static str);

pub(super) const LOAD: KnownField =
    ("load", "other work meanwhile, as a table for `fio`; its `runtime` is that of a phase");
pub(super) const STEP: KnownField = ("step", "which step of the load, if it has several");
pub(super) const WINDOWS: KnownField =
    ("windows", "places of the drives at which it is measured [default: 8]");
pub(super) const FILL: KnownField =
    ("fill", "share of a file system that holds data, if only these are passed [default: 50 %]");
pub(super) const SMALL_DRIVES: KnownField = (
    "small",
    "how large drives may be if only data are passed; smaller ones stand for others (lab) [default: 64 GB]",
);

/// What a workload about such a pass is asked for.
#[derive(Debug)]
pub(super) struct PassWork {
    /// The load, and its step.
    load: Option<(Fio, usize)>,
    windows: u32,
    /// How long a window is measured.
    time: Duration,
    phase: Duration,
    moved: MovedData,
}

impl PassWork {
    /// From the fields that are left.
    pub fn read(mut fields: Fields<'_>, context: &Context) -> Result<Self, SourceError> {
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
        let time =
            (phase / windows).checked_sub(lost).filter(|time| *time >= Duration::from_secs(1));
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
        Ok(Self { load: load.transpose()?, windows, time, phase, moved })
    }

    pub fn has_load(&self) -> bool {
        self.load.is_some()
    }

    /// What it costs, of so many phases with a load, and how much a large disk passes in one, about.
    pub fn cost(&self, phases: u32) -> (Cost, Bytes) {
        let load = self.load.as_ref().map(|(fio, _)| fio.cost()).unwrap_or_default();
        let phases = if self.load.is_some() { phases } else { 1 };
        let phase = (self.time + SWAP) * self.windows;
        let fixed_seconds = (phase * phases).as_secs_f64();
        (Cost { fixed_seconds, paced: true, ..load }, Bytes::mib(150 * phase.as_secs()))
    }

    pub fn names(&self) -> Vec<String> {
        let of_load = self.load.iter().flat_map(|(fio, _)| fio.names());
        of_load.chain([moved::FILE.to_owned()]).collect()
    }

    /// How large drives may be if what is used is passed.
    pub fn small_drives(&self) -> Bytes {
        self.moved.small
    }

    /// What the load does.
    pub fn profile(&self) -> Option<StepProfile> {
        let (fio, number) = self.load.as_ref()?;
        fio.profile(fio.steps().get(*number)?)
    }

    /// Writes what the load reads.
    pub fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        self.load.as_ref().map_or(Ok(()), |(fio, _)| fio.prepare(context))
    }

    /// Writes what the pass is over, if that is what is used.
    pub fn fill(
        &self,
        pass: &StackPass<'_>,
        context: &mut WorkContext<'_>,
    ) -> Result<(), WorkloadError> {
        if pass.windowed.is_empty() { self.moved.fill(context) } else { Ok(()) }
    }

    /// Runs the load alone, if there is one, as the step `name`.
    pub fn alone(
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

    /// Measures the pass while the load runs, if there is one, as the step `name`. Its part `whole` has the
    /// time for the whole drives.
    pub fn meanwhile(
        &self,
        pass: &StackPass<'_>,
        (name, whole): (&str, &str),
        mut notes: Vec<String>,
        context: &mut WorkContext<'_>,
    ) -> Result<(), WorkloadError> {
        let ready = self.load.as_ref().map(|(fio, number)| {
            ReadyStep::new(fio, *number, context).map(|ready| ready.called(name))
        });
        let ready = ready.transpose()?;
        let (seed, watched) = (context.seed, context.watched.clone());
        context.step(name, |executor| {
            let (load, measured) = std::thread::scope(|scope| {
                let load = ready.as_ref().map(|ready| scope.spawn(|| ready.run(executor)));
                let measured = self.measure(pass, (seed, &watched), executor);
                let load = load.map(|load| {
                    load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                (load, measured)
            });
            let (outcome, more) = load.transpose()?.unwrap_or_default();
            notes.extend(more);
            let measured = measured?;
            let is_scrub = pass.fails.is_none();
            let direction = if is_scrub { Direction::Read } else { Direction::Write };
            let parts = vec![(whole.to_owned(), vec![figure(&measured, direction)])];
            let (rebuild, scrub) =
                if is_scrub { (None, Some(measured)) } else { (Some(measured), None) };
            Ok(StepOutcome { parts, rebuild, scrub, ..outcome })
        })?;
        if let Some((fio, _)) = &self.load {
            note_run(fio, notes, context);
        }
        Ok(())
    }

    fn measure(
        &self,
        pass: &StackPass<'_>,
        (seed, watched): (u64, &[NamedDevice]),
        executor: &Executor,
    ) -> Result<DrivePass, WorkloadError> {
        let lengths: Vec<u64> = pass.windowed.iter().map(|pass| pass.length().0).collect();
        let window = |stretch: windows::DrawnWindow| {
            let pass = pass.windowed[stretch.pass].as_ref();
            windows::measure((pass, stretch), self.time, watched, executor)
        };
        let windows = if pass.windowed.is_empty() {
            let load = self.load.as_ref().map(|_| self.phase);
            vec![MovedData::measure(pass, load, watched, executor)?]
        } else {
            let stretches = windows::stretches(&lengths, self.windows, seed).into_iter();
            stretches.map(window).collect::<Result<_, _>>()?
        };
        Ok(DrivePass { drive: pass.name.clone().unwrap_or_default(), windows })
    }
}

/// The time for the whole drives.
fn figure(pass: &DrivePass, direction: Direction) -> Figure {
    let (bytes, seconds) = (pass.bytes(), pass.seconds());
    let elapsed = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Figure {
        direction,
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
