//! Removing a Btrfs from its devices.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use disklab_exec::Invocation;
use serde::{Deserialize, Serialize};

use super::{Marks, Obstacle, Teardown, TeardownContext, any_is_built_on, inspect};
use crate::StackError;
use crate::blkid::probe;
use crate::error::list;

/// Remove the Btrfs with this UUID from its devices, and have the kernel forget them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoveBtrfs {
    /// The file system's, in lower case.
    pub uuid: String,
    /// The devices it was made of.
    pub devices: Vec<PathBuf>,
}

impl Teardown for RemoveBtrfs {
    /// Wipes the devices that hold a part of the Btrfs with this UUID, and takes
    /// them out of the kernel's list of Btrfs devices. Without, the next file system
    /// on some of them is taken for this one: mkfs.btrfs refuses a UUID that it
    /// finds anywhere, and the kernel counts old members in.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { uuid, devices } = self;
        let program = |source| StackError::Program { layer: "btrfs".to_owned(), source };
        let mut removed = false;
        for device in devices.iter().filter(|device| device.exists()) {
            if !is_part(device, uuid, context)? {
                continue;
            }
            // A device that the kernel does not know cannot be forgotten, and need
            // not be.
            let forget = Invocation::new("btrfs")
                .args(["device", "scan", "--forget"])
                .arg(device)
                .uninterruptible();
            let _ = context.executor.run(&forget);
            let wipe = Invocation::new("wipefs").arg("--all").arg(device).uninterruptible();
            context.executor.check(&wipe).map_err(program)?;
            removed = true;
        }
        Ok(removed)
    }

    /// What is not ours on the devices that hold a part of it, and devices that the user added to it
    /// or put in the place of the run's.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let Self { uuid, devices } = self;
        let mut found = Vec::new();
        for device in devices.iter().filter(|device| device.exists()) {
            if is_part(device, uuid, context)? {
                found.extend(inspect::device(device, marks, context)?);
            }
        }
        let blocks: Vec<_> = devices.iter().filter_map(|d| Superblock::at(d, 0)).collect();
        if has_other_members(uuid, &blocks) {
            let members = inspect::carriers(uuid, devices, context)?;
            // It may be unplugged.
            let unknown = || vec![Obstacle::Member("a device that is not here".to_owned())];
            found.extend(if members.is_empty() { unknown() } else { members });
        }
        Ok(found)
    }

    fn marks(&self) -> Vec<String> {
        vec![self.uuid.clone()]
    }

    fn paths(&self) -> Vec<&Path> {
        self.devices.iter().map(PathBuf::as_path).collect()
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for RemoveBtrfs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the Btrfs on {}", list(&self.devices))
    }
}

fn is_part(device: &Path, uuid: &str, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    Ok(probe(device, "UUID", context.executor)?
        .is_some_and(|found| found.eq_ignore_ascii_case(uuid)))
}

/// What tells the members of a Btrfs (btrfs-dev-docs, on-disk format, superblock).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Superblock {
    uuid: String,
    magic: [u8; 8],
    generation: u64,
    /// How many devices the file system has.
    pub members: u64,
}

impl Superblock {
    /// That of the file system that begins at `start`; also if its magic number is gone.
    pub fn at(path: &Path, start: u64) -> Option<Self> {
        let mut bytes = [0; 144];
        File::open(path).ok()?.read_exact_at(&mut bytes, start.checked_add(64 << 10)?).ok()?;
        let number = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        let uuid = bytes[32..48].iter().map(|byte| format!("{byte:02x}")).collect();
        let magic = bytes[64..72].try_into().ok()?;
        Some(Self { uuid, magic, generation: number(72)?, members: number(136)? })
    }

    fn is_whole(&self) -> bool {
        self.magic == *b"_BHRfS_M"
    }
}

/// Whether a file system has more members than these, which are the ledger's.
///
/// A wiped one counts if disklab's teardown wiped it, and was killed then:
/// after the unmount all members have the same generation. What the user removed or replaced has
/// an older one. A mkfs that was killed has not given all of them their magic number yet.
fn has_other_members(uuid: &str, own: &[Superblock]) -> bool {
    let uuid: String = uuid.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    let own = || own.iter().filter(|block| block.uuid == uuid);
    let Some(newest) = own().filter(|b| b.is_whole()).max_by_key(|b| b.generation) else {
        return false;
    };
    let counts =
        |block: &&Superblock| block.generation == newest.generation || block.magic == *b"!BHRfS_M";
    newest.members > own().filter(counts).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "00112233-4455-6677-8899-AABBCCDDEEFF";

    fn block(magic: &[u8; 8], generation: u64, members: u64) -> Superblock {
        let uuid = "00112233445566778899aabbccddeeff".to_owned();
        Superblock { uuid, magic: *magic, generation, members }
    }

    #[test]
    fn what_tells_a_member_is_read_from_its_superblock() {
        let file = tempfile::NamedTempFile::new().expect("temp");
        assert_eq!(Superblock::at(file.path(), 0), None, "too short");
        let mut bytes = vec![0; 4096];
        for (place, byte) in (0..16_u8).enumerate() {
            bytes[32 + place] = byte * 0x11;
        }
        bytes[64..72].copy_from_slice(b"_BHRfS_M");
        bytes[72..80].copy_from_slice(&7_u64.to_le_bytes());
        bytes[136..144].copy_from_slice(&3_u64.to_le_bytes());
        file.as_file().write_all_at(&bytes, (1 << 20) + (64 << 10)).expect("written");
        assert_eq!(Superblock::at(file.path(), 1 << 20), Some(block(b"_BHRfS_M", 7, 3)));
        assert_eq!(Superblock::at(file.path(), u64::MAX), None);
        assert!(block(b"_BHRfS_M", 7, 3).is_whole() && !block(b"!BHRfS_M", 7, 3).is_whole());
    }

    #[test]
    fn members_of_the_users_are_told_from_wiped_ones_of_own() {
        let (whole, begun, wiped) = (b"_BHRfS_M", b"!BHRfS_M", &[0; 8]);
        for (own, expected) in [
            (vec![], false),
            (vec![block(whole, 7, 2), block(whole, 7, 2)], false),
            (vec![block(whole, 7, 3), block(whole, 7, 3)], true),
            // Torn down by half; made by half.
            (vec![block(wiped, 7, 2), block(whole, 7, 2)], false),
            (vec![block(begun, 5, 2), block(whole, 7, 2)], false),
            (vec![block(begun, 5, 2), block(begun, 5, 2)], false),
            // Replaced by one of the user's; removed by the user.
            (vec![block(wiped, 6, 2), block(whole, 7, 2)], true),
            (vec![block(whole, 6, 2), block(whole, 7, 2)], true),
            (vec![block(wiped, 6, 2), block(whole, 7, 1)], false),
        ] {
            assert_eq!(has_other_members(UUID, &own), expected, "{own:?}");
        }
        let mut other = block(whole, 7, 2);
        other.uuid = "0".to_owned();
        assert!(has_other_members(UUID, &[block(whole, 7, 2), other]));
    }
}
