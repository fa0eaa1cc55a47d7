//! Runs Filebench personalities, read by `disklab_wml`, natively.
//!
//! [`run`] carries out a whole script; [`FilebenchSession`] the same in two parts, with the
//! measurement apart from the making of files. Threads of WML are threads of the
//! operating system. Processes of WML are groups of threads of this process: they
//! share its table of descriptors and its memory; `nice` and `ioprio` are set for
//! each thread.
//!
//! With [`Options::strict`] those flaws of Filebench 1.5 stay that decide figures,
//! for comparison with what it measured; without, they are fixed. docs/reference/workloads.md
//! names each.

mod aio;
mod clock;
mod early_stop;
mod error;
mod fileset;
mod filler;
mod memory;
mod options;
mod pace;
mod priority;
mod report;
mod run_control;
mod series;
mod session;
mod sink;
mod tally;
mod text;
mod usage;
mod worker;
mod workers;

pub use early_stop::{EarlyStop, FlowopObstacle};
pub use error::FilebenchError;
pub use options::{ContentKind, Options, RunProgress, SessionContext};
pub use report::{FilebenchFigures, FilebenchReport, OperationSeries, ReportRow};
pub use session::{FilebenchSession, run};
pub use tally::Counted;
