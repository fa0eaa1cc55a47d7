//! What can go wrong with a lab.

use std::io;
use std::path::PathBuf;

use disklab_exec::Interrupted;

use crate::{OptionsProblem, ProtocolBreach};

/// Why a lab could not start or did not reach the guest's power-off.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The options contradict each other or themselves.
    #[error("the lab cannot be set up: {0}")]
    Options(#[from] OptionsProblem),
    /// The kernel's program is not there, or is none.
    #[error(
        "the lab's kernel '{path}' cannot be started: {source} (`disklab lab build` makes one)"
    )]
    Kernel {
        /// Where it was looked for.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file, socket or mapping of the lab could not be made or used.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried, a verb and its object: 'read the console line'.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The other side of a socket does not keep to the protocol.
    #[error("the guest broke the protocol of {whose}: {breach}")]
    Protocol {
        /// Whose socket it was: 'the calendar', or a disk's name.
        whose: String,
        /// What it did.
        #[source]
        breach: ProtocolBreach,
    },
    /// What the guests wrote needs more than the caller allowed.
    #[error(
        "the lab is out of {what}: what the guest wrote needs more than {}, which is all that it \
         may take. Let fewer cells run at once, use a smaller scale, or write data that are zeros \
         or repeat",
        disklab_units::Bytes(*limit_bytes).iec()
    )]
    Full {
        /// 'disk space' or 'memory for the index of its disks'.
        what: &'static str,
        /// What the caller allowed.
        limit_bytes: u64,
    },
    /// The disk that holds what the guests wrote is full, whatever the caller allowed.
    #[error(
        "the disk with the lab's files is full: what the guest wrote takes {} of '{}', and \
         other programs the rest. Free space there, name another directory with --scratch, or use \
         a smaller scale",
        disklab_units::Bytes(*bytes).iec(), directory.display()
    )]
    DiskFull {
        /// Where the content of the disks lies.
        directory: PathBuf,
        /// What it takes, in bytes.
        bytes: u64,
    },
    /// The kernel panicked.
    #[error("the guest's kernel panicked; the end of its console:\n{console}")]
    Panic {
        /// The last lines of the console.
        console: String,
    },
    /// The guest's kernel and programs need more memory than the guest has.
    #[error(
        "the guest ran out of memory, of which it has {}: give it more with --memory{}. The end of \
         its console:\n{console}",
        disklab_units::Bytes(*memory_bytes).iec(),
        mappings.as_ref().map_or_else(String::new, |remedy| format!("; or {remedy}"))
    )]
    GuestMemory {
        /// All of it, the page cache included.
        memory_bytes: u64,
        /// What to do if the system refused it mappings, which looks the same to it.
        mappings: Option<String>,
        /// The last lines of the console.
        console: String,
    },
    /// The system refused the guest's kernel more mappings of memory.
    #[error(
        "the guest's kernel got no more memory from this machine: {}; then run its failed cells again \
         (--resume --retry-failed). The end of its console:\n{console}",
        remedy.as_deref().unwrap_or("free some of it, or run fewer cells at once (--at-once 1)")
    )]
    NoMapping {
        /// What to do if it is the number of mappings that is too low.
        remedy: Option<String>,
        /// The last lines of the console.
        console: String,
    },
    /// The kernel's process ended before the guest was powered off.
    #[error("the guest's kernel ended early ({status}); the end of its console:\n{console}")]
    Ended {
        /// Its exit code or signal, in words.
        status: String,
        /// The last lines of the console.
        console: String,
    },
    /// Nothing will ever happen in the guest again.
    #[error("guest deadlock: no timer is armed and no request is in flight")]
    Asleep,
    /// Nothing was heard of a guest that was to continue.
    #[error(
        "the guest hung: it was runnable for {seconds} s, and neither its kernel nor its programs \
         used the CPU ({state}). Nothing in a guest causes that: retry, and report it if it \
         recurs"
    )]
    Hangs {
        /// For how long.
        seconds: u64,
        /// What its processes wait for, on this machine.
        state: String,
    },
    /// The guest took longer than allowed.
    #[error("the guest was stopped after {seconds} s of {clock} time, its limit")]
    TimedOut {
        /// 'real' or 'virtual'.
        clock: &'static str,
        /// The limit, in seconds.
        seconds: u64,
    },
    /// The user asked to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl LabError {
    /// For `map_err`: the system refused to do `what`.
    pub fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |source| Self::System { what, source: source.into() }
    }

    /// The peer of `whose` socket did what it must not do.
    pub(crate) fn protocol(whose: &str, breach: impl Into<ProtocolBreach>) -> Self {
        Self::Protocol { whose: whose.to_owned(), breach: breach.into() }
    }
}
