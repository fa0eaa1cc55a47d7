//! What happens while the guest waits: the clock advances to the next event.

use std::sync::atomic::Ordering;

use disklab_drive::Nanos;

use super::EventLoop;
use crate::disk::Disk;
use crate::{LabError, ProtocolBreach};

/// How far a guest with an operator may go before it comes back, where nothing is to
/// happen: far enough to read the clock some hundred times, which lets a little
/// time pass each time (`timer_read` in `arch/um/kernel/time.c`), and not so far
/// that it would sleep while the operator is to be heard.
const SHORT_STEP: u64 = 100_000;

/// Where the guest's clock ends, after 292 years: `KTIME_MAX`. All that a drive adds
/// to it still fits into 64 bits.
const LAST: Nanos = Nanos(i64::MAX as u64);

impl EventLoop {
    /// The guest waits: lets time go by until something happens, and the guest run.
    pub(super) fn wait(&mut self) -> Result<(), LabError> {
        self.counts.waits += 1;
        self.in_a_row += 1;
        self.proceed()
    }

    /// Continues with a guest that waits, perhaps for long.
    pub(super) fn proceed(&mut self) -> Result<(), LabError> {
        // What it said before it waited decides whether time may go by.
        self.console_speaks()?;
        self.held = None;
        self.take_earlier_kicks()?;
        if self.limits.is_dark(self.now()) {
            return self.power_fails();
        }
        self.take_kicks()?;
        let Some(calendar) = &self.calendar else { return Ok(()) };
        let wanted = calendar.wanted();
        loop {
            let next = earliest(&self.disks);
            if self.attend(next, wanted)? {
                return Ok(());
            }
            let (time, of_disk) = match (wanted, next) {
                (None, None) => match self.limits.power_cut {
                    Some(cut) => (cut, false),
                    None => return Err(LabError::Asleep),
                },
                (Some(wanted), None) => (wanted, false),
                (None, Some(next)) => (next, true),
                (Some(wanted), Some(next)) => (wanted.min(next), next <= wanted),
            };
            if self.limits.is_dark(time) {
                return self.power_fails();
            }
            self.advance_to(time)?;
            if !of_disk {
                let bounds = [next, self.limits.bound()];
                return self.run(bounds.into_iter().flatten().min());
            }
            if self.interrupt()? {
                // No bound by the limit here: the guest, handling the interrupt,
                // would lower it to the present and have to wait again at once.
                return self.run(self.next_event());
            }
        }
    }

    /// When the first disk has something to do, or the power fails.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        earliest(&self.disks).into_iter().chain(self.limits.power_cut).min()
    }

    /// Hands on the kicks after which time has gone by, each at its time: no disk has
    /// anything to say since ([`Drive::least_latency`]).
    ///
    /// [`Drive::least_latency`]: disklab_drive::Drive::least_latency
    pub(super) fn take_earlier_kicks(&mut self) -> Result<(), LabError> {
        let Some(calendar) = &self.calendar else { return Ok(()) };
        let kicks = calendar.take_earlier_kicks();
        if kicks.is_empty() {
            return Ok(());
        }
        // The drives know no later time than this.
        let mut at = self.now;
        let now = self.present()?;
        for kick in kicks {
            at = kick.time.clamp(at, now);
            if self.limits.is_dark(at) {
                break;
            }
            let disk = self.disks.get_mut(kick.device as usize).and_then(Option::as_mut);
            if let Some(disk) = disk {
                disk.kicked(at, Some(kick.available), &mut self.content)?;
                self.counts.kicks += 1;
            }
        }
        Ok(())
    }

    /// The guest is gone, and with it what its disks could lose.
    pub(super) fn power_fails(&mut self) -> Result<(), LabError> {
        if let Some(cut) = self.limits.power_cut
            && !std::mem::replace(&mut self.is_dark, true)
        {
            for disk in self.disks.iter_mut().flatten() {
                disk.lose_power(cut, &mut self.content)?;
            }
            self.now = cut;
        }
        Ok(())
    }

    /// Hands on what the guest told by the calendar's memory before it waited.
    fn take_kicks(&mut self) -> Result<(), LabError> {
        let Some(calendar) = &self.calendar else { return Ok(()) };
        let mut kicks = calendar.take_kicks();
        if kicks == 0 {
            return Ok(());
        }
        // No time has gone by since: see `kernel/patches/devices.patch`.
        let now = self.present()?;
        while kicks != 0 {
            let index = kicks.trailing_zeros() as usize;
            kicks &= kicks - 1;
            if let Some(disk) = self.disks.get_mut(index).and_then(Option::as_mut) {
                disk.kicked(now, None, &mut self.content)?;
                self.counts.kicks += 1;
            }
        }
        Ok(())
    }

    /// The guest's time. It lies in memory that the guest writes too, while drives
    /// rely on a clock that never goes back and does not overflow.
    pub(super) fn present(&mut self) -> Result<Nanos, LabError> {
        self.now = self.now();
        if self.now > LAST {
            return Err(LabError::protocol("the calendar", ProtocolBreach::Clock(self.now.0)));
        }
        Ok(self.now)
    }

    /// Lets time go by until `time`; the guest still waits.
    fn advance_to(&mut self, time: Nanos) -> Result<(), LabError> {
        // The clock never goes back, whatever was asked for.
        self.now = self.now.max(time);
        let now = self.present()?;
        self.limits.check_virtual(now)
    }

    /// Gives back what the disks have done by now, and interrupts the guest where it
    /// wants to know. Returns whether it does.
    fn interrupt(&mut self) -> Result<bool, LabError> {
        let Some(calendar) = &self.calendar else { return Ok(false) };
        calendar.set_now(self.now);
        // The interrupts lower 'free until' where the guest handles them before it
        // is told to run; see SharedMemory.
        let mut interrupts = 0;
        let mut calls = 0_u128;
        for (number, disk) in self.disks.iter_mut().enumerate() {
            let Some(disk) = disk else { continue };
            if disk.next_event().is_some_and(|t| t <= self.now) && disk.advance(self.now)? {
                if calendar.has_devices() {
                    calls |= 1_u128.checked_shl(number as u32).unwrap_or(0);
                } else {
                    disk.interrupt()?;
                }
                interrupts += 1;
            }
        }
        if interrupts > 0 {
            self.counts.interrupts += interrupts;
            calendar.set_calls(calls);
        }
        Ok(interrupts > 0)
    }

    /// Has the waiting guest run, freely until something happens at `next`.
    pub(super) fn run(&mut self, next: Option<Nanos>) -> Result<(), LabError> {
        let bound = self.bound(next, self.now);
        if let Some(clock) = &self.clock {
            clock.store(self.now.0, Ordering::Relaxed);
        }
        self.calendar.as_mut().map_or(Ok(()), |calendar| calendar.run(self.now, bound))
    }

    /// How far the guest may run freely from `now` on, where something happens at
    /// `next`.
    pub(super) fn bound(&self, next: Option<Nanos>, now: Nanos) -> Option<Nanos> {
        let short = || Nanos(now.0.saturating_add(SHORT_STEP));
        next.or_else(|| self.console.is_some().then(short))
    }

    /// A guest without pending requests may run for ever without a word. Has it
    /// come back at its limit. (It may be past it by then: see `wait`.)
    pub(super) fn bound_idle_guest(&self) {
        if let (Some(calendar), Some(limit)) = (&self.calendar, self.limits.bound())
            && self.console.is_none()
            && earliest(&self.disks).is_none()
        {
            calendar.bound(limit);
        }
    }
}

/// When the first disk has something to do.
fn earliest(disks: &[Option<Disk>]) -> Option<Nanos> {
    disks.iter().flatten().filter_map(Disk::next_event).min()
}
