//! One clone of a job at work.

mod asynchronous;
mod clone;
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

use crate::error::EngineError;

/// What ends a clone before it has done all: an errno, 0 where there is none, and
/// words.
pub(crate) type IoFailure = (i32, String);

impl From<EngineError> for IoFailure {
    fn from(error: EngineError) -> Self {
        let errno = match &error {
            EngineError::System { source, .. } => source.raw_os_error(),
            _ => None,
        };
        (errno.unwrap_or(libc::EIO), error.to_string())
    }
}
