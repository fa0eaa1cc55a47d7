//! Who sits at the guest's console: a user at his terminal, or nobody.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex};

use disklab_exec::Interrupt;
use disklab_lab::console::Operator;
use disklab_lab_guest::Frame;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Control-], with which telnet(1) is left: three times in a row, it ends a session
/// whose guest does not answer any more.
const WAY_OUT: u8 = 0x1d;
const WAY_OUT_TIMES: u32 = 3;

/// The exit code of the session, once it is known.
pub type ExitCode = Arc<Mutex<Option<u8>>>;

fn set(code: &ExitCode, value: u8) {
    if let Ok(mut code) = code.lock() {
        *code = Some(value);
    }
}

/// Writes; a reader that has gone away is no error.
fn write(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// A user at the terminal that is our standard input and output.
#[derive(Debug)]
pub struct SessionUser {
    /// How his terminal was, and will be.
    saved: Option<Termios>,
    size: Option<(u16, u16)>,
    /// How often he has just pressed [`WAY_OUT`].
    way_out: u32,
    interrupt: Interrupt,
    code: ExitCode,
}

impl SessionUser {
    /// Nothing is changed at his terminal before the guest is ready.
    pub fn new(interrupt: Interrupt, code: ExitCode) -> Self {
        Self { saved: None, size: None, way_out: 0, interrupt, code }
    }

    /// Every key goes to the guest from now on, control characters included.
    fn make_raw(&mut self) -> io::Result<()> {
        let stdin = io::stdin();
        let saved = tcgetattr(&stdin)?;
        let mut raw = saved.clone();
        raw.make_raw();
        tcsetattr(&stdin, OptionalActions::Now, &raw)?;
        self.saved = Some(saved);
        Ok(())
    }

    fn restore(&mut self) {
        if let Some(saved) = self.saved.take() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &saved);
        }
    }
}

impl Drop for SessionUser {
    fn drop(&mut self) {
        self.restore();
    }
}

impl Operator for SessionUser {
    fn input_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(rustix::stdio::stdin())
    }

    fn input(&mut self) -> io::Result<Vec<Frame>> {
        let mut buffer = [0; 4096];
        let got = match rustix::io::read(io::stdin().as_fd(), &mut buffer) {
            Ok(got) => got,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(Vec::new()),
            // The terminal has gone.
            Err(rustix::io::Errno::IO) => 0,
            Err(e) => return Err(e.into()),
        };
        if got == 0 {
            return Ok(vec![Frame::InputEnds]);
        }
        for byte in &buffer[..got] {
            self.way_out = if *byte == WAY_OUT { self.way_out + 1 } else { 0 };
            if self.way_out == WAY_OUT_TIMES {
                self.interrupt.raise();
            }
        }
        Ok(vec![Frame::Input(buffer[..got].to_vec())])
    }

    fn look(&mut self) -> Option<Frame> {
        let size = tcgetwinsize(io::stdout()).ok()?;
        let size = (size.ws_row, size.ws_col);
        if self.size.replace(size) == Some(size) {
            return None;
        }
        Some(Frame::Size(size.0, size.1))
    }

    fn take(&mut self, frame: Frame) -> io::Result<()> {
        match frame {
            Frame::Ready => self.make_raw(),
            Frame::Output(bytes) => write(io::stdout().lock(), &bytes),
            Frame::Error(bytes) => write(io::stderr().lock(), &bytes),
            Frame::Exit(code) => {
                self.restore();
                set(&self.code, code);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Nobody: what a script says goes to our standard output and error.
#[derive(Debug)]
pub struct ScriptOperator {
    /// Where the script's exit code goes.
    pub code: ExitCode,
}

impl Operator for ScriptOperator {
    fn input_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn input(&mut self) -> io::Result<Vec<Frame>> {
        Ok(Vec::new())
    }

    fn look(&mut self) -> Option<Frame> {
        None
    }

    fn take(&mut self, frame: Frame) -> io::Result<()> {
        match frame {
            Frame::Output(bytes) => write(io::stdout().lock(), &bytes),
            Frame::Error(bytes) => write(io::stderr().lock(), &bytes),
            Frame::Exit(code) => {
                set(&self.code, code);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
