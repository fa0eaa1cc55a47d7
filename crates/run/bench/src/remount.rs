//! Mounting a cell's file system again, so that a step begins with nothing of it in memory.

use disklab_exec::{Executor, Interrupted};
use disklab_stack::{Stack, StackError};
use disklab_workload::{Remounter, WorkloadError};

/// What a stack ends in, and what lies below it.
#[derive(Debug)]
pub(crate) struct StackRemount<'a> {
    /// How it is mounted again.
    pub remount: &'a disklab_stack::Remount,
    pub stack: &'a Stack,
}

impl Remounter for StackRemount<'_> {
    fn unmount(&self, executor: &Executor) -> Result<Option<String>, WorkloadError> {
        self.remount.unmount(executor).map_err(failed)
    }

    fn mount(&self, executor: &Executor) -> Result<Vec<String>, WorkloadError> {
        let said = self.remount.mount(executor).map_err(failed)?;
        Ok(self.stack.keeps_in_memory().into_iter().chain(said).collect())
    }
}

/// Why the stack could not be mounted, or that the user asked to stop.
fn failed(error: StackError) -> WorkloadError {
    if error.is_interrupt() {
        return Interrupted.into();
    }
    WorkloadError::Remount(Box::new(error))
}
