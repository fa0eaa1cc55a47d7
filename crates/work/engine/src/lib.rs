//! Runs fio jobs natively, with fio's semantics and less cost.
//!
//! A [`Job`](disklab_jobfile::Job) says what to do; [`run()`] does it on the files
//! of a [`JobContext`] and gives a [`EngineReport`]: latencies as whole histograms, counts
//! interval by interval, CPU time, all as figures or as fio's JSON.
//!
//! The order of the layers, from below: `pattern` (pure: which I/O comes next),
//! `backend` (system interfaces: plain calls, Linux AIO, io_uring), `measure`
//! (clock, histograms, series), `files` (making and opening), `worker` (one clone
//! at work), `run` (which clones run when).
//!
//! Where it differs from fio, on purpose:
//! - One random generator and one permutation instead of three generators and a
//!   bit map: random offsets differ from fio's, what they cover does not.
//! - A job with a rate does not wait for what is in flight before it pauses, and
//!   `rate_iops` counts I/Os, not bytes over the smallest block.
//! - Reads for verification are not counted among the job's reads.
//! - `number_ios` also ends a job that is `time_based`.

mod backend;
mod checksum;
mod context;
mod control;
mod error;
mod files;
mod filler;
mod fio_words;
mod flow;
mod io_failure;
mod measure;
mod memory;
mod pace;
mod pattern;
mod random;
mod report;
mod run;
mod segment;
mod steady;
#[cfg(test)]
mod testing;
mod timed;
mod verify;
mod verify_error;
mod worker;

pub use context::{Issued, JobContext, JobProgress, ProgressHook};
pub use error::{EngineError, FileProblem};
pub use files::{DeviceAccess, HeldDevice, Untouchable, preflight, written_devices};
pub use io_failure::{DirectLimits, IoFailure};
pub use measure::{SeriesBin, SeriesCells};
pub use pattern::{IoRequest, RequestKind};
pub use report::{BandwidthSpread, DirectionReport, EngineReport, JobReport, LogKind, log_paths};
pub use run::{lay_out, run};
pub use steady::SteadyState;
pub use timed::{TimedEnd, TimedFile};
pub use verify_error::{CheckerError, HeaderFault, Mismatch};
