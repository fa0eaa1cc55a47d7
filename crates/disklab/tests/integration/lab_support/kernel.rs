//! What the tests in the lab need of this machine.

use std::path::PathBuf;

use disklab_lab_kernel::{Parts, cache_directory, find};

/// The lab's kernel, or none, which is said on standard error.
pub fn kernel() -> Option<PathBuf> {
    let kernel = find(&cache_directory(), Parts::ALL);
    if kernel.is_none() {
        eprintln!("skipped: needs the lab's kernel (disklab lab build)");
    }
    kernel
}

/// Directories of which a guest has its own, so that it does not see the host's.
const OWN_OF_GUESTS: [&str; 5] = ["/dev/", "/mnt/", "/run/", "/tmp/", "/var/tmp/"];

/// This build of disklab, for scripts in a guest; none where a guest does not see it, which is said.
pub fn program_for_guests() -> Option<&'static str> {
    let program = env!("CARGO_BIN_EXE_disklab");
    if OWN_OF_GUESTS.iter().any(|own| program.starts_with(own)) {
        eprintln!(
            "skipped: needs a build elsewhere than in /tmp, /run and /mnt, which guests have of their own"
        );
        return None;
    }
    Some(program)
}
