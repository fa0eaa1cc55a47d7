//! The calendar: gives the kernel its time over the protocol of
//! `include/uapi/linux/um_timetravel.h`, with shared memory.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use disklab_drive::Nanos;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, send, sendmsg,
};

use crate::shared_memory::{EarlierKick, KERNEL_CLIENT, SharedMemory};
use crate::{LabError, ProtocolBreach};

const WHOSE: &str = "the calendar";
/// `struct um_timetravel_msg`: op and seq of 32 bits, time of 64.
const MESSAGE_BYTES: usize = 16;

/// How long a message is waited for where others may speak too.
const MOMENT: Duration = Duration::from_millis(5);

/// `enum um_timetravel_ops`.
mod op {
    pub const ACK: u32 = 0;
    pub const START: u32 = 1;
    pub const REQUEST: u32 = 2;
    pub const WAIT: u32 = 3;
    pub const GET: u32 = 4;
    pub const UPDATE: u32 = 5;
    pub const RUN: u32 = 6;
    pub const GET_TOD: u32 = 8;
    pub const BROADCAST: u32 = 9;
}

/// A message of the calendar's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    op: u32,
    seq: u32,
    time: u64,
}

impl Message {
    fn bytes(self) -> [u8; MESSAGE_BYTES] {
        let mut bytes = [0; MESSAGE_BYTES];
        bytes[..4].copy_from_slice(&self.op.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.seq.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    fn parse(b: &[u8; MESSAGE_BYTES]) -> Self {
        Self {
            op: u32::from_ne_bytes([b[0], b[1], b[2], b[3]]),
            seq: u32::from_ne_bytes([b[4], b[5], b[6], b[7]]),
            time: u64::from_ne_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]),
        }
    }
}

/// No message came in time.
struct Late;

/// What the kernel said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarMessage {
    /// Something that is answered and done with.
    Nothing,
    /// It waits until it is told to run.
    Waits,
    /// Its side of the socket is closed: it has ended.
    Ended,
}

/// The calendar's side of its socket to one kernel.
#[derive(Debug)]
pub(crate) struct Calendar {
    socket: OwnedFd,
    memory: SharedMemory,
    /// Nanoseconds since 1970 when the guest's clock is at 0.
    time_of_day: u64,
    started: bool,
    /// Whether its socket has its time-out.
    patient: bool,
    sequence: u32,
}

impl Calendar {
    /// A calendar that serves `socket`.
    pub fn new(socket: OwnedFd, time_of_day: u64) -> Result<Self, LabError> {
        let memory = SharedMemory::new()?;
        Ok(Self { socket, memory, time_of_day, started: false, patient: false, sequence: 0 })
    }

    /// The socket, to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The guest's time.
    pub fn now(&self) -> Nanos {
        self.memory.now()
    }

    /// When the waiting guest wants to run for its own sake.
    pub fn wanted(&self) -> Option<Nanos> {
        self.memory.wanted()
    }

    /// Sets the clock of the waiting guest, before interrupts are sent to it.
    pub fn set_now(&self, now: Nanos) {
        self.memory.set_now(now);
    }

    /// Whether kicks and interrupts go through the shared memory.
    pub fn has_devices(&self) -> bool {
        self.memory.has_devices()
    }

    /// The disks that the waiting guest has new requests for, one bit each.
    pub fn take_kicks(&self) -> u128 {
        self.memory.take_kicks()
    }

    /// How long after a kick the guest may run on without a word.
    pub fn set_kick_window(&self, window: Nanos) {
        self.memory.set_kick_window(window);
    }

    /// Kicks before the present that the guest has not told of yet.
    pub fn take_earlier_kicks(&self) -> Vec<EarlierKick> {
        self.memory.take_earlier_kicks()
    }

    /// Has disks, one bit each, interrupt the guest when it is told to run.
    pub fn set_calls(&self, disks: u128) {
        self.memory.set_calls(disks);
    }

    /// How far the guest runs freely.
    pub fn free_until(&self) -> Option<Nanos> {
        self.memory.free_until()
    }

    /// Lets the guest run freely before `bound`.
    pub fn set_free_until(&self, bound: Option<Nanos>) {
        self.memory.set_free_until(bound);
    }

    /// Has a running guest that nothing bounds come back at `limit`.
    pub fn bound(&self, limit: Nanos) {
        self.memory.bound(limit);
    }

    /// Lets the waiting guest run at `now`.
    pub fn run(&mut self, now: Nanos, free_until: Option<Nanos>) -> Result<(), LabError> {
        self.memory.set_now(now);
        self.memory.set_free_until(free_until);
        self.sequence = self.sequence.wrapping_add(1);
        // The kernel takes this time as its own, without the shared epoch.
        self.send(Message { op: op::RUN, seq: self.sequence, time: now.0 })
    }

    /// Takes one message and answers it. To be called when there is one.
    pub fn receive(&mut self) -> Result<CalendarMessage, LabError> {
        self.receive_with(RecvFlags::DONTWAIT)
    }

    /// Waits a moment for a message, and takes it; `Nothing` where none came.
    pub fn listen(&mut self) -> Result<CalendarMessage, LabError> {
        if !self.patient {
            set_socket_timeout(&self.socket, Timeout::Recv, Some(MOMENT))
                .map_err(LabError::system("set up the calendar's socket"))?;
            self.patient = true;
        }
        self.receive_with(RecvFlags::empty())
    }

    fn receive_with(&mut self, flags: RecvFlags) -> Result<CalendarMessage, LabError> {
        let message = match self.take(flags)? {
            Some(Ok(message)) => message,
            Some(Err(Late)) => return Ok(CalendarMessage::Nothing),
            None => return Ok(CalendarMessage::Ended),
        };
        match message.op {
            op::START if !self.started => {
                self.started = true;
                self.acknowledge_start(message.seq)?;
            }
            op::START => return Err(LabError::protocol(WHOSE, ProtocolBreach::StartedTwice)),
            _ if !self.started => {
                return Err(LabError::protocol(WHOSE, ProtocolBreach::BeforeStart(message.op)));
            }
            op::WAIT => return Ok(CalendarMessage::Waits),
            op::GET => self.acknowledge(message.seq, self.now().0)?,
            op::GET_TOD => {
                self.acknowledge(message.seq, self.time_of_day.saturating_add(self.now().0))?;
            }
            // Time and requests lie in the shared memory; what comes as a
            // message nevertheless is only confirmed.
            op::UPDATE | op::REQUEST | op::BROADCAST => self.acknowledge(message.seq, 0)?,
            op::ACK => {}
            other => return Err(LabError::protocol(WHOSE, ProtocolBreach::UnknownMessage(other))),
        }
        Ok(CalendarMessage::Nothing)
    }

    /// A message; `Late` where none came in time, `None` at the end.
    fn take(&self, flags: RecvFlags) -> Result<Option<Result<Message, Late>>, LabError> {
        let mut bytes = [0; MESSAGE_BYTES];
        // Messages are written whole, and so small that they arrive whole.
        let got = loop {
            match recv(&self.socket, &mut bytes, flags) {
                Ok((got, _)) => break got,
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => break 0,
                Err(Errno::AGAIN) => return Ok(Some(Err(Late))),
                Err(e) => return Err(LabError::system("read the calendar's socket")(e)),
            }
        };
        match got {
            0 => Ok(None),
            MESSAGE_BYTES => Ok(Some(Ok(Message::parse(&bytes)))),
            n => Err(LabError::protocol(WHOSE, ProtocolBreach::CalendarMessageSize(n))),
        }
    }

    fn acknowledge(&self, seq: u32, time: u64) -> Result<(), LabError> {
        self.send(Message { op: op::ACK, seq, time })
    }

    fn send(&self, message: Message) -> Result<(), LabError> {
        loop {
            // The kernel reads each answer before it asks again: its socket is
            // never full, unless it means to hold us up.
            match send(&self.socket, &message.bytes(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                // A kernel that has gone is noticed when its end is read.
                Ok(_) | Err(Errno::PIPE | Errno::CONNRESET) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(LabError::system("write to the calendar's socket")(e)),
            }
        }
    }

    fn acknowledge_start(&self, seq: u32) -> Result<(), LabError> {
        let log = SharedMemory::log()?;
        let fds = [self.memory.fd(), log.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        let message = Message { op: op::ACK, seq, time: u64::from(KERNEL_CLIENT) };
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        match sendmsg(&self.socket, &[IoSlice::new(&message.bytes())], &mut ancillary, flags) {
            // A kernel that has gone is noticed when its end is read.
            Ok(_) | Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
            Err(e) => Err(LabError::system("send the calendar's shared memory to the kernel")(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;

    use super::*;
    use proptest::prelude::*;
    use rustix::net::{AddressFamily, RecvAncillaryBuffer, SocketFlags, SocketType, recvmsg};

    fn pair() -> (Calendar, OwnedFd) {
        let (near, far) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        (Calendar::new(near, 1_000_000_000_000_000_000).unwrap(), far)
    }

    fn say(kernel: &OwnedFd, op: u32, seq: u32, time: u64) {
        send(kernel, &Message { op, seq, time }.bytes(), SendFlags::empty()).unwrap();
    }

    fn received(kernel: &OwnedFd) -> (Message, usize) {
        let mut bytes = [0; MESSAGE_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        recvmsg(kernel, &mut buffers, &mut ancillary, RecvFlags::DONTWAIT).unwrap();
        let fds = ancillary.drain().map(|m| match m {
            rustix::net::RecvAncillaryMessage::ScmRights(fds) => fds.count(),
            _ => 0,
        });
        let fds = fds.sum();
        (Message::parse(&bytes), fds)
    }

    #[test]
    fn a_kernel_starts_waits_and_runs() {
        let (mut calendar, kernel) = pair();
        say(&kernel, op::START, 1, u64::MAX);
        assert_eq!(calendar.receive().unwrap(), CalendarMessage::Nothing);
        let (ack, fds) = received(&kernel);
        assert_eq!(ack, Message { op: op::ACK, seq: 1, time: 1 });
        assert_eq!(fds, 2);
        say(&kernel, op::GET_TOD, 2, 0);
        calendar.receive().unwrap();
        assert_eq!(received(&kernel).0.time, 1_000_000_000_000_000_000);
        say(&kernel, op::WAIT, 3, 0);
        assert_eq!(calendar.receive().unwrap(), CalendarMessage::Waits);
        calendar.run(Nanos(500), None).unwrap();
        let (run, _) = received(&kernel);
        assert_eq!((run.op, run.time), (op::RUN, 500));
        assert_eq!(calendar.now(), Nanos(500));
        drop(kernel);
        assert_eq!(calendar.receive().unwrap(), CalendarMessage::Ended);
    }

    #[test]
    fn a_message_before_the_start_is_refused() {
        let (mut calendar, kernel) = pair();
        say(&kernel, op::WAIT, 1, 0);
        let error = calendar.receive().unwrap_err();
        let breach = ProtocolBreach::BeforeStart(op::WAIT);
        assert_eq!(
            error.to_string(),
            format!("the guest broke the protocol of the calendar: {breach}")
        );
    }

    proptest! {
        #[test]
        fn hostile_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 1..64), start: bool) {
            let (mut calendar, kernel) = pair();
            if start {
                say(&kernel, op::START, 1, 0);
                prop_assert_eq!(calendar.receive().unwrap(), CalendarMessage::Nothing);
            }
            send(&kernel, &bytes, SendFlags::empty()).unwrap();
            drop(kernel);
            let mut heard = 0;
            while let Ok(said) = calendar.receive() {
                heard += 1;
                if said == CalendarMessage::Ended {
                    break;
                }
            }
            prop_assert!(heard <= bytes.len() / MESSAGE_BYTES + 1);
        }
    }
}
