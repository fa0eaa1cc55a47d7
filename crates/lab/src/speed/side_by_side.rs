//! Two labs at once, one on each of two processors; and two pairs of plain processes,
//! which tell what two processors of this machine are worth.

use std::thread;

use super::guests::Guest;
use super::job::Job;
use super::measure::{READS, guest};
use super::{SpeedOptions, round_trip};
use crate::LabError;

/// Round trips of a plain pair: as long as the labs' reads take, about.
const ROUNDS: u32 = 100_000;

/// How many times as much two do in the same time as one.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideBySide {
    /// Labs that read.
    pub labs: f64,
    /// Pairs of processes that send each other 16 bytes.
    pub pairs: f64,
}

/// Measures both, the pairs before and after the labs, so that a load that comes or goes
/// is seen by both. `None` where there is no second processor.
pub(super) fn side_by_side(options: &SpeedOptions) -> Result<Option<SideBySide>, LabError> {
    let Some(other) = options.other_core else { return Ok(None) };
    let cores = [options.core, other];
    let pair = |core| pair(options, core);
    let lab = |core| lab(options, core);
    let before = gain(cores, &pair)?;
    let labs = gain(cores, &lab)?;
    let after = gain(cores, &pair)?;
    Ok(Some(SideBySide { labs, pairs: (before + after) / 2.0 }))
}

/// What `speed` is on both processors at the same time, by the mean of what it is on
/// each alone.
fn gain(
    [one, other]: [usize; 2],
    speed: &(impl Fn(usize) -> Result<f64, LabError> + Sync),
) -> Result<f64, LabError> {
    let alone = (speed(one)? + speed(other)?) / 2.0;
    let together = thread::scope(|scope| {
        let second = scope.spawn(|| speed(other));
        let first = speed(one)?;
        // It does not panic; if it did, that was a failure to measure.
        let second = second.join().unwrap_or(Err(LabError::Asleep))?;
        Ok::<f64, LabError>(first + second)
    })?;
    Ok(together / alone)
}

/// Reads per second of a lab on a processor.
fn lab(options: &SpeedOptions, core: usize) -> Result<f64, LabError> {
    let (_, marks) = Guest { core, ..guest(options, Job::Reads(READS), 1) }.run()?;
    let took = match marks.as_slice() {
        [from, to] => (to.real - from.real).as_secs_f64(),
        _ => f64::NAN,
    };
    Ok(READS as f64 / took)
}

/// Round trips per second of a pair of processes on a processor.
fn pair(options: &SpeedOptions, core: usize) -> Result<f64, LabError> {
    options.interrupt.check().map_err(|_| LabError::Interrupted)?;
    Ok(1.0 / round_trip(Some(core), ROUNDS)?.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn twice_as_much_is_two_and_both_run_at_once() {
        assert_eq!(gain([0, 1], &|core| Ok(3.0 + core as f64)).unwrap(), 2.0);
        // Alone each does 4; together 3 each.
        let meeting = Barrier::new(2);
        let calls = std::sync::atomic::AtomicU32::new(0);
        let speed = |_| {
            if calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2 {
                return Ok(4.0);
            }
            // Were they not at once, they would wait here for ever.
            meeting.wait();
            Ok(3.0)
        };
        assert_eq!(gain([0, 1], &speed).unwrap(), 1.5);
        assert!(gain([0, 1], &|_| Err(LabError::Interrupted)).is_err());
    }
}
