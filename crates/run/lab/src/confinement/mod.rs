//! What the guest's process may do on this machine.
//!
//! A guest's root can change its own kernel, and that kernel is a process of the user's:
//! whatever the guest does, this process must be harmless. So it is confined from outside.
//! [Landlock](paths) says where it may write, a [seccomp filter](syscalls) says which system
//! calls it may make, and what a filter cannot decide by a call's numbers alone, a
//! [supervisor] does in its stead. All hold for root, too.
//!
//! Reading is confined to what is no device: the guest's root is this machine's, and a guest can
//! read what its user can.

mod install;
mod paths;
mod supervisor;
mod support;
#[cfg(target_arch = "x86_64")]
mod syscalls;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_syscalls.rs"]
mod syscalls;
#[cfg(test)]
mod tests;

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use landlock::RulesetCreated;
use rustix::io::Errno;
use rustix::thread::set_no_new_privs;

use crate::LabError;
pub(crate) use supervisor::Supervisor;
pub use support::ConfinementSupport;
use syscalls::Filters;

/// What confines a process that is about to start.
#[derive(Debug)]
pub(crate) struct Confinement {
    paths: Option<RulesetCreated>,
    filters: Filters,
    /// To send the listener of the supervised calls to the parent.
    listener: Option<OwnedFd>,
}

impl Confinement {
    /// Lets a process write only within `writable`, and talk only to sockets within
    /// `sockets`. Also gives the socket over which the child sends its listener.
    pub fn new(
        support: ConfinementSupport,
        writable: &[&Path],
        sockets: &Path,
    ) -> Result<(Self, Option<OwnedFd>), LabError> {
        let filters = Filters::new(support).map_err(LabError::system("filter system calls"))?;
        let (parent, listener) = match filters.supervised {
            Some(_) => {
                let (parent, child) = install::channel()
                    .map_err(LabError::system("make a socket for the kernel's process"))?;
                (Some(parent), Some(child))
            }
            None => (None, None),
        };
        let only = |_| paths::only(support, writable, Some(sockets));
        let paths = support.landlock.map(only).transpose()?;
        Ok((Self { paths, filters, listener }, parent))
    }

    /// Lets a process write to what it inherits alone, and talk to nobody.
    pub fn alone(support: ConfinementSupport) -> Result<Self, LabError> {
        let filters = Filters::alone(support).map_err(LabError::system("filter system calls"))?;
        let paths = support.landlock.map(|_| paths::only(support, &[], None)).transpose()?;
        Ok(Self { paths, filters, listener: None })
    }

    /// Confines the calling process, for good: between fork and exec. It allocates nothing.
    pub fn confine(&mut self) -> Result<(), Errno> {
        // No program gains rights by being executed: who is not root may filter only then.
        set_no_new_privs(true)?;
        if self.paths.take().is_some_and(|paths| paths.restrict_self().is_err()) {
            // Not for the message, which would need memory.
            return Err(Errno::PERM);
        }
        install::filters(&self.filters, self.listener.as_ref().map(AsRawFd::as_raw_fd))
    }
}
