//! The first write: everything that could be recognised on a drive is made
//! unrecognisable, while nobody else can get at it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use disklab_exec::{Executor, Invocation};
use disklab_units::Bytes;

use super::Claim;
use crate::BenchError;

/// What is overwritten with zeros at either end of the drive and of each of its
/// partitions. Partition tables, the superblocks of md, both headers of LUKS2,
/// LVM's metadata and all four labels of ZFS lie within it.
const ENDS: Bytes = Bytes::mib(4);

impl Claim {
    /// Erases all signatures and both ends of the drive and of its partitions,
    /// and has the kernel forget the partitions. With the device still held,
    /// udev cannot bring an old array to life in between.
    ///
    /// # Errors
    /// Where the drive does not take a write, or wipefs fails.
    pub fn erase(&self, executor: &Executor) -> Result<(), BenchError> {
        // A hold on nothing comes from a probe without a kernel.
        let Some(file) = self.hold().file() else { return Ok(()) };
        let drive = &self.target.device;
        let node = self.target.node();
        let shown = node.display().to_string();
        let partitions = drive.partitions();
        for device in partitions.iter().chain([drive]) {
            // Some signatures lie elsewhere. Without --force wipefs wants the
            // device for itself.
            let wipefs = Invocation::new("wipefs").args(["--all", "--force"]).arg(device.node());
            executor.check(&wipefs)?;
        }
        for device in partitions.iter().chain([drive]) {
            let start = if device.is_partition() { device.start_bytes() } else { Some(0) };
            for (position, length) in ends(start, device.size_bytes(), drive.size_bytes()) {
                zero(file, position, length).map_err(BenchError::io("cannot erase", &node))?;
                let (offset, length) = (position.to_string(), length.to_string());
                let argv = ["blkdiscard", "--zeroout", "--offset", &offset, "--length", &length];
                executor.trace.note(&[&argv[..], &[&shown]].concat());
            }
        }
        file.sync_all().map_err(BenchError::io("cannot erase", &node))?;
        if !partitions.is_empty() {
            executor.trace.note(&["blockdev", "--rereadpt", &shown]);
            let read_anew = reread_partitions(file).map_err(Into::into);
            read_anew
                .map_err(BenchError::io("the kernel does not forget the partitions of", &node))?;
        }
        Ok(())
    }
}

/// Position and length of both ends of a range of `size` bytes from `start`, cut
/// to a drive of `whole` bytes. Nothing where the start is unknown.
fn ends(start: Option<u64>, size: u64, whole: u64) -> Vec<(u64, u64)> {
    let Some(start) = start.filter(|start| *start < whole) else { return Vec::new() };
    let size = size.min(whole - start);
    let length = ENDS.0.min(size);
    let last = start + (size - length);
    let mut ends = vec![(start, length)];
    if last > start {
        ends.push((last, length));
    }
    ends.retain(|(_, length)| *length > 0);
    ends
}

fn zero(file: &File, position: u64, length: u64) -> std::io::Result<()> {
    let zeros = vec![0; usize::try_from(length.min(ENDS.0)).unwrap_or(0)];
    file.write_all_at(&zeros, position)
}

/// Has the kernel read the partition table anew (ioctl BLKRRPART, linux/fs.h).
/// `blockdev --rereadpt` could not: only the device's holder may.
#[allow(unsafe_code)]
fn reread_partitions(file: &File) -> rustix::io::Result<()> {
    const BLKRRPART: rustix::ioctl::Opcode = rustix::ioctl::opcode::none(0x12, 95);
    // SAFETY: this request takes no argument, so no memory is shared.
    unsafe { rustix::ioctl::ioctl(file, rustix::ioctl::NoArg::<BLKRRPART>::new()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_ends_are_found() {
        let mib = Bytes::mib(1).0;
        assert_eq!(ends(Some(0), 100 * mib, 100 * mib), [(0, 4 * mib), (96 * mib, 4 * mib)]);
        assert_eq!(ends(Some(mib), 2 * mib, 100 * mib), [(mib, 2 * mib)]);
        assert_eq!(ends(None, 2 * mib, 100 * mib), []);
    }

    proptest! {
        #[test]
        fn nothing_beyond_the_range_is_touched(start in any::<u64>(), size in any::<u64>(), whole in any::<u64>()) {
            for (position, length) in ends(Some(start), size, whole) {
                prop_assert!(length > 0 && length <= ENDS.0);
                prop_assert!(position >= start && position - start + length <= size);
                prop_assert!(position + length <= whole);
            }
        }
    }
}
