//! What a bench is, and the stages that lead to running cells on it.

use std::path::PathBuf;
use std::time::Duration;

use disklab_cell::Cell;
use disklab_sample::{Environment, Sample, TraceEntry};
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::{BenchError, Campaign, CellError, Medium, Preflight};

/// What a bench is like, for plans and predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchProfile {
    /// As on the command line: `loop`, `dir:/srv/x`.
    pub name: String,
    /// One sentence on what it runs on.
    pub about: String,
    /// What its drives are like.
    pub medium: Medium,
    /// How many cells run side by side.
    pub at_once: usize,
    /// Whether drives and time are modelled.
    pub is_simulated: bool,
}

/// What every bench does before its cells run. The stages below call it in the only order
/// there is.
pub(crate) trait BenchSteps {
    fn profile(&self) -> BenchProfile;

    /// What of a campaign can run here, and what cannot and why. Touches nothing.
    fn preflight(&self, campaign: &Campaign) -> Preflight;

    /// What the bench itself lacks.
    fn missing(&self) -> Vec<String> {
        Vec::new()
    }

    /// Looks at what these cells would write to, without writing to it.
    fn check(&mut self, campaign: &Campaign, cells: &[Cell]) -> Result<(), BenchError> {
        let _ = (campaign, cells);
        Ok(())
    }

    /// What was seen of these cells; one line each.
    fn warnings(&self, campaign: &Campaign, cells: &[Cell]) -> Vec<String> {
        let _ = (campaign, cells);
        Vec::new()
    }

    /// Asks for the user's consent if the run destroys something; `yes` says that it was
    /// given.
    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        let _ = yes;
        Ok(())
    }

    /// Makes what these cells need and every run may use again.
    fn prepare(
        self: Box<Self>,
        campaign: &Campaign,
        cells: &[Cell],
    ) -> Result<Box<dyn CellRunner>, BenchError>;
}

/// What runs cells: a bench that is prepared.
pub(crate) trait CellRunner {
    /// The machine and its programs, as they are now.
    fn environment(&self) -> Environment;

    /// See [`ReadyBench::consents_left`].
    fn consents_left(&self) -> Vec<String> {
        Vec::new()
    }

    /// As [`BenchSteps::confirm`].
    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        let _ = yes;
        Ok(())
    }

    /// See [`ReadyBench::run_cells`].
    fn run_cells(
        &mut self,
        campaign: &Campaign,
        cells: &[CellToRun<'_>],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError>;
}

/// A place where studies run. Nothing of it was looked at yet.
///
/// Each stage consumes the one before, so that no cell runs on devices that nobody checked,
/// without consent, or without what it needs:
///
/// ```text
/// Bench --check--> CheckedBench --confirm--> ConfirmedBench --prepare--> ReadyBench
///                        \--prepare--> PreparedBench --confirm--> ReadyBench
/// ```
///
/// The lower way is for a run that is resumed: what the machine is now is known before the
/// user is asked for his drives.
pub struct Bench(Box<dyn BenchSteps>);

impl Bench {
    pub(crate) fn of(steps: impl BenchSteps + 'static) -> Self {
        Self(Box::new(steps))
    }

    /// What it is like.
    pub fn profile(&self) -> BenchProfile {
        self.0.profile()
    }

    /// What of a campaign can run here, and what cannot and why. Touches nothing.
    pub fn preflight(&self, campaign: &Campaign) -> Preflight {
        self.0.preflight(campaign)
    }

    /// What the bench itself lacks; nothing if it can run.
    pub fn missing(&self) -> Vec<String> {
        self.0.missing()
    }

    /// Looks at what these cells would write to, without writing to it.
    ///
    /// # Errors
    /// [`BenchError::Refused`] with all that speaks against it.
    pub fn check(
        mut self,
        campaign: &Campaign,
        cells: &[Cell],
    ) -> Result<CheckedBench, BenchError> {
        self.0.check(campaign, cells)?;
        Ok(CheckedBench(self.0))
    }
}

/// A bench whose devices were looked at.
pub struct CheckedBench(Box<dyn BenchSteps>);

impl CheckedBench {
    /// What the user must know before these cells run, such as which drives would be erased;
    /// one line each.
    pub fn warnings(&self, campaign: &Campaign, cells: &[Cell]) -> Vec<String> {
        self.0.warnings(campaign, cells)
    }

    /// Asks for the user's consent if the run destroys something; `yes` says that it was
    /// given.
    ///
    /// # Errors
    /// [`BenchError::ConsentNeeded`] and [`BenchError::ConsentRefused`].
    pub fn confirm(self, yes: bool) -> Result<ConfirmedBench, BenchError> {
        self.0.confirm(yes)?;
        Ok(ConfirmedBench(self.0))
    }

    /// Makes what these cells need, such as the lab's kernel.
    ///
    /// # Errors
    /// Those of the kernel, if it cannot be built or is none.
    pub fn prepare(self, campaign: &Campaign, cells: &[Cell]) -> Result<PreparedBench, BenchError> {
        self.0.prepare(campaign, cells).map(PreparedBench)
    }
}

/// A bench that may be used, as the user agreed.
pub struct ConfirmedBench(Box<dyn BenchSteps>);

impl ConfirmedBench {
    /// Makes what these cells need, such as the lab's kernel.
    ///
    /// # Errors
    /// As [`CheckedBench::prepare`].
    pub fn prepare(self, campaign: &Campaign, cells: &[Cell]) -> Result<ReadyBench, BenchError> {
        self.0.prepare(campaign, cells).map(ReadyBench)
    }
}

/// A bench that has what its cells need, and lacks the user's consent.
pub struct PreparedBench(Box<dyn CellRunner>);

impl PreparedBench {
    /// The machine and its programs, as they are now.
    pub fn environment(&self) -> Environment {
        self.0.environment()
    }

    /// Asks for the user's consent, as [`CheckedBench::confirm`].
    ///
    /// # Errors
    /// As [`CheckedBench::confirm`].
    pub fn confirm(self, yes: bool) -> Result<ReadyBench, BenchError> {
        self.0.confirm(yes)?;
        Ok(ReadyBench(self.0))
    }
}

/// A cell of a bench, and what was predicted of it.
#[derive(Debug, Clone, Copy)]
pub struct CellToRun<'a> {
    /// Which.
    pub cell: &'a Cell,
    /// What its drives will hold that takes space, where they are simulated: as predicted.
    pub content: Bytes,
}

impl<'a> From<&'a Cell> for CellToRun<'a> {
    /// One of which nothing was predicted.
    fn from(cell: &'a Cell) -> Self {
        Self { cell, content: Bytes::ZERO }
    }
}

/// A bench on which cells run.
pub struct ReadyBench(Box<dyn CellRunner>);

impl ReadyBench {
    /// The machine and its programs, as they are now.
    pub fn environment(&self) -> Environment {
        self.0.environment()
    }

    /// Arguments that resuming an interrupted run needs besides those that it remembers:
    /// consents that are not used up yet.
    pub fn consents_left(&self) -> Vec<String> {
        self.0.consents_left()
    }

    /// Runs cells in their order, handing each sample to `sink` as soon as it is there. A
    /// failed cell is handed over too, and the next one begins. A bench whose cells cannot
    /// disturb each other may run several at once.
    ///
    /// # Errors
    /// If continuing makes no sense: the sink failed, or something could not be torn down.
    /// [`CellError::is_interrupt`] cells are not handed over; the bench returns
    /// [`disklab_exec::ExecError::Interrupted`] instead.
    pub fn run_cells(
        &mut self,
        campaign: &Campaign,
        cells: &[CellToRun<'_>],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        self.0.run_cells(campaign, cells, sink)
    }
}

/// Why a sink cannot take a cell: its own error.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// What a cell is doing, for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Making the drives and the stack.
    Make,
    /// Writing what the workload will read.
    Prepare,
    /// Running the workload.
    Measure,
    /// Tearing everything down.
    TearDown,
}

impl Phase {
    /// As the line of progress says it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Make => "making the stack",
            Self::Prepare => "writing the data",
            Self::Measure => "measuring",
            Self::TearDown => "tearing down",
        }
    }
}

/// How far a cell is by a clock that is not the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellProgress {
    /// Its own time since it began.
    pub clock: Duration,
    /// Its own time since the workload began, where it has.
    pub measuring: Option<Duration>,
    /// How long the workload runs by its own clock, as far as that is fixed.
    pub planned: Option<Duration>,
}

impl CellProgress {
    /// The part of the planned time that is over, below 1.
    pub fn share(&self) -> Option<f64> {
        let (measuring, planned) = (self.measuring?, self.planned?);
        (!planned.is_zero()).then(|| (measuring.as_secs_f64() / planned.as_secs_f64()).min(0.99))
    }
}

/// How a cell ended.
#[derive(Debug)]
pub struct CellOutcome {
    /// The sample, or why there is none.
    pub result: Result<Sample, CellError>,
    /// Every command that ran (also in the sample, where there is one).
    pub trace: Vec<TraceEntry>,
    /// Real seconds from beginning to end.
    pub seconds: f64,
}

/// Receives what cells give.
pub trait Sink {
    /// A cell begins; returns the folder for its raw outputs.
    ///
    /// # Errors
    /// Any error of the sink if the directory cannot be made: the run then ends.
    fn begin(&mut self, cell: &Cell) -> Result<PathBuf, SinkError>;

    /// A cell enters a phase.
    fn phase(&mut self, cell: &Cell, phase: Phase);

    /// A cell is running, and its bench can tell how far it is; a few times a second.
    fn stands(&mut self, cell: &Cell, progress: CellProgress) {
        let _ = (cell, progress);
    }

    /// A cell has ended and everything it made is gone.
    ///
    /// # Errors
    /// Any error of the sink if it cannot be recorded: the run then ends.
    fn end(&mut self, cell: &Cell, outcome: CellOutcome) -> Result<(), SinkError>;
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// A bench that only notes which step it is at; `refuses` names the one that fails.
    struct Noted {
        steps: Rc<RefCell<Vec<&'static str>>>,
        refuses: &'static str,
    }

    impl Noted {
        fn step(&self, name: &'static str) -> Result<(), BenchError> {
            self.steps.borrow_mut().push(name);
            if self.refuses == name { Err(BenchError::ConsentRefused) } else { Ok(()) }
        }
    }

    impl BenchSteps for Noted {
        fn profile(&self) -> BenchProfile {
            BenchProfile {
                name: "noted".to_owned(),
                about: String::new(),
                medium: Medium::LAB,
                at_once: 1,
                is_simulated: true,
            }
        }

        fn preflight(&self, _: &Campaign) -> Preflight {
            Preflight::default()
        }

        fn check(&mut self, _: &Campaign, _: &[Cell]) -> Result<(), BenchError> {
            self.step("check")
        }

        fn confirm(&self, _: bool) -> Result<(), BenchError> {
            self.step("confirm")
        }

        fn prepare(
            self: Box<Self>,
            _: &Campaign,
            _: &[Cell],
        ) -> Result<Box<dyn CellRunner>, BenchError> {
            self.step("prepare")?;
            Ok(self)
        }
    }

    impl CellRunner for Noted {
        fn environment(&self) -> Environment {
            Environment::default()
        }

        fn confirm(&self, _: bool) -> Result<(), BenchError> {
            self.step("confirm")
        }

        fn run_cells(
            &mut self,
            _: &Campaign,
            _: &[CellToRun<'_>],
            _: &mut dyn Sink,
        ) -> Result<(), BenchError> {
            self.step("run")
        }
    }

    /// What a bench was asked for on each of the two ways, up to where it refused.
    fn steps(refuses: &'static str) -> [Vec<&'static str>; 2] {
        let context = disklab_workload::Context::new(1.0, ".");
        let text = "id = 's'\ntitle = 's'\n[stacks]\na = { layers = 'ext4', drives = 1 }\n\
                    [[drives]]\nmodel = 'm'\nsize = '1 TB'\n[[workloads]]\nid = 'w'\n\
                    hdparm = { device = true }\n";
        let study = disklab_study::load("s.toml", text).expect("study");
        let campaign = Campaign::new(study, &context).expect("campaign");
        let way = |is_resumed: bool| {
            let steps = Rc::new(RefCell::new(Vec::new()));
            let bench = Bench::of(Noted { steps: Rc::clone(&steps), refuses });
            let ready = bench.check(&campaign, &[]).and_then(|checked| {
                if is_resumed {
                    checked.prepare(&campaign, &[])?.confirm(false)
                } else {
                    checked.confirm(false)?.prepare(&campaign, &[])
                }
            });
            drop(ready);
            steps.take()
        };
        [way(false), way(true)]
    }

    #[test]
    fn refused_step_is_the_last() {
        let expected: [(&str, [&[&str]; 2]); 4] = [
            ("", [&["check", "confirm", "prepare"], &["check", "prepare", "confirm"]]),
            ("check", [&["check"], &["check"]]),
            ("confirm", [&["check", "confirm"], &["check", "prepare", "confirm"]]),
            ("prepare", [&["check", "confirm", "prepare"], &["check", "prepare"]]),
        ];
        for (refuses, ways) in expected {
            assert_eq!(steps(refuses), ways, "{refuses}");
        }
    }

    #[test]
    fn a_share_is_of_what_is_planned() {
        let seconds = |n| Some(Duration::from_secs(n));
        let share = |measuring, planned| {
            CellProgress { clock: Duration::from_secs(1), measuring, planned }.share()
        };
        assert_eq!(share(seconds(9), seconds(36)), Some(0.25));
        // It has more to do than its run time.
        assert_eq!(share(seconds(40), seconds(36)), Some(0.99));
        assert_eq!(share(None, seconds(36)), None);
        assert_eq!(share(seconds(9), None), None);
        assert_eq!(share(seconds(9), seconds(0)), None);
    }
}
