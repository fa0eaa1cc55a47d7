//! One clone of a job at work.

mod asynchronous;
mod clone;
mod depth_meter;
mod depth_search;
mod latency_target;
mod numa;
mod pause;
mod start;
mod synchronous;
mod tally;
mod thinker;
mod timing;
mod verification;

pub(crate) use clone::{CloneOutcome, SegmentShared, broken, run};
pub(crate) use tally::Account;
