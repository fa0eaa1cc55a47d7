//! How far a probe is.

use crate::error::ProbeError;

/// Receives how far a probe is, and may end it.
pub trait ProbeWatcher {
    /// A step begins; it and the ones behind it will take so many seconds.
    ///
    /// # Errors
    /// If the probe must end: the user interrupts it, or other I/O disturbs it.
    fn step(&mut self, name: &'static str, seconds_left: f64) -> Result<(), ProbeError>;
}

/// One that does not watch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl ProbeWatcher for Unwatched {
    fn step(&mut self, _name: &'static str, _seconds_left: f64) -> Result<(), ProbeError> {
        Ok(())
    }
}
