//! Starting the session's shell, at a terminal or with pipes.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use disklab_exec::find_program;
use disklab_lab_guest::Frame;
use disklab_lab_guest::LAB_DIRECTORY;
use rustix::process::{Pid, PidfdFlags, ioctl_tiocsctty, pidfd_open, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::error::SessionError;
use super::place::BASHRC_PATH;
use super::session::SessionScript;

/// What a program's output becomes.
pub type Wrap = fn(Vec<u8>) -> Frame;

/// A running shell, and its ends of what it is connected to.
#[derive(Debug)]
pub struct SessionPrograms {
    /// The shell.
    pub pid: Pid,
    /// Becomes readable when it ends.
    pub pidfd: OwnedFd,
    /// The terminal's other side, where there is one: for input, and its size.
    pub terminal: Option<OwnedFd>,
    /// What it writes, and as what it counts.
    pub outputs: Vec<(OwnedFd, Wrap)>,
}

/// The shell: bash, with its line editing, or whatever sh is.
fn shell() -> (String, bool) {
    match find_program("bash") {
        Some(bash) => (bash.display().to_string(), true),
        None => ("/bin/sh".to_owned(), false),
    }
}

impl SessionPrograms {
    /// A shell with a prompt, at a terminal of its own.
    pub fn at_terminal() -> Result<Self, SessionError> {
        let (master, slave) = terminal().map_err(|e| SessionError::Terminal(e.into()))?;
        let (shell, is_bash) = shell();
        let mut command = Command::new(shell);
        if is_bash {
            command.args(["--rcfile", BASHRC_PATH]);
        }
        command.arg("-i");
        let clone = |fd: &OwnedFd| fd.try_clone().map_err(SessionError::Descriptor);
        command.stdin(clone(&slave)?).stdout(clone(&slave)?).stderr(slave);
        take_terminal(&mut command);
        let output = clone(&master)?;
        start(command, Some(master), vec![(output, Frame::Output)])
    }

    /// A script, without a prompt and without input.
    pub fn script(script: &SessionScript) -> Result<Self, SessionError> {
        let (shell, _) = shell();
        let mut command = Command::new(&shell);
        match script {
            SessionScript::Command(text) => command.arg("-c").arg(text).arg(&shell),
            SessionScript::File(name) => command.arg(Path::new(LAB_DIRECTORY).join(name)),
        };
        let pipe = || std::io::pipe().map_err(SessionError::Pipe);
        let ((output, write_output), (error, write_error)) = (pipe()?, pipe()?);
        command.stdin(Stdio::null()).stdout(write_output).stderr(write_error);
        let outputs: Vec<(OwnedFd, Wrap)> =
            vec![(output.into(), Frame::Output), (error.into(), Frame::Error)];
        start(command, None, outputs)
    }
}

fn start(
    mut command: Command,
    terminal: Option<OwnedFd>,
    outputs: Vec<(OwnedFd, Wrap)>,
) -> Result<SessionPrograms, SessionError> {
    let child = command.spawn().map_err(SessionError::Start)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(SessionError::NoProcessId)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|e| SessionError::Start(e.into()))?;
    Ok(SessionPrograms { pid, pidfd, terminal, outputs })
}

/// The two sides of a new terminal.
fn terminal() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let name = name.to_string_lossy().into_owned();
    let slave = File::options().read(true).write(true).open(name);
    let slave =
        slave.map_err(|e| rustix::io::Errno::from_io_error(&e).unwrap_or(rustix::io::Errno::IO))?;
    Ok((master, slave.into()))
}

/// Gives the program a session of its own, with its standard input as the terminal
/// that it is at.
#[allow(unsafe_code)]
fn take_terminal(command: &mut Command) {
    // SAFETY: both are async-signal-safe system calls.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            ioctl_tiocsctty(std::io::stdin().as_fd())?;
            Ok(())
        });
    }
}
