//! What the caller gives to all runs.

use std::path::PathBuf;

use disklab_exec::Interrupt;
use disklab_lab_kernel::{KernelError, LinuxSource, Parts, ZfsKernel, ZfsSource};

/// How the lab's kernels are built if they are not there yet; the caller shows how far that is.
#[derive(Clone, Copy)]
pub struct KernelBuilder {
    /// The plain one, with these parts.
    pub plain: fn(&LinuxSource, Parts, &Interrupt) -> Result<PathBuf, KernelError>,
    /// The one with OpenZFS.
    pub zfs: fn(&LinuxSource, &ZfsSource, &Interrupt) -> Result<ZfsKernel, KernelError>,
}

/// What the caller gives to all runs.
#[derive(Clone)]
pub struct Caller {
    /// Raised when the user asks to stop.
    pub interrupt: Interrupt,
    /// Where disklab remembers what it has made and must tear down.
    pub state: PathBuf,
    /// Builds the lab's kernel, and shows how far it is.
    pub kernels: KernelBuilder,
}
