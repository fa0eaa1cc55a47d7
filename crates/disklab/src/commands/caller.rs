//! What this program gives to all runs.

use disklab_runner::{Caller, KernelBuilder, state_directory};

use super::lab::build;
use crate::exit::Failure;
use crate::signals;

/// With its interrupt, and who builds the lab's kernels.
pub fn caller() -> Result<Caller, Failure> {
    let kernels = KernelBuilder { plain: build::ensure, zfs: build::ensure_zfs };
    Ok(Caller { interrupt: signals::interrupt()?, state: state_directory(), kernels })
}
