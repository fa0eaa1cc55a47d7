//! Flowops that wait, count, or wake others.

use std::sync::atomic::Ordering;

use disklab_wml::{Attribute, Finish, Flowop, RowId};

use super::rate_memory::LimitUnit;
use super::{End, FlowopResult, Worker};

const MEBIBYTE: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;
/// `hog` looks at the clock after so many stores: a fraction of a millisecond.
const STORES: u64 = 1 << 20;

/// Writes to `byte` so many times: one store each, as upstream's loop, whose address stays in a
/// register. (Hiding the address from the compiler at each store makes it go through memory,
/// which took 2.5 times as long.)
fn store(byte: &mut u8, times: u64) {
    for _ in 0..times {
        // SAFETY: the byte is the caller's. A volatile store may not be left out.
        unsafe { std::ptr::write_volatile(byte, 1) };
    }
}

impl<'env> Worker<'_, 'env> {
    pub(super) fn event_limit(&mut self, flowop: &Flowop) -> FlowopResult {
        if self.shared.events.limited() {
            self.wait_for_events(flowop, 1);
        }
        Ok(())
    }

    /// Takes so many events, as soon as they are there.
    fn wait_for_events(&mut self, flowop: &Flowop, count: u64) {
        let due = self.shared.events.take(count, self.edge);
        if due <= self.edge {
            return self.count_here(flowop);
        }
        self.shared.control.sleep_until(due);
        self.count(flowop, 0);
    }

    /// What was done so far: by the target's flowops in this thread, or by the
    /// process.
    fn done_so_far(&self, target: Option<RowId>, unit: LimitUnit) -> u64 {
        match (target.and_then(|row| self.tallies.get(row)), self.place.process) {
            (Some(tally), _) if unit == LimitUnit::Mebibytes => tally.all_bytes,
            (Some(tally), _) => tally.all_operations,
            (None, None) => 0,
            (None, Some(process)) => match unit {
                LimitUnit::ReadsAndWrites => &process.reads_and_writes,
                LimitUnit::Operations => &process.operations,
                LimitUnit::Mebibytes => &process.bytes,
            }
            .load(Ordering::Relaxed),
        }
    }

    /// Waits for events for what was done since its last turn. All instances without
    /// a target pay for the whole process, as in Filebench.
    pub(super) fn limit(
        &mut self,
        flowop: &Flowop,
        target: Option<RowId>,
        unit: LimitUnit,
    ) -> FlowopResult {
        if !self.shared.events.limited() {
            return Ok(());
        }
        let strict = self.shared.options.strict;
        let done = self.done_so_far(target, unit);
        let memory = &mut self.memories[flowop.id];
        let last = memory.last.replace(done);
        // Filebench's first turn only looks, and so does each while nothing is done.
        let last = match last {
            None | Some(0) if strict => return Ok(()),
            last => last.unwrap_or_default(),
        };
        memory.credit -= i128::from(done.saturating_sub(last));
        let owed = u64::try_from(-memory.credit).unwrap_or(0);
        let (events, size) = match unit {
            LimitUnit::Mebibytes if strict => (owed / MEBIBYTE + u64::from(owed > 0), MEBIBYTE),
            LimitUnit::Mebibytes => (owed / MEBIBYTE, MEBIBYTE),
            _ => (owed, 1),
        };
        memory.credit += i128::from(events) * i128::from(size);
        if events == 0 {
            self.count_here(flowop);
        } else {
            self.wait_for_events(flowop, events);
        }
        Ok(())
    }

    pub(super) fn finish_on(
        &mut self,
        flowop: &Flowop,
        finish: &Finish,
        bytes: bool,
    ) -> FlowopResult {
        let memory = &mut self.memories[flowop.id];
        let value = match memory.value {
            Some(value) => value,
            None => *memory.value.insert(finish.value.draw(&mut self.place.rng)),
        };
        let unit = if bytes { LimitUnit::Mebibytes } else { LimitUnit::Operations };
        let done = self.done_so_far(finish.target, unit);
        self.count_here(flowop);
        let finished = if bytes { done > value } else { done >= value };
        if finished { Err(End::Finished) } else { Ok(()) }
    }

    pub(super) fn hog(&mut self, flowop: &Flowop, value: &Attribute) -> FlowopResult {
        let mut left = value.draw(&mut self.place.rng);
        let mut byte = 0_u8;
        while left > 0 {
            let now = left.min(STORES);
            store(&mut byte, now);
            left -= now;
            if left > 0 && self.shared.control.now() >= self.shared.control.end() {
                break;
            }
        }
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn delay(&mut self, flowop: &Flowop, value: &Attribute) -> FlowopResult {
        let seconds = value.draw(&mut self.place.rng);
        let until = self.edge.saturating_add(seconds.saturating_mul(SECOND_NS));
        self.shared.control.sleep_until(until);
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn print(&mut self, flowop: &Flowop, value: &Attribute) -> FlowopResult {
        let value = value.draw_exactly(&mut self.place.rng);
        self.shared.progress.tell(&format!("{}: {value}", flowop.name));
        self.count_here(flowop);
        Ok(())
    }

    pub(super) fn block(&mut self, flowop: &Flowop) -> FlowopResult {
        let own = self.place.signals.get(flowop.row).copied().flatten();
        if let Some(signal) = own.and_then(|own| self.shared.signals[flowop.row].get(own)) {
            signal.block(self.shared.options.strict, &self.shared.control);
        }
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn wake_up(&mut self, flowop: &Flowop, target: RowId) -> FlowopResult {
        for signal in self.shared.signals.get(target).into_iter().flatten() {
            signal.wake();
        }
        self.count_here(flowop);
        Ok(())
    }

    pub(super) fn sem_block(&mut self, flowop: &Flowop, value: &Attribute) -> FlowopResult {
        let count = value.draw(&mut self.place.rng);
        let own = self.place.signals.get(flowop.row).copied().flatten();
        if let Some(signal) = own.and_then(|own| self.shared.signals[flowop.row].get(own)) {
            signal.take(count, &self.shared.control);
        }
        self.count(flowop, 0);
        Ok(())
    }

    pub(super) fn sem_post(
        &mut self,
        flowop: &Flowop,
        value: &Attribute,
        target: RowId,
        blocking: bool,
    ) -> FlowopResult {
        for signal in self.shared.signals.get(target).into_iter().flatten() {
            let count = value.draw(&mut self.place.rng);
            signal.post(count, blocking, &self.shared.control);
        }
        self.count(flowop, 0);
        Ok(())
    }
}
