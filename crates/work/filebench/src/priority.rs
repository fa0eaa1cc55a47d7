//! Priorities of threads.

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::gettid;

/// `IOPRIO_WHO_PROCESS` of ioprio_set(2): one thread.
const ONE_THREAD: libc::c_int = 1;
/// `IOPRIO_CLASS_BE << IOPRIO_CLASS_SHIFT`: the best-effort class.
const BEST_EFFORT: libc::c_int = 2 << 13;

/// Sets the priorities of this thread: `nice` is added to the scheduler's, and
/// `io_priority` is 0 (highest) to 7. Lowering needs no rights; what the kernel
/// refuses is left as it is, as in Filebench.
pub(crate) fn set(nice: u64, io_priority: Option<u64>) {
    if nice > 0 {
        let own = Some(gettid());
        let now = getpriority_process(own).unwrap_or(0);
        // 19 is the lowest priority (setpriority(2)).
        let wanted = i32::try_from(nice).unwrap_or(19).saturating_add(now).min(19);
        let _ = setpriority_process(own, wanted);
    }
    if let Some(level) = io_priority {
        let value = BEST_EFFORT | level.min(7) as libc::c_int;
        // SAFETY: ioprio_set takes three integers and touches no memory; 0 is the
        // calling thread.
        unsafe { libc::syscall(libc::SYS_ioprio_set, ONE_THREAD, 0, value) };
    }
}
