//! A checked personality: what a runner carries out.

use std::sync::Arc;
use std::time::Duration;

use disklab_source::{Location, SourceError};

use crate::{Attribute, Fileset, Flowop, SystemStep, Variable};

/// Seconds that `run` without a time lasts in timeout mode (`parser_run`).
pub const DEFAULT_RUN_SECONDS: u64 = 60;

/// A personality, its script read, its names resolved.
#[derive(Debug, Clone)]
pub struct Personality {
    /// The script's name.
    pub name: String,
    /// Which language the script is written in.
    pub dialect: Dialect,
    /// Variables that the script sets, in the order of their first `set`, with
    /// the value that each has at the first `run`.
    pub variables: Vec<Assignment>,
    /// `set mode quit`.
    pub quit: Quit,
    /// `enable lathist`: rows show a histogram of latencies.
    pub latency_histogram: bool,
    /// Filesets in the order of their definition.
    pub filesets: Vec<Fileset>,
    /// Processes in the order of their definition.
    pub processes: Vec<Process>,
    /// Names of the rows of the output, in the order of their first definition
    /// (upstream prints them in the reverse order). A composite has a row too.
    pub rows: Vec<String>,
    /// Number of flowops: each [`Flowop::id`] is below it.
    pub flowop_count: usize,
    /// What to do, in order. There is at least one `run`.
    pub commands: Vec<ScriptCommand>,
    /// What was accepted but has no effect, or another one than in Filebench.
    /// Show them.
    pub notes: Vec<SourceError>,
    pub(crate) moving: Vec<Arc<Variable>>,
}

/// The dialects of WML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Filebench 1.5.
    V15,
    /// Filebench 1.4.9 and before: the script uses words that only they know.
    V149,
}

/// A variable and its value, for the record of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The name without the `$`.
    pub name: String,
    /// The value as a script would write it; a random variable's distribution.
    pub value: String,
    /// Whether it was given from outside.
    pub given: bool,
}

/// When a run ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Quit {
    /// When the time is over. A flowop that finds no file, or a `finishon…` that
    /// is fulfilled, ends it early as an error in Filebench.
    #[default]
    Timeout,
    /// When all threads are done, or the time is over.
    AllDone,
    /// When one thread is done, or the time is over.
    FirstDone,
}

/// A process: started `instances` times.
#[derive(Debug, Clone)]
pub struct Process {
    /// As the script defines it; may be used in figures.
    pub name: String,
    /// How many of it run.
    pub instances: Attribute,
    /// `nice`: added to its priority.
    pub nice: Attribute,
    /// Each may stand for several instances.
    pub threads: Vec<Thread>,
    /// Where it is defined.
    pub place: Location,
}

/// A thread: started `instances` times in each instance of its process.
#[derive(Debug, Clone)]
pub struct Thread {
    /// As the script defines it.
    pub name: String,
    /// How many of it run.
    pub instances: Attribute,
    /// `memsize`: bytes of memory that I/O moves from and to, at random multiples
    /// of the I/O's size; 0: each flowop has a buffer of its own.
    pub memory: Attribute,
    /// `useism`: upstream takes that memory as one shared segment.
    pub use_ism: bool,
    /// `ioprio`: 0 (highest) to 7 in the best-effort class.
    pub io_priority: Option<Attribute>,
    /// What it does, again and again.
    pub flowops: Vec<Flowop>,
    /// Where it is defined.
    pub place: Location,
}

/// One command of the sequence, `foreach` unrolled, texts complete.
#[derive(Debug, Clone)]
pub enum ScriptCommand {
    /// Makes the trees, and the files that exist before the run. A second one
    /// does nothing.
    CreateFiles,
    /// Removes the files of all filesets (`shutdown files`).
    RemoveFiles,
    /// Starts the processes; `run` does so itself.
    CreateProcesses,
    /// `eventgen rate=`: events per second from here on; 0 means without limit.
    EventRate(Attribute),
    /// Starts the processes, and shows figures at the end.
    Run(RunTime),
    /// Runs, and shows the figures at intervals.
    PeriodicRun {
        /// Seconds between two outputs, above 0.
        period: u64,
        /// Whether each output starts anew (a negative period).
        reset: bool,
        /// How long.
        time: RunTime,
    },
    /// Runs for this many seconds; the figures are thrown away (1.4.9).
    Warmup(Attribute),
    /// Seconds without doing anything.
    Sleep(Attribute),
    /// A line for the reader.
    Echo(String),
    /// A shell line. It is never executed; what it is known to stand for is.
    System {
        /// The line.
        text: String,
        /// What it stands for.
        steps: Vec<SystemStep>,
        /// Where it is written.
        place: Location,
    },
    /// A variable changes: call [`Variable::set`].
    Set(Arc<Variable>, u64),
    /// Figures start anew (1.4.9).
    StatsClear,
    /// Figures are shown (1.4.9).
    StatsSnap,
    /// Threads end, files stay (1.4.9).
    ShutdownProcesses,
    /// Names of the filesets are shown.
    ListFilesets,
    /// Names of the flowops are shown.
    ListFlowops,
}

/// How long a run lasts.
#[derive(Debug, Clone)]
pub enum RunTime {
    /// The script does not say: [`DEFAULT_RUN_SECONDS`] in [`Quit::Timeout`],
    /// without limit else.
    Unsaid,
    /// Seconds; 0 counts as unsaid, and a random variable with its mean.
    Seconds(Attribute),
    /// The caller's [`Overrides::run_time`](crate::Overrides::run_time).
    Exactly(Duration),
}

impl RunTime {
    /// The time, or none where the run ends by itself.
    pub fn limit(&self, quit: Quit) -> Option<Duration> {
        match self {
            Self::Exactly(time) => Some(*time),
            Self::Seconds(value) if value.mean() >= 1.0 => {
                // `as` saturates.
                Some(Duration::from_secs(value.mean() as u64))
            }
            _ if quit == Quit::Timeout => Some(Duration::from_secs(DEFAULT_RUN_SECONDS)),
            _ => None,
        }
    }
}

impl Personality {
    /// `None` if the script defines no fileset of this name.
    pub fn fileset(&self, name: &str) -> Option<&Fileset> {
        self.filesets.iter().find(|fileset| fileset.name == name)
    }

    /// All flowops, those inside of composites too, in order.
    pub fn flowops(&self) -> Vec<&Flowop> {
        let mut all = Vec::with_capacity(self.flowop_count);
        for flowop in self.processes.iter().flat_map(|p| &p.threads).flat_map(|t| &t.flowops) {
            flowop.walk(&mut |f| all.push(f));
        }
        all
    }

    /// Events per second in force at the first run; none or 0 means without limit.
    pub fn event_rate(&self) -> Option<&Attribute> {
        self.commands
            .iter()
            .take_while(|c| !matches!(c, ScriptCommand::Run(_) | ScriptCommand::PeriodicRun { .. }))
            .filter_map(|c| if let ScriptCommand::EventRate(rate) = c { Some(rate) } else { None })
            .last()
    }

    /// How long all runs last together, where each has a limit.
    pub fn run_time(&self) -> Option<Duration> {
        self.commands
            .iter()
            .map(|command| match command {
                ScriptCommand::Run(time) | ScriptCommand::PeriodicRun { time, .. } => {
                    time.limit(self.quit)
                }
                ScriptCommand::Warmup(value) | ScriptCommand::Sleep(value) => {
                    Some(Duration::from_secs(value.mean() as u64))
                }
                _ => Some(Duration::ZERO),
            })
            .try_fold(Duration::ZERO, |sum, time| Some(sum.saturating_add(time?)))
    }

    /// Puts variables that `set` commands changed back: for running it once more.
    pub fn rewind(&self) {
        for variable in &self.moving {
            variable.set(variable.first);
        }
    }
}
