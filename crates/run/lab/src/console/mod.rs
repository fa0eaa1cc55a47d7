//! A guest's console line, with somebody at its other end.
//!
//! The line is a socket between a program of the guest and us. Over it go
//! [frames](Frame): what the guest's programs write, what the user types, and
//! whether the programs wait for him. While they do, the guest's clock goes with
//! real time; else it goes as fast as it can.

mod pace;
mod tail;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use disklab_drive::Nanos;
use disklab_lab_guest::{Frame, Frames, WINDOW_BYTES};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};

use crate::LabError;
use pace::ConsolePace;
pub use tail::{FILE, tail};
pub(crate) use tail::{NO_MAPPING, NO_MEMORY, PANIC};

const WHOSE: &str = "the console line";
/// Bytes taken from the line, or from the user, at once.
const READ_BYTES: usize = 64 << 10;
/// So often the line is read before others have their turn: more than a socket
/// holds, so that all is heard of a guest that waits, while one that never stops
/// talking does not keep us.
const READS: u32 = 64;

/// Who sits at a guest's console: a user at a terminal, or a script's caller.
pub trait Operator: std::fmt::Debug + Send {
    /// Something to be polled for input; `None` where there never is any.
    fn input_fd(&self) -> Option<BorrowedFd<'_>>;

    /// What the user did, once [`Operator::input_fd`] is readable. After
    /// [`Frame::InputEnds`] it is not asked again.
    ///
    /// # Errors
    /// Ends the lab: nobody could see what the guest says.
    fn input(&mut self) -> io::Result<Vec<Frame>>;

    /// What the user did otherwise, such as giving the terminal another size; asked
    /// about ten times a second.
    fn look(&mut self) -> Option<Frame>;

    /// Takes what the guest says. It may block, and the guest with it.
    ///
    /// # Errors
    /// Ends the lab: nobody could see what the guest says.
    fn take(&mut self, frame: Frame) -> io::Result<()>;
}

/// How far the guest's program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is not there yet.
    Boots,
    /// It has just said that it is ready.
    Begins,
    /// It takes input.
    Takes,
    /// No more input comes, or none is wanted.
    Ended,
}

/// Our end of the line.
#[derive(Debug)]
pub(crate) struct ConsoleLine {
    socket: OwnedFd,
    operator: Box<dyn Operator>,
    frames: Frames,
    /// What is to be sent and did not fit yet.
    unsent: Vec<u8>,
    /// Bytes of output taken and not confirmed.
    taken: usize,
    pace: ConsolePace,
    stage: Stage,
    /// The guest has said all that it had to say.
    over: bool,
    /// Something was sent of which the guest may not know yet.
    said: bool,
    buffer: Vec<u8>,
}

impl ConsoleLine {
    /// A line to `operator`, and the end of it that becomes the guest's.
    pub fn new(operator: Box<dyn Operator>) -> Result<(Self, OwnedFd), LabError> {
        let (socket, far) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(LabError::system("make the console line"))?;
        let line = Self {
            socket,
            operator,
            frames: Frames::default(),
            unsent: Vec::new(),
            taken: 0,
            pace: ConsolePace::Free,
            stage: Stage::Boots,
            over: false,
            said: false,
            buffer: vec![0; READ_BYTES],
        };
        Ok((line, far))
    }

    /// The line, to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The user's input.
    pub fn input_fd(&self) -> Option<BorrowedFd<'_>> {
        self.operator.input_fd()
    }

    /// The user's input, to be polled from now on; said once.
    pub fn begins(&mut self) -> Option<BorrowedFd<'_>> {
        if self.stage != Stage::Begins {
            return None;
        }
        self.stage = Stage::Takes;
        self.operator.input_fd()
    }

    /// Takes what the guest has said by its time `now`. Returns whether the line is
    /// still open.
    pub fn listen(&mut self, now: Nanos) -> Result<bool, LabError> {
        for _ in 0..READS {
            let got = match recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(Errno::CONNRESET) => return Ok(false),
                Ok((got, _)) => got,
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => break,
                Err(e) => return Err(LabError::system("read the console line")(e)),
            };
            self.frames.take(&self.buffer[..got]);
            while let Some(frame) =
                self.frames.next_frame().map_err(|e| LabError::protocol(WHOSE, e))?
            {
                self.take(frame, now)?;
            }
            // Each word wakes the guest, so it is said for much at once.
            if self.taken >= WINDOW_BYTES / 2 {
                let count = u32::try_from(std::mem::take(&mut self.taken)).unwrap_or(u32::MAX);
                self.say(&Frame::Taken(count));
            }
        }
        self.send().map(|()| true)
    }

    fn take(&mut self, frame: Frame, now: Nanos) -> Result<(), LabError> {
        match &frame {
            Frame::Output(bytes) | Frame::Error(bytes) => self.taken += bytes.len(),
            Frame::Waits(waits) => {
                self.pace = self.pace.hold(*waits, now, Instant::now());
                return Ok(());
            }
            Frame::Ready if self.stage == Stage::Boots => self.stage = Stage::Begins,
            Frame::Exit(_) => {
                self.stage = Stage::Ended;
                self.pace = ConsolePace::Free;
                self.over = true;
            }
            _ => {}
        }
        self.operator.take(frame).map_err(LabError::system("write to standard output"))
    }

    /// Passes on what the user did, when there is input. Returns whether there can
    /// be more.
    pub fn type_in(&mut self) -> Result<bool, LabError> {
        let frames = self.operator.input().map_err(LabError::system("read standard input"))?;
        for frame in frames {
            if frame == Frame::InputEnds {
                self.stage = Stage::Ended;
            }
            // The user, who was waited for, has come.
            self.pace = ConsolePace::Free;
            self.say(&frame);
        }
        self.send()?;
        Ok(self.stage == Stage::Takes)
    }

    /// To be called now and then.
    pub fn look(&mut self) -> Result<(), LabError> {
        if self.stage == Stage::Takes
            && let Some(frame) = self.operator.look()
        {
            self.say(&frame);
        }
        self.send()
    }

    fn say(&mut self, frame: &Frame) {
        frame.put(&mut self.unsent);
        self.said = true;
    }

    fn send(&mut self) -> Result<(), LabError> {
        while !self.unsent.is_empty() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.socket, &self.unsent, flags) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => break,
                // The guest has gone, which its process's end tells.
                Err(Errno::PIPE | Errno::CONNRESET) => self.unsent.clear(),
                Err(e) => return Err(LabError::system("write to the console line")(e)),
            }
        }
        Ok(())
    }

    /// Whether the session is over: nothing that the guest still does matters to anybody.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether something was said since this was last asked: the guest learns of it
    /// only when it runs.
    pub fn has_said(&mut self) -> bool {
        std::mem::take(&mut self.said)
    }

    /// Whether the guest must not continue yet, where `first` is when it or a disk
    /// wants to: real time has yet to come there, or only the user can end the wait.
    pub fn holds(&self, first: Option<Nanos>) -> bool {
        match first {
            Some(first) => !self.delay(first).is_zero(),
            None => self.stage == Stage::Takes && self.operator.input_fd().is_some(),
        }
    }

    /// How far the guest's clock may be now, where it goes with real time.
    pub fn limit(&self) -> Option<Nanos> {
        self.pace.limit(Instant::now())
    }

    /// How long the guest has to wait before it may be at `time`.
    pub fn delay(&self, time: Nanos) -> Duration {
        self.pace.delay(time, Instant::now())
    }
}
