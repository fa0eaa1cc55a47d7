//! One loop for the calendar and all disks of a lab.
//!
//! The guest and we take turns. It runs until it waits for its next timer, or
//! kicks a disk; each is answered before it goes on, so that at any moment only
//! one side works, and what happens depends on virtual time alone.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use disklab_drive::Nanos;
use disklab_exec::Interrupt;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::boot::Kernel;
use crate::calendar::{Calendar, Said};
use crate::console::ConsoleLine;
use crate::content::Content;
use crate::disk::{Activity, Disk};
use crate::vhost::Connection;
use crate::{DiskOptions, LabError, Sockets};

/// How long between two looks at the clock and the user's wish.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A guest that never stands still is looked at after so many events.
const LOOK_EVENTS: u32 = 4096;

/// How far a guest with an operator may go before it comes back, where nothing is to
/// happen: far enough to read the clock some hundred times, which lets a little
/// time pass each time (`timer_read` in `arch/um/kernel/time.c`), and not so far
/// that it would sleep while the operator is to be heard.
const SHORT_STEP: u64 = 100_000;

/// After so many waits of the guest in a row, the next is to be expected.
const IN_A_ROW: u64 = 16;

/// Numbers by which epoll tells what is ready: disks first, then their listeners.
const CALENDAR: u64 = u64::MAX;
const KERNEL: u64 = u64::MAX - 1;
const CALENDAR_LISTENER: u64 = u64::MAX - 2;
const CONSOLE: u64 = u64::MAX - 3;
const CONSOLE_INPUT: u64 = u64::MAX - 4;
const LISTENERS: u64 = 1 << 32;

/// How often things happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turns {
    /// The guest told a disk of requests.
    pub kicks: u64,
    /// The guest waited.
    pub waits: u64,
    /// The guest was told of requests that are done.
    pub interrupts: u64,
}

/// When the guest is stopped.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub real: Option<Duration>,
    pub virtual_time: Option<Nanos>,
    pub interrupt: Interrupt,
}

impl Limits {
    fn check_virtual(&self, now: Nanos) -> Result<(), LabError> {
        match self.virtual_time {
            Some(limit) if now >= limit => {
                let seconds = limit.0 / 1_000_000_000;
                Err(LabError::TimedOut { clock: "virtual", seconds })
            }
            _ => Ok(()),
        }
    }
}

/// Everything that a lab serves.
pub(crate) struct EventLoop {
    epoll: OwnedFd,
    sockets: Sockets,
    calendar: Option<Calendar>,
    time_of_day: u64,
    waiting: Vec<Option<DiskOptions>>,
    disks: Vec<Option<Disk>>,
    content: Content,
    limits: Limits,
    began: Instant,
    turns: Turns,
    /// Waits of the guest since something else was heard of it.
    in_a_row: u64,
    now: Nanos,
    console: Option<ConsoleLine>,
    /// The guest waits for this time, to which real time has yet to come; `None`
    /// within where only its operator can wake it.
    held: Option<Option<Nanos>>,
}

impl EventLoop {
    /// A loop for `disks`, whose guest connects to `sockets`.
    pub fn new(
        sockets: Sockets,
        disks: Vec<DiskOptions>,
        content: Content,
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
            disks: disks.iter().map(|_| None).collect(),
            waiting: disks.into_iter().map(Some).collect(),
            content,
            limits,
            began: Instant::now(),
            turns: Turns::default(),
            in_a_row: 0,
            now: Nanos(0),
            console,
            held: None,
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

    /// The guest's time, as it last told it.
    pub fn now(&self) -> Nanos {
        self.calendar.as_ref().map_or(self.now, |c| c.now().max(self.now))
    }

    /// # Errors
    /// Where the guest's time is up.
    pub fn check_virtual_limit(&self) -> Result<(), LabError> {
        self.limits.check_virtual(self.now())
    }

    /// How often things happened.
    pub fn turns(&self) -> Turns {
        self.turns
    }

    /// The disks that the guest used.
    pub fn disks(&self) -> impl Iterator<Item = Option<&Disk>> {
        self.disks.iter().map(Option::as_ref)
    }

    /// The store.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Serves `kernel` until it ends.
    pub fn serve(&mut self, kernel: &mut Kernel) -> Result<(), LabError> {
        watch(&self.epoll, kernel.fd(), KERNEL)?;
        let mut events = Vec::with_capacity(8);
        let mut since_look = 0;
        loop {
            self.listen()?;
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&self.patience())) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => return Err(LabError::system("wait for the guest")(e)),
            }
            since_look += 1;
            if events.is_empty() || since_look >= LOOK_EVENTS {
                since_look = 0;
                self.check_limits()?;
                if let Some(console) = &mut self.console {
                    console.look()?;
                }
            }
            if events.is_empty() {
                self.bound_idle_guest();
            }
            // What the guest said last comes before its end.
            let mut ended = false;
            for event in &events {
                match event.data.u64() {
                    KERNEL => ended = true,
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
            // By the time that it reads its first disk, it has made all its memory.
            if self.turns.kicks > 0 {
                kernel.has_memory();
            }
            if ended {
                // The socket keeps what it has said and nobody has heard yet.
                return self.console_speaks();
            }
        }
    }

    /// A guest whose kicks go through the shared memory speaks nowhere but on the
    /// calendar's socket, but for what is rare: while it does, that socket is read
    /// without asking which one to read.
    fn listen(&mut self) -> Result<(), LabError> {
        if self.console.is_some() || self.in_a_row < IN_A_ROW {
            return Ok(());
        }
        for _ in 0..LOOK_EVENTS {
            let Some(calendar) = &mut self.calendar else { return Ok(()) };
            if !calendar.has_devices() {
                return Ok(());
            }
            match calendar.listen()? {
                Said::Waits => self.turn()?,
                // It works, has ended, or speaks elsewhere.
                Said::Nothing | Said::Ended => {
                    self.in_a_row = 0;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), LabError> {
        if self.limits.interrupt.is_raised() {
            return Err(LabError::Interrupted);
        }
        match self.limits.real {
            Some(limit) if self.began.elapsed() >= limit => {
                Err(LabError::TimedOut { clock: "real", seconds: limit.as_secs() })
            }
            _ => Ok(()),
        }
    }

    /// A guest without pending requests may run for ever without a word. Has it
    /// come back at its limit. (It may be past it by then: see `turn`.)
    fn bound_idle_guest(&self) {
        if let (Some(calendar), Some(limit)) = (&self.calendar, self.limits.virtual_time)
            && self.console.is_none()
            && earliest(&self.disks).is_none()
        {
            calendar.bound(limit);
        }
    }

    fn accept_calendar(&mut self) -> Result<(), LabError> {
        let socket = Sockets::accept(&self.sockets.calendar)?;
        if self.calendar.is_some() {
            return Err(LabError::protocol("the calendar", "it connected twice"));
        }
        let calendar = Calendar::new(socket, self.time_of_day)?;
        calendar.set_free_until(self.bound(self.limits.virtual_time, Nanos(0)));
        watch(&self.epoll, calendar.fd(), CALENDAR)?;
        self.calendar = Some(calendar);
        Ok(())
    }

    fn accept_disk(&mut self, number: u64) -> Result<(), LabError> {
        let index = number as usize;
        let name = Sockets::disk(index);
        let Some(listener) = self.sockets.disks.get(index) else { return Ok(()) };
        let link = Connection::new(Sockets::accept(listener)?, name.clone());
        let options = self.waiting.get_mut(index).and_then(Option::take);
        let options = options.ok_or_else(|| LabError::protocol(&name, "it connected twice"))?;
        let disk = Disk::new(link, options, index)?;
        watch(&self.epoll, disk.fd(), number)?;
        self.disks[index] = Some(disk);
        Ok(())
    }

    fn calendar_speaks(&mut self) -> Result<(), LabError> {
        let Some(calendar) = &mut self.calendar else { return Ok(()) };
        match calendar.receive()? {
            Said::Nothing => Ok(()),
            Said::Waits => self.turn(),
            Said::Ended => {
                // Its process ends too, and that is what counts.
                let _ = epoll::delete(&self.epoll, calendar.fd());
                Ok(())
            }
        }
    }

    fn disk_speaks(&mut self, index: usize) -> Result<(), LabError> {
        self.in_a_row = 0;
        let Some(calendar) = &self.calendar else {
            return Err(LabError::protocol(&Sockets::disk(index), "it spoke before the calendar"));
        };
        let now = calendar.now();
        let mut first = true;
        loop {
            let Some(disk) = self.disks.get_mut(index).and_then(Option::as_mut) else {
                return Ok(());
            };
            match disk.receive(std::mem::take(&mut first), now, &mut self.content)? {
                Activity::Nothing => return Ok(()),
                Activity::Gone => {
                    // Its model and counters stay for the report.
                    let _ = epoll::delete(&self.epoll, disk.fd());
                    return Ok(());
                }
                Activity::Busy => {
                    self.turns.kicks += 1;
                    calendar.set_free_until(self.bound(earliest(&self.disks), now));
                }
            }
            // Only now may the guest go on.
            if let Some(disk) = self.disks.get_mut(index).and_then(Option::as_mut) {
                disk.resume()?;
            }
        }
    }

    fn bound(&self, next: Option<Nanos>, now: Nanos) -> Option<Nanos> {
        bound(next, self.console.is_some(), now)
    }

    /// How long to wait for events.
    fn patience(&self) -> Timespec {
        let (Some(console), Some(Some(time))) = (&self.console, self.held) else { return LOOK };
        let delay = Timespec::try_from(console.delay(time)).unwrap_or(LOOK);
        if delay < LOOK { delay } else { LOOK }
    }

    fn console_speaks(&mut self) -> Result<(), LabError> {
        let now = self.now();
        let Some(console) = &mut self.console else { return Ok(()) };
        if !console.listen(now)? {
            // Its process ends too, and that is what counts.
            let _ = epoll::delete(&self.epoll, console.fd());
        }
        if let Some(input) = console.begins() {
            watch(&self.epoll, input, CONSOLE_INPUT)?;
            // The terminal's size is to be known before the first prompt.
            console.look()?;
        }
        Ok(())
    }

    fn operator_speaks(&mut self) -> Result<(), LabError> {
        let Some(console) = &mut self.console else { return Ok(()) };
        if let (Some(limit), Some(first)) = (console.limit(), self.held) {
            // What is typed, is typed at this time.
            self.now = self.now.max(first.map_or(limit, |first| first.min(limit)));
        }
        if !console.type_in()?
            && let Some(input) = console.input_fd()
        {
            let _ = epoll::delete(&self.epoll, input);
        }
        Ok(())
    }

    /// The guest waits: lets time go by until something happens, and the guest run.
    fn turn(&mut self) -> Result<(), LabError> {
        self.turns.waits += 1;
        self.in_a_row += 1;
        self.proceed()
    }

    fn proceed(&mut self) -> Result<(), LabError> {
        // What it said before it waited decides whether time may go by.
        self.console_speaks()?;
        self.held = None;
        let attended = self.console.is_some();
        let Some(calendar) = &mut self.calendar else { return Ok(()) };
        let mut kicks = calendar.take_kicks();
        while kicks != 0 {
            let index = kicks.trailing_zeros() as usize;
            kicks &= kicks - 1;
            if let Some(disk) = self.disks.get_mut(index).and_then(Option::as_mut) {
                // No time has gone by since: see `kernel/patches/devices.patch`.
                disk.kicked(calendar.now(), &mut self.content)?;
                self.turns.kicks += 1;
            }
        }
        let wanted = calendar.wanted();
        loop {
            let next = earliest(&self.disks);
            if let Some(console) = &mut self.console {
                let first = next.into_iter().chain(wanted).min();
                // The guest does not tell its time when it waits, but it can be no
                // further than this.
                let reached = calendar.free_until().into_iter().chain(wanted).min();
                self.now = self.now.max(calendar.now());
                if console.has_said()
                    && let Some(disk) = self.disks.iter().flatten().find(|d| d.is_ready())
                {
                    // The kernel takes input only when it runs, and it runs only when
                    // it wants to or a device calls. A call without cause is harmless.
                    self.now = self.now.max(reached.unwrap_or_default());
                    calendar.set_now(self.now);
                    disk.interrupt()?;
                    return calendar.run(self.now, bound(next, attended, self.now));
                }
                if console.holds(first) {
                    self.held = Some(first);
                    return Ok(());
                }
            }
            let (time, of_disk) = match (wanted, next) {
                (None, None) => return Err(LabError::Asleep),
                (Some(wanted), None) => (wanted, false),
                (None, Some(next)) => (next, true),
                (Some(wanted), Some(next)) => (wanted.min(next), next <= wanted),
            };
            // The clock never goes back, whatever was asked for.
            self.now = self.now.max(calendar.now()).max(time);
            self.limits.check_virtual(self.now)?;
            if !of_disk {
                let bounds = [next, self.limits.virtual_time];
                let bounds = bounds.into_iter().flatten().min();
                return calendar.run(self.now, bound(bounds, attended, self.now));
            }
            calendar.set_now(self.now);
            // The interrupts lower it where the guest handles them before it is
            // told to run; see SharedMemory.
            let mut interrupts = 0;
            let mut calls = 0;
            for (number, disk) in self.disks.iter_mut().enumerate() {
                let Some(disk) = disk else { continue };
                if disk.next_event().is_some_and(|t| t <= self.now) && disk.advance(self.now)? {
                    if calendar.has_devices() {
                        calls |= 1 << number;
                    } else {
                        disk.interrupt()?;
                    }
                    interrupts += 1;
                }
            }
            if interrupts > 0 {
                self.turns.interrupts += interrupts;
                calendar.set_calls(calls);
                // No bound by the limit here: the guest, handling the interrupt,
                // would lower it to the present and have to wait again at once.
                return calendar.run(self.now, bound(earliest(&self.disks), attended, self.now));
            }
        }
    }
}

/// How far the guest may run freely, where something happens at `next`.
fn bound(next: Option<Nanos>, attended: bool, now: Nanos) -> Option<Nanos> {
    next.or_else(|| attended.then(|| Nanos(now.0.saturating_add(SHORT_STEP))))
}

/// When the first disk has something to do.
fn earliest(disks: &[Option<Disk>]) -> Option<Nanos> {
    disks.iter().flatten().filter_map(Disk::next_event).min()
}

fn watch(epoll: &OwnedFd, fd: impl AsFd, number: u64) -> Result<(), LabError> {
    epoll::add(epoll, fd, EventData::new_u64(number), EventFlags::IN)
        .map_err(LabError::system("watch a socket"))
}
