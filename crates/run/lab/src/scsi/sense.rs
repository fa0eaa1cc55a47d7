//! How a command ends: `struct virtio_scsi_cmd_resp` with sense data (SPC-4, 4.5).

use virtio_bindings::virtio_scsi::{VIRTIO_SCSI_S_BAD_TARGET, VIRTIO_SCSI_S_FAILURE};

use crate::block::{Configuration, RequestRefusal};

/// Bytes of the response, which come before the data to the guest.
pub(crate) const RESPONSE_BYTES: u64 = RESPONSE as u64;
const RESPONSE: usize = 108;
/// Where in it are: the length of the sense data, the bytes that were asked for and not moved, the
/// status, what the host device says, and the sense data.
const SENSE_LENGTH: usize = 0;
const RESIDUAL: usize = 4;
const STATUS: usize = 10;
const HOST: usize = 11;
const SENSE: usize = 12;

const CHECK_CONDITION: u8 = 2;

/// The response to a command that moved all but `residual` bytes, or was refused.
pub(crate) fn response(
    outcome: Result<(), RequestRefusal>,
    residual: u64,
    disk: &Configuration,
) -> [u8; RESPONSE] {
    let mut response = [0; RESPONSE];
    let residual = u32::try_from(residual).unwrap_or(u32::MAX);
    response[RESIDUAL..RESIDUAL + 4].copy_from_slice(&residual.to_le_bytes());
    let Err(refusal) = outcome else { return response };
    // Sense key, additional sense code and its qualifier.
    let (key, code) = match refusal {
        // Both are below 256.
        RequestRefusal::NoTarget => {
            response[HOST] = VIRTIO_SCSI_S_BAD_TARGET as u8;
            return response;
        }
        RequestRefusal::GivenUp => {
            response[HOST] = VIRTIO_SCSI_S_FAILURE as u8;
            return response;
        }
        // MEDIUM ERROR: unrecovered read error.
        RequestRefusal::Unreadable(_) => (3, 0x11),
        // HARDWARE ERROR: internal target failure.
        RequestRefusal::Failed => (4, 0x44),
        // ILLEGAL REQUEST: invalid command operation code, LBA out of range, invalid field in CDB.
        RequestRefusal::Unsupported => (5, 0x20),
        RequestRefusal::OutOfRange => (5, 0x21),
        RequestRefusal::Bad => (5, 0x24),
    };
    // As descriptors: an LBA may have 64 bits.
    let mut sense = vec![0x72, key, code, 0, 0, 0, 0, 0];
    if let RequestRefusal::Unreadable(sector) = refusal {
        let lba = sector / u64::from(disk.logical_bytes / 512).max(1);
        sense[7] = 12;
        // INFORMATION, valid.
        sense.extend([0, 10, 0x80, 0]);
        sense.extend(lba.to_be_bytes());
    }
    response[STATUS] = CHECK_CONDITION;
    response[SENSE_LENGTH] = sense.len() as u8;
    response[SENSE..SENSE + sense.len()].copy_from_slice(&sense);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use virtio_bindings::virtio_scsi::virtio_scsi_cmd_resp;

    #[test]
    fn fields_lie_where_the_kernel_looks() {
        assert_eq!(size_of::<virtio_scsi_cmd_resp>(), RESPONSE);
        assert_eq!(std::mem::offset_of!(virtio_scsi_cmd_resp, resid), RESIDUAL);
        assert_eq!(std::mem::offset_of!(virtio_scsi_cmd_resp, status), STATUS);
        assert_eq!(std::mem::offset_of!(virtio_scsi_cmd_resp, response), HOST);
        assert_eq!(std::mem::offset_of!(virtio_scsi_cmd_resp, sense), SENSE);
    }

    #[test]
    fn an_unreadable_sector_is_named() {
        let disk = Configuration::of_sectors(1 << 40, 4096);
        let sense = response(Err(RequestRefusal::Unreadable(0x50_0000_0008)), 4096, &disk);
        assert_eq!((sense[STATUS], sense[SENSE_LENGTH], sense[RESIDUAL + 1]), (2, 20, 16));
        assert_eq!(sense[SENSE..SENSE + 4], [0x72, 3, 0x11, 0]);
        assert_eq!(sense[SENSE + 8..SENSE + 20], [0, 10, 0x80, 0, 0, 0, 0, 10, 0, 0, 0, 1]);
        assert_eq!(response(Ok(()), 0, &disk), [0; RESPONSE]);
    }
}
