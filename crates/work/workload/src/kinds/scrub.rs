//! All drives of the stack are scrubbed: how long that takes, and what other work feels meanwhile.

use disklab_cell::{Care, WorkloadPlan};
use disklab_config::Fields;
use disklab_sample::StepProfile;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::drive_pass::{FILL, HEALTHY, LOAD, PassWork, SMALL_DRIVES, STEP, StackPass, WINDOWS};
use crate::{Context, Cost, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The phase, as a step.
const SCRUBBING: &str = "scrubbing";
/// The part of it that has the time for the whole drives.
const SCRUBBED: &str = "scrubbed";

pub(super) const SCRUB: WorkloadKind = WorkloadKind {
    name: "scrub",
    summary: "all drives are scrubbed: for how long, and what other work feels meanwhile",
    fields: &[
        LOAD,
        STEP,
        ("seconds", "length of a phase: healthy, scrubbing [default: 40 s; 80 s with a load]"),
        WINDOWS,
        FILL,
        SMALL_DRIVES,
    ],
    read,
};

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let fields = Fields::new(&spec.body, "the scrub workload")?;
    Ok(Box::new(ScrubWork(PassWork::read(fields, context)?)))
}

/// The workload, read.
#[derive(Debug)]
struct ScrubWork(PassWork);

impl ScrubWork {
    fn pass<'a>(context: &WorkContext<'a>) -> Result<StackPass<'a>, WorkloadError> {
        let none = WorkloadError::NoCaretaker(Care::Scrub.words());
        let caretaker = context.caretaker.ok_or(none)?;
        let windowed = caretaker.passes(None, context.executor)?;
        // All drives stand for others that are larger by as much.
        let times = caretaker.drives().first().map_or(1.0, |drive| caretaker.times(*drive));
        Ok(StackPass { caretaker, fails: None, name: None, windowed, times })
    }
}

impl Workload for ScrubWork {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let (cost, scrubbed) = self.0.cost(2);
        Cost { sequential_read: cost.sequential_read + scrubbed, ..cost }
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    fn steps(&self) -> Vec<String> {
        let healthy = self.0.has_load().then_some(HEALTHY);
        healthy.into_iter().chain([SCRUBBING]).map(str::to_owned).collect()
    }

    fn care(&self) -> Vec<(Care, Option<u32>)> {
        vec![(Care::Scrub, None)]
    }

    fn small_drives(&self) -> Option<Bytes> {
        Some(self.0.small_drives())
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        (step != SCRUBBED).then(|| self.0.profile())?
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        self.0.prepare(context)?;
        self.0.fill(&Self::pass(context)?, context)
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let pass = Self::pass(context)?;
        let mut notes = Vec::new();
        self.0.alone(HEALTHY, &mut notes, context)?;
        self.0.meanwhile(&pass, (SCRUBBING, SCRUBBED), notes, context)
    }
}
