//! What a thread used of the processor.

/// CPU time of the calling thread so far, in user space and in the kernel, in
/// nanoseconds (getrusage(2), RUSAGE_THREAD).
pub(crate) fn of_thread() -> (u64, u64) {
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a rusage of our own.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let ns = |time: libc::timeval| {
        let (seconds, micros) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec));
        seconds.unwrap_or_default() * 1_000_000_000 + micros.unwrap_or_default() * 1000
    };
    (ns(usage.ru_utime), ns(usage.ru_stime))
}
