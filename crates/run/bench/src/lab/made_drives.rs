//! Drives on which a stack was made: one guest makes it, and each cell of that stack and block begins
//! with drives as that guest left them.

use std::sync::{Arc, Mutex, PoisonError};

use disklab_lab::KeptDisks;
use disklab_sample::{Sample, TraceEntry};
use disklab_stack::MadePool;

use crate::making::add_made;

/// Drives on which a stack was made, and what the guest that made it reported.
pub(super) struct MadeDrives {
    pub disks: KeptDisks,
    pub sample: Sample,
    pub trace: Vec<TraceEntry>,
}

/// Those that were made last. Which they are cannot be seen in a figure: what was dropped, or was
/// made on another machine, is made again and is the same.
pub(super) struct MadeDrivesCache<D = MadeDrives> {
    slots: Mutex<Vec<(String, Slot<D>)>>,
}

/// Held by those that use the drives, and locked while they are made.
type Slot<D> = Arc<Mutex<Option<Arc<D>>>>;

impl<D> Default for MadeDrivesCache<D> {
    fn default() -> Self {
        Self { slots: Mutex::default() }
    }
}

impl<D> MadeDrivesCache<D> {
    /// The drives of this name, by `make` if they are not there. A caller waits while another one
    /// makes them. Of those that nobody asks for in this moment, the last so many are kept.
    pub fn get<E>(
        &self,
        name: &str,
        kept: usize,
        make: impl FnOnce() -> Result<D, E>,
    ) -> Result<Arc<D>, E> {
        let slot = self.slot(name, kept);
        // A thread that panicked while it made them has left nothing.
        let mut drives = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*drives {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        *drives = Some(Arc::clone(&made));
        Ok(made)
    }

    fn slot(&self, name: &str, kept: usize) -> Slot<D> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = slots.iter().position(|(own, _)| own == name);
        let slot = match known {
            Some(at) => slots.remove(at).1,
            None => Slot::default(),
        };
        // The last one is the one that was asked for last.
        slots.push((name.to_owned(), Arc::clone(&slot)));
        let most = slots.len().saturating_sub(kept);
        let mut at = 0;
        slots.retain(|(_, slot)| {
            at += 1;
            at > most || Arc::strong_count(slot) > 1
        });
        slot
    }
}

impl MadeDrives {
    /// Adds what the making reported to the sample of the work after it.
    pub fn add_to(&self, sample: &mut Sample) {
        let made = &self.sample;
        sample.overhead.make_seconds += made.overhead.make_seconds;
        let own = std::mem::take(&mut sample.notes);
        sample.notes.clone_from(&made.notes);
        sample.notes.extend(own.into_iter().filter(|note| !made.notes.contains(note)));
        for (name, text) in &made.environment.extra {
            sample.environment.extra.entry(name.clone()).or_insert_with(|| text.clone());
        }
        let pools = made.environment.conditions.iter().flat_map(|conditions| &conditions.pools);
        let pools = pools.map(|pool| MadePool {
            name: pool.name.clone(),
            ashift: pool.ashift.clone(),
            sync: pool.sync.clone(),
        });
        add_made(pools.collect(), sample);
        for before in &made.whole {
            match sample.whole.iter_mut().find(|own| own.drive == before.drive) {
                Some(own) => own.add(before),
                None => sample.whole.push(before.clone()),
            }
        }
        sample.trace = self.with_trace(std::mem::take(&mut sample.trace));
    }

    /// The commands of the making, and then these of the work, by one clock.
    pub fn with_trace(&self, own: Vec<TraceEntry>) -> Vec<TraceEntry> {
        let before = self.disks.at().0 as f64 / 1e9;
        let later =
            |entry: TraceEntry| TraceEntry { at_seconds: entry.at_seconds + before, ..entry };
        self.trace.iter().cloned().chain(own.into_iter().map(later)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn drives_are_made_once_as_long_as_they_are_kept() {
        let cache = MadeDrivesCache::<u32>::default();
        let count = AtomicU32::new(0);
        let make = || Ok::<_, ()>(count.fetch_add(1, Ordering::Relaxed));
        for (name, number) in [("a", 0), ("b", 1), ("a", 0), ("c", 2), ("a", 0), ("b", 3)] {
            assert_eq!(cache.get(name, 2, make).as_deref(), Ok(&number), "{name}");
        }
        // What could not be made is tried again.
        assert_eq!(cache.get("d", 2, || Err("full")), Err("full"));
        assert_eq!(cache.get("d", 2, || Ok::<_, &str>(9)).as_deref(), Ok(&9));
    }

    #[test]
    fn who_asks_meanwhile_waits() {
        let cache = MadeDrivesCache::<u32>::default();
        let count = AtomicU32::new(0);
        let make = || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok::<_, ()>(count.fetch_add(1, Ordering::Relaxed))
        };
        std::thread::scope(|scope| {
            for name in ["a", "b", "a", "b", "a"] {
                // Both are kept: on a loaded machine, one may be made before the next thread begins.
                scope.spawn(|| cache.get(name, 2, make).expect("made"));
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
