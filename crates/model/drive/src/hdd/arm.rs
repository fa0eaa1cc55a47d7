//! The arm: how long it takes until a sector is under its head.

use super::geometry::{Geometry, MediumPosition};
use super::parameters::Parameters;
use super::rotation::Spindle;

/// The longest time that a part of positioning may take, ns.
const SECOND: u64 = 1_000_000_000;

/// The arm and the geometry below it.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    /// Where sectors lie.
    pub(crate) geometry: Geometry,
    spindle: Spindle,
    head_switch: u32,
    write_settle: u32,
    cylinder: u64,
    head: u64,
    writing: bool,
}

impl Arm {
    /// An arm at the outer edge.
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        Self {
            geometry: Geometry::new(parameters, seed),
            spindle: Spindle::new(parameters.revolution(), seed),
            head_switch: parameters.head_switch.min(SECOND) as u32,
            write_settle: parameters.write_settle.min(SECOND) as u32,
            cylinder: 0,
            head: 0,
            writing: false,
        }
    }

    /// Positioning time: how long after `now` the sector at `place` begins to pass
    /// under its head, if the arm starts now.
    pub(crate) fn positioning(&self, now: u64, place: &MediumPosition, write: bool) -> u64 {
        let angle = self.spindle.angle(now);
        u64::from(self.positioning_within(angle, place, write, u32::MAX).unwrap_or(u32::MAX))
    }

    /// The angle under the heads at `now`.
    pub(crate) fn angle(&self, now: u64) -> u32 {
        self.spindle.angle(now)
    }

    /// Positioning time from the angle `here`, if it is below `bound`.
    ///
    /// Seek and head switch happen at the same time. A write settles longer, unless
    /// the last operation wrote on this very track; the seeks for writing contain
    /// that already. No such time can exceed 3 s and a revolution, so that it fits 32 bits:
    /// seeks, switches and settling are each 1 s at most (see [`Parameters::check`]),
    /// with some room for the curve's end.
    pub(crate) fn positioning_within(
        &self,
        here: u32,
        place: &MediumPosition,
        write: bool,
        bound: u32,
    ) -> Option<u32> {
        let distance = self.cylinder.abs_diff(place.cylinder);
        let switches = self.head != place.head;
        let curve = if write { &self.geometry.write_seek } else { &self.geometry.read_seek };
        let mut way = curve.time(distance) as u32;
        if switches {
            way = way.max(self.head_switch + if write { self.write_settle } else { 0 });
        } else if write && distance == 0 && !self.writing {
            way = self.write_settle;
        }
        if way >= bound {
            return None;
        }
        let time = way + self.spindle.wait(here, way, place.angle);
        (time < bound).then_some(time)
    }

    /// Whether the arm must leave its cylinder for `place`.
    pub(crate) fn must_seek(&self, place: &MediumPosition) -> bool {
        self.cylinder != place.cylinder
    }

    /// Puts the arm where it is after an operation that ended at `place`.
    pub(crate) fn set_position(&mut self, place: &MediumPosition, write: bool) {
        self.cylinder = place.cylinder;
        self.head = place.head;
        self.writing = write;
    }

    /// Time of a revolution, ns.
    pub(crate) fn revolution(&self) -> u64 {
        self.spindle.revolution()
    }
}
