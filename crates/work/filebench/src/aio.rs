//! Asynchronous writes: threads that write what others hand them.
//!
//! POSIX AIO of the C library, which Filebench uses, does the same: at most 20
//! threads write (`aio_threads` of aio_init(3)).

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use crate::filler::{FillPart, Filler};

/// Threads of the C library's asynchronous I/O.
const MOST_THREADS: usize = 20;

/// A write that is handed over.
#[derive(Debug)]
struct Job {
    file: Arc<OwnedFd>,
    part: FillPart,
    owner: Arc<AioOwner>,
}

/// A thread that hands over writes.
#[derive(Debug, Default)]
pub(crate) struct AioOwner {
    state: Mutex<Outstanding>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Outstanding {
    count: u64,
    error: Option<std::io::Error>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AioOwner {
    /// Waits until all writes of this thread are done.
    ///
    /// # Errors
    /// That of the first write since the last call which failed.
    pub fn wait(&self) -> std::io::Result<()> {
        let mut state = lock(&self.state);
        while state.count > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.error.take().map_or(Ok(()), Err)
    }

    /// As upstream's look on Linux: it does not wait.
    ///
    /// # Errors
    /// That of the first write since the last call which failed.
    pub fn look(&self) -> std::io::Result<()> {
        lock(&self.state).error.take().map_or(Ok(()), Err)
    }
}

/// The threads that write, and what they still have to write.
#[derive(Debug, Default)]
pub(crate) struct Aio {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Aio {
    /// Hands over a write; starts a thread where none is idle.
    pub fn write<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        filler: &'env Filler,
        file: &Arc<OwnedFd>,
        part: FillPart,
        owner: &Arc<AioOwner>,
    ) {
        lock(&owner.state).count += 1;
        let job = Job { file: Arc::clone(file), part, owner: Arc::clone(owner) };
        let mut queue = lock(&self.queue);
        queue.jobs.push_back(job);
        if queue.idle == 0 && queue.threads < MOST_THREADS {
            queue.threads += 1;
            scope.spawn(|| self.serve(filler));
        }
        drop(queue);
        self.changed.notify_one();
    }

    /// No more writes come: the threads end.
    pub fn close(&self) {
        lock(&self.queue).closed = true;
        self.changed.notify_all();
    }

    fn serve(&self, filler: &Filler) {
        let mut scratch = filler.scratch(u64::MAX);
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                let result = filler.write(&job.file, job.part, &mut scratch);
                let mut state = lock(&job.owner.state);
                state.count = state.count.saturating_sub(1);
                if let Err(error) = result {
                    state.error.get_or_insert(error);
                }
                drop(state);
                job.owner.changed.notify_all();
                queue = lock(&self.queue);
            } else if queue.closed {
                return;
            } else {
                queue.idle += 1;
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.idle = queue.idle.saturating_sub(1);
            }
        }
    }
}
