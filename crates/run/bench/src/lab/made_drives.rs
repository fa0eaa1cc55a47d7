//! Drives on which a stack was made: one guest makes it, and each cell of that stack and block begins
//! with drives as that guest left them.

use std::sync::{Arc, Mutex, PoisonError};

use disklab_lab::KeptDisks;
use disklab_sample::{Sample, TraceEntry};
use disklab_stack::MadePool;

use crate::cell::add_made;

/// Drives on which a stack was made, and what there is to tell of the making.
pub(super) struct MadeDrives {
    pub disks: KeptDisks,
    pub sample: Sample,
    pub trace: Vec<TraceEntry>,
}

/// Those that were made last. Which they are cannot be seen in a figure: what was dropped, or was
/// made on another machine, is made again and is the same.
#[derive(Default)]
pub(super) struct MadeDrivesCache {
    slots: Mutex<Vec<(String, MadeDrivesSlot)>>,
}

type MadeDrivesSlot = Arc<Mutex<Option<Arc<MadeDrives>>>>;

impl MadeDrivesCache {
    /// The drives of this name, by `make` if they are not there. Who asks while somebody else makes
    /// them waits. At most `kept` are kept that no cell uses.
    pub fn get<E>(
        &self,
        name: &str,
        kept: usize,
        make: impl FnOnce() -> Result<MadeDrives, E>,
    ) -> Result<Arc<MadeDrives>, E> {
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

    fn slot(&self, name: &str, kept: usize) -> MadeDrivesSlot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = slots.iter().position(|(own, _)| own == name);
        let slot = match known {
            Some(at) => slots.remove(at).1,
            None => MadeDrivesSlot::default(),
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
    /// Adds to what the work tells, with its trace, what there is to tell of the making before it.
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
