//! One clone of a job at work.

mod asynchronous;
mod clone;
mod depth_meter;
mod depth_search;
mod numa;
mod pause;
mod start;
mod synchronous;
mod tally;
mod timing;
mod verification;

pub(crate) use clone::{CloneOutcome, SegmentShared, broken, run};
pub(crate) use tally::Account;
