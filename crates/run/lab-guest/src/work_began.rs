//! The moment at which a guest's work begins, for the host.

use std::io;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use crate::{LAB_DIRECTORY, WORK_BEGAN};

/// Says in [`WORK_BEGAN`] that the work begins now, by the clock of guest and lab.
///
/// # Errors
/// What the system says.
pub fn tell_work_began() -> io::Result<()> {
    let now = clock_gettime(ClockId::Monotonic);
    // Below 10^9, and a guest's clock ends in 2^64 ns.
    let ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    std::fs::write(Path::new(LAB_DIRECTORY).join(WORK_BEGAN), format!("{ns}\n"))
}
