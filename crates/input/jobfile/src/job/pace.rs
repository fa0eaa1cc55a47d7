//! When a job starts and ends, and how fast it may go.

use std::time::Duration;

use super::PerDirection;

/// When a job starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Timing {
    /// `startdelay`, or the range from which each clone draws.
    pub start_delay: (Duration, Duration),
    /// `runtime`: it ends at the latest after so long, not counting
    /// `start_delay` and `ramp`.
    pub runtime: Option<Duration>,
    /// `time_based`: it continues until `runtime`, which is there then, beginning
    /// again when all is done.
    pub time_based: bool,
    /// `ramp_time`: at the start it runs so long before anything is counted.
    pub ramp: Duration,
    /// `steadystate`: it ends when its figures no longer change.
    pub steady: Option<SteadyRule>,
}

/// `steadystate`: when figures, taken each second, are taken for steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyRule {
    /// What is looked at.
    pub figure: SteadyFigure,
    /// Whether the slope of a line through them counts, not the largest deviation from
    /// their mean.
    pub slope: bool,
    /// What it has to be under, over 0.
    pub limit: f64,
    /// Whether that is percent of the mean.
    pub percent: bool,
    /// `steadystate_duration`: over so many seconds, from 1.
    pub seconds: u32,
    /// `steadystate_ramp_time`: so long it is not looked.
    pub ramp: Duration,
}

/// What `steadystate` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyFigure {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
}

/// How fast a job may go. Each clone is limited on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// `rate`: at most so many bytes per second, over 0.
    pub rate: PerDirection<Option<u64>>,
    /// `rate_iops`: at most so many I/Os per second, over 0.
    pub rate_iops: PerDirection<Option<u64>>,
    /// `rate_min`: the job fails where it is slower, in bytes per second.
    pub rate_min: PerDirection<Option<u64>>,
    /// `rate_iops_min`: the same in I/Os per second.
    pub rate_iops_min: PerDirection<Option<u64>>,
    /// `rate_cycle`: over which time the two above are judged.
    pub cycle: Duration,
    /// `rate_process`.
    pub process: RateProcess,
    /// `rate_ignore_thinktime`: it catches up on what it missed while thinking.
    pub ignore_thinktime: bool,
    /// Pauses.
    pub think: Option<Think>,
    /// `flow`: its share of the I/Os of all jobs with the same `flow_id`.
    pub flow: Option<Flow>,
}

/// `flow`: a share of the I/Os of jobs that hold each other back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`: with whom.
    pub id: u32,
    /// `flow`: the weight, from 1.
    pub weight: u32,
    /// `flow_sleep`: how long it sleeps when it is held back.
    pub sleep: Duration,
}

/// `rate_process`: when I/Os of a limited rate begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateProcess {
    /// As soon as the rate allows, after the ones before have ended.
    Linear,
    /// At times of a Poisson process, whether or not the ones before have ended.
    Poisson,
}

/// Pauses between I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Think {
    /// `thinktime`: how long, over 0.
    pub time: Duration,
    /// `thinktime_spin`: so much of it is spent computing, at most all.
    pub spin: Duration,
    /// `thinktime_blocks`: after so many I/Os, from 1.
    pub blocks: u64,
    /// Where those are counted.
    pub counted: ThinkBlocks,
    /// `thinktime_iotime`: or after so long a time of I/O, whichever comes first.
    pub io_time: Option<Duration>,
}

/// `thinktime_blocks_type`: when I/Os are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkBlocks {
    /// When they have ended.
    Complete,
    /// When they begin.
    Issue,
}
