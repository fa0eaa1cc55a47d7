//! A lab, from its start to the guest's power-off.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use disklab_drive::{FaultRecord, Nanos, Statistics};
use disklab_sample::KeptContent;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::boot::KernelProcess;
use crate::bus;
use crate::console::{self, ConsoleLine};
use crate::content::DiskContent;
use crate::disk::{MediumFile, ReadLog};
use crate::event_loop::{EventCounts, EventLoop, GuestEnd, Limits};
use crate::guest_memory::MemoryFile;
use crate::options::Console;
use crate::pinned::Pinned;
use crate::{KeptDisks, LabError, LabOptions, Sockets, options_check};

/// A guest that has been started and waits to be served. Dropping it kills it.
pub struct Lab {
    // Killed first, then the sockets go.
    kernel: KernelProcess,
    events: EventLoop,
    directory: PathBuf,
    began: Instant,
    _pinned: Pinned,
    // Last: by then nothing of the guest is left.
    _memory: Released,
}

/// With more disks than this, sockets, rings and files of several guests may be more than the 1,024
/// that a process usually opens.
const MANY: usize = 32;

/// Opens as many files as this process may: by default, it is held to fewer.
fn open_more_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without, a lab that has too few says so.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Keeps the guest's memory for another when it goes.
struct Released(Option<MemoryFile>);

impl Drop for Released {
    fn drop(&mut self) {
        if let Some(memory) = self.0.take() {
            memory.release();
        }
    }
}

/// What came of a lab.
#[derive(Debug, Clone)]
pub struct LabReport {
    /// The guest's clock when it last told it before it ended.
    pub virtual_time: Nanos,
    /// Real time from the start to the end.
    pub real_time: Duration,
    /// How often guest and lab answered each other.
    pub counts: EventCounts,
    /// What each disk did; `None` for one that the guest never touched.
    pub disks: Vec<Option<DiskReport>>,
    /// What the disks' content took.
    pub content: KeptContent,
}

/// What a disk did.
#[derive(Debug, Clone)]
pub struct DiskReport {
    /// Requests that the guest made.
    pub requests: u64,
    /// The drive model's own counts.
    pub drive: Statistics,
    /// When it answered reads from its own memory.
    pub read_log: ReadLog,
    /// What came of its faults, in their order.
    pub faults: Vec<FaultRecord>,
}

impl Lab {
    /// Starts the kernel. It is frozen until [`Lab::run`].
    ///
    /// # Errors
    /// [`LabError::Options`] where the options contradict themselves,
    /// [`LabError::Kernel`] where the kernel cannot be started, and where a file
    /// or socket cannot be made. Nothing is left running.
    pub fn start(mut options: LabOptions) -> Result<Self, LabError> {
        options_check::check(&options)?;
        if let Some(rate) = options.bus {
            options.disks = bus::share(options.disks, rate)?;
        }
        if options.disks.len() > MANY {
            open_more_files();
        }
        let began = Instant::now();
        let pinned = Pinned::to(options.core)?;
        let content = match options.holds.take() {
            Some(content) => content,
            None => {
                DiskContent::new(&options.directory, options.disks.len(), options.content.clone())?
            }
        };
        let sockets = Sockets::new(&options.directory, options.disks.len())?;
        let (console, line) = match std::mem::take(&mut options.console) {
            Console::File => (None, None),
            Console::Operator(operator) => {
                let (console, line) = ConsoleLine::new(operator)?;
                (Some(console), Some(line))
            }
        };
        let media = options.disks.iter().enumerate().map(|(index, disk)| {
            let name = disk.transport.disk_name(index);
            disk.tells_medium.then(|| MediumFile::new(&options.directory, &name)).transpose()
        });
        let media = media.collect::<Result<_, _>>()?;
        let mut kernel = KernelProcess::start(&options, line)?;
        let memory = Released(kernel.take_memory_file());
        let limits = Limits {
            real: options.real_limit,
            virtual_time: options.virtual_limit,
            power_cut: options.power_cut,
            interrupt: options.interrupt,
        };
        let time_of_day = options.time_of_day_seconds.saturating_mul(1_000_000_000);
        let mut events =
            EventLoop::new(sockets, options.disks, content, time_of_day, limits, console)?;
        events.show(options.clock, media);
        let directory = options.directory;
        Ok(Self { kernel, events, directory, began, _pinned: pinned, _memory: memory })
    }

    /// Serves the guest until it is powered off. The calling thread is the one to
    /// do it: when it ends, so does the guest.
    ///
    /// # Errors
    /// Whatever kept the guest from its power-off; it is then killed.
    pub fn run(mut self) -> Result<LabReport, LabError> {
        self.serve()
    }

    /// The same, and the disks as they are then, for other labs.
    ///
    /// # Errors
    /// As for [`Lab::run`].
    pub fn run_and_keep(mut self) -> Result<(LabReport, KeptDisks), LabError> {
        let report = self.serve()?;
        Ok((report, self.events.into_kept()))
    }

    fn serve(&mut self) -> Result<LabReport, LabError> {
        match self.events.serve(&mut self.kernel)? {
            GuestEnd::Itself => self.kernel.finish()?,
            // As by `halt -f`: md's resync, and whatever else is at work, would continue for days.
            GuestEnd::SessionOver | GuestEnd::PowerCut => self.kernel.stop(),
        }
        self.events.check_virtual_limit()?;
        Ok(LabReport {
            virtual_time: self.events.now(),
            real_time: self.began.elapsed(),
            counts: self.events.counts(),
            disks: self
                .events
                .disks()
                .map(|disk| {
                    disk.map(|d| DiskReport {
                        requests: d.requests(),
                        drive: d.statistics(),
                        read_log: d.read_log().clone(),
                        faults: d.fault_records(),
                    })
                })
                .collect(),
            content: self.events.content().usage(),
        })
    }

    /// The file with the kernel's messages, and what the guest's programs say there.
    pub fn console(&self) -> PathBuf {
        self.directory.join(console::FILE)
    }
}
