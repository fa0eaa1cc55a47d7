//! One loop for the calendar and all disks of a lab.
//!
//! The guest and we take turns. It runs until it waits for its next timer, or
//! kicks a disk; each is answered before it continues, so that at any moment only
//! one side works, and what happens depends on virtual time alone.

mod connect;
mod hang_detector;
mod limits;
mod operator;
mod silence;
mod spinning;
mod wait;

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use disklab_drive::Nanos;
use disklab_lab_guest::DiskTransport;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::boot::KernelProcess;
use crate::calendar::{Calendar, CalendarMessage};
use crate::confinement::Supervisor;
use crate::console::ConsoleLine;
use crate::content::DiskContent;
use crate::disk::{Disk, MediumFile};
use crate::{DiskOptions, KeptDisks, LabError, Sockets};
pub(crate) use limits::Limits;
use silence::Silence;

/// A guest that never waits is polled after so many events.
pub(crate) const POLL_EVENTS: u32 = 4096;
/// Events that are taken at once.
const EVENTS: usize = 8;

/// After so many waits of the guest in a row, the next is to be expected.
const IN_A_ROW: u64 = 16;

/// A guest that runs on after a kick reads the clock some times, which takes little, and waits:
/// more than this brings nothing.
const LONGEST_WINDOW: Nanos = Nanos(20_000);

/// Numbers by which epoll tells what is ready: disks first, then their listeners.
const CALENDAR: u64 = u64::MAX;
const KERNEL: u64 = u64::MAX - 1;
const CALENDAR_LISTENER: u64 = u64::MAX - 2;
const CONSOLE: u64 = u64::MAX - 3;
const CONSOLE_INPUT: u64 = u64::MAX - 4;
const SUPERVISOR: u64 = u64::MAX - 5;
const LISTENERS: u64 = 1 << 32;

/// How often things happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// The guest told a disk of requests.
    pub kicks: u64,
    /// The guest waited.
    pub waits: u64,
    /// The guest was told of requests that are done.
    pub interrupts: u64,
}

/// How serving a guest ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuestEnd {
    /// Its kernel's process ended.
    Itself,
    /// Its operator's session did; the process runs on.
    SessionOver,
    /// Its power failed; the process knows nothing of it.
    PowerCut,
}

/// Everything that a lab serves.
pub(crate) struct EventLoop {
    epoll: OwnedFd,
    sockets: Sockets,
    calendar: Option<Calendar>,
    time_of_day: u64,
    waiting: Vec<Option<DiskOptions>>,
    disks: Vec<Option<Disk>>,
    content: DiskContent,
    limits: Limits,
    began: Instant,
    counts: EventCounts,
    /// Events since the user's wish and the limits were looked at.
    since_poll: u32,
    /// Waits of the guest since something else was heard of it.
    in_a_row: u64,
    now: Nanos,
    /// Whether its power has failed: nothing that the guest says counts any more.
    is_dark: bool,
    /// Watches a kernel that is served.
    silence: Option<Silence>,
    /// Decides system calls of a kernel that is served.
    supervisor: Option<Supervisor>,
    console: Option<ConsoleLine>,
    /// How long after a kick the guest may run on without a word.
    kick_window: Nanos,
    /// The guest waits for this time, to which real time has yet to come; `None`
    /// within where only its operator can wake it.
    held: Option<Option<Nanos>>,
    /// Where others see the guest's time.
    clock: Option<Arc<AtomicU64>>,
    /// For the disks that the guest has not connected to yet.
    media: Vec<Option<MediumFile>>,
}

impl EventLoop {
    /// A loop for `disks`, whose guest connects to `sockets`.
    pub fn new(
        sockets: Sockets,
        disks: Vec<DiskOptions>,
        content: DiskContent,
        time_of_day: u64,
        limits: Limits,
        console: Option<ConsoleLine>,
    ) -> Result<Self, LabError> {
        let epoll =
            epoll::create(CreateFlags::CLOEXEC).map_err(LabError::system("make an epoll"))?;
        let this = Self {
            epoll,
            calendar: None,
            time_of_day,
            kick_window: kick_window(&disks, console.is_some()),
            disks: disks.iter().map(|_| None).collect(),
            waiting: disks.into_iter().map(Some).collect(),
            content,
            limits,
            began: Instant::now(),
            counts: EventCounts::default(),
            since_poll: 0,
            in_a_row: 0,
            now: Nanos(0),
            is_dark: false,
            silence: None,
            supervisor: None,
            console,
            held: None,
            clock: None,
            media: Vec::new(),
            sockets,
        };
        // Without a user nobody hurries: what is said is heard when the guest waits,
        // so that the same script takes the same time.
        if let Some(console) = this.console.as_ref().filter(|c| c.input_fd().is_some()) {
            watch(&this.epoll, console.fd(), CONSOLE)?;
        }
        watch(&this.epoll, &this.sockets.calendar, CALENDAR_LISTENER)?;
        for (number, listener) in this.sockets.disks.iter().enumerate() {
            watch(&this.epoll, listener, LISTENERS + number as u64)?;
        }
        Ok(this)
    }

    /// Has others see the guest's time, and the guest what its drives write to their
    /// media, by their index.
    pub fn show(&mut self, clock: Option<Arc<AtomicU64>>, media: Vec<Option<MediumFile>>) {
        self.clock = clock;
        self.media = media;
    }

    /// The guest's time, as it last told it.
    pub fn now(&self) -> Nanos {
        if self.is_dark {
            return self.now;
        }
        self.calendar.as_ref().map_or(self.now, |c| c.now().max(self.now))
    }

    /// # Errors
    /// [`LabError::TimedOut`] if the guest's clock is past its limit.
    pub fn check_virtual_limit(&self) -> Result<(), LabError> {
        self.limits.check_virtual(self.now())
    }

    /// How often things happened.
    pub fn counts(&self) -> EventCounts {
        self.counts
    }

    /// The disks that the guest used.
    pub fn disks(&self) -> impl Iterator<Item = Option<&Disk>> {
        self.disks.iter().map(Option::as_ref)
    }

    /// The store.
    pub fn content(&self) -> &DiskContent {
        &self.content
    }

    /// The disks, once all is over.
    pub fn into_kept(mut self) -> KeptDisks {
        let now = self.now();
        let ends = self.disks.iter_mut().flatten().map(|disk| disk.end_requests(now));
        let at = ends.max().unwrap_or(now);
        let used = self.disks.iter_mut().map(|disk| disk.as_mut().map(|disk| disk.kept(at)));
        KeptDisks::new(self.content, used.collect(), at)
    }

    /// Serves `kernel` until it ends, or its operator's session is over.
    pub fn serve(&mut self, kernel: &mut KernelProcess) -> Result<GuestEnd, LabError> {
        watch(&self.epoll, kernel.fd(), KERNEL)?;
        self.supervisor = kernel.take_supervisor();
        if let Some(supervisor) = &self.supervisor {
            watch(&self.epoll, supervisor.fd(), SUPERVISOR)?;
        }
        self.silence = kernel.pid().map(Silence::of);
        loop {
            let patience = self.patience();
            let ended = self.step(&patience)?;
            // By the time that it reads its first disk, it has made all its memory.
            if self.counts.kicks > 0 {
                kernel.has_memory();
            }
            if ended {
                // The socket keeps what it has said and nobody has heard yet.
                return self.console_speaks().map(|()| GuestEnd::Itself);
            }
            if self.console.as_ref().is_some_and(ConsoleLine::is_over) {
                return Ok(GuestEnd::SessionOver);
            }
            if self.is_dark {
                return Ok(GuestEnd::PowerCut);
            }
        }
    }

    /// Serves what comes next, which it waits for no longer than `patience`. Returns
    /// whether the kernel has ended.
    pub(crate) fn step(&mut self, patience: &Timespec) -> Result<bool, LabError> {
        self.listen()?;
        let mut space = [MaybeUninit::uninit(); EVENTS];
        let events: &[Event] = match epoll::wait(&self.epoll, &mut space, Some(patience)) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => &[],
            Err(e) => return Err(LabError::system("wait for the guest")(e)),
        };
        self.since_poll += 1;
        if events.is_empty() || self.since_poll >= POLL_EVENTS {
            self.since_poll = 0;
            self.limits.check_real(self.began)?;
            if let Some(console) = &mut self.console {
                console.look()?;
            }
        }
        if events.is_empty() {
            self.bound_idle_guest();
            if let Some(silence) = &mut self.silence {
                silence.continues(self.held.is_none())?;
            }
        } else if let Some(silence) = &mut self.silence {
            silence.ends(self.counts.kicks);
        }
        // What the guest said last comes before its end.
        let mut ended = false;
        for event in events {
            if self.is_dark {
                break;
            }
            match event.data.u64() {
                KERNEL => ended = true,
                SUPERVISOR => self.answer_call()?,
                CALENDAR => self.calendar_speaks()?,
                CALENDAR_LISTENER => self.accept_calendar()?,
                CONSOLE => self.console_speaks()?,
                CONSOLE_INPUT => self.operator_speaks()?,
                number if number >= LISTENERS => self.accept_disk(number - LISTENERS)?,
                number => self.disk_speaks(number as usize)?,
            }
        }
        if self.held.is_some() {
            self.proceed()?;
        }
        Ok(ended)
    }

    /// Answers a system call of the guest's process that is supervised.
    fn answer_call(&mut self) -> Result<(), LabError> {
        let Some(supervisor) = &mut self.supervisor else { return Ok(()) };
        if !supervisor.answer()? {
            // No process is left that could make one.
            let _ = epoll::delete(&self.epoll, supervisor.fd());
        }
        Ok(())
    }

    /// A guest whose kicks go through the shared memory speaks nowhere but on the
    /// calendar's socket, but for what is rare: while it does, that socket is read
    /// without asking which one to read.
    fn listen(&mut self) -> Result<(), LabError> {
        if self.console.is_some() || self.in_a_row < IN_A_ROW {
            return Ok(());
        }
        while self.since_poll < POLL_EVENTS && !self.is_dark {
            self.since_poll += 1;
            let Some(calendar) = &mut self.calendar else { return Ok(()) };
            if !calendar.has_devices() {
                return Ok(());
            }
            match calendar.listen()? {
                CalendarMessage::Waits => self.wait()?,
                // It works, has ended, or speaks elsewhere.
                CalendarMessage::Nothing | CalendarMessage::Ended => {
                    self.in_a_row = 0;
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// How long after a kick a guest may run on, with an operator or without. What it could
/// look at meanwhile must not be late either: that is the file that reports a medium. A SCSI disk
/// answers some commands at once, and the notes of kicks have no room for its rings.
fn kick_window(disks: &[DiskOptions], has_operator: bool) -> Nanos {
    let is_prompt = |disk: &DiskOptions| disk.tells_medium || disk.transport == DiskTransport::Scsi;
    if has_operator || disks.iter().any(is_prompt) {
        return Nanos(0);
    }
    let least = disks.iter().map(|disk| disk.drive.least_latency()).min();
    least.unwrap_or_default().min(LONGEST_WINDOW)
}

fn watch(epoll: &OwnedFd, fd: impl AsFd, number: u64) -> Result<(), LabError> {
    epoll::add(epoll, fd, EventData::new_u64(number), EventFlags::IN)
        .map_err(LabError::system("watch a socket"))
}
