//! What comes over the guest's sockets.

use disklab_drive::Nanos;
use rustix::event::epoll;

use super::{CALENDAR, EventLoop, watch};
use crate::calendar::{Calendar, CalendarMessage};
use crate::disk::{Activity, Disk};
use crate::vhost::Connection;
use crate::{LabError, ProtocolBreach, Sockets};

impl EventLoop {
    pub(super) fn accept_calendar(&mut self) -> Result<(), LabError> {
        let socket = Sockets::accept(&self.sockets.calendar)?;
        if self.calendar.is_some() {
            return Err(LabError::protocol("the calendar", ProtocolBreach::ConnectedTwice));
        }
        let calendar = Calendar::new(socket, self.time_of_day)?;
        calendar.set_free_until(self.bound(self.limits.bound(), Nanos(0)));
        calendar.set_kick_window(self.kick_window);
        watch(&self.epoll, calendar.fd(), CALENDAR)?;
        self.calendar = Some(calendar);
        Ok(())
    }

    pub(super) fn accept_disk(&mut self, number: u64) -> Result<(), LabError> {
        let index = number as usize;
        let name = Sockets::disk(index);
        let Some(listener) = self.sockets.disks.get(index) else { return Ok(()) };
        let link = Connection::new(Sockets::accept(listener)?, name.clone());
        let options = self.waiting.get_mut(index).and_then(Option::take);
        let options =
            options.ok_or_else(|| LabError::protocol(&name, ProtocolBreach::ConnectedTwice))?;
        let medium = self.media.get_mut(index).and_then(Option::take);
        let mut disk = Disk::new(link, options, index, medium)?;
        if self.limits.power_cut.is_some() {
            disk.watch_durability(&mut self.content)?;
        }
        watch(&self.epoll, disk.fd(), number)?;
        self.disks[index] = Some(disk);
        Ok(())
    }

    pub(super) fn calendar_speaks(&mut self) -> Result<(), LabError> {
        let Some(calendar) = &mut self.calendar else { return Ok(()) };
        match calendar.receive()? {
            CalendarMessage::Nothing => Ok(()),
            CalendarMessage::Waits => self.wait(),
            CalendarMessage::Ended => {
                // Its process ends too, and that is what counts.
                let _ = epoll::delete(&self.epoll, calendar.fd());
                Ok(())
            }
        }
    }

    pub(super) fn disk_speaks(&mut self, index: usize) -> Result<(), LabError> {
        self.in_a_row = 0;
        // They came before what is said now.
        self.take_earlier_kicks()?;
        let now = self.present()?;
        if self.limits.is_dark(now) {
            return self.power_fails();
        }
        let Some(calendar) = &self.calendar else {
            return Err(LabError::protocol(&Sockets::disk(index), ProtocolBreach::BeforeCalendar));
        };
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
                    self.counts.kicks += 1;
                    calendar.set_free_until(self.bound(self.next_event(), now));
                }
            }
            // Only now may the guest continue.
            if let Some(disk) = self.disks.get_mut(index).and_then(Option::as_mut) {
                disk.resume()?;
            }
        }
    }
}
