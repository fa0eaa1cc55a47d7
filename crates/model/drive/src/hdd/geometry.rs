//! Where sectors lie, in space and in the time of a pass over all of them.

use super::parameters::Parameters;
use super::rotation::uniform;
use super::seek::SeekCurve;
use super::zones::zone_shares;
use crate::smr::Stretch;

/// Bytes of the sectors in which everything is counted.
pub(crate) const SECTOR: u64 = 512;

/// Where a sector lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MediumPosition {
    /// Cylinder, from the outer edge.
    pub(crate) cylinder: u64,
    pub(crate) head: u64,
    /// When a pass over the whole medium, begun with sector 0 at 0, reaches its
    /// beginning, ns.
    pub(crate) pass: u64,
    /// The angle of its beginning: `pass` modulo the time of a revolution, ns.
    pub(crate) angle: u32,
}

#[derive(Debug, Clone, Copy)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    cylinders: u64,
    sectors_per_track: u64,
    pass: u64,
}

/// The layout of a drive.
///
/// Serpentine: a head serves `tracks_per_head` neighbouring tracks (a leg), then
/// the next head serves the same cylinders in the other direction, and so on
/// through all heads (a band). From track to track, sectors are turned by the
/// skew, just enough for a write to continue without losing a revolution. So a pass over
/// consecutive sectors never stops, and the time between any two sectors in it is
/// a difference of [`MediumPosition::pass`].
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    zones: Vec<Zone>,
    heads: u64,
    leg: u64,
    /// Time of a revolution, ns.
    pub(crate) revolution: u64,
    track_skew: u64,
    leg_skew: u64,
    band_skew: u64,
    cylinders: u64,
    /// Seek times for reading.
    pub(crate) read_seek: SeekCurve,
    /// Seek times for writing.
    pub(crate) write_seek: SeekCurve,
}

/// A track of a zone.
struct Track {
    cylinder: u64,
    head: u64,
    pass: u64,
}

impl Geometry {
    /// The layout of the unit of this seed.
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        // The seek curve wants the number of cylinders, which follows from the
        // skews, of which the band's follows from the seek curve. It is a
        // hundredth of a per cent of the time, so one round is enough.
        let mean = f64::midpoint(parameters.outer_rate, parameters.inner_rate);
        let track = mean * parameters.revolution() as f64 * 1e-9 * parameters.heads as f64;
        let cylinders = (parameters.capacity as f64 / track).max(1.0) as u64;
        let first = Self::layout(parameters, seed, cylinders);
        Self::layout(parameters, seed, first.cylinders)
    }

    /// The layout, with the seek curves of a drive of so many cylinders.
    fn layout(parameters: &Parameters, seed: u64, cylinders: u64) -> Self {
        let read_seek = SeekCurve::new(parameters.read_seek, cylinders);
        let write_seek = SeekCurve::new(parameters.write_seek, cylinders);
        let revolution = parameters.revolution();
        let heads = parameters.heads.max(1);
        let leg = parameters.tracks_per_head.max(1);
        let switch = parameters.head_switch + parameters.write_settle;
        let switch = if heads > 1 { switch } else { parameters.write_settle };
        // The band's last track lies at its first cylinder where the heads are
        // even; the way to the next band is then a leg.
        let way = if heads.is_multiple_of(2) { leg } else { 1 };
        let mut geometry = Self {
            zones: Vec::new(),
            heads,
            leg,
            revolution,
            track_skew: write_seek.time(1),
            leg_skew: switch,
            band_skew: write_seek.time(way).max(switch),
            cylinders: 0,
            read_seek,
            write_seek,
        };

        let shares = zone_shares(parameters);
        let unit = parameters.sectors.physical();
        let lengths: Vec<u64> = shares
            .iter()
            .zip(0..)
            .map(|(share, zone)| {
                let part = parameters.zone_spread * (2.0 * uniform(seed, zone) - 1.0);
                let bytes = (1.0 + part) * share.rate * geometry.mean_track_time() * 1e-9;
                ((bytes / unit as f64).round() as u64).max(1) * (unit / SECTOR)
            })
            .collect();
        let total = parameters.capacity / SECTOR;
        let mean: f64 = shares.iter().zip(&lengths).map(|(s, l)| s.cylinders * *l as f64).sum();
        let needed = total as f64 / (heads as f64 * mean);

        let (mut sector, mut pass) = (0, 0);
        for (index, (share, length)) in shares.iter().zip(lengths).enumerate() {
            let mut cylinders = (needed * share.cylinders).round() as u64;
            if index + 1 == shares.len() {
                // What was lost by rounding; spare sectors are never reached.
                cylinders = total.saturating_sub(sector).div_ceil(heads * length);
            }
            let zone = Zone {
                first_sector: sector,
                first_cylinder: geometry.cylinders,
                cylinders,
                sectors_per_track: length,
                pass,
            };
            geometry.zones.push(zone);
            geometry.cylinders += cylinders;
            if cylinders > 0 {
                sector += cylinders * heads * length;
                let last = geometry.track(&zone, cylinders * heads - 1);
                pass = last.pass + revolution + geometry.band_skew;
            }
        }
        geometry
    }

    /// A revolution and its part of the skews, ns.
    fn mean_track_time(&self) -> f64 {
        let [revolution, track, leg, band] =
            [self.revolution, self.track_skew, self.leg_skew, self.band_skew]
                .map(|time| time as f64);
        let tracks = self.leg as f64;
        revolution + track + (leg - track) / tracks + (band - leg) / (tracks * self.heads as f64)
    }

    /// Cylinders of the shortest zone.
    pub(crate) fn shortest_zone(&self) -> u64 {
        self.zones.iter().map(|zone| zone.cylinders).min().unwrap_or(0)
    }

    fn zone(&self, is_behind: impl Fn(&Zone) -> bool) -> &Zone {
        let index = self.zones.partition_point(|zone| !is_behind(zone));
        // The first zone begins at sector 0 and pass 0, so nothing lies before it.
        &self.zones[index.saturating_sub(1)]
    }

    fn track(&self, zone: &Zone, track: u64) -> Track {
        let band = track / (self.leg * self.heads);
        let within = track % (self.leg * self.heads);
        let leg = self.leg.min(zone.cylinders.saturating_sub(band * self.leg)).max(1);
        let (head, step) = (within / leg, within % leg);
        let column = if head.is_multiple_of(2) { step } else { leg - 1 - step };
        let legs = band * self.heads + head;
        Track {
            cylinder: zone.first_cylinder + band * self.leg + column,
            head,
            pass: zone.pass
                + track * self.revolution
                + (track - legs) * self.track_skew
                + (legs - band) * self.leg_skew
                + band * self.band_skew,
        }
    }

    /// Where a sector lies.
    pub(crate) fn place(&self, sector: u64) -> MediumPosition {
        let zone = self.zone(|zone| zone.first_sector > sector);
        let offset = sector - zone.first_sector;
        let track = self.track(zone, offset / zone.sectors_per_track);
        let within = offset % zone.sectors_per_track;
        let pass = track.pass + within * self.revolution / zone.sectors_per_track;
        // A revolution takes 60 ms at most.
        let angle = (pass % self.revolution) as u32;
        MediumPosition { cylinder: track.cylinder, head: track.head, pass, angle }
    }

    /// When a pass has gone over all sectors before `end`, which is above 0, ns.
    pub(crate) fn pass_of_end(&self, end: u64) -> u64 {
        let sector = end.saturating_sub(1);
        let zone = self.zone(|zone| zone.first_sector > sector);
        let offset = sector - zone.first_sector;
        let track = self.track(zone, offset / zone.sectors_per_track);
        let within = offset % zone.sectors_per_track + 1;
        track.pass + within * self.revolution / zone.sectors_per_track
    }

    /// The sector whose beginning a pass reached last at `pass`, or the next one
    /// where it is between two tracks: all before are behind it.
    pub(crate) fn sector_at(&self, pass: u64) -> u64 {
        let zone = self.zone(|zone| zone.pass > pass);
        let track_time = self.revolution + self.track_skew;
        let leg_time = |leg: u64| leg * track_time - self.track_skew + self.leg_skew;
        let band_time = self.heads * leg_time(self.leg) - self.leg_skew + self.band_skew;
        let last_band = zone.cylinders.saturating_sub(1) / self.leg;

        let offset = pass.saturating_sub(zone.pass);
        let band = (offset / band_time).min(last_band);
        let offset = offset - band * band_time;
        let leg = self.leg.min(zone.cylinders.saturating_sub(band * self.leg)).max(1);
        let head = (offset / leg_time(leg)).min(self.heads - 1);
        let offset = offset - head * leg_time(leg);
        let step = (offset / track_time).min(leg - 1);
        let offset = offset - step * track_time;

        let length = zone.sectors_per_track;
        // The largest s for which ⌊s · turn / length⌋ ≤ offset. The pass may be over
        // for as long as a drive can be idle.
        let within = (((offset.min(self.revolution) + 1) * length).div_ceil(self.revolution) - 1)
            .min(length);
        let track = band * self.leg * self.heads + head * leg + step;
        zone.first_sector + track * length + within
    }

    /// The zones as stretches of equally long tracks.
    pub(crate) fn stretches(&self) -> Vec<Stretch> {
        let stretch = |zone: &Zone| Stretch {
            first: zone.first_sector,
            end: zone.first_sector + zone.cylinders * self.heads * zone.sectors_per_track,
            track: zone.sectors_per_track,
        };
        self.zones.iter().map(stretch).collect()
    }

    /// Sectors on the track of a sector.
    pub(crate) fn track_length(&self, sector: u64) -> u64 {
        self.zone(|zone| zone.first_sector > sector).sectors_per_track
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drives;
    use proptest::prelude::*;

    #[test]
    fn a_pass_over_the_medium_takes_its_capacity_over_the_mean_rate() {
        for (id, p) in drives() {
            let geometry = Geometry::new(&p, 1);
            let seconds = geometry.pass_of_end(p.capacity / SECTOR) as f64 * 1e-9;
            let expected = p.capacity as f64 / f64::midpoint(p.outer_rate, p.inner_rate);
            assert!((seconds / expected - 1.0).abs() < 0.003, "{id}: {seconds} {expected}");
        }
    }

    #[test]
    fn a_pass_that_is_over_is_at_its_end_for_ever() {
        for (id, p) in drives() {
            let geometry = Geometry::new(&p, 1);
            let end = geometry.pass_of_end(p.capacity / SECTOR);
            let last = geometry.sector_at(end + 1_000_000_000);
            for later in [1 << 50, 1 << 53, 1 << 60, u64::MAX / 2] {
                assert_eq!(geometry.sector_at(end + later), last, "{id}");
            }
        }
    }

    #[test]
    fn a_write_may_continue_from_track_to_track() {
        for (id, p) in drives() {
            let geometry = Geometry::new(&p, 1);
            let mut sector = p.capacity / SECTOR / 3;
            let mut switches = 0;
            for _ in 0..3000 {
                let here = geometry.place(sector);
                let length = geometry.track_length(sector);
                let next = geometry.place(sector + length);
                let distance = here.cylinder.abs_diff(next.cylinder);
                let switch =
                    if here.head == next.head { 0 } else { p.head_switch + p.write_settle };
                switches += u64::from(here.head != next.head);
                let way = geometry.write_seek.time(distance).max(switch);
                assert!(next.pass >= here.pass + geometry.revolution + way, "{id}: {sector}");
                sector += length;
            }
            assert!(switches >= 3000 / (p.tracks_per_head + 1) - 1, "{id}: {switches}");
        }
    }

    #[test]
    fn no_two_units_have_far_sectors_at_the_same_angles() {
        for (id, p) in drives() {
            let p = Parameters { zone_spread: 0.01, ..p };
            let total = p.capacity / SECTOR;
            let angles = |seed: u64| -> Vec<u32> {
                let geometry = Geometry::new(&p, seed);
                assert_eq!(geometry.sector_at(geometry.place(total - 1).pass), total - 1, "{id}");
                (1..8).map(|n| geometry.place(total / 8 * n).angle).collect()
            };
            assert_eq!(angles(3), angles(3), "{id}: the same specimen");
            // Of the way between two angles drawn evenly, 0.1 % of a revolution is a rare one.
            let near = |(a, b): (&u32, &u32)| a.abs_diff(*b) < (p.revolution() / 1000) as u32;
            let same = angles(3).iter().zip(&angles(4)).filter(|pair| near(*pair)).count();
            assert!(same <= 1, "{id}: {same} of 7");
            let model = Parameters { zone_spread: 0.0, ..p.clone() };
            let outer = |p: &Parameters, seed| Geometry::new(p, seed).track_length(0) as f64;
            for seed in 0..20 {
                let ratio = outer(&p, seed) / outer(&model, seed);
                // A track holds whole sectors: some 270 of 4096 bytes at least.
                assert!((ratio - 1.0).abs() < 0.01 + 1.0 / 200.0, "{id}: {ratio}");
            }
            assert_eq!(outer(&model, 3), outer(&model, 4), "{id}: without it all are the model");
        }
    }

    proptest! {
        #[test]
        fn places_and_passes_agree(
            x in 0.0..1.0_f64,
            drive in 0_usize..7,
            length in 1_u64..9000,
            zone_spread in prop_oneof![Just(0.0), 0.0..0.1_f64],
            seed: u64,
        ) {
            let (id, p) = drives().swap_remove(drive);
            let p = Parameters { zone_spread, ..p };
            let geometry = Geometry::new(&p, seed);
            let total = p.capacity / SECTOR;
            let sector = ((total as f64 * x) as u64).min(total - 1);
            let place = geometry.place(sector);
            prop_assert!(place.head < p.heads && place.cylinder < geometry.cylinders, "{id}");
            prop_assert_eq!(geometry.sector_at(place.pass), sector);
            let end = geometry.pass_of_end(sector + 1);
            prop_assert!(end > place.pass);
            prop_assert!(geometry.place(sector + 1).pass >= end);
            prop_assert!(geometry.sector_at(end - 1) == sector);
            prop_assert!(geometry.pass_of_end(sector + length) > place.pass);
        }
    }
}
