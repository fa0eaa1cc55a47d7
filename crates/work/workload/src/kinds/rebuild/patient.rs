//! The drive that fails, and the one that takes its place.

use disklab_cell::Care;
use disklab_exec::Executor;

use crate::WorkloadError;
use crate::events::{Caretaker, MemberInUse};

/// A drive that fails, and what is known of the one that takes its place.
pub(super) struct Patient<'a> {
    pub caretaker: &'a dyn Caretaker,
    pub drive: u32,
    /// How the other one gets into its place.
    pub how: Care,
    /// That of the other one; none if its room is spread over all drives.
    pub name: Option<String>,
    pub members: Vec<Box<dyn MemberInUse>>,
    /// How many times larger the drive is for which it stands.
    pub times: f64,
}

impl Patient<'_> {
    /// Puts the other drive in its place, and waits until all is on that.
    pub fn rebuild_whole(&self, executor: &Executor) -> Result<(), WorkloadError> {
        self.caretaker.care(self.how, Some(self.drive), executor)?;
        self.caretaker.care(Care::Rebuild, None, executor).map(drop)
    }
}
