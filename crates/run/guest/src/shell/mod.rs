//! The guest's job for `disklab lab shell`: a shell, and the line to its user.

mod busy;
mod error;
mod place;
mod programs;
mod relay;
pub mod replaced;
pub mod session;
mod unavailable;
mod unfinished;
mod waiting;

use std::path::Path;

use busy::GuestBusyTime;
use disklab_bench::check_charges;
use disklab_lab_guest::Frame;
use disklab_lab_guest::LAB_DIRECTORY;

pub use error::SessionError;
use programs::SessionPrograms;
use relay::ShellLine;
use session::ShellSession;

use super::drives::uevents::UeventListener;

/// The job's word on the kernel's command line.
pub const JOB: &str = "shell";

/// Runs the session until its shell ends.
pub fn shell(_arguments: &[String]) -> Result<(), SessionError> {
    disklab_lab_guest::release_memory();
    let session = ShellSession::read(Path::new(LAB_DIRECTORY))?;
    let mut line = ShellLine::open()?;
    let code = run(&session, &mut line).unwrap_or_else(|error| {
        line.complain(&error.to_string());
        1
    });
    for sentence in unfinished::unfinished() {
        line.complain(&sentence);
    }
    place::sync_host();
    // The host stops the guest at this word, as an operator's `halt -f` would.
    line.say(&Frame::Exit(code));
    line.flush()
}

fn run(session: &ShellSession, line: &mut ShellLine) -> Result<u8, SessionError> {
    check_charges(&session.charges)?;
    place::prepare(session, |complaint| line.complain(&complaint));
    // From here on: it was brought up to date before.
    line.follow(UeventListener::new(session.drives.clone()).ok());
    let programs = match &session.script {
        None => SessionPrograms::at_terminal()?,
        Some(script) => SessionPrograms::script(script)?,
    };
    line.say(&Frame::Ready);
    let before = GuestBusyTime::now();
    let code = line.relay(programs)?;
    if session.charges.is_empty()
        && let Some(sentence) = GuestBusyTime::now().sentence_since(before)
    {
        line.complain(&sentence);
    }
    Ok(code)
}
