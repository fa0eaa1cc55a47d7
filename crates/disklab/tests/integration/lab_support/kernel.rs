//! What the tests in the lab need of this machine.

use std::path::PathBuf;

use disklab_lab::kernel::{Parts, cache_folder, find};

/// The lab's kernel, or none, which is said on standard error.
pub fn kernel() -> Option<PathBuf> {
    let kernel = find(&cache_folder(), Parts::ALL);
    if kernel.is_none() {
        eprintln!("skipped: needs the lab's kernel (disklab lab build)");
    }
    kernel
}
