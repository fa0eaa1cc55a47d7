//! What a lab is made of.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use disklab_drive::Nanos;
use disklab_exec::{Interrupt, Trace};

use crate::DiskOptions;
use crate::console::Operator;
use crate::content::{ContentLimits, DiskContent};

/// Seconds from 1970 to the guest's clock 0: 2026-01-01, 00:00 UTC. Always the
/// same, so that what files record of the time is the same in every run.
const TIME_OF_DAY_SECONDS: u64 = 1_767_225_600;

/// Where the guest's console is.
#[derive(Debug, Default)]
pub enum Console {
    /// The file `console` in the lab's directory.
    #[default]
    File,
    /// That file, and next to it a line to somebody who uses the guest. In the guest
    /// it is [`OPERATOR_LINE`](disklab_lab_guest::OPERATOR_LINE), a terminal that must be made raw, over which
    /// [frames](disklab_lab_guest::Frame) go.
    Operator(Box<dyn Operator>),
}

/// A lab to be started.
#[derive(Debug)]
pub struct LabOptions {
    /// The kernel's program.
    pub kernel: PathBuf,
    /// An existing directory of this lab's own, for sockets, content and console.
    pub directory: PathBuf,
    /// Further directories of this machine that the guest may write to, where it mounts
    /// them (`mount -t hostfs -o /the/directory none /mnt`). All else it can only read.
    pub writable: Vec<PathBuf>,
    /// Directories of this machine that the guest mounts by these names
    /// ([`disklab_lab_guest::mount_shown`]): it never sees their paths, so that they do not
    /// count.
    pub shown: Vec<(&'static str, PathBuf)>,
    /// The guest's first program, as a path of this machine.
    pub init: PathBuf,
    /// Its arguments: no spaces and no quotes. They are mixed into the kernel's
    /// randomness; where runs must be the same, so must they.
    pub init_arguments: Vec<String>,
    /// Further words for the kernel's command line, as for the arguments.
    pub kernel_arguments: Vec<String>,
    /// The guest's memory in bytes.
    pub memory_bytes: u64,
    /// Its disks: `/dev/vda`, `/dev/vdb`, …, or `/dev/sda`, … Where each says how many requests it takes
    /// at a time, the kernel keeps what is more than the most of them.
    pub disks: Vec<DiskOptions>,
    /// Bytes per second of a bus that all disks share; each has its own where absent.
    /// See [`crate::check_bus`] for what it can be.
    pub bus: Option<u64>,
    /// What their content may take.
    pub content: ContentLimits,
    /// Where its console is.
    pub console: Console,
    /// Time of day when the guest's clock is 0, in seconds since 1970.
    pub time_of_day_seconds: u64,
    /// Seed of the guest's randomness, if the kernel is the lab's own; others take
    /// the machine's, and UUIDs, hash seeds and the places of files differ between
    /// runs.
    pub seed: u64,
    /// The processor to run on, with the kernel; `None` leaves it to the system,
    /// which is several times slower.
    pub core: Option<usize>,
    /// Real time after which the guest is stopped.
    pub real_limit: Option<Duration>,
    /// Virtual time after which the guest is stopped, when it next waits or ends.
    pub virtual_limit: Option<Nanos>,
    /// Virtual time at which the power fails: the guest ends, whatever it is at, and its disks
    /// hold what was durable.
    pub power_cut: Option<Nanos>,
    /// What the disks hold already, from an earlier lab with as many; nothing where absent.
    pub holds: Option<DiskContent>,
    /// Where others can see the guest's clock, in nanoseconds, while it runs.
    pub clock: Option<Arc<AtomicU64>>,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
    /// Takes note of the kernel's command line.
    pub trace: Trace,
}

impl LabOptions {
    /// A lab without disks and limits: `kernel` runs `init`, in `directory`.
    pub fn new(
        kernel: impl Into<PathBuf>,
        directory: impl Into<PathBuf>,
        init: impl Into<PathBuf>,
    ) -> Self {
        Self {
            kernel: kernel.into(),
            directory: directory.into(),
            writable: Vec::new(),
            shown: Vec::new(),
            init: init.into(),
            init_arguments: Vec::new(),
            kernel_arguments: Vec::new(),
            memory_bytes: 1 << 30,
            disks: Vec::new(),
            bus: None,
            content: ContentLimits::default(),
            console: Console::default(),
            time_of_day_seconds: TIME_OF_DAY_SECONDS,
            seed: 1,
            core: None,
            real_limit: None,
            virtual_limit: None,
            power_cut: None,
            holds: None,
            clock: None,
            interrupt: Interrupt::new(),
            trace: Trace::default(),
        }
    }
}
