//! One step of a workload, and how steady it was.

use serde::{Deserialize, Serialize};

use crate::{DrivePass, DriveTraffic, Figure, FileData, KeptData, Series, StepProfile};

/// One step of a workload: one run of one program, with counters around it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// Its name within the workload, such as `rand-read-4k`, `cp`, `cached`.
    pub name: String,
    /// The figures it gave: one per direction, as a rule.
    pub figures: Vec<Figure>,
    /// When it began, in nanoseconds since the start of the kernel; recorded in the lab's guests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ns: Option<u64>,
    /// Wall-clock nanoseconds from before the program started until it ended.
    pub elapsed_ns: u64,
    /// CPU time.
    pub cpu: Cpu,
    /// What each drive really did during the step.
    pub drives: Vec<DriveTraffic>,
    /// What each drive did, interval by interval.
    pub series: Series,
    /// What happened besides the work while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<StepEvent>,
    /// How steady it was, where the workload counts interval by interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// The figures of the steady part alone, one per direction, where that part is not
    /// the whole and its figures are known: see [`Step::steady_figures`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<Figure>,
    /// Requests that each job had in flight on average, by its own count: less than its depth where
    /// the interface or the file system carried them out one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<f64>,
    /// How fast a drive was rebuilt meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<DrivePass>,
    /// How fast the drives were scrubbed meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<DrivePass>,
    /// What became of data that it reads back, if it compares them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptData>,
    /// What is in the files that it reads, when the workload had ended; absent where the
    /// workload does not know which they are, and in earlier runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_read: Option<FileData>,
    /// What it does, as its workload says; absent in earlier runs, and if another program
    /// measured and does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<StepProfile>,
}

/// Something that a study has happen while a step runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEvent {
    /// Its word in the study, such as `drop-caches`.
    pub what: String,
    /// When it began, in nanoseconds after the step's beginning.
    pub at_ns: u64,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
}

impl Step {
    /// The figures of the part in which the work was steady.
    ///
    /// # Errors
    /// [`NotSteady::Never`] if the step never became steady, [`NotSteady::Unknown`] if that is not
    /// known.
    pub fn steady_figures(&self) -> Result<&[Figure], NotSteady> {
        match self.steadiness.map(|steady| steady.trend) {
            None => Err(NotSteady::Unknown),
            Some(Trend::NotSteady) => Err(NotSteady::Never),
            Some(Trend::Flat) => Ok(&self.figures),
            Some(Trend::Warmup | Trend::Slowdown) if self.steady.is_empty() => {
                Err(NotSteady::Unknown)
            }
            Some(Trend::Warmup | Trend::Slowdown) => Ok(&self.steady),
        }
    }
}

/// Why a step has no figures of a steady part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSteady {
    /// It did not become steady.
    Never,
    /// Its program does not tell what it did when, or it was too short to say.
    Unknown,
}

/// How steady a step's work was, from its own counts interval by interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Length of an interval in nanoseconds.
    pub interval_ns: u64,
    /// How many whole intervals there were.
    pub intervals: u32,
    /// Its trend, by change points.
    pub trend: Trend,
    /// From when on it was the same until the end, by change points: nanoseconds
    /// from where counting began. 0 where it does not become steady, too.
    pub steady_from_ns: u64,
    /// The same by SNIA's rule, for 25 rounds at most; none where no five of them
    /// are alike.
    pub snia_from_ns: Option<u64>,
    /// From when on [`Step::figures`] count; 0 for all that was counted. Those of the
    /// steady part are in [`Step::steady`].
    pub used_from_ns: u64,
}

impl Steadiness {
    /// From when on the work was steady, where it was not from the start: nanoseconds
    /// from where counting began.
    pub fn later_part(&self) -> Option<u64> {
        let later = matches!(self.trend, Trend::Warmup | Trend::Slowdown);
        later.then_some(self.steady_from_ns)
    }
}

/// What the trend of a step was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// The same all along.
    Flat,
    /// Slower at first.
    Warmup,
    /// Faster at first, as where a cache fills.
    Slowdown,
    /// It did not become steady.
    NotSteady,
}

/// CPU time of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cpu {
    /// The program's time in user space, in nanoseconds.
    pub user_ns: u64,
    /// The kernel's time on the program's behalf, in nanoseconds.
    pub system_ns: u64,
    /// All processors' busy time, kernel threads included, in nanoseconds.
    pub machine_busy_ns: u64,
    /// Of that, time stolen by a hypervisor.
    pub machine_steal_ns: u64,
    /// How many processors there are.
    pub processors: u32,
}
