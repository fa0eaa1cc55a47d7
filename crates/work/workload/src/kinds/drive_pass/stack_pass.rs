//! What passes over the drives of a stack.

use disklab_cell::Care;
use disklab_exec::Executor;
use disklab_sample::DriveTraffic;

use crate::WorkloadError;
use crate::events::{Caretaker, PassInUse};

/// A rebuild or a scrub of a stack, and what is known of it.
pub(in crate::kinds) struct StackPass<'a> {
    pub caretaker: &'a dyn Caretaker,
    /// For a rebuild, the drive that fails and how the other one gets into its place.
    pub fails: Option<(u32, Care)>,
    /// The name of the drive that is rebuilt; none if its room is spread over all drives, and for a scrub.
    pub name: Option<String>,
    /// Those that can begin anywhere; none if the stack passes what is used.
    pub windowed: Vec<Box<dyn PassInUse>>,
    /// How many times larger the drives are for which these stand.
    pub times: f64,
}

impl StackPass<'_> {
    /// Has it done as a whole, and waits for its end.
    pub fn whole(&self, executor: &Executor) -> Result<(), WorkloadError> {
        let last = match self.fails {
            Some((drive, how)) => {
                self.caretaker.care(how, Some(drive), executor)?;
                Care::Rebuild
            }
            None => Care::Scrub,
        };
        self.caretaker.care(last, None, executor).map(drop)
    }

    /// How many bytes are done, and of how many as far as that is known: what was written to the new drive, or to all, or
    /// what the layers say that they scrubbed.
    pub fn done(
        &self,
        drives: &[DriveTraffic],
        executor: &Executor,
    ) -> Result<Option<(u64, u64)>, WorkloadError> {
        if self.fails.is_none() {
            let scrubbed = self.caretaker.scrubbed(executor)?;
            return Ok(scrubbed.map(|(done, all)| (done.0, all.0)));
        }
        let is_new = |d: &&DriveTraffic| self.name.as_ref().is_none_or(|name| d.drive == *name);
        let written = drives.iter().filter(is_new).map(|drive| drive.write_bytes).sum();
        Ok(Some((written, written)))
    }
}
