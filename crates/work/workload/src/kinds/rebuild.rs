//! A drive of the stack fails and is rebuilt: how long that takes, and what other work feels meanwhile.

use std::time::Instant;

use disklab_cell::{Caches, Care, WorkloadPlan};
use disklab_config::Fields;
use disklab_sample::StepProfile;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::drive_pass::{FILL, HEALTHY, LOAD, PassWork, SMALL_DRIVES, STEP, StackPass, WINDOWS};
use crate::{Context, Cost, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The phases with a drive less, as steps.
const DEGRADED: &str = "degraded";
const REBUILDING: &str = "rebuilding";
/// The part of the last that has the time for the whole drive.
const REDUNDANT: &str = "redundant";

pub(super) const REBUILD: WorkloadKind = WorkloadKind {
    name: "rebuild",
    summary: "a drive fails and is rebuilt: for how long, and what other work feels meanwhile",
    fields: &[
        ("drive", "the number of the drive that fails [default: drawn for each repeat]"),
        ("hot-spare", "the stack's spare takes the place of the drive at once"),
        LOAD,
        STEP,
        (
            "seconds",
            "length of a phase: healthy, degraded, rebuilding [default: 40 s; 80 s with a load]",
        ),
        WINDOWS,
        FILL,
        SMALL_DRIVES,
    ],
    read,
};

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the rebuild workload")?;
    let drive = fields.integer("drive", 1..=4096)?.map(|drive| drive as u32);
    let hot_spare = fields.boolean("hot-spare")?.unwrap_or(false);
    let work = PassWork::read(fields, context)?;
    Ok(Box::new(RebuildWork { drive, hot_spare, work }))
}

/// The workload, read.
#[derive(Debug)]
struct RebuildWork {
    drive: Option<u32>,
    hot_spare: bool,
    work: PassWork,
}

impl RebuildWork {
    /// The drive that fails, and the rebuild of the one that takes its place.
    fn pass<'a>(&self, context: &WorkContext<'a>) -> Result<(u32, StackPass<'a>), WorkloadError> {
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
        let windowed = caretaker.passes(Some(new.unwrap_or(drive)), context.executor)?;
        let fails = Some((drive, self.how()));
        let times = caretaker.times(new.unwrap_or(drive));
        Ok((drive, StackPass { caretaker, fails, name, windowed, times }))
    }

    fn how(&self) -> Care {
        if self.hot_spare { Care::TakeSpare } else { Care::Replace }
    }
}

impl Workload for RebuildWork {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let (cost, rebuilt) = self.work.cost(3);
        Cost { sequential_write: cost.sequential_write + rebuilt, ..cost }
    }

    fn names(&self) -> Vec<String> {
        self.work.names()
    }

    fn steps(&self) -> Vec<String> {
        let phases: &[&str] = match (self.work.has_load(), self.hot_spare) {
            (false, _) => &[REBUILDING],
            (true, true) => &[HEALTHY, REBUILDING],
            (true, false) => &[HEALTHY, DEGRADED, REBUILDING],
        };
        phases.iter().map(|phase| (*phase).to_owned()).collect()
    }

    fn care(&self) -> Vec<(Care, Option<u32>)> {
        vec![(Care::Fail, self.drive), (self.how(), self.drive), (Care::Rebuild, None)]
    }

    fn small_drives(&self) -> Option<Bytes> {
        Some(self.work.small_drives())
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        (step != REDUNDANT).then(|| self.work.profile())?
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        self.work.prepare(context)?;
        self.work.fill(&self.pass(context)?.1, context)
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let (drive, pass) = self.pass(context)?;
        let mut notes = Vec::new();
        self.work.alone(HEALTHY, &mut notes, context)?;
        pass.caretaker.care(Care::Fail, Some(drive), context.executor)?;
        // What lacks a device is not mounted again without being told.
        if context.caches == Caches::Cold {
            context.caches = Caches::Drop;
        }
        if self.hot_spare && !pass.windowed.is_empty() {
            let began = Instant::now();
            pass.caretaker.care(self.how(), Some(drive), context.executor)?;
            let after = began.elapsed().as_secs_f64();
            context.note("rebuild", format!("it began by itself, {after:.2} s after the failure"));
        }
        let writes = |profile: StepProfile| profile.read_share.is_none_or(|share| share < 1.0);
        if pass.windowed.is_empty() && self.work.profile().is_some_and(writes) {
            let text = "what other work writes to the new drive counts as rebuilt, so that it seems faster than it is";
            context.note("rebuild", text.to_owned());
        }
        for member in &pass.windowed {
            member.freeze()?;
        }
        if !self.hot_spare {
            self.work.alone(DEGRADED, &mut notes, context)?;
        }
        self.work.meanwhile(&pass, (REBUILDING, REDUNDANT), notes, context)
    }
}
