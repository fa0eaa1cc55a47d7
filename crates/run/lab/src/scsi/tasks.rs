//! Requests of the control queue: aborts and resets.

use virtio_bindings::virtio_scsi::{
    VIRTIO_SCSI_S_BAD_TARGET, VIRTIO_SCSI_S_FUNCTION_REJECTED, VIRTIO_SCSI_T_TMF,
    VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET,
};

use super::is_the_unit;
use crate::block::GuestBuffers;
use crate::vhost::GuestRegions;

/// Bytes of `struct virtio_scsi_ctrl_tmf_req`: type, what to do, LUN, tag.
const BYTES: usize = 24;

/// What a request of the control queue asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlRequest {
    /// To reset the drive.
    Reset,
    /// What is refused at once, with this response. So is an abort: a host adapter for SATA has no
    /// command for it, so that the kernel resets the link (drivers/ata/libata-scsi.c has no
    /// `eh_abort_handler`).
    Refused(u8),
}

/// Reads the request in `buffers`.
pub(crate) fn parse_control(buffers: &GuestBuffers, memory: &GuestRegions) -> ControlRequest {
    let mut request = [0; BYTES];
    buffers.read(memory, 0, &mut request);
    let word = |at: usize| u32::from_le_bytes(request[at..at + 4].try_into().unwrap_or_default());
    let wanted = (VIRTIO_SCSI_T_TMF, VIRTIO_SCSI_T_TMF_LOGICAL_UNIT_RESET);
    // Both numbers are below 256.
    if !is_the_unit(&request[8..16]) {
        ControlRequest::Refused(VIRTIO_SCSI_S_BAD_TARGET as u8)
    } else if (word(0), word(4)) == wanted {
        ControlRequest::Reset
    } else {
        ControlRequest::Refused(VIRTIO_SCSI_S_FUNCTION_REJECTED as u8)
    }
}
