//! Whether the next I/O reads or writes.

use disklab_jobfile::{Access, IoDirection};

use super::side;
use crate::random::Random;

/// Draws directions as fio does (get_rw_ddir in io_u.c): with the asked
/// probability, but after a change of direction the new one keeps on until it
/// has its share of what the other did.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    access: Access,
    read_percent: u32,
    current: IoDirection,
    /// I/Os that the current direction must have had before a new one is drawn.
    until: u64,
    issued: [u64; 2],
    random: Random,
}

impl Mix {
    pub(super) fn new(access: Access, read_percent: u8, seed: u64) -> Self {
        Self {
            access,
            read_percent: u32::from(read_percent.min(100)),
            current: if access.reads { IoDirection::Read } else { IoDirection::Write },
            until: 0,
            issued: [0, 0],
            random: Random::new(seed, 10),
        }
    }

    /// The direction of the next I/O. `due` may choose the other where this one
    /// has to wait for its rate.
    pub(super) fn draw(&mut self, due: impl FnOnce(IoDirection) -> IoDirection) -> IoDirection {
        if !(self.access.reads && self.access.writes) {
            return self.current;
        }
        if self.issued[side(self.current)] >= self.until {
            let drawn = if self.random.percent(self.read_percent) {
                IoDirection::Read
            } else {
                IoDirection::Write
            };
            if drawn != self.current {
                let share = match drawn {
                    IoDirection::Read => self.read_percent,
                    IoDirection::Write => 100 - self.read_percent,
                };
                self.until = self.issued[side(self.current)] * u64::from(share) / 100;
            }
            self.current = drawn;
        }
        self.current = due(self.current);
        self.current
    }

    /// Counts an I/O.
    pub(super) fn issued(&mut self, direction: IoDirection) {
        self.issued[side(direction)] += 1;
    }

    /// Writes so far.
    pub(super) fn writes(&self) -> u64 {
        self.issued[1]
    }

    /// Whether both directions occur.
    pub(super) fn is_mixed(&self) -> bool {
        self.access.reads && self.access.writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept() {
        for percent in [0_u8, 1, 30, 50, 70, 99, 100] {
            let access = Access { reads: true, writes: true, random: true };
            let mut mix = Mix::new(access, percent, 3);
            let mut reads = 0;
            for _ in 0..50_000 {
                let direction = mix.draw(|d| d);
                mix.issued(direction);
                reads += u32::from(direction == IoDirection::Read);
            }
            let share = f64::from(reads) / 500.0;
            assert!((share - f64::from(percent)).abs() < 1.5, "{percent}: {share}");
            assert!(mix.is_mixed());
        }
    }

    #[test]
    fn one_direction_is_never_left() {
        let access = Access { reads: false, writes: true, random: true };
        let mut mix = Mix::new(access, 0, 3);
        assert!((0..100).all(|_| mix.draw(|_| IoDirection::Read) == IoDirection::Write));
        mix.issued(IoDirection::Write);
        assert_eq!((mix.writes(), mix.is_mixed()), (1, false));
    }
}
