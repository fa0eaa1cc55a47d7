//! md arrays that are scrubbed at once, from a place on for as long as one looks (kernel:
//! `Documentation/admin-guide/md.rst`, `sync_min`).

use std::time::Instant;

use disklab_exec::Executor;
use disklab_measure::BlockDevice;
use disklab_units::Bytes;

use crate::StackError;
use crate::windowed_pass::{
    WindowedPass, acts, aligned, component_size, limit, position, set, wait_for_first,
};

/// What the kernel calls it.
const CHECK: &str = "check";

/// Arrays that share no device: the kernel scrubs them at the same time, and others one after another.
#[derive(Debug, Clone)]
pub(crate) struct ArrayScrub {
    layer: String,
    /// The longest first.
    arrays: Vec<(BlockDevice, Bytes)>,
}

impl ArrayScrub {
    /// All of these, in as few rounds as the kernel needs.
    pub fn rounds(layer: &str, arrays: Vec<BlockDevice>) -> Vec<Self> {
        let mut rounds: Vec<Self> = Vec::new();
        for array in arrays {
            let length = length(&array);
            let free = |round: &&mut Self| !round.arrays.iter().any(|(own, _)| share(own, &array));
            match rounds.iter_mut().find(free) {
                Some(round) => round.arrays.push((array, length)),
                None => {
                    rounds.push(Self { layer: layer.to_owned(), arrays: vec![(array, length)] });
                }
            }
        }
        rounds.iter_mut().for_each(|round| round.arrays.sort_by_key(|(_, own)| u64::MAX - own.0));
        rounds
    }

    /// Such a place of the longest array in one of this length.
    fn in_array(&self, place: Bytes, length: Bytes) -> Bytes {
        scaled(place, self.length(), length)
    }

    /// Up to where all arrays are, as a place of the longest. `None` if none is being scrubbed.
    fn position(&self) -> Option<Bytes> {
        let of = |(array, length): &(BlockDevice, Bytes)| {
            Some(scaled(position(array)?, *length, self.length()))
        };
        self.arrays.iter().filter_map(of).min()
    }
}

/// `md.c` counts sectors of the array for RAID 10, of a member for all others.
fn length(array: &BlockDevice) -> Bytes {
    match array.attribute("md/level").is_some_and(|level| level.trim() == "raid10") {
        true => Bytes(array.size_bytes()),
        false => component_size(array),
    }
}

/// Whether two arrays have a device in common, other parts of which they may use.
fn share(one: &BlockDevice, other: &BlockDevice) -> bool {
    let disks = |array: &BlockDevice| -> Vec<String> {
        array.slaves().iter().map(|member| member.whole().name().to_owned()).collect()
    };
    let of_other = disks(other);
    disks(one).iter().any(|disk| of_other.contains(disk))
}

fn scaled(place: Bytes, all: Bytes, to: Bytes) -> Bytes {
    Bytes((u128::from(place.0) * u128::from(to.0) / u128::from(all.0.max(1))) as u64)
}

impl WindowedPass for ArrayScrub {
    fn length(&self) -> Bytes {
        self.arrays.first().map_or(Bytes::ZERO, |(_, length)| *length)
    }

    fn limit(&self) -> Option<Bytes> {
        limit(&self.arrays.first()?.0)
    }

    fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, StackError> {
        for (array, length) in &self.arrays {
            let from = aligned(self.in_array(from, *length));
            set(array, "md/sync_min", &(from.0 / 512).to_string())?;
            set(array, "md/sync_action", CHECK)?;
        }
        for (array, length) in &self.arrays {
            let from = aligned(self.in_array(from, *length));
            wait_for_first(&self.layer, (array, CHECK), from, executor)?;
        }
        Ok(self.position().unwrap_or(from))
    }

    fn is_running(&self) -> bool {
        self.arrays.iter().any(|(array, _)| acts(array, CHECK))
    }

    fn end(&self) -> Result<(Bytes, Instant), StackError> {
        // What waits for another array's scrub has not begun.
        let over = if self.is_running() { Bytes::ZERO } else { self.length() };
        let to = self.position().unwrap_or(over);
        let at = Instant::now();
        self.freeze()?;
        Ok((to, at))
    }

    /// The next scrub is to begin at the start of the arrays.
    fn freeze(&self) -> Result<(), StackError> {
        for (array, _) in &self.arrays {
            set(array, "md/sync_action", "idle")?;
            set(array, "md/sync_min", "0")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use disklab_measure::SystemRoot;

    use super::*;

    /// An array as the kernel shows it, with its level, its members' size in KiB, its own in sectors.
    fn array(root: &Path, name: &str, (level, member, own): (&str, u64, u64), on: &[&str]) {
        let class = root.join("sys/class/block");
        let directory = class.join(name);
        fs::create_dir_all(directory.join("md")).expect("made");
        fs::write(directory.join("md/level"), level).expect("written");
        fs::write(directory.join("md/component_size"), member.to_string()).expect("written");
        fs::write(directory.join("size"), own.to_string()).expect("written");
        for disk in on {
            fs::create_dir_all(directory.join("slaves").join(disk)).expect("made");
            fs::create_dir_all(class.join(disk)).expect("made");
        }
    }

    /// RAID 10 by the array's own length, others by a member's; the longest first.
    #[test]
    fn arrays_that_share_a_disk_are_scrubbed_one_after_another() {
        let temp = tempfile::tempdir().expect("temp");
        array(temp.path(), "md0", ("raid1\n", 1024, 2048), &["vda", "vdb"]);
        array(temp.path(), "md1", ("raid5\n", 1024, 4096), &["vdb", "vdc"]);
        array(temp.path(), "md2", ("raid10\n", 1024, 4096), &["vdd", "vde"]);
        let root = SystemRoot::at(temp.path());
        let arrays = ["md0", "md1", "md2"].map(|name| BlockDevice::named(&root, name));
        let rounds = ArrayScrub::rounds("md", arrays.into_iter().flatten().collect());
        let of = |round: &ArrayScrub| -> Vec<(String, u64)> {
            round.arrays.iter().map(|(own, length)| (own.name().to_owned(), length.0)).collect()
        };
        let md = |number: u32, mib: u64| (format!("md{number}"), mib << 20);
        let found: Vec<_> = rounds.iter().map(of).collect();
        assert_eq!(found, [vec![md(2, 2), md(0, 1)], vec![md(1, 1)]]);
        // A scrub from the middle of the longest begins in the middle of each.
        let begins =
            |(_, length): &(BlockDevice, Bytes)| rounds[0].in_array(Bytes::mib(1), *length);
        let places: Vec<Bytes> = rounds[0].arrays.iter().map(begins).collect();
        assert_eq!(places, [Bytes::mib(1), Bytes::kib(512)]);
    }
}
