//! A guest of which nothing will ever be heard: it is its turn, and nobody computes.
//!
//! A guest that lost a message waits for ever, and a run with it. The kernel functions that its
//! processes sleep in say why.

use std::fs;

use rustix::process::Pid;

use disklab_exec::ProcessStat;

use super::limits::POLL;
use super::spinning::Used;
use crate::LabError;

/// After so many looks without a word, and without work for the processor, nothing comes any
/// more: five minutes. A disk or a network that the guest's files lie on may hold it up for
/// seconds. Looks are counted and not the time, for a computer may be asleep in between.
const POLLS: u32 = 3000;

/// Since when the guest has not moved.
#[derive(Debug)]
pub(super) struct HangDetector {
    kernel: Pid,
    last: Option<Used>,
    looks: u32,
    limit: u32,
}

impl HangDetector {
    /// Of the kernel whose process this is.
    pub fn of(kernel: Pid) -> Self {
        Self { kernel, last: None, looks: 0, limit: POLLS }
    }

    /// The guest spoke, or it is not its turn.
    pub fn is_none(&mut self) {
        self.last = None;
    }

    /// The guest, whose turn it is, is silent, and has `used` so much by now.
    ///
    /// # Errors
    /// [`LabError::Hangs`] if it has been silent for too long.
    pub fn look(&mut self, used: &Used) -> Result<(), LabError> {
        if self.last.as_ref() == Some(used) {
            self.looks += 1;
        } else {
            self.looks = 0;
            self.last = Some(used.clone());
        }
        if self.looks < self.limit {
            return Ok(());
        }
        let seconds = u64::from(self.looks) * POLL.tv_nsec.unsigned_abs() / 1_000_000_000;
        Err(LabError::Hangs { seconds, state: self.state(used) })
    }

    /// What each process waits for, in words.
    fn state(&self, used: &Used) -> String {
        let kernel = waits(self.kernel.as_raw_nonzero().get());
        let programs = used.programs.iter().map(|(pid, _)| waits(*pid)).collect::<Vec<_>>();
        match programs.as_slice() {
            [] => format!("the kernel {kernel}, no programs"),
            programs => format!("the kernel {kernel}, its programs {}", programs.join(", ")),
        }
    }
}

/// Where a process sleeps in this machine's kernel (`/proc/PID/wchan`, proc(5)), with its
/// state's letter.
fn waits(pid: i32) -> String {
    let Some(ProcessStat { state, .. }) = ProcessStat::of(pid) else { return "gone".to_owned() };
    let place = fs::read(format!("/proc/{pid}/wchan")).unwrap_or_default();
    match String::from_utf8_lossy(&place).trim() {
        "" | "0" => format!("in state {state}"),
        place => format!("in {place} ({state})"),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    fn used(kernel: f64) -> Used {
        Used { kernel, programs: Vec::new() }
    }

    #[test]
    fn a_silent_idle_guest_hangs() {
        let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = Pid::from_child(&sleeper);
        let program = (pid.as_raw_nonzero().get(), 0.5);
        let idle = Used { kernel: 1.0, programs: vec![program] };
        let state = || waits(pid.as_raw_nonzero().get());
        let began = Instant::now();
        // '(S)' where the machine tells what it waits in, 'state S' where not.
        while !state().contains('S') && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut hang_detector = HangDetector { limit: 20, ..HangDetector::of(pid) };
        let result = (0..20).try_for_each(|_| hang_detector.look(&idle));
        assert!(result.is_ok(), "{result:?}");
        let error = hang_detector.look(&idle).unwrap_err();
        let asleep = state();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        let LabError::Hangs { seconds: 2, state } = &error else { panic!("{error}") };
        assert_eq!(*state, format!("the kernel {asleep}, its programs {asleep}"));
        assert!(asleep.contains('S'), "{asleep}");
        // Nobody is there any more.
        let error = hang_detector.look(&idle).unwrap_err().to_string();
        assert!(error.contains("the kernel gone, its programs gone"), "{error}");
    }

    #[test]
    fn a_guest_that_makes_progress_does_not_hang() {
        let mut hang_detector = HangDetector { limit: 3, ..HangDetector::of(Pid::INIT) };
        for look in 0..50 {
            // A tick of the processor's now and then.
            assert!(hang_detector.look(&used(f64::from(look / 3))).is_ok(), "{look}");
        }
        for look in 0..50 {
            if look % 3 == 0 {
                hang_detector.is_none();
            }
            assert!(hang_detector.look(&used(99.0)).is_ok(), "{look}");
        }
    }
}
