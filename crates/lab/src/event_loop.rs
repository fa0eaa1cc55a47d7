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
use crate::content::Content;
use crate::disk::{Activity, Disk};
use crate::vhost::Connection;
use crate::{DiskOptions, LabError, Sockets};

/// How long between two looks at the clock and the user's wish.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A guest that never stands still is looked at after so many events.
const LOOK_EVENTS: u32 = 4096;

/// Numbers by which epoll tells what is ready: disks first, then their listeners.
const CALENDAR: u64 = u64::MAX;
const KERNEL: u64 = u64::MAX - 1;
const CALENDAR_LISTENER: u64 = u64::MAX - 2;
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
    now: Nanos,
}

impl EventLoop {
    /// A loop for `disks`, whose guest connects to `sockets`.
    pub fn new(
        sockets: Sockets,
        disks: Vec<DiskOptions>,
        content: Content,
        time_of_day: u64,
        limits: Limits,
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
            now: Nanos(0),
            sockets,
        };
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
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&LOOK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => return Err(LabError::system("wait for the guest")(e)),
            }
            since_look += 1;
            if events.is_empty() || since_look >= LOOK_EVENTS {
                since_look = 0;
                self.check_limits()?;
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
                    number if number >= LISTENERS => self.accept_disk(number - LISTENERS)?,
                    number => self.disk_speaks(number as usize)?,
                }
            }
            // By the time that it reads its first disk, it has made all its memory.
            if self.turns.kicks == 1 {
                kernel.has_memory();
            }
            if ended {
                return Ok(());
            }
        }
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
            && earliest(&self.disks).is_none()
        {
            calendar.set_free_until(Some(limit));
        }
    }

    fn accept_calendar(&mut self) -> Result<(), LabError> {
        let socket = Sockets::accept(&self.sockets.calendar)?;
        if self.calendar.is_some() {
            return Err(LabError::protocol("the calendar", "it connected twice"));
        }
        let calendar = Calendar::new(socket, self.time_of_day)?;
        calendar.set_free_until(self.limits.virtual_time);
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
                    calendar.set_free_until(earliest(&self.disks));
                }
            }
            // Only now may the guest go on.
            if let Some(disk) = self.disks.get_mut(index).and_then(Option::as_mut) {
                disk.resume()?;
            }
        }
    }

    /// The guest waits: lets time go by until something happens, and the guest run.
    fn turn(&mut self) -> Result<(), LabError> {
        let Some(calendar) = &mut self.calendar else { return Ok(()) };
        self.turns.waits += 1;
        let wanted = calendar.wanted();
        loop {
            let next = earliest(&self.disks);
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
                return calendar.run(self.now, bounds.into_iter().flatten().min());
            }
            calendar.set_now(self.now);
            // The interrupts lower it where the guest handles them before it is
            // told to run; see SharedMemory.
            let mut interrupts = 0;
            for disk in self.disks.iter_mut().flatten() {
                if disk.next_event().is_some_and(|t| t <= self.now) && disk.advance(self.now)? {
                    disk.interrupt()?;
                    interrupts += 1;
                }
            }
            if interrupts > 0 {
                self.turns.interrupts += interrupts;
                // No bound by the limit here: the guest, handling the interrupt,
                // would lower it to the present and have to wait again at once.
                return calendar.run(self.now, earliest(&self.disks));
            }
        }
    }
}

/// When the first disk has something to do.
fn earliest(disks: &[Option<Disk>]) -> Option<Nanos> {
    disks.iter().flatten().filter_map(Disk::next_event).min()
}

fn watch(epoll: &OwnedFd, fd: impl AsFd, number: u64) -> Result<(), LabError> {
    epoll::add(epoll, fd, EventData::new_u64(number), EventFlags::IN)
        .map_err(LabError::system("watch a socket"))
}
