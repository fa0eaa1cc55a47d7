//! Where the owner of a ledger ran: machine, boot and namespaces.
//!
//! A state directory may be shared: a home directory on NFS, or one that a
//! container mounts from its host. `/dev/loop3` and the mount at `/mnt/x` of
//! another machine are not those of this one; nor are they after a reboot.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

/// Where a process runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerHost {
    /// machine-id(5); `None` if the machine has none, as in many containers.
    pub machine: Option<String>,
    /// `boot_id` of random(4), which all containers of a machine share.
    pub boot: Option<String>,
    /// The mount namespace (namespaces(7)), by its inode.
    pub mounts: Option<u64>,
    /// The namespace of process numbers.
    pub processes: Option<u64>,
}

/// How the host of a ledger relates to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostRelation {
    /// The same boot of the same machine, in the same namespaces.
    Same,
    /// The same machine, which has been restarted since.
    Rebooted,
    /// The same boot, in another container or mount namespace.
    OtherNamespace,
    /// Another machine, or one that is unknown.
    OtherMachine,
}

impl LedgerHost {
    /// Where this process runs.
    pub(super) fn here() -> Self {
        let read = |path: &str| {
            let text = fs::read_to_string(path).ok()?.trim().to_ascii_lowercase();
            let hex = |c: char| c.is_ascii_hexdigit() || c == '-';
            // systemd writes 'uninitialized' at the first boot.
            (!text.is_empty() && text.chars().all(hex)).then_some(text)
        };
        let namespace =
            |name: &str| fs::metadata(format!("/proc/self/ns/{name}")).ok().map(|m| m.ino());
        Self {
            machine: read("/etc/machine-id"),
            boot: read("/proc/sys/kernel/random/boot_id"),
            mounts: namespace("mnt"),
            processes: namespace("pid"),
        }
    }

    /// How `other`, of a ledger, relates to this.
    pub(super) fn relation(&self, other: &Self) -> HostRelation {
        if self.boot.is_some() && self.boot == other.boot {
            let same = self.mounts == other.mounts && self.processes == other.processes;
            return if same { HostRelation::Same } else { HostRelation::OtherNamespace };
        }
        let known = self.boot.is_some() && other.boot.is_some() && self.machine.is_some();
        if known && self.machine == other.machine {
            HostRelation::Rebooted
        } else {
            HostRelation::OtherMachine
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(machine: Option<&str>, boot: &str, mounts: u64) -> LedgerHost {
        LedgerHost {
            machine: machine.map(str::to_owned),
            boot: Some(boot.to_owned()),
            mounts: Some(mounts),
            processes: Some(1),
        }
    }

    #[test]
    fn relations_between_hosts() {
        let here = host(Some("a"), "1", 1);
        for (other, relation) in [
            (here.clone(), HostRelation::Same),
            (host(Some("a"), "2", 1), HostRelation::Rebooted),
            (host(Some("a"), "2", 9), HostRelation::Rebooted),
            (host(Some("a"), "1", 9), HostRelation::OtherNamespace),
            // A container has its host's boot, and mostly no machine-id.
            (host(None, "1", 9), HostRelation::OtherNamespace),
            (host(Some("b"), "2", 1), HostRelation::OtherMachine),
            (host(None, "2", 1), HostRelation::OtherMachine),
            (LedgerHost { boot: None, ..here.clone() }, HostRelation::OtherMachine),
        ] {
            assert_eq!(here.relation(&other), relation, "{other:?}");
        }
        let nameless = host(None, "1", 1);
        assert_eq!(nameless.relation(&host(None, "2", 1)), HostRelation::OtherMachine);
        let boots = LedgerHost { boot: None, ..here };
        assert_eq!(boots.relation(&boots.clone()), HostRelation::OtherMachine);
    }

    #[test]
    fn this_host_is_itself() {
        assert_eq!(LedgerHost::here().relation(&LedgerHost::here()), HostRelation::Same);
    }
}
