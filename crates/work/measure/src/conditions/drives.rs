//! What of a drive changes results and is not in [`disklab_sample::DriveState`]: where its
//! partitions begin, its link, its own memory, the room for a file that stands for it.

use std::path::Path;
use std::time::Duration;

use disklab_exec::{Executor, Invocation};
use disklab_sample::{DriveConditions, Link};

use super::link::link;
use crate::block::BlockDevice;
use crate::{NamedDevice, SystemRoot};

/// What a bench knows of a drive that the drive does not tell, as of a model in the
/// lab.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DriveTraits {
    /// Size of its own memory in bytes.
    pub cache_bytes: Option<u64>,
    /// Size in bytes of the area that takes writes first, from which the drive moves
    /// them later: a shingled disk's cache, or an SSD's cells with one bit each.
    pub staging_bytes: Option<u64>,
    /// Bytes per second that its link carries.
    pub link_bytes_per_second: Option<u64>,
    /// What a flush takes, ns, and the ends of what is plausible, if no figure of its model says.
    pub flush_of_class_ns: Option<[u64; 3]>,
}

/// hdparm answers at once, but a drive that sleeps wakes first.
const LIMIT: Duration = Duration::from_secs(60);

/// Those of all watched drives, in their order.
pub(super) fn conditions(
    root: &SystemRoot,
    executor: Option<&Executor>,
    watched: &[NamedDevice],
    traits: &[(String, DriveTraits)],
) -> Vec<DriveConditions> {
    let one = |drive: &NamedDevice| {
        let known = traits.iter().find(|(name, _)| *name == drive.name).map(|(_, known)| known);
        let mut found = DriveConditions { drive: drive.name.clone(), ..DriveConditions::default() };
        if let Some(device) = BlockDevice::at(root, &drive.device) {
            found.partitions_at = partitions_at(&device);
            found.whole_bytes = device.is_partition().then(|| device.whole().size_bytes());
            found.link = link(root, &device);
            found.room = device.backing_file().and_then(|file| room(root, &file));
            let ata = device.whole().name().starts_with("sd");
            found.cache_bytes = executor.filter(|_| ata).and_then(|e| cache(e, &drive.device));
        }
        if let Some(known) = known {
            found.cache_bytes = known.cache_bytes.or(found.cache_bytes);
            found.staging_bytes = known.staging_bytes;
            found.flush_of_class_ns = known.flush_of_class_ns;
            let modelled = known.link_bytes_per_second.map(|rate| Link {
                kind: "modelled".to_owned(),
                speed: String::new(),
                bytes_per_second: rate,
                most_bytes_per_second: None,
            });
            found.link = modelled.or(found.link);
        }
        found
    };
    watched.iter().map(one).collect()
}

/// Where partitions begin.
fn partitions_at(device: &BlockDevice) -> Vec<u64> {
    let partitions = if device.is_partition() { vec![device.clone()] } else { device.partitions() };
    partitions.iter().filter_map(BlockDevice::start_bytes).collect()
}

/// Free and all bytes where a file is.
fn room(root: &SystemRoot, file: &Path) -> Option<(u64, u64)> {
    let space = rustix::fs::statvfs(root.path(file)).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    Some((bytes(space.f_bavail), bytes(space.f_blocks)))
}

/// The size of an ATA drive's memory, as `hdparm -I` tells it.
fn cache(executor: &Executor, device: &Path) -> Option<u64> {
    let asked = Invocation::new("hdparm").arg("-I").arg(device).timeout(LIMIT);
    parse_cache(&executor.run(&asked).ok()?.text())
}

/// `cache/buffer size  = 65536 KBytes`
fn parse_cache(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| {
        line.trim().strip_prefix("cache/buffer size")?.trim_start().strip_prefix('=')
    })?;
    let mut words = value.split_ascii_whitespace();
    let size: u64 = words.next()?.parse().ok()?;
    (words.next()? == "KBytes").then(|| size.checked_mul(1024))?
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn partitions_traits_and_room_are_reported() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").partition("sda", "sda1", (8, 1));
        tree.partition("sda", "sda2", (8, 2))
            .set("sda1", "start", "63")
            .set("sda2", "start", "2048");
        tree.file("/data/disk.img", "x");
        tree.looped("loop0", (7, 0), "/data/disk.img");
        let drive =
            |name: &str, device: &str| NamedDevice { name: name.into(), device: device.into() };
        let watched =
            [drive("d1", "/dev/sda"), drive("d2", "/dev/sda1"), drive("d3", "/dev/loop0")];
        let traits = DriveTraits {
            cache_bytes: Some(64 << 20),
            link_bytes_per_second: Some(600_000_000),
            ..DriveTraits::default()
        };
        let known = [("d1".to_owned(), traits)];
        let found = conditions(&tree.root(), None, &watched, &known);
        assert_eq!(found[0].partitions_at, [63 * 512, 2048 * 512]);
        assert_eq!(found[0].cache_bytes, Some(64 << 20));
        assert_eq!(found[0].link.as_ref().map(|l| l.bytes_per_second), Some(600_000_000));
        assert_eq!(
            (found[1].partitions_at.as_slice(), found[1].cache_bytes),
            (&[63 * 512][..], None)
        );
        assert_eq!(found[1].whole_bytes, Some(1_000_204_886_016));
        let (free, all) = found[2].room.expect("room");
        assert!(all > 0 && free <= all);
    }

    #[test]
    fn hdparms_size_is_understood() {
        let text =
            "\tLogical Sector size: 512 bytes\n\tcache/buffer size  = 65536 KBytes (type=x)\n";
        assert_eq!(parse_cache(text), Some(64 << 20));
        assert_eq!(parse_cache("\tcache/buffer size  = unknown\n"), None);
        assert_eq!(cache(&Executor::new(Interrupt::new()), Path::new("/dev/null")), None);
    }

    proptest! {
        #[test]
        fn hostile_output_does_no_harm(text in "(cache/buffer size ?=?[ 0-9A-Za-z]{0,40}\n){0,4}") {
            let _ = parse_cache(&text);
        }
    }
}
