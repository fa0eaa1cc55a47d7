//! The units in which content is kept and asked for.

/// The unit of the store, in bytes.
pub(crate) const BLOCK_BYTES: usize = 4096;
/// A sector of the virtio block device, in bytes.
pub(crate) const SECTOR_BYTES: u64 = 512;
