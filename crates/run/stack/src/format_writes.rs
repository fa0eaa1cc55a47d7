//! What making a stack writes to its drives before a workload writes anything.
//!
//! Small compared with a large workload, and most of what small ones write: XFS zeroes a log of
//! 2 GiB on a large drive. The exceptions are a first resync and the checksums of dm-integrity,
//! which take whole devices.

use disklab_units::Bytes;

use crate::Volume;

/// What making a layer writes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FormatWrites {
    /// Bytes to each drive, in the order of [`Volume::drive_writes`], with those of the passes.
    pub bytes: Vec<f64>,
    /// Small writes to the layer, by which it writes that, if they are known to matter.
    pub requests: f64,
    /// Passes over whole devices, in their order.
    pub passes: Vec<FirstPass>,
}

/// Whole devices that are read or written before a stack's first use.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstPass {
    /// The layer's name.
    pub layer: &'static str,
    /// Why.
    pub kind: PassKind,
    /// Bytes of the longest device: all are worked on side by side.
    pub length: f64,
    /// Bytes read from all drives together.
    pub read: f64,
    /// Bytes written to all drives together.
    pub written: f64,
    /// Whether what is read and written is zeros.
    pub zeros: bool,
}

/// Why whole devices are read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassKind {
    /// Copies and parity are made to agree.
    Resync,
    /// Each sector gets its checksum.
    Checksums,
}

impl PassKind {
    /// For a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Resync => "first resync",
            Self::Checksums => "first checksums",
        }
    }
}

/// What is known of the devices below a layer that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceState {
    /// Whether they read as zeros all over.
    pub reads_zeros: bool,
    /// Whether the drives are models.
    pub simulated: bool,
}

impl FormatWrites {
    /// Of a layer that writes `bytes` as a workload would.
    pub(crate) fn spread(bytes: f64, volume: &Volume) -> Self {
        let bytes = volume.drive_writes.iter().map(|share| share * bytes).collect();
        Self { bytes, ..Self::default() }
    }

    /// Of a pass over `members` of which `length` bytes each are taken: `read` of them in all are
    /// read, and of each member the share in `written` is written.
    pub(crate) fn pass(
        layer: &'static str,
        kind: PassKind,
        members: &[Volume],
        length: Bytes,
        (read, written): (f64, &[f64]),
        zeros: bool,
    ) -> Self {
        let length = length.0 as f64;
        let mut writes = Self::default();
        for (member, share) in members.iter().zip(written) {
            writes = writes.and(Self::spread(share * length, member));
        }
        let written = writes.bytes.iter().sum();
        let pass = FirstPass { layer, kind, length, read: read * length, written, zeros };
        Self { passes: vec![pass], ..writes }
    }

    /// What two layers write.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.bytes.resize(self.bytes.len().max(other.bytes.len()), 0.0);
        for (sum, bytes) in self.bytes.iter_mut().zip(&other.bytes) {
            *sum += bytes;
        }
        self.requests += other.requests;
        self.passes.extend(other.passes);
        self
    }
}

#[cfg(test)]
mod tests {
    use disklab_source::SourceError;
    use disklab_units::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::spec;
    use crate::{LAYERS, Redundancy, Stack};

    fn parse(layers: &str, drives: usize) -> Result<Stack, SourceError> {
        Stack::parse(&spec(layers, drives)?)
    }

    /// On so many drives, which read as zeros.
    fn writes(layers: &str, drive: u64, drives: usize) -> FormatWrites {
        let stack = parse(layers, drives).unwrap_or_else(|e| panic!("{layers}: {e}"));
        let state = DeviceState { reads_zeros: true, simulated: true };
        stack.format_writes(&vec![Bytes(drive); drives], state)
    }

    const LARGE: u64 = 10_000_000_000_000;

    #[test]
    fn format_writes_are_near_what_was_measured() {
        for (layers, capacity, measured) in [
            ("partition/ext4", LARGE, 132.8e6),
            ("ext4", 1 << 30, 0.8e6),
            ("xfs", LARGE, 2142.2e6),
            ("partition/xfs[noatime]", 1 << 30, 71.7e6),
            ("btrfs", LARGE, 5.5e6),
        ] {
            let got = writes(layers, capacity, 1).bytes;
            assert!((got[0] / measured - 1.0).abs() < 0.05, "{layers}: {got:?}");
        }
        assert_eq!(writes("btrfs-raid1", LARGE, 4).bytes, [4.5e6; 4]);
        let raid5 = writes("partition/md-raid5/ext4", LARGE, 4).bytes;
        assert!(raid5.iter().all(|bytes| (100e6..200e6).contains(bytes)), "{raid5:?}");
        assert_eq!(writes("zfs", LARGE, 1).bytes, [0.0]);
    }

    #[test]
    fn each_flex_group_of_ext4_is_a_write() {
        assert_eq!(writes("partition/ext4", LARGE, 1).requests, 4657.0);
        let raid5 = writes("partition/md-raid5/ext4[noatime]", LARGE, 4);
        assert_eq!(raid5.requests, 13_970.0);
        assert_eq!(writes("partition/xfs", LARGE, 1).requests, 0.0);
    }

    /// The passes of a stack on drives that read as zeros or not, in the lab or not.
    fn passes(layers: &str, drives: usize, reads_zeros: bool, simulated: bool) -> FormatWrites {
        let stack = parse(layers, drives).unwrap_or_else(|e| panic!("{layers}: {e}"));
        let sizes = vec![Bytes(4_000_000_000_000); drives];
        stack.format_writes(&sizes, DeviceState { reads_zeros, simulated })
    }

    #[test]
    fn a_first_resync_is_predicted_for_members_that_need_not_agree() {
        for (layers, drives, reads_zeros, written) in [
            ("md-raid1/ext4", 2, true, &[][..]),
            ("md-raid1/ext4", 2, false, &[0.0, 4.0]),
            ("crypt/md-raid1/ext4", 2, true, &[0.0, 4.0]),
            ("partition/crypt/md-raid5/ext4", 3, true, &[0.0, 0.0, 4.0]),
            ("crypt/md-raid6/xfs", 4, true, &[2.0; 4]),
            ("crypt/md-raid10/xfs", 4, true, &[2.0; 4]),
            ("crypt/lvm/ext4", 1, true, &[]),
            ("lvm/crypt/ext4", 2, false, &[]),
            ("crypt/shr/ext4", 3, true, &[0.0, 0.0, 4.0]),
            ("crypt/shr2/ext4", 4, true, &[2.0; 4]),
            ("crypt/md-raid1[resync=skip]/ext4", 2, false, &[]),
            ("md-raid1[resync=wait]/ext4", 2, true, &[0.0, 4.0]),
            // Zeros are the parity of zeros, which is read and not written.
            ("md-raid6[resync=wait]/ext4", 4, true, &[0.0; 4]),
            // New files and volumes read as zeros, whatever the drives hold.
            ("crypt/zfs/zvol[count=2]/md-raid1/ext4", 1, false, &[]),
        ] {
            let got = passes(layers, drives, reads_zeros, false);
            let Some(pass) = got.passes.first() else {
                assert!(written.is_empty(), "{layers}: no pass");
                continue;
            };
            assert!(!written.is_empty(), "{layers}: {pass:?}");
            for (got, expected) in got.bytes.iter().zip(written) {
                assert!((got / 1e12 - expected).abs() < 0.03, "{layers}: {got} of {expected}");
            }
            assert!((pass.length / 4e12 - 1.0).abs() < 0.01, "{layers}: {pass:?}");
            assert_eq!(pass.kind, PassKind::Resync, "{layers}");
        }
        // The lab skips it, which moves no figure, unless it is asked for.
        assert_eq!(passes("crypt/md-raid1/ext4", 2, true, true).passes, []);
        assert_eq!(passes("crypt/md-raid1[resync=wait]/ext4", 2, true, true).passes.len(), 1);
    }

    #[test]
    fn checksums_take_the_whole_device_and_leave_zeros() {
        for simulated in [false, true] {
            let got = passes("integrity/md-raid1/ext4", 2, false, simulated);
            let [pass] = got.passes.as_slice() else { panic!("{:?}", got.passes) };
            assert_eq!((pass.layer, pass.kind), ("integrity", PassKind::Checksums));
            assert!((pass.written / 8e12 - 1.0).abs() < 0.02, "{pass:?}");
        }
        let got = passes("integrity/crypt/md-raid5/ext4", 3, true, false);
        let kinds: Vec<PassKind> = got.passes.iter().map(|pass| pass.kind).collect();
        assert_eq!(kinds, [PassKind::Checksums, PassKind::Resync]);
    }

    #[test]
    fn copies_are_distinguished_from_parity() {
        let redundancy = |layers: &str, drives: usize| {
            let stack = parse(layers, drives).expect(layers);
            stack.shape(&vec![Bytes(LARGE); drives]).expect(layers).redundancy
        };
        assert_eq!(redundancy("shr/ext4", 2), Redundancy::Copies);
        for layers in ["md-raid1/ext4", "partition/md-raid10/xfs", "btrfs-raid1c3", "zfs-mirror"] {
            assert_eq!(redundancy(layers, 4), Redundancy::Copies, "{layers}");
        }
        for layers in ["md-raid5/ext4", "shr/ext4", "shr/btrfs", "zfs-raidz1", "md-raid0/xfs"] {
            assert_ne!(redundancy(layers, 4), Redundancy::Copies, "{layers}");
        }
    }

    proptest! {
        #[test]
        fn format_writes_of_any_layer_are_finite(
            name in prop::sample::select(LAYERS.iter().map(|kind| kind.name).collect::<Vec<_>>()),
            sizes in prop::collection::vec(any::<u64>(), 0..5),
            reads_zeros: bool,
            simulated: bool,
        ) {
            if let Ok(stack) = parse(name, sizes.len()) {
                let sizes: Vec<Bytes> = sizes.into_iter().map(Bytes).collect();
                let state = DeviceState { reads_zeros, simulated };
                let got = stack.format_writes(&sizes, state).bytes;
                let all = got.iter().all(|b| b.is_finite() && *b >= 0.0);
                prop_assert!(got.len() == sizes.len() && all);
            }
        }
    }
}
