//! When and where a fault is.

use crate::Nanos;

/// When a fault begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// So long after the work began.
    At(Nanos),
    /// When the drive was given so many requests of the work.
    After(u64),
}

/// Where a fault is: sectors of 512 B, sorted, none twice; all if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Area(pub Vec<(u64, u64)>);

impl Area {
    /// The first part of `start..end` that lies in it; all of it if it is everywhere.
    pub fn cut(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if self.0.is_empty() {
            return Some((start, end));
        }
        let part = |(from, to): &(u64, u64)| {
            let part = (start.max(*from), end.min(*to));
            (part.0 < part.1).then_some(part)
        };
        self.0.iter().find_map(part)
    }

    /// Its ranges on a drive of so many sectors.
    pub fn ranges(&self, sectors: u64) -> Vec<(u64, u64)> {
        if self.0.is_empty() { vec![(0, sectors)] } else { self.0.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_place_it_is_everywhere() {
        let (everywhere, two) = (Area::default(), Area(vec![(8, 16), (32, 40)]));
        assert_eq!(everywhere.cut(3, 50), Some((3, 50)));
        assert_eq!(everywhere.ranges(100), [(0, 100)]);
        assert_eq!(
            [two.cut(3, 50), two.cut(20, 50), two.cut(16, 32)],
            [Some((8, 16)), Some((32, 40)), None]
        );
        assert_eq!(two.ranges(100), two.0);
    }
}
