//! Which walls this system can raise around a guest.

use super::install;
use super::paths::landlock_version;

/// The first Landlock that keeps signals in (Linux 6.12).
const LANDLOCK_WITH_SIGNALS: u32 = 6;

/// What this system has to confine a guest with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walls {
    /// The version of Landlock, without which a guest can write wherever its user can.
    pub landlock: Option<u32>,
    /// Whether system calls can be filtered.
    pub filter: bool,
    /// Whether the lab can make calls in the guest's stead, so that a guest connects to
    /// nothing but the lab's sockets.
    pub supervision: bool,
}

impl Walls {
    /// Those of the running system.
    pub fn of_this_system() -> Self {
        Self {
            landlock: landlock_version(),
            filter: cfg!(target_arch = "x86_64") && install::is_available(libc::SECCOMP_RET_ERRNO),
            supervision: cfg!(target_arch = "x86_64")
                && install::is_available(libc::SECCOMP_RET_USER_NOTIF),
        }
    }

    /// Whether Landlock keeps the guest's signals to the guest.
    pub(super) fn keeps_signals(self) -> bool {
        self.landlock.is_some_and(|version| version >= LANDLOCK_WITH_SIGNALS)
    }

    /// What a guest that is hostile could do here, and how to keep it from that: a sentence
    /// for each wall that is missing.
    pub fn missing(self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if self.landlock.is_none() {
            missing.push(
                "this kernel has no Landlock: a hostile guest could write wherever you can \
                 (Linux 5.13 or later has it, unless lsm= on the kernel's command line leaves \
                 out 'landlock')",
            );
        }
        if !self.filter {
            missing.push(
                "this kernel filters no system calls: a hostile guest could change the mode, \
                 owner and times of your files (seccomp needs CONFIG_SECCOMP_FILTER, and a \
                 container that allows the call seccomp)",
            );
        } else if !self.supervision {
            missing.push(
                "this kernel has no seccomp notifications: a hostile guest could connect to \
                 your services' sockets (Linux 5.9 or later has them, unless a container \
                 forbids them)",
            );
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_wall_is_one_sentence_with_a_remedy() {
        let all = Walls { landlock: Some(6), filter: true, supervision: true };
        assert!(all.missing().is_empty() && all.keeps_signals());
        let old = Walls { landlock: Some(2), ..all };
        assert!(old.missing().is_empty() && !old.keeps_signals());
        for (walls, word) in [
            (Walls { landlock: None, ..all }, "lsm="),
            (Walls { filter: false, supervision: false, ..all }, "CONFIG_SECCOMP_FILTER"),
            (Walls { supervision: false, ..all }, "5.9"),
        ] {
            let missing = walls.missing();
            assert!(missing.len() == 1 && missing[0].contains(word), "{missing:?}");
        }
    }
}
