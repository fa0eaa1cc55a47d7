//! What may be behind it when nothing is heard of the guest.

use rustix::process::Pid;

use super::spinning::{Spinning, Used};
use super::standstill::Standstill;
use crate::LabError;

/// Watches a guest's processes while nothing is heard of it.
#[derive(Debug)]
pub(super) struct Silence {
    kernel: Pid,
    spinning: Spinning,
    standstill: Standstill,
}

impl Silence {
    /// Of the kernel whose process this is.
    pub fn of(kernel: Pid) -> Self {
        Self { kernel, spinning: Spinning::default(), standstill: Standstill::of(kernel) }
    }

    /// The guest spoke, and has used a disk `kicks` times so far.
    pub fn ends(&mut self, kicks: u64) {
        self.spinning.guest_speaks(kicks);
        self.standstill.is_none();
    }

    /// The guest is silent; `its_turn` tells whether it is expected to go on by itself.
    ///
    /// # Errors
    /// Where it never will.
    pub fn goes_on(&mut self, its_turn: bool) -> Result<(), LabError> {
        let Some(used) = Used::by(self.kernel) else { return Ok(()) };
        if its_turn {
            self.standstill.look(&used)?;
        } else {
            self.standstill.is_none();
        }
        self.spinning.guest_is_silent(used);
        Ok(())
    }
}
