//! Two labs at once, one on each of two processors.

use std::thread;

use super::SpeedOptions;
use super::guests::Guest;
use super::job::Job;
use super::measure::{READS, guest};
use crate::LabError;

/// How many times as much two labs do in the same time as one, the mean of the two
/// processors'. `None` where there is no second processor.
pub(super) fn side_by_side(options: &SpeedOptions) -> Result<Option<f64>, LabError> {
    let Some(other) = options.other_core else { return Ok(None) };
    let alone = (speed(options, options.core)? + speed(options, other)?) / 2.0;
    let together = thread::scope(|scope| {
        let second = scope.spawn(|| speed(options, other));
        let first = speed(options, options.core)?;
        // It does not panic; if it did, that was a failure to measure.
        let second = second.join().unwrap_or(Err(LabError::Asleep))?;
        Ok(first + second)
    })?;
    Ok(Some(together / alone))
}

/// Reads per second on a processor.
fn speed(options: &SpeedOptions, core: usize) -> Result<f64, LabError> {
    let (_, marks) = Guest { core, ..guest(options, Job::Reads(READS), 1) }.run()?;
    let took = match marks.as_slice() {
        [from, to] => (to.real - from.real).as_secs_f64(),
        _ => f64::NAN,
    };
    Ok(READS as f64 / took)
}
