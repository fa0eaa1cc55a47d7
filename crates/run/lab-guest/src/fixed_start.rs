//! The same state at the start of a cell under every kernel of the lab.
//!
//! A kernel with more parts takes some microseconds of virtual time longer to start, and has
//! started more programs and threads. Both would show in the figures: a disk's platter has
//! turned further, and Btrfs, which reads from one copy or the other by the PID
//! (`find_live_mirror`, fs/btrfs/volumes.c), takes the other. The PIDs of the kernel's own
//! threads are apart from those of programs (kernel/patches/numbers.patch).

use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};

use super::free_memory::release_memory;

/// What the kernel adds to a sleep at most, in nanoseconds; its default of 50 µs lets another
/// timer end it earlier or later.
const TIMER_SLACK_NS: u64 = 1;

/// Halfway between two ticks of the kernel (`CONFIG_HZ=100`), where none of its other timers is due.
const BETWEEN_TICKS_NS: i64 = 5_000_000;

/// Has the same memory free as in every cell, and waits for the next full second since the kernel's
/// start, and half a tick.
pub fn fixed_start() {
    release_memory();
    let slack = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(TIMER_SLACK_NS));
    let now = clock_gettime(rustix::time::ClockId::Monotonic);
    let then = Timespec { tv_sec: now.tv_sec + 1, tv_nsec: BETWEEN_TICKS_NS };
    while slack.is_ok() && clock_nanosleep_absolute(ClockId::Monotonic, &then).is_err() {}
    let _ = rustix::thread::set_current_timer_slack(None);
}
