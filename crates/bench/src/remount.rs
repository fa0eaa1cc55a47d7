//! Mounting a cell's file system again, so that a step begins with nothing of it in memory.

use disklab_exec::Executor;
use disklab_stack::Stack;
use disklab_workload::Remount;

/// What a stack ends in, and what lies below it.
#[derive(Debug)]
pub(crate) struct Again<'a> {
    /// How it is mounted again.
    pub remount: &'a disklab_stack::Remount,
    /// The stack.
    pub stack: &'a Stack,
}

impl Remount for Again<'_> {
    fn unmount(&self, executor: &Executor) -> Result<Option<String>, String> {
        self.remount.unmount(executor).map_err(|error| error.to_string())
    }

    fn mount(&self, executor: &Executor) -> Result<Vec<String>, String> {
        self.remount.mount(executor).map_err(|error| error.to_string())?;
        Ok(self.stack.keeps_in_memory())
    }
}
