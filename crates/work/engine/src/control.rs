//! What clones are told from outside, and what they tell while they run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use disklab_jobfile::{ExitWhat, Job};

/// The control of one clone.
#[derive(Debug, Default)]
pub(crate) struct Control {
    stop: AtomicBool,
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Control {
    /// Whether it has to end.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports what it has done.
    pub(crate) fn report(&self, operations: u64, bytes: u64) {
        self.operations.store(operations, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Operations and bytes so far.
    pub(crate) fn done(&self) -> (u64, u64) {
        (self.operations.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// The controls of all clones of all jobs.
#[derive(Debug)]
pub(crate) struct Controls {
    clones: Vec<Vec<Control>>,
    groups: Vec<u32>,
    any_exit_ends_others: bool,
}

impl Controls {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let controls = |job: &Job| (0..job.process.clones).map(|_| Control::default()).collect();
        Self {
            clones: jobs.iter().map(controls).collect(),
            groups: groups(jobs),
            // One flag for all in fio, wherever it is given (str_exitall_cb in options.c).
            any_exit_ends_others: jobs.iter().any(|job| job.groups.exit_all),
        }
    }

    pub(crate) fn of(&self, job: usize, clone: u32) -> &Control {
        &self.clones[job][clone as usize]
    }

    /// Ends all clones of a job.
    pub(crate) fn stop_job(&self, job: usize) {
        self.clones[job].iter().for_each(|control| control.stop.store(true, Ordering::Relaxed));
    }

    /// Ends one clone.
    pub(crate) fn stop_clone(&self, job: usize, clone: u32) {
        self.of(job, clone).stop.store(true, Ordering::Relaxed);
    }

    /// Whether a job is not to start any more.
    pub(crate) fn is_stopped(&self, job: usize) -> bool {
        self.clones[job].iter().all(Control::is_stopped)
    }

    /// A clone of a job has ended: ends those that end with it, as `exitall` says. `running`
    /// are the jobs that have started.
    pub(crate) fn ended(&self, jobs: &[Job], job: usize, failed: bool, running: &[usize]) {
        let groups = &jobs[job].groups;
        if !(self.any_exit_ends_others || (groups.exit_all_on_error && failed)) {
            return;
        }
        match groups.exit_what {
            ExitWhat::Group => (0..jobs.len())
                .filter(|other| self.groups[*other] == self.groups[job])
                .for_each(|other| self.stop_job(other)),
            ExitWhat::Stonewall => running.iter().for_each(|other| self.stop_job(*other)),
            ExitWhat::All => (0..jobs.len()).for_each(|other| self.stop_job(other)),
        }
    }
}

/// The group of each job: `stonewall` and `new_group` begin another one.
pub(crate) fn groups(jobs: &[Job]) -> Vec<u32> {
    let mut group = 0;
    let number = |(index, job): (usize, &Job)| {
        group += u32::from(index > 0 && (job.groups.stonewall || job.groups.new_group));
        group
    };
    jobs.iter().enumerate().map(number).collect()
}
