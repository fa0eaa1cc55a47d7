//! The flash translation layer by itself.

use super::Layout;
use super::ftl::{Ftl, Wear};

/// The flash translation layer without times: which place of the flash each unit of the host
/// has, and what is written to keep places free.
#[derive(Debug, Clone)]
pub struct Translation(Ftl);

impl Translation {
    /// An empty drive with this layout; `None` if that has too few lines to work with.
    pub fn new(layout: Layout) -> Option<Self> {
        layout.is_sound().then(|| Self(Ftl::new(layout, 0.0)))
    }

    /// Writes one unit of the host.
    pub fn write(&mut self, unit: u32) {
        self.0.write(unit, 1);
        self.0.work.clear();
    }

    /// What was written so far.
    pub fn wear(&self) -> Wear {
        self.0.wear()
    }
}
