//! Where one band ends and the next begins.

/// A stretch of the medium whose tracks are equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first sector.
    pub(crate) first: u64,
    /// The sector behind its last.
    pub(crate) end: u64,
    /// Sectors of a track.
    pub(crate) track: u64,
}

/// A band: neighbouring tracks that can only be written from the first on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Band {
    /// Its first sector.
    pub(crate) start: u64,
    /// The sector behind its last.
    pub(crate) end: u64,
}

impl Band {
    pub(crate) fn sectors(self) -> u64 {
        self.end - self.start
    }
}

/// The map of bands, which never changes (Aghayev and Desnoyers, 'Skylight', FAST
/// 2015, found such drives to map bands statically). A band has a fixed number of
/// tracks, so it holds less towards the centre, and takes as long to write
/// everywhere. The last band of a stretch has what is left.
#[derive(Debug, Clone)]
pub(crate) struct Bands {
    stretches: Vec<Stretch>,
    tracks: u64,
}

impl Bands {
    /// Bands of so many tracks on `stretches`, which follow one another. The first
    /// band begins at `first`, the last ends at `end`.
    pub(crate) fn new(stretches: &[Stretch], tracks: u64, first: u64, end: u64) -> Self {
        let clipped = stretches.iter().map(|stretch| Stretch {
            first: stretch.first.max(first),
            end: stretch.end.min(end),
            track: stretch.track.max(1),
        });
        Self {
            stretches: clipped.filter(|stretch| stretch.first < stretch.end).collect(),
            tracks: tracks.max(1),
        }
    }

    /// The band that holds a sector. One before the first band counts to it, one
    /// behind the last to that.
    pub(crate) fn at(&self, sector: u64) -> Band {
        let index = self.stretches.partition_point(|stretch| stretch.first <= sector);
        let Some(stretch) = self.stretches.get(index.saturating_sub(1)) else {
            return Band { start: sector, end: sector + 1 };
        };
        let length = self.tracks * stretch.track;
        let sector = sector.clamp(stretch.first, stretch.end - 1);
        let start = sector - (sector - stretch.first) % length;
        Band { start, end: (start + length).min(stretch.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
        prop::collection::vec((1_u64..50, 1_u64..20), 1..6).prop_map(|list| {
            let mut first = 0;
            list.into_iter()
                .map(|(track, tracks)| {
                    let stretch = Stretch { first, end: first + track * tracks, track };
                    first = stretch.end;
                    stretch
                })
                .collect()
        })
    }

    proptest! {
        /// Walking from band to band covers every sector once, in whole tracks.
        #[test]
        fn bands_follow_one_another(list in stretches(), tracks in 1_u64..8, x in 0.0..1.0_f64) {
            let end = list.last().unwrap().end;
            let first = (end as f64 * x) as u64;
            let bands = Bands::new(&list, tracks, first, end);
            let mut sector = first;
            while sector < end {
                let band = bands.at(sector);
                prop_assert_eq!(band.start, sector);
                prop_assert!(band.end > sector && band.end <= end);
                for inside in sector..band.end {
                    prop_assert_eq!(bands.at(inside), band);
                }
                let stretch = list.iter().find(|s| s.end > sector).unwrap();
                prop_assert!(band.sectors() <= tracks * stretch.track);
                prop_assert!(band.end == stretch.end || band.sectors() == tracks * stretch.track);
                sector = band.end;
            }
            prop_assert_eq!(sector, end);
        }
    }

    #[test]
    fn an_empty_medium_has_no_bands() {
        let bands = Bands::new(&[], 4, 0, 10);
        assert_eq!(bands.at(7), Band { start: 7, end: 8 });
    }
}
