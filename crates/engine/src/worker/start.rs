//! As what a thread runs: `nice`, `prio`, `cpus_allowed`.

use std::io;

use disklab_jobfile::{CpuPolicy, IoClass, Job};

/// Applies what the job says to the calling thread. What the system refuses is
/// told in the notes.
pub(super) fn settle(job: &Job, clone: u32, notes: &mut Vec<String>) {
    let process = &job.process;
    let mut refused = |option: &str| {
        let error = io::Error::last_os_error();
        notes.push(format!("{option} was not granted: {}", crate::error::words(&error)));
    };
    if process.nice != 0 {
        // SAFETY: plain numbers; 0 is the calling thread.
        if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, i32::from(process.nice)) } != 0 {
            refused("nice");
        }
    }
    if let Some(priority) = process.io_priority {
        // ioprio_set(2): the class stands above bit 13.
        let class: libc::c_int = match priority.class {
            IoClass::None => 0,
            IoClass::Realtime => 1,
            IoClass::BestEffort => 2,
            IoClass::Idle => 3,
        };
        const WHO_PROCESS: libc::c_int = 1;
        let value = class << 13 | libc::c_int::from(priority.level);
        // SAFETY: plain numbers; 0 is the calling thread.
        if unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) } != 0 {
            refused("prio");
        }
    }
    if let Some(processors) = process.cpus.as_ref().filter(|list| !list.is_empty()) {
        // SAFETY: a set of processors is plain bits, for which zero is a value.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let chosen = match process.cpu_policy {
            CpuPolicy::Shared => processors.as_slice(),
            CpuPolicy::Split => {
                let at = clone as usize % processors.len();
                &processors[at..=at]
            }
        };
        for processor in chosen.iter().filter(|n| (**n as usize) < libc::CPU_SETSIZE as usize) {
            // SAFETY: the number lies inside of the set.
            unsafe { libc::CPU_SET(*processor as usize, &mut set) };
        }
        let size = std::mem::size_of::<libc::cpu_set_t>();
        // SAFETY: the set is ours; 0 is the calling thread.
        if unsafe { libc::sched_setaffinity(0, size, &raw const set) } != 0 {
            refused("cpus_allowed");
        }
    }
}
