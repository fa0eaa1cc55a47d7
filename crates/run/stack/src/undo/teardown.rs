//! What each kind of thing to tear down can do, and with what.

use std::fmt;
use std::path::Path;

use disklab_exec::Executor;

use super::{DeviceMapping, Marks, Obstacle};
use crate::StackError;

/// A kind of thing to tear down: one file, and one line in the table of
/// `undo/kinds.rs`. Each is safe to do twice, and
/// does nothing to a thing of the same name that is not ours. `Display` names the thing: 'the mount
/// at /x'.
pub(crate) trait Teardown: fmt::Display {
    /// Tears it down. Returns whether there was anything to do.
    ///
    /// # Errors
    /// [`StackError`] of the step that failed; the entry stays in the ledger.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError>;

    /// Stops it, and leaves what it holds on its devices, as a machine does that is shut down. There
    /// is nothing to stop of what only lies there.
    ///
    /// # Errors
    /// [`StackError`] of the step that failed.
    fn close(&self, _: &mut TeardownContext<'_>) -> Result<(), StackError> {
        Ok(())
    }

    /// What is on or in it that the run with these marks did not make. With any, it is to be left
    /// alone. Settings, and a process that is recognised by its start, have none.
    ///
    /// # Errors
    /// [`StackError`] if it cannot be inspected: the caller leaves it alone then.
    fn obstacles(&self, _: &Marks, _: &TeardownContext<'_>) -> Result<Vec<Obstacle>, StackError> {
        Ok(Vec::new())
    }

    /// What it is recognised by.
    fn marks(&self) -> Vec<String> {
        Vec::new()
    }

    /// The mapping whose superblock has no UUID to recognise it by.
    fn integrity(&self) -> Option<&DeviceMapping> {
        None
    }

    /// The paths that it acts on.
    fn paths(&self) -> Vec<&Path>;

    /// Whether a restart of the machine has undone it.
    fn ends_with_boot(&self) -> bool {
        false
    }

    /// Whether removing it would remove what is at one of these paths, too: what is in a
    /// directory, or built on a device.
    fn contains(&self, _: &[&Path]) -> bool {
        false
    }
}

/// What tears things down: the executor, and the list of what was not as it
/// should be although the thing is gone.
pub(crate) struct TeardownContext<'a> {
    /// Runs the programs; each invocation is to be uninterruptible.
    pub executor: &'a Executor,
    /// What the user must know, such as 'it was still in use'.
    pub complaints: Vec<StackError>,
    /// Whether it removes what is in use, too: that which this process made itself,
    /// or which the user has decided about. Not what a killed run left.
    pub by_force: bool,
    /// Whether the machine was restarted since the things were made.
    pub rebooted: bool,
}

impl<'a> TeardownContext<'a> {
    /// For what this process itself has made, or the user wants to be gone.
    pub(crate) fn by_force(executor: &'a Executor) -> Self {
        Self { executor, complaints: Vec::new(), by_force: true, rebooted: false }
    }

    /// For what a killed run left.
    pub(crate) fn with_care(executor: &'a Executor) -> Self {
        Self { by_force: false, ..Self::by_force(executor) }
    }
}
