//! The arm: how long it takes until a sector is under its head.

use super::geometry::{Geometry, Place};
use super::parameters::Parameters;
use super::rotation::Spindle;

/// The arm and what it stands on.
#[derive(Debug)]
pub(crate) struct Arm {
    /// Where sectors lie.
    pub(crate) geometry: Geometry,
    spindle: Spindle,
    head_switch: u64,
    write_settle: u64,
    cylinder: u64,
    head: u64,
    writing: bool,
}

impl Arm {
    /// An arm at the outer edge.
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self {
            geometry: Geometry::new(parameters),
            spindle: Spindle::new(parameters.turn(), seed),
            head_switch: parameters.head_switch,
            write_settle: parameters.write_settle,
            cylinder: 0,
            head: 0,
            writing: false,
        }
    }

    /// Positioning time: how long after `now` the sector at `place` begins to pass
    /// under its head, if the arm starts now.
    ///
    /// Seek and head switch go on at the same time. A write settles longer, unless
    /// the last operation wrote on this very track.
    pub(crate) fn positioning(&self, now: u64, place: &Place, write: bool) -> u64 {
        let seek = self.geometry.seek.time(self.cylinder.abs_diff(place.cylinder));
        let switches = self.head != place.head;
        let mut way = if switches { seek.max(self.head_switch) } else { seek };
        if write && (way > 0 || switches || !self.writing) {
            way += self.write_settle;
        }
        way + self.spindle.wait(now + way, place.pass)
    }

    /// Whether the arm must leave its cylinder for `place`.
    pub(crate) fn must_seek(&self, place: &Place) -> bool {
        self.cylinder != place.cylinder
    }

    /// Puts the arm where it is after an operation that ended at `place`.
    pub(crate) fn stand(&mut self, place: &Place, write: bool) {
        self.cylinder = place.cylinder;
        self.head = place.head;
        self.writing = write;
    }

    /// Time of a turn, ns.
    pub(crate) fn turn(&self) -> u64 {
        self.spindle.turn()
    }
}
