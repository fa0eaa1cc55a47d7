//! What lies around a request's data, which differs between virtio block and SCSI devices.

use disklab_lab_guest::DiskTransport;

use super::{Disk, Pending};
use crate::block::{HEADER_BYTES, RequestRefusal, RequestWork, parse_request};
use crate::scsi::{self, COMMAND_BYTES, RESPONSE_BYTES};
use crate::vhost::GuestRegions;

impl Disk {
    pub(super) fn is_scsi(&self) -> bool {
        self.transport == DiskTransport::Scsi
    }

    /// The device's configuration as the guest sees it.
    pub(super) fn space(&self) -> Vec<u8> {
        match self.transport {
            DiskTransport::Block => self.configuration.space(self.reported_write_cache()).to_vec(),
            DiskTransport::Scsi => scsi::space(self.depth).to_vec(),
        }
    }

    /// The queue with requests, among the device's.
    pub(super) fn request_queue(&self) -> usize {
        if self.is_scsi() { scsi::REQUEST_QUEUE } else { 0 }
    }

    /// Reads the request in the buffers.
    pub(super) fn parse(&self, memory: &GuestRegions) -> Result<RequestWork, RequestRefusal> {
        if !self.is_scsi() {
            return parse_request(&self.buffers, memory, &self.configuration);
        }
        // The kernel has it in one piece; the response may have to be written again.
        if self.buffers.first_writable(RESPONSE_BYTES).is_none() {
            return Err(RequestRefusal::Bad);
        }
        let write_cache = self.reported_write_cache();
        scsi::parse_command(&self.buffers, memory, &self.configuration, write_cache)
    }

    /// Where the data of a write begin in what the guest sent, and where those of a read go in
    /// what it is to get.
    pub(super) fn data_begins(&self) -> (u64, u64) {
        if self.is_scsi() { (COMMAND_BYTES, RESPONSE_BYTES) } else { (HEADER_BYTES, 0) }
    }

    /// Writes how the request in the buffers ends, if the drive does not fail. The guest does not
    /// look at it before the request is given back.
    pub(super) fn respond(
        &self,
        memory: &GuestRegions,
        head: u16,
        outcome: Result<u32, RequestRefusal>,
    ) -> Pending {
        let room = self.buffers.writable_bytes();
        let moved = outcome.unwrap_or(0);
        let (has_response, bytes, status) = match self.transport {
            DiskTransport::Block => {
                let status = outcome.map_or_else(RequestRefusal::status, |_| 0);
                let has_status = room != 0 && self.buffers.write(memory, room - 1, &[status]);
                (has_status, 1, self.buffers.last_writable())
            }
            DiskTransport::Scsi => {
                let residual = room.saturating_sub(RESPONSE_BYTES + u64::from(moved));
                let outcome = outcome.map(drop);
                let response = scsi::response(outcome, residual, &self.configuration);
                let status = self.buffers.first_writable(RESPONSE_BYTES);
                let written = status.is_some() && self.buffers.write(memory, 0, &response);
                (written, RESPONSE_BYTES as u32, status)
            }
        };
        // Spec 2.7.8.2: bytes written, from the start of the writable part on. A
        // request without a place for its status gets nothing.
        let written = if has_response { moved.saturating_add(bytes) } else { 0 };
        let unmoved = room.saturating_sub(u64::from(written));
        Pending { head, written, unmoved, status, unreadable: None, is_given_back: false }
    }

    /// Writes that a request failed. Returns whether its place is in the guest's memory.
    pub(super) fn respond_failed(
        &self,
        memory: &GuestRegions,
        request: &Pending,
        refusal: RequestRefusal,
    ) -> bool {
        let Some(status) = request.status else { return true };
        match self.transport {
            DiskTransport::Block => memory.write(&[refusal.status()], status),
            DiskTransport::Scsi => {
                let response = scsi::response(Err(refusal), request.unmoved, &self.configuration);
                memory.write(&response, status)
            }
        }
    }

    /// Whether the guest is told of a write cache that is on.
    fn reported_write_cache(&self) -> bool {
        self.reports_write_cache && self.drive.write_cache()
    }
}
