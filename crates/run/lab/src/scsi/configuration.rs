//! What the guest is told of the host device.

/// Control, event and one request queue.
pub(crate) const QUEUES: usize = 3;
/// Where requests are, by the queues' numbers; control comes first.
pub(crate) const REQUEST_QUEUE: usize = 2;

/// Bytes of `struct virtio_scsi_config`.
const BYTES: usize = 36;
/// Segments of a request: the kernel's queue of 256 less header and response.
const SEGMENTS: u32 = 254;
/// Sectors of a request; the kernel's own limit for all disks is far below.
const SECTORS: u32 = 0xFFFF;
/// Bytes of `struct virtio_scsi_event`.
const EVENT_BYTES: u32 = 16;
/// Where the guest may write what it has: `sense_size` and `cdb_size`, the ones that it finds.
const SENSE_SIZE: (usize, u32) = (20, virtio_bindings::virtio_scsi::VIRTIO_SCSI_SENSE_SIZE);
const CDB_SIZE: (usize, u32) = (24, virtio_bindings::virtio_scsi::VIRTIO_SCSI_CDB_SIZE);

/// `struct virtio_scsi_config`, little-endian, of a disk that takes so many requests at a time.
pub(crate) fn space(depth: u32) -> [u8; BYTES] {
    let mut space = [0; BYTES];
    let fields =
        [(0, 1), (4, SEGMENTS), (8, SECTORS), (12, depth), (16, EVENT_BYTES), SENSE_SIZE, CDB_SIZE];
    for (at, value) in fields {
        space[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    // The highest channel, target and LUN are 0.
    space
}

/// Whether the guest writes to the configuration what is there.
pub(crate) fn is_sound(at: usize, bytes: &[u8]) -> bool {
    [SENSE_SIZE, CDB_SIZE].iter().any(|(field, value)| *field == at && bytes == value.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use virtio_bindings::virtio_scsi::{virtio_scsi_config, virtio_scsi_event};

    #[test]
    fn fields_lie_where_the_kernel_looks() {
        assert_eq!(size_of::<virtio_scsi_config>(), BYTES);
        assert_eq!(size_of::<virtio_scsi_event>(), EVENT_BYTES as usize);
        assert_eq!(std::mem::offset_of!(virtio_scsi_config, cmd_per_lun), 12);
        assert_eq!(std::mem::offset_of!(virtio_scsi_config, sense_size), SENSE_SIZE.0);
        assert_eq!(std::mem::offset_of!(virtio_scsi_config, cdb_size), CDB_SIZE.0);
        assert_eq!(space(32)[12..16], [32, 0, 0, 0]);
        assert!(is_sound(24, &[32, 0, 0, 0]) && !is_sound(24, &[33, 0, 0, 0]) && !is_sound(0, &[]));
    }
}
