//! Between the programs of a session and the line to its user.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use disklab_lab_guest::OPERATOR_LINE;
use disklab_lab_guest::{Frame, Frames, PAYLOAD_BYTES, WINDOW_BYTES};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus, wait};
use rustix::termios::{
    OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

use super::error::SessionError;
use super::programs::{SessionPrograms, Wrap};
use super::waiting::Watch;
use crate::drives::uevents::UeventListener;

/// After so much silence it is first looked whether the programs wait for their
/// user, and then each time after twice as long: virtual time, which is cheap.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LAST_LOOK: Duration = Duration::from_secs(64);
/// How often it is looked whether they still do. Time is real then.
const POLL: Duration = Duration::from_secs(1);

/// The line to the session's user.
#[derive(Debug)]
pub struct ShellLine {
    file: File,
    frames: Frames,
    unsent: Vec<u8>,
    /// Bytes of output that the host has not taken yet, as far as we know.
    on_their_way: usize,
    uevents: Option<UeventListener>,
}

impl ShellLine {
    /// Makes the line raw: the host's terminal does the editing.
    pub fn open() -> Result<Self, SessionError> {
        let failed = SessionError::Line;
        let file = File::options().read(true).write(true).open(OPERATOR_LINE).map_err(failed)?;
        let mut settings = tcgetattr(&file).map_err(|e| failed(e.into()))?;
        settings.make_raw();
        settings.special_codes[SpecialCodeIndex::VMIN] = 1;
        settings.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&file, OptionalActions::Now, &settings).map_err(|e| failed(e.into()))?;
        Ok(Self {
            file,
            frames: Frames::default(),
            unsent: Vec::new(),
            on_their_way: 0,
            uevents: None,
        })
    }

    /// Follows what the kernel says of drives and partitions, too, while it relays.
    pub fn follow(&mut self, uevents: Option<UeventListener>) {
        self.uevents = uevents;
    }

    /// Says something, with the next [`ShellLine::flush`].
    pub fn say(&mut self, frame: &Frame) {
        if let Frame::Output(bytes) | Frame::Error(bytes) = frame {
            self.on_their_way += bytes.len();
        }
        frame.put(&mut self.unsent);
    }

    /// Says a sentence of disklab's own, on standard error.
    pub fn complain(&mut self, sentence: &str) {
        self.say(&Frame::Error(format!("disklab: {sentence}\r\n").into_bytes()));
    }

    /// Sends all that was said. It waits where the host is not listening.
    pub fn flush(&mut self) -> Result<(), SessionError> {
        let sent = self.file.write_all(&self.unsent);
        self.unsent.clear();
        sent.map_err(SessionError::Say)
    }

    fn has_room(&self) -> bool {
        self.on_their_way + PAYLOAD_BYTES <= WINDOW_BYTES
    }

    /// Carries to and fro until the shell ends; returns its exit code.
    pub fn relay(&mut self, programs: SessionPrograms) -> Result<u8, SessionError> {
        let mut relay = Relay {
            programs,
            input: Vec::new(),
            code: None,
            waits: false,
            watch: Watch::default(),
        };
        let mut patience = FIRST_LOOK;
        loop {
            self.flush()?;
            let ready = relay.wait_for(self, relay.patience(self, patience))?;
            if ready.line {
                self.receive(&mut relay)?;
            }
            if let (true, Some(uevents)) = (ready.uevents, &self.uevents) {
                uevents.follow();
            }
            relay.send_input();
            for index in ready.outputs.iter().rev() {
                relay.read_output(*index, self);
            }
            relay.reap();
            if relay.is_over(&ready) {
                self.flush()?;
                return Ok(relay.code.unwrap_or(0));
            }
            let silent = !ready.line && !ready.uevents && ready.outputs.is_empty();
            patience =
                if !silent || relay.waits { FIRST_LOOK } else { (patience * 2).min(LAST_LOOK) };
            if silent {
                relay.look(self);
            }
        }
    }

    /// Takes what the host says.
    fn receive(&mut self, relay: &mut Relay) -> Result<(), SessionError> {
        let mut buffer = [0; 4096];
        let got = match self.file.read(&mut buffer) {
            Ok(got) => got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(e) => return Err(SessionError::Receive(e)),
        };
        self.frames.take(&buffer[..got]);
        while let Some(frame) = self.frames.next_frame()? {
            match frame {
                Frame::Input(bytes) => {
                    // Said in any case: that they wait may be on its way, and would
                    // reach the host after the input that ended it.
                    relay.waits = false;
                    self.say(&Frame::Waits(false));
                    relay.input.extend(bytes);
                }
                // Control-D, as a terminal knows it.
                Frame::InputEnds => relay.input.push(4),
                Frame::Size(rows, columns) => relay.resize(rows, columns),
                Frame::Taken(count) => {
                    self.on_their_way = self.on_their_way.saturating_sub(count as usize);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Ready {
    line: bool,
    uevents: bool,
    /// It was looked for outputs: there was room for them.
    looked: bool,
    outputs: Vec<usize>,
}

struct Relay {
    programs: SessionPrograms,
    /// What the terminal has not taken yet.
    input: Vec<u8>,
    /// The shell's exit code, once it has ended.
    code: Option<u8>,
    /// The host was told that the programs wait.
    waits: bool,
    watch: Watch,
}

impl Relay {
    /// How long to wait for something to happen; `None` for ever.
    fn patience(&self, line: &ShellLine, patience: Duration) -> Option<Duration> {
        if !line.has_room() {
            return None;
        }
        match (&self.programs.terminal, self.code) {
            // What it has left in its pipes is there, or never comes.
            (_, Some(_)) => Some(Duration::ZERO),
            (None, None) => None,
            (Some(_), None) => Some(if self.waits { POLL } else { patience }),
        }
    }

    fn wait_for(
        &self,
        line: &ShellLine,
        patience: Option<Duration>,
    ) -> Result<Ready, SessionError> {
        let mut fds = vec![
            PollFd::new(&line.file, PollFlags::IN),
            PollFd::new(&self.programs.pidfd, PollFlags::IN),
        ];
        if let (Some(terminal), false) = (&self.programs.terminal, self.input.is_empty()) {
            fds.push(PollFd::new(terminal, PollFlags::OUT));
        }
        let uevents = line.uevents.as_ref().map(|uevents| (fds.len(), uevents.fd()));
        fds.extend(uevents.map(|(_, fd)| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let first_output = fds.len();
        if line.has_room() {
            fds.extend(self.programs.outputs.iter().map(|(o, _)| PollFd::new(o, PollFlags::IN)));
        }
        let patience = patience.and_then(|p| Timespec::try_from(p).ok());
        match poll(&mut fds, patience.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Ready::default()),
            Err(e) => return Err(SessionError::Wait(e.into())),
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        Ok(Ready {
            line: is_ready(&fds[0]),
            uevents: uevents.is_some_and(|(at, _)| is_ready(&fds[at])),
            looked: line.has_room(),
            outputs: (first_output..fds.len())
                .filter(|n| is_ready(&fds[*n]))
                .map(|n| n - first_output)
                .collect(),
        })
    }

    /// Hands input to the terminal, as much as it takes without waiting.
    fn send_input(&mut self) {
        let Some(terminal) = &self.programs.terminal else {
            self.input.clear();
            return;
        };
        while !self.input.is_empty() {
            match without_waiting(terminal, |t| rustix::io::write(t, &self.input)) {
                Ok(written) => drop(self.input.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return,
                // Nobody is there to read it any more.
                Err(_) => self.input.clear(),
            }
        }
    }

    /// Reads one output, and forgets it at its end.
    fn read_output(&mut self, index: usize, line: &mut ShellLine) {
        let mut buffer = vec![0; PAYLOAD_BYTES];
        let (output, wrap): &(OwnedFd, Wrap) = &self.programs.outputs[index];
        match rustix::io::read(output, &mut buffer[..]) {
            // A terminal that nobody has open any more gives EIO.
            Ok(0) | Err(Errno::IO) => drop(self.programs.outputs.remove(index)),
            Ok(got) => {
                buffer.truncate(got);
                line.say(&wrap(buffer));
            }
            Err(_) => {}
        }
    }

    fn resize(&self, rows: u16, columns: u16) {
        if let Some(terminal) = &self.programs.terminal {
            let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
            let _ = tcsetwinsize(terminal, size);
        }
    }

    /// Takes leave of programs that have ended; the first program of a system has to.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.programs.pid {
                self.code = Some(code(status));
            }
        }
    }

    /// Whether the shell has ended and all that it wrote was read.
    fn is_over(&self, ready: &Ready) -> bool {
        self.code.is_some()
            && (self.programs.outputs.is_empty() || (ready.looked && ready.outputs.is_empty()))
    }

    /// Tells the host where the programs begin or cease to wait.
    fn look(&mut self, line: &mut ShellLine) {
        let Some(terminal) = &self.programs.terminal else { return };
        let waits = self.input.is_empty() && self.watch.programs_wait(terminal);
        if waits != self.waits {
            self.waits = waits;
            line.say(&Frame::Waits(waits));
        }
    }
}

/// As shells say it: 128 and the signal where one ended the program.
fn code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|s| 128 + s));
    code.and_then(|c| u8::try_from(c).ok()).unwrap_or(1)
}

/// Does something with a descriptor that must not block this time.
fn without_waiting<T>(
    fd: &OwnedFd,
    act: impl FnOnce(&OwnedFd) -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    let flags = fcntl_getfl(fd)?;
    fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
    let done = act(fd);
    fcntl_setfl(fd, flags)?;
    done
}
