//! What the guest is told about a disk.

use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_F_BLK_SIZE, VIRTIO_BLK_F_CONFIG_WCE, VIRTIO_BLK_F_DISCARD, VIRTIO_BLK_F_FLUSH,
    VIRTIO_BLK_F_SEG_MAX, VIRTIO_BLK_F_TOPOLOGY, VIRTIO_BLK_F_WRITE_ZEROES, VIRTIO_BLK_ID_BYTES,
};

/// The longest serial number.
pub(crate) const SERIAL_BYTES: usize = VIRTIO_BLK_ID_BYTES as usize;
/// Where `struct virtio_blk_config` has `wce`: 1 for a write cache.
pub(crate) const WRITE_CACHE_OFFSET: usize = 32;

/// Bytes of `struct virtio_blk_config`, zones included.
const BYTES: usize = 96;
/// Segments of a request: the kernel's queue of 256 less header and status.
const SEGMENTS: u32 = 254;
/// Sectors of a discard or write-zeroes: 1 GiB.
pub(crate) const RANGE_SECTORS: u32 = 1 << 21;

/// A disk as the guest sees it.
#[derive(Debug, Clone)]
pub(crate) struct Configuration {
    /// Sectors of 512 B.
    pub sectors: u64,
    /// Logical sector size in bytes: 512, or 4096 for 4Kn.
    pub logical_bytes: u32,
    /// Physical sector size in bytes: 4096 for 512e and 4Kn.
    pub physical_bytes: u32,
    /// What requests had best be a multiple of, in bytes; 0 for nothing.
    pub optimal_bytes: u32,
    /// What it discards at least, in bytes, if it takes discards.
    pub discard: Option<u32>,
    /// Whether it takes write-zeroes.
    pub write_zeroes: bool,
    /// Whether its medium rotates, which SCSI says and virtio does not.
    pub rotates: bool,
    /// What it says its serial number is.
    pub serial: [u8; SERIAL_BYTES],
}

impl Configuration {
    /// A disk for tests, of so many sectors of 512 B and with logical ones of so many bytes.
    #[cfg(test)]
    pub fn of_sectors(sectors: u64, logical_bytes: u32) -> Self {
        Self {
            sectors,
            logical_bytes,
            physical_bytes: 4096,
            optimal_bytes: 0,
            discard: Some(4096),
            write_zeroes: false,
            rotates: true,
            serial: *b"LAB00000000000000001",
        }
    }

    /// The device's feature bits.
    pub fn features(&self) -> u64 {
        let mut features = 1 << VIRTIO_BLK_F_SEG_MAX
            | 1 << VIRTIO_BLK_F_BLK_SIZE
            | 1 << VIRTIO_BLK_F_TOPOLOGY
            | 1 << VIRTIO_BLK_F_FLUSH
            | 1 << VIRTIO_BLK_F_CONFIG_WCE;
        features |= u64::from(self.discard.is_some()) << VIRTIO_BLK_F_DISCARD;
        features | u64::from(self.write_zeroes) << VIRTIO_BLK_F_WRITE_ZEROES
    }

    /// `struct virtio_blk_config`, little-endian.
    pub fn space(&self, write_cache: bool) -> [u8; BYTES] {
        let mut space = [0; BYTES];
        let mut put = |at: usize, bytes: &[u8]| space[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.sectors.to_le_bytes());
        put(12, &SEGMENTS.to_le_bytes());
        put(20, &self.logical_bytes.to_le_bytes());
        let ratio = self.physical_bytes / self.logical_bytes.max(1);
        // A power of two: `DiskOptions` were checked.
        put(24, &[ratio.max(1).trailing_zeros() as u8]);
        put(28, &(self.optimal_bytes / self.logical_bytes.max(1)).to_le_bytes());
        put(WRITE_CACHE_OFFSET, &[u8::from(write_cache)]);
        if let Some(granularity) = self.discard {
            put(36, &RANGE_SECTORS.to_le_bytes());
            put(40, &1_u32.to_le_bytes());
            put(44, &(granularity / 512).to_le_bytes());
        }
        if self.write_zeroes {
            put(48, &RANGE_SECTORS.to_le_bytes());
            put(52, &1_u32.to_le_bytes());
        }
        space
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use virtio_bindings::virtio_blk::virtio_blk_config;

    #[test]
    fn fields_lie_where_the_kernel_looks() {
        assert_eq!(size_of::<virtio_blk_config>(), BYTES);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, seg_max), 12);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, blk_size), 20);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, physical_block_exp), 24);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, opt_io_size), 28);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, wce), WRITE_CACHE_OFFSET);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, max_discard_sectors), 36);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, discard_sector_alignment), 44);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, max_write_zeroes_sectors), 48);
        assert_eq!(std::mem::offset_of!(virtio_blk_config, max_write_zeroes_seg), 52);
    }

    #[test]
    fn a_512e_disk_says_so() {
        let disk = Configuration {
            sectors: 20_000_000_000,
            logical_bytes: 512,
            physical_bytes: 4096,
            optimal_bytes: 1 << 20,
            discard: None,
            write_zeroes: false,
            rotates: true,
            serial: *b"LAB00000000000000001",
        };
        let space = disk.space(true);
        assert_eq!(space[..8], 20_000_000_000_u64.to_le_bytes());
        assert_eq!((space[24], space[WRITE_CACHE_OFFSET]), (3, 1));
        assert_eq!(space[28..32], 2048_u32.to_le_bytes(), "logical blocks");
        assert_eq!(disk.features() >> VIRTIO_BLK_F_DISCARD & 1, 0);
        let ssd = Configuration { discard: Some(4096), ..disk };
        assert_eq!(ssd.space(true)[44..48], 8_u32.to_le_bytes(), "sectors of 512 B");
        assert_eq!(ssd.features() >> VIRTIO_BLK_F_DISCARD & 1, 1);
    }
}
