//! What becomes of a SCSI disk's aborts and resets.
//!
//! A drive that tries to read a sector 'won't be responding to any other command while it does that', a
//! reset neither (A. Smith, 'Linux Software RAID and drive timeouts', strugglers.net, 2015). So a
//! reset, which the kernel sends when a command has taken longer than its timeout, waits until the
//! drive has ended what it has, or until the host adapter gives up.

use disklab_drive::Nanos;
use virtio_bindings::virtio_scsi::{VIRTIO_SCSI_S_FAILURE, VIRTIO_SCSI_S_FUNCTION_SUCCEEDED};

use super::control::{CONTROL_QUEUE, Reset};
use super::{Disk, Pending};
use crate::block::RequestRefusal;
use crate::scsi::{ControlRequest, parse_control};
use crate::vhost::{GuestRegions, RING_LIMIT};
use crate::{LabError, ProtocolBreach};

/// How long a SATA host adapter tries to reset a drive: 10, 10, 35 and 5 s
/// (`ata_eh_reset_timeouts` in drivers/ata/libata-eh.c).
const RESET_LIMIT: Nanos = Nanos(60_000_000_000);

impl Disk {
    /// Takes what the guest asks for in the queue.
    pub(super) fn take_control(
        &mut self,
        now: Nanos,
        memory: &GuestRegions,
    ) -> Result<(), LabError> {
        let Some(chains) = self.session.rings[CONTROL_QUEUE].take(memory, None) else {
            return Err(self.session.broken(ProtocolBreach::AvailableRing));
        };
        for chain in chains {
            let head = chain.head_index();
            self.take_chain(chain)?;
            let response = self.buffers.first_writable(1);
            let reset = Reset { head, response, until: Nanos(now.0.saturating_add(RESET_LIMIT.0)) };
            match parse_control(&self.buffers, memory) {
                ControlRequest::Refused(response) => {
                    self.control.answer(memory, &reset, response.into());
                }
                ControlRequest::Reset if self.in_drive() == 0 => {
                    self.control.answer(memory, &reset, VIRTIO_SCSI_S_FUNCTION_SUCCEEDED);
                }
                ControlRequest::Reset => self.control.resets.push(reset),
            }
            if self.control.resets.len() + self.control.done.len() > usize::from(RING_LIMIT) {
                return Err(self.session.broken(ProtocolBreach::TooManyRequests));
            }
            self.immediate_at = now;
        }
        Ok(())
    }

    /// Requests that the drive has.
    fn in_drive(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    /// Answers resets: the drive is done, or the host adapter gives up and takes back what the
    /// drive has not answered. Returns whether all places are in the guest's memory.
    pub(super) fn advance_resets(&mut self, now: Nanos, memory: &GuestRegions) -> bool {
        let is_done = self.in_drive() == 0;
        let mut sound = true;
        while let Some(at) = self.control.resets.iter().position(|r| is_done || r.until <= now) {
            let reset = self.control.resets.remove(at);
            let response = match is_done {
                true => VIRTIO_SCSI_S_FUNCTION_SUCCEEDED,
                false => VIRTIO_SCSI_S_FAILURE,
            };
            sound &= is_done || self.take_back(memory);
            sound &= self.control.answer(memory, &reset, response);
        }
        sound
    }

    /// Gives the guest back what the drive still has.
    fn take_back(&mut self, memory: &GuestRegions) -> bool {
        let mut sound = true;
        let queue = self.request_queue();
        for slot in 0..self.pending.len() {
            let Some(request) = self.pending[slot].filter(|request| !request.is_given_back) else {
                continue;
            };
            sound &= self.respond_failed(memory, &request, RequestRefusal::GivenUp);
            sound &= self.session.rings[queue].give_back(memory, request.head, request.written);
            self.pending[slot] = Some(Pending { is_given_back: true, ..request });
        }
        sound
    }

    /// Gives back the queue's own requests that are done.
    pub(super) fn give_back_control(&mut self, memory: &GuestRegions) -> bool {
        let ring = &mut self.session.rings[CONTROL_QUEUE];
        let done = self.control.done.drain(..);
        done.map(|(head, written)| ring.give_back(memory, head, written)).fold(true, |a, b| a & b)
    }
}
