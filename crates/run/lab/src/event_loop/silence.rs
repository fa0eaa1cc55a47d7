//! What may be behind it when nothing is heard of the guest.

use rustix::process::Pid;

use super::hang_detector::HangDetector;
use super::spinning::{Spinning, Used};
use crate::LabError;

/// Watches a guest's processes while nothing is heard of it.
#[derive(Debug)]
pub(super) struct Silence {
    kernel: Pid,
    spinning: Spinning,
    hang_detector: HangDetector,
}

impl Silence {
    /// Of the kernel whose process this is.
    pub fn of(kernel: Pid) -> Self {
        Self { kernel, spinning: Spinning::default(), hang_detector: HangDetector::of(kernel) }
    }

    /// The guest spoke, and has used a disk `kicks` times so far.
    pub fn ends(&mut self, kicks: u64) {
        self.spinning.guest_speaks(kicks);
        self.hang_detector.is_none();
    }

    /// The guest is silent; `its_turn` tells whether it is expected to continue by itself.
    ///
    /// # Errors
    /// [`LabError::Hangs`] if it was runnable too long without using the CPU.
    pub fn continues(&mut self, its_turn: bool) -> Result<(), LabError> {
        let Some(used) = Used::by(self.kernel) else { return Ok(()) };
        if its_turn {
            self.hang_detector.look(&used)?;
        } else {
            self.hang_detector.is_none();
        }
        self.spinning.guest_is_silent(used);
        Ok(())
    }
}
