//! `ioengine=null`: every I/O ends at once, and nothing is done.

use std::io;
use std::time::Duration;

use super::{Backend, IoCompletion, IoOperation};

/// What is in flight until it is asked for.
#[derive(Debug, Default)]
pub(crate) struct Nothing(Vec<IoCompletion>);

impl Backend for Nothing {
    fn name(&self) -> &'static str {
        "null"
    }

    fn queue(&mut self, operation: &IoOperation) -> io::Result<()> {
        self.0.push(IoCompletion { slot: operation.slot, result: i64::from(operation.length) });
        Ok(())
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reap(
        &mut self,
        _least: usize,
        most: usize,
        _timeout: Option<Duration>,
        ends: &mut Vec<IoCompletion>,
    ) -> io::Result<()> {
        let count = self.0.len().min(most.max(1));
        ends.extend(self.0.drain(..count));
        Ok(())
    }
}
