//! `io_submit_mode=offload`: threads that carry out one I/O each, so that the clone that begins
//! them never waits for the kernel.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::{Backend, Call, IoCompletion, IoOperation};

/// The threads keep nothing on their stacks.
const STACK_BYTES: usize = 64 << 10;

/// An I/O on its way to a thread.
struct Task(IoOperation);

// SAFETY: the buffer behind the pointer is left alone until the end is reported; see
// `Backend::queue`.
unsafe impl Send for Task {}

/// As many threads as I/Os can be in flight.
#[derive(Debug)]
pub(crate) struct ThreadPool {
    tasks: Option<Sender<Task>>,
    ended: Receiver<IoCompletion>,
    threads: Vec<JoinHandle<()>>,
    name: &'static str,
}

impl ThreadPool {
    /// Starts the threads; `name` is the engine's in reports.
    ///
    /// # Errors
    /// That of the first thread that could not be started; those before it end.
    pub(crate) fn new(depth: u32, name: &'static str) -> io::Result<Self> {
        let (tasks, queue) = channel::<Task>();
        let (sender, ended) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for _ in 0..depth.max(1) {
            let (queue, sender) = (Arc::clone(&queue), sender.clone());
            let builder = Builder::new().name("offload".to_owned()).stack_size(STACK_BYTES);
            threads.push(builder.spawn(move || carry_out(&queue, &sender))?);
        }
        Ok(Self { tasks: Some(tasks), ended, threads, name })
    }
}

fn carry_out(queue: &Mutex<Receiver<Task>>, ended: &Sender<IoCompletion>) {
    loop {
        let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Task(operation)) = task else { return };
        let result = Call::Positioned.perform(&operation);
        // Nobody listens where the job has ended by an error.
        if ended.send(IoCompletion { slot: operation.slot, result }).is_err() {
            return;
        }
    }
}

impl Backend for ThreadPool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn queue(&mut self, operation: &IoOperation) -> io::Result<()> {
        let gone = || io::Error::from_raw_os_error(libc::EPIPE);
        let tasks = self.tasks.as_ref().ok_or_else(gone)?;
        tasks.send(Task(*operation)).map_err(|_| gone())
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reap(
        &mut self,
        least: usize,
        most: usize,
        timeout: Option<Duration>,
        ends: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let before = ends.len();
        while ends.len() - before < most.max(1) {
            if let Ok(end) = self.ended.try_recv() {
                ends.push(end);
                continue;
            }
            if ends.len() - before >= least {
                break;
            }
            let got = match until {
                None => self.ended.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.ended.recv_timeout(until - Instant::now().min(until)),
            };
            match got {
                Ok(end) => ends.push(end),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::from_raw_os_error(libc::EPIPE));
                }
            }
        }
        Ok(())
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}
