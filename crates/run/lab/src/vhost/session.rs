//! Negotiation, and what comes after it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use virtio_bindings::virtio_config::VIRTIO_F_VERSION_1;
use virtio_bindings::virtio_ring::VIRTIO_RING_F_INDIRECT_DESC;

use super::connection::{Connection, Message, tell};
use super::{GuestRegions, Ring};
use crate::{LabError, ProtocolBreach};

/// `enum vhost_user_request`, as far as the kernel uses it.
mod request {
    pub const GET_FEATURES: u32 = 1;
    pub const SET_FEATURES: u32 = 2;
    pub const SET_OWNER: u32 = 3;
    pub const RESET_OWNER: u32 = 4;
    pub const SET_MEM_TABLE: u32 = 5;
    pub const SET_VRING_NUM: u32 = 8;
    pub const SET_VRING_ADDR: u32 = 9;
    pub const SET_VRING_BASE: u32 = 10;
    pub const GET_VRING_BASE: u32 = 11;
    pub const GET_PROTOCOL_FEATURES: u32 = 15;
    pub const SET_PROTOCOL_FEATURES: u32 = 16;
    pub const SET_VRING_ENABLE: u32 = 18;
    pub const SET_SLAVE_REQ_FD: u32 = 21;
    pub const GET_CONFIG: u32 = 24;
    pub const SET_CONFIG: u32 = 25;
    pub const VRING_KICK: u32 = 35;
}
/// `VHOST_USER_SLAVE_VRING_CALL`.
const SLAVE_VRING_CALL: u32 = 4;

/// `VHOST_USER_F_PROTOCOL_FEATURES`.
const F_PROTOCOL_FEATURES: u64 = 1 << 30;
/// REPLY_ACK, SLAVE_REQ, CONFIG and INBAND_NOTIFICATIONS: all that the kernel has.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;
/// The transport's own features. Indirect descriptors let a queue of 256 hold
/// many requests of many segments.
const TRANSPORT_FEATURES: u64 =
    F_PROTOCOL_FEATURES | 1 << VIRTIO_F_VERSION_1 | 1 << VIRTIO_RING_F_INDIRECT_DESC;

/// Bytes of `struct vhost_user_config` before its payload.
const CONFIG_HEADER_BYTES: usize = 12;

/// What the device has to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SessionEvent {
    Nothing,
    /// There are requests in the ring. The guest is frozen until
    /// [`VhostSession::done`] is called.
    Kick,
    /// The guest wants to change the configuration, from this byte on. It stands
    /// still until [`VhostSession::done`] is called.
    Configure(usize, Vec<u8>),
    /// The guest has left.
    Gone,
}

/// The device's side of one connection.
#[derive(Debug)]
pub(crate) struct VhostSession {
    link: Connection,
    features: u64,
    /// Where interrupts are sent.
    interrupts: Option<OwnedFd>,
    /// The request that waits for [`VhostSession::done`], if it wants an answer.
    unanswered: Option<u32>,
    /// Guest memory, once it is known.
    pub memory: Option<GuestRegions>,
    /// The queues.
    pub rings: Vec<Ring>,
}

impl VhostSession {
    /// A session over `link` that offers `features` of the device's own, which has so many queues.
    pub fn new(link: Connection, features: u64, queues: usize) -> Result<Self, LabError> {
        let rings = (0..queues).map(|_| Ring::new()).collect::<Option<_>>();
        let rings = rings.ok_or_else(|| link.broken(ProtocolBreach::NoRing))?;
        Ok(Self {
            link,
            features: features | TRANSPORT_FEATURES,
            interrupts: None,
            unanswered: None,
            memory: None,
            rings,
        })
    }

    /// The socket, to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.link.fd()
    }

    /// An error of the kernel's.
    pub fn broken(&self, breach: ProtocolBreach) -> LabError {
        self.check_memory().err().unwrap_or_else(|| self.link.broken(breach))
    }

    /// # Errors
    /// [`ProtocolBreach::MemoryTaken`] if the guest no longer shares what it did: what was read
    /// from there since means nothing.
    pub fn check_memory(&self) -> Result<(), LabError> {
        if self.memory.as_ref().is_some_and(GuestRegions::is_lost) {
            return Err(self.link.broken(ProtocolBreach::MemoryTaken));
        }
        Ok(())
    }

    /// Takes what came in and answers it, up to the first event. `config` is the
    /// device's configuration. To be called again until it says `Nothing`.
    pub fn receive(&mut self, config: &[u8]) -> Result<SessionEvent, LabError> {
        if !self.link.fill()? {
            return Ok(SessionEvent::Gone);
        }
        self.next(config)
    }

    /// Answers further messages that came with the last ones.
    pub fn next(&mut self, config: &[u8]) -> Result<SessionEvent, LabError> {
        while let Some(message) = self.link.next()? {
            if message.request == request::VRING_KICK || message.request == request::SET_CONFIG {
                self.link.drop_fds();
                self.unanswered = message.needs_reply.then_some(message.request);
                if message.request == request::VRING_KICK {
                    return Ok(SessionEvent::Kick);
                }
                let at = message.word(0).unwrap_or(u32::MAX) as usize;
                let bytes = message.payload.get(CONFIG_HEADER_BYTES..).unwrap_or_default();
                return Ok(SessionEvent::Configure(at, bytes.to_vec()));
            }
            let answer = self.handle(&message, config)?;
            self.link.drop_fds();
            match answer {
                Some(payload) => self.link.reply(message.request, &payload)?,
                None if message.needs_reply => self.acknowledge(message.request, true)?,
                None => {}
            }
        }
        Ok(SessionEvent::Nothing)
    }

    /// Lets the guest continue after a [`SessionEvent`]; `ok` is whether it was carried out.
    pub fn done(&mut self, ok: bool) -> Result<(), LabError> {
        self.unanswered.take().map_or(Ok(()), |request| self.acknowledge(request, ok))
    }

    /// Whether the guest has said where interrupts go.
    pub fn has_interrupts(&self) -> bool {
        self.interrupts.is_some()
    }

    /// Sends an interrupt.
    pub fn interrupt(&self) -> Result<(), LabError> {
        let socket = self.interrupts.as_ref();
        let missing = || self.broken(ProtocolBreach::NoInterruptDescriptor);
        let socket = socket.ok_or_else(missing)?;
        // `struct vhost_user_vring_state`: index 0, and a number that says nothing.
        tell(socket.as_fd(), SLAVE_VRING_CALL, &[0; 8])
    }

    fn acknowledge(&self, request: u32, ok: bool) -> Result<(), LabError> {
        self.link.reply(request, &u64::from(!ok).to_ne_bytes())
    }

    /// Carries a message out. Returns the answer, where it has one of its own.
    fn handle(&mut self, message: &Message, config: &[u8]) -> Result<Option<Vec<u8>>, LabError> {
        let number = |value: u64| Some(value.to_ne_bytes().to_vec());
        let done = match message.request {
            request::GET_FEATURES => return Ok(number(self.features)),
            request::GET_PROTOCOL_FEATURES => return Ok(number(PROTOCOL_FEATURES)),
            request::GET_CONFIG => return Ok(read_config(message, config)),
            request::GET_VRING_BASE => return Ok(Some(self.vring_base(message))),
            request::SET_FEATURES => message.u64().is_some_and(|f| f & !self.features == 0),
            request::SET_PROTOCOL_FEATURES => {
                // Without all of them, time would be wrong.
                message.u64() == Some(PROTOCOL_FEATURES)
            }
            request::SET_OWNER | request::RESET_OWNER => true,
            request::SET_MEM_TABLE => {
                let memory = GuestRegions::from_table(&mut self.link, message)?;
                // Addresses of the old one mean nothing in the new.
                self.rings.iter_mut().for_each(|ring| _ = ring.enable(false, None));
                self.memory = Some(memory);
                true
            }
            request::SET_SLAVE_REQ_FD => {
                self.interrupts = self.link.take_fd();
                self.interrupts.is_some()
            }
            request::SET_VRING_NUM => {
                let size = message.word(1).unwrap_or(0);
                self.ring(message).is_some_and(|ring| ring.set_size(size))
            }
            request::SET_VRING_BASE => {
                let base = message.word(1).unwrap_or(u32::MAX);
                self.ring(message).is_some_and(|ring| ring.set_base(base))
            }
            request::SET_VRING_ADDR => self.set_addresses(message),
            request::SET_VRING_ENABLE => {
                let (on, memory) = (message.word(1) == Some(1), self.memory.clone());
                self.ring(message).is_some_and(|ring| ring.enable(on, memory.as_ref()))
            }
            _ => false,
        };
        if done {
            return Ok(None);
        }
        Err(self.broken(ProtocolBreach::Senseless(message.request)))
    }

    /// The queue that a message is about.
    fn ring(&mut self, message: &Message) -> Option<&mut Ring> {
        message.word(0).and_then(|index| self.rings.get_mut(index as usize))
    }

    fn vring_base(&mut self, message: &Message) -> Vec<u8> {
        let base = self.ring(message).map_or(0, |ring| {
            // This also stops the ring.
            ring.enable(false, None);
            ring.base()
        });
        let index = message.word(0).unwrap_or(0);
        [index.to_ne_bytes(), u32::from(base).to_ne_bytes()].concat()
    }

    fn set_addresses(&mut self, message: &Message) -> bool {
        let Some(memory) = &self.memory else { return false };
        // `struct vhost_user_vring_addr`: index, flags, descriptors, used,
        // available, log.
        let address = |at| message.u64_at(at).and_then(|user| memory.translate(user));
        match (address(8), address(16), address(24)) {
            (Some(descriptors), Some(used), Some(available)) => self
                .ring(message)
                .is_some_and(|ring| ring.set_addresses(descriptors, used, available)),
            _ => false,
        }
    }
}

/// The answer to `GET_CONFIG`: what was asked for, or nothing where there is no
/// such part.
fn read_config(message: &Message, config: &[u8]) -> Option<Vec<u8>> {
    let (offset, size) = (message.word(0)? as usize, message.word(1)? as usize);
    let part = config.get(offset..offset.checked_add(size)?);
    let head = message.payload.get(..CONFIG_HEADER_BYTES)?;
    Some(match part {
        Some(part) => [head, part].concat(),
        None => Vec::new(),
    })
}
