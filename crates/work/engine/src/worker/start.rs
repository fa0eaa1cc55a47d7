//! As what a thread runs: `nice`, `prio`, `cpus_allowed`.

use std::io;

use disklab_jobfile::{CpuPolicy, IoClass, Job};

use super::numa;

/// Applies what the job says to the calling thread. What the system refuses is
/// told in the notes.
pub(super) fn settle(job: &Job, clone: u32, notes: &mut Vec<String>) {
    // By default a sleep may last 50 µs longer than asked (prctl(2)): too long for a
    // rate of thousands of I/Os per second.
    // SAFETY: plain numbers, about the calling thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let process = &job.process;
    // Processors given one by one hold before those of a node.
    numa::settle(process, notes);
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
        // ioprio_set(2): the class is above bit 13.
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
        if !numa::run_on(&set) {
            refused("cpus_allowed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::job;

    /// What a thread of its own is after `settle`: nice value, processors, notes.
    fn settled(options: &str, clone: u32) -> (i32, Vec<usize>, Vec<String>) {
        let job = job(&format!("rw=read\nsize=1m\n{options}"));
        let thread = std::thread::spawn(move || {
            let mut notes = Vec::new();
            settle(&job, clone, &mut notes);
            // SAFETY: a set of processors is plain bits on this stack.
            let processors = unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_getaffinity(0, std::mem::size_of_val(&set), &raw mut set);
                (0..1024).filter(|n| libc::CPU_ISSET(*n, &set)).collect()
            };
            // SAFETY: plain numbers; 0 is the calling thread.
            let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
            (nice, processors, notes)
        });
        thread.join().expect("no panic")
    }

    #[test]
    fn a_thread_is_what_the_job_says() {
        let (before, all, _) = settled("", 0);
        let (nice, _, notes) = settled("nice=19", 0);
        assert_eq!((nice, notes), (19, Vec::new()));
        assert_ne!(before, 19, "other threads stay as they are");
        let (_, processors, notes) = settled("prioclass=2\nprio=7\ncpus_allowed=0", 0);
        if all.contains(&0) {
            assert_eq!((processors, notes), (vec![0], Vec::new()));
        }
        if all.starts_with(&[0, 1]) {
            let split = "cpus_allowed=0-1\ncpus_allowed_policy=split";
            assert_eq!(settled(split, 1).1, [1]);
            assert_eq!(settled(split, 2).1, [0]);
        }
        let (_, processors, notes) = settled("cpus_allowed=1000", 0);
        assert_eq!(processors, all);
        assert!(notes[0].starts_with("cpus_allowed was not granted"), "{notes:?}");
    }
}
