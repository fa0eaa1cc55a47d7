//! What this system has to confine a guest with.

/// The first Landlock that keeps signals in (Linux 6.12).
const LANDLOCK_WITH_SIGNALS: u32 = 6;

/// What this system has to confine a guest with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfinementSupport {
    /// The version of Landlock, without which a guest can write wherever its user can.
    pub landlock: Option<u32>,
    /// Whether system calls can be filtered.
    pub filter: bool,
    /// Whether the lab can make calls in the guest's stead, so that a guest connects to
    /// nothing but the lab's sockets.
    pub supervision: bool,
}

impl ConfinementSupport {
    /// Those of the running system.
    pub fn of_this_system() -> Self {
        Self {
            landlock: landlock_version(),
            filter: cfg!(target_arch = "x86_64") && is_available(libc::SECCOMP_RET_ERRNO),
            supervision: cfg!(target_arch = "x86_64") && is_available(libc::SECCOMP_RET_USER_NOTIF),
        }
    }

    /// Whether Landlock keeps the guest's signals to the guest.
    pub(super) fn keeps_signals(self) -> bool {
        self.landlock.is_some_and(|version| version >= LANDLOCK_WITH_SIGNALS)
    }

    /// What a guest that is hostile could do here, and how to keep it from that: a sentence
    /// for each protection that is missing.
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

/// Whether filters can end in this action (seccomp(2)).
#[allow(unsafe_code)]
fn is_available(action: u32) -> bool {
    // SAFETY: the call reads the action, which lives for as long.
    unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0
    }
}

/// The version of this system's Landlock (landlock(7)); `None` where it has none, or
/// it is switched off.
#[allow(unsafe_code)]
fn landlock_version() -> Option<u32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION` (`include/uapi/linux/landlock.h`).
    const VERSION: libc::c_uint = 1;
    let attributes = std::ptr::null::<libc::c_void>();
    // SAFETY: asked for its version, the call takes no attributes.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, attributes, 0_usize, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_protection_is_one_sentence_with_a_remedy() {
        let all = ConfinementSupport { landlock: Some(6), filter: true, supervision: true };
        assert!(all.missing().is_empty() && all.keeps_signals());
        let old = ConfinementSupport { landlock: Some(2), ..all };
        assert!(old.missing().is_empty() && !old.keeps_signals());
        for (support, word) in [
            (ConfinementSupport { landlock: None, ..all }, "lsm="),
            (
                ConfinementSupport { filter: false, supervision: false, ..all },
                "CONFIG_SECCOMP_FILTER",
            ),
            (ConfinementSupport { supervision: false, ..all }, "5.9"),
        ] {
            let missing = support.missing();
            assert!(missing.len() == 1 && missing[0].contains(word), "{missing:?}");
        }
    }
}
