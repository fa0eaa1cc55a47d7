//! When a guest is stopped.

use std::time::{Duration, Instant};

use disklab_drive::Nanos;
use disklab_exec::Interrupt;
use rustix::time::Timespec;

use crate::LabError;

/// How often the clock and the user's wish are polled.
pub(super) const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// When the guest is stopped.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// After so much real time.
    pub real: Option<Duration>,
    /// At this time of its clock.
    pub virtual_time: Option<Nanos>,
    /// At this time of its clock, and with its power: its disks hold what was durable.
    pub power_cut: Option<Nanos>,
    /// When the user wants it.
    pub interrupt: Interrupt,
}

impl Limits {
    /// Up to where the guest may run without coming back.
    pub fn bound(&self) -> Option<Nanos> {
        self.virtual_time.into_iter().chain(self.power_cut).min()
    }

    /// Whether the power fails at `time` or before.
    pub fn is_dark(&self, time: Nanos) -> bool {
        self.power_cut.is_some_and(|cut| cut <= time)
    }

    /// # Errors
    /// Where the guest's clock, at `now`, has reached its limit.
    pub fn check_virtual(&self, now: Nanos) -> Result<(), LabError> {
        match self.virtual_time {
            Some(limit) if now >= limit => {
                let seconds = limit.0 / 1_000_000_000;
                Err(LabError::TimedOut { clock: "virtual", seconds })
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    /// Where the user wants to stop a guest that was started at `began`, or its real
    /// time is up.
    pub fn check_real(&self, began: Instant) -> Result<(), LabError> {
        self.interrupt.check()?;
        match self.real {
            Some(limit) if began.elapsed() >= limit => {
                Err(LabError::TimedOut { clock: "real", seconds: limit.as_secs() })
            }
            _ => Ok(()),
        }
    }
}
