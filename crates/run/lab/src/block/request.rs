//! Requests, as they are read from a chain.

use disklab_drive::Operation;
use virtio_bindings::virtio_blk::{
    VIRTIO_BLK_S_IOERR, VIRTIO_BLK_S_UNSUPP, VIRTIO_BLK_T_DISCARD, VIRTIO_BLK_T_FLUSH,
    VIRTIO_BLK_T_GET_ID, VIRTIO_BLK_T_IN, VIRTIO_BLK_T_OUT, VIRTIO_BLK_T_WRITE_ZEROES,
};

use super::{Configuration, GuestBuffers};
use crate::vhost::GuestRegions;

/// Bytes of `struct virtio_blk_outhdr`: type, priority, sector.
pub(crate) const HEADER_BYTES: u64 = 16;
/// Bytes of `struct virtio_blk_discard_write_zeroes`: sector, sectors, flags.
const RANGE_BYTES: u64 = 16;
/// No request may move more: 64 MiB. The kernel's default limit is 1280 KiB.
const DATA_LIMIT: u64 = 64 << 20;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestWork {
    /// An operation of the drive, on these sectors of 512 B.
    Drive {
        /// Which.
        operation: Operation,
        /// From here on.
        sector: u64,
        /// So many.
        sectors: u64,
    },
    /// These bytes, which the device knows.
    Answer(Vec<u8>),
    /// That the write cache be on or off.
    WriteCache(bool),
}

/// Why a request is not carried out, or fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestRefusal {
    /// It contradicts itself.
    Bad,
    /// It lies outside the disk.
    OutOfRange,
    /// The device does not do such things.
    Unsupported,
    /// It is for another device.
    NoTarget,
    /// The drive cannot read this sector of 512 B.
    Unreadable(u64),
    /// The drive fails.
    Failed,
    /// The drive did not answer before it was reset.
    GivenUp,
}

impl RequestRefusal {
    /// The status byte of a block device, which has no more words.
    pub fn status(self) -> u8 {
        // Both are below 256.
        match self {
            Self::Unsupported => VIRTIO_BLK_S_UNSUPP as u8,
            _ => VIRTIO_BLK_S_IOERR as u8,
        }
    }
}

/// Reads the request in `buffers` for `disk`.
pub(crate) fn parse_request(
    buffers: &GuestBuffers,
    memory: &GuestRegions,
    disk: &Configuration,
) -> Result<RequestWork, RequestRefusal> {
    if buffers.readable_bytes() < HEADER_BYTES {
        return Err(RequestRefusal::Bad);
    }
    let mut header = [0; HEADER_BYTES as usize];
    buffers.read(memory, 0, &mut header);
    let (kind, sector) = (le32(&header, 0), le64(&header, 8));
    let sent = buffers.readable_bytes() - HEADER_BYTES;
    // The last byte is the status.
    let wanted = buffers.writable_bytes().saturating_sub(1);
    let (operation, sector, sectors) = match kind {
        VIRTIO_BLK_T_IN => (Operation::Read, sector, whole(wanted)?),
        VIRTIO_BLK_T_OUT => (Operation::Write, sector, whole(sent)?),
        VIRTIO_BLK_T_FLUSH => (Operation::Flush, 0, 0),
        VIRTIO_BLK_T_GET_ID => return Ok(RequestWork::Answer(disk.serial.to_vec())),
        VIRTIO_BLK_T_DISCARD if disk.discard.is_some() => {
            range(Operation::Discard, buffers, memory)?
        }
        VIRTIO_BLK_T_WRITE_ZEROES if disk.write_zeroes => {
            range(Operation::WriteZeroes, buffers, memory)?
        }
        _ => return Err(RequestRefusal::Unsupported),
    };
    let aligned = u64::from(disk.logical_bytes / 512).max(1);
    if !sector.is_multiple_of(aligned) || !sectors.is_multiple_of(aligned) {
        return Err(RequestRefusal::Bad);
    }
    within(disk, operation, sector, sectors)
}

/// The operation, if it lies on the disk and moves no more than a request may.
pub(crate) fn within(
    disk: &Configuration,
    operation: Operation,
    sector: u64,
    sectors: u64,
) -> Result<RequestWork, RequestRefusal> {
    let moves = matches!(operation, Operation::Read | Operation::Write);
    if moves && sectors > DATA_LIMIT / 512 {
        return Err(RequestRefusal::Bad);
    }
    let end = sector.checked_add(sectors).ok_or(RequestRefusal::OutOfRange)?;
    if end > disk.sectors {
        return Err(RequestRefusal::OutOfRange);
    }
    Ok(RequestWork::Drive { operation, sector, sectors })
}

/// Bytes of data as sectors.
fn whole(bytes: u64) -> Result<u64, RequestRefusal> {
    let fits = bytes != 0 && bytes <= DATA_LIMIT && bytes.is_multiple_of(512);
    if fits { Ok(bytes / 512) } else { Err(RequestRefusal::Bad) }
}

/// The range of a discard or write-zeroes. The configuration allows only one.
fn range(
    operation: Operation,
    buffers: &GuestBuffers,
    memory: &GuestRegions,
) -> Result<(Operation, u64, u64), RequestRefusal> {
    if buffers.readable_bytes() != HEADER_BYTES + RANGE_BYTES {
        return Err(RequestRefusal::Bad);
    }
    let mut range = [0; RANGE_BYTES as usize];
    buffers.read(memory, HEADER_BYTES, &mut range);
    Ok((operation, le64(&range, 0), u64::from(le32(&range, 8))))
}

fn le32(bytes: &[u8; 16], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn le64(bytes: &[u8; 16], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}
