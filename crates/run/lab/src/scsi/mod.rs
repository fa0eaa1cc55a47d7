//! The virtio SCSI host device (OASIS Virtual I/O Device 1.2, 5.6) with one target: a disk as the
//! kernel's SCSI layer knows it, with timeouts, aborts and resets.

mod answers;
mod command;
mod configuration;
mod inquiry;
mod mode;
mod sense;
mod tasks;

pub(crate) use command::parse_command;
pub(crate) use configuration::{QUEUES, REQUEST_QUEUE, is_sound, space};
pub(crate) use sense::{RESPONSE_BYTES, response};
pub(crate) use tasks::{ControlRequest, parse_control};

/// Bytes of `struct virtio_scsi_cmd_req`: LUN, tag, three bytes that say nothing here, the command.
pub(crate) const COMMAND_BYTES: u64 = 51;
/// Bytes of a command.
const CDB_BYTES: usize = 32;

/// Whether these eight bytes name the one unit: target 0, LUN 0 (5.6.6.1).
fn is_the_unit(lun: &[u8]) -> bool {
    matches!(lun, [1, 0, 0 | 0x40, 0, ..])
}
