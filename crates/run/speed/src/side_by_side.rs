//! Two labs at once, one on each of two processors; and, to tell what two processors of
//! this machine are worth, two pairs of plain processes and two plain loops.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use crate::guests::{READS, TimedGuest, guest};
use crate::job::SpeedJob;
use crate::{SpeedOptions, round_trip};
use disklab_lab::LabError;
use disklab_lab::Pinned;

/// Round trips of a plain pair: as long as the labs' reads take, about.
const ROUNDS: u32 = 100_000;
/// Steps of a loop that computes: a second's work, about.
const STEPS: u64 = 150_000_000;
/// Steps after which it looks whether it shall end.
const STEPS_A_LOOK: u64 = 10_000_000;
/// Numbers that each step updates. One alone would leave most of a core idle while
/// it waits for itself, and two halves of a core would look like two cores.
const NUMBERS: usize = 8;

/// How many times as much two do in the same time as one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideBySide {
    /// Labs that read.
    pub labs: f64,
    /// Pairs of processes that send each other 16 bytes.
    pub pairs: f64,
    /// Loops that only compute. Pairs of processes mostly wait for one another, and a
    /// processor that waits leaves the other one what they share.
    pub loops: f64,
}

/// Measures all, the pairs and loops before and after the labs, so that a load that comes
/// or goes is seen by all. `None` where there is no second processor.
pub(crate) fn side_by_side(options: &SpeedOptions) -> Result<Option<SideBySide>, LabError> {
    let Some(other) = options.other_core else { return Ok(None) };
    let cores = [options.core, other];
    let pair = |core| pair(options, core);
    let lab = |core| lab(options, core);
    let computing = |core| computing(options, core);
    let before = [gain(cores, &pair)?, gain(cores, &computing)?];
    let labs = gain(cores, &lab)?;
    let after = [gain(cores, &pair)?, gain(cores, &computing)?];
    let mean = |of: usize| (before[of] + after[of]) / 2.0;
    Ok(Some(SideBySide { labs, pairs: mean(0), loops: mean(1) }))
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
    let (_, marks) = TimedGuest { core, ..guest(options, SpeedJob::Reads(READS), 1) }.run()?;
    let took = match marks.as_slice() {
        [from, to] => (to.real - from.real).as_secs_f64(),
        _ => f64::NAN,
    };
    Ok(READS as f64 / took)
}

/// Round trips per second of a pair of processes on a processor.
fn pair(options: &SpeedOptions, core: usize) -> Result<f64, LabError> {
    options.interrupt.check()?;
    Ok(1.0 / round_trip(Some(core), ROUNDS)?.as_secs_f64())
}

/// Steps per second of a loop on a processor, which stays in registers.
fn computing(options: &SpeedOptions, core: usize) -> Result<f64, LabError> {
    let _pinned = Pinned::to(Some(core))?;
    let began = Instant::now();
    let mut numbers = black_box([1_u64; NUMBERS]);
    for _ in 0..STEPS / STEPS_A_LOOK {
        options.interrupt.check()?;
        for _ in 0..STEPS_A_LOOK {
            for number in &mut numbers {
                *number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            }
        }
        numbers = black_box(numbers);
    }
    Ok(STEPS as f64 / began.elapsed().as_secs_f64())
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
        assert!(gain([0, 1], &|_| Err(disklab_exec::Interrupted.into())).is_err());
    }
}
