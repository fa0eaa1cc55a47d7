//! Which parameters can belong to a drive.

use disklab_units::{Bytes, BytesPerSecond, show_nanoseconds};

use super::geometry::Geometry;
use super::parameters::{Parameters, SeekTimes, WHOLE_QUEUE};
use crate::fault::{self, Fault};

/// The largest capacity that is accepted: twice that of today's largest drives.
pub(crate) const LARGEST: u64 = 40_000_000_000_000;

/// The smallest: below, thirty zones have no cylinders to speak of.
pub(crate) const SMALLEST: u64 = 100_000_000;

impl Parameters {
    /// Whether the numbers go together.
    ///
    /// # Errors
    /// [`Fault`] of the first parameter that cannot be, with what was expected.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_sizes()?;
        self.check_ranges()?;
        self.check_rates()?;
        check_seeks(self.read_seek, ["single-track", "average", "full"])?;
        let names = ["write-single-track", "write-average", "write-full"];
        check_seeks(self.write_seek, names)?;
        self.check_cache()?;
        let zones = Geometry::new(self, 0).shortest_zone();
        if zones < 2 {
            return Err(Fault::new(
                ("geometry", "zones"),
                format!(
                    "{} zones are too many for {} on {} heads: the shortest would have {zones} \
                     cylinders; expected fewer zones",
                    self.zones,
                    Bytes(self.capacity).si(),
                    self.heads
                ),
            ));
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Fault> {
        let field = ("", "capacity");
        if !(SMALLEST..=LARGEST).contains(&self.capacity) {
            return Err(Fault::new(
                field,
                format!(
                    "a hard disk of {} cannot be modelled; expected from {} to {}",
                    Bytes(self.capacity).si(),
                    Bytes(SMALLEST).si(),
                    Bytes(LARGEST).si()
                ),
            ));
        }
        let physical = self.sectors.physical();
        if !self.capacity.is_multiple_of(physical) {
            return Err(Fault::new(
                field,
                format!("a capacity must be a multiple of the drive's sectors of {physical} B"),
            ));
        }
        fault::visible(self.visible, self.capacity, self.sectors)
    }

    fn check_ranges(&self) -> Result<(), Fault> {
        const SECOND: u64 = 1_000_000_000;
        let ranges = [
            ("geometry", "rpm", self.rpm, 1000, 30_000),
            ("geometry", "heads", self.heads, 1, 64),
            ("geometry", "zones", self.zones, 1, 200),
            ("geometry", "tracks-per-head", self.tracks_per_head, 1, 10_000),
            ("interface", "queue-depth", self.queue_depth, 1, 256),
            ("interface", "ncq-window", self.ncq_window, 1, WHOLE_QUEUE),
            ("cache", "segments", self.segments, 1, 256),
            ("cache", "dirty-extents", self.dirty_extents, 1, 4096),
        ];
        for (table, field, value, low, high) in ranges {
            fault::number((table, field), value, low, high)?;
        }
        let times = [
            ("seek", "single-track", self.read_seek.single_track, 1),
            ("seek", "average", self.read_seek.average, 1),
            ("seek", "full", self.read_seek.full, 1),
            ("seek", "write-single-track", self.write_seek.single_track, 1),
            ("seek", "write-average", self.write_seek.average, 1),
            ("seek", "write-full", self.write_seek.full, 1),
            ("seek", "head-switch", self.head_switch, 0),
            ("seek", "write-settle", self.write_settle, 0),
            ("interface", "read-overhead", self.read_overhead, 1),
            ("interface", "write-overhead", self.write_overhead, 1),
            ("cache", "persistent-write", self.persistent_write, 0),
        ];
        for (table, field, value, low) in times {
            fault::time((table, field), value, low, SECOND)?;
        }
        let waits = [
            ("interface", "queue-age", self.queue_age),
            ("cache", "destage-delay", self.destage_delay),
            ("cache", "destage-age", self.destage_age),
        ];
        for (table, field, value) in waits {
            if value > 3600 * SECOND {
                return Err(Fault::new(
                    (table, field),
                    format!("`{field}`: expected at most an hour"),
                ));
            }
        }
        fault::share(("geometry", "zone-spread"), self.zone_spread, 0.1)?;
        fault::share(("interface", "ncq-quality"), self.ncq_quality, 1.0)
    }

    fn check_rates(&self) -> Result<(), Fault> {
        let rates = [
            ("geometry", "outer-rate", self.outer_rate),
            ("geometry", "inner-rate", self.inner_rate),
            ("interface", "link", self.link_rate),
        ];
        for (table, field, rate) in rates {
            fault::rate((table, field), rate, 1e10)?;
        }
        if self.inner_rate > self.outer_rate {
            return Err(Fault::new(
                ("geometry", "inner-rate"),
                format!(
                    "the inner edge cannot be faster ({}) than the outer edge ({}): a revolution is \
                     shorter there",
                    BytesPerSecond(self.inner_rate).si(),
                    BytesPerSecond(self.outer_rate).si()
                ),
            ));
        }
        Ok(())
    }

    fn check_cache(&self) -> Result<(), Fault> {
        let least = self.sectors.physical();
        let sizes = [
            ("size", self.cache, 1 << 16, 1 << 36),
            ("segment-size", self.segment_size, least, self.cache),
            ("dirty-limit", self.dirty_limit, least, self.cache),
            ("destage-step", self.destage_step, least, 1 << 30),
            ("persistent", self.persistent, 0, self.cache),
        ];
        for (field, value, low, high) in sizes {
            fault::bytes(("cache", field), value, low, high, least)?;
        }
        let read = self.segments * self.segment_size;
        if read + self.dirty_limit > self.cache {
            return Err(Fault::new(
                ("cache", "size"),
                format!(
                    "{} segments of {} and {} of waiting writes do not fit into a memory of {}",
                    self.segments,
                    Bytes(self.segment_size).iec(),
                    Bytes(self.dirty_limit).iec(),
                    Bytes(self.cache).iec()
                ),
            ));
        }
        Ok(())
    }
}

/// Lee's curve must rise: both of its coefficients are at least 0. The fields' names
/// are those of the three times.
fn check_seeks(times: SeekTimes, names: [&'static str; 3]) -> Result<(), Fault> {
    let [first, average, full] =
        [times.single_track, times.average, times.full].map(|time| time as f64);
    let show = show_nanoseconds;
    if average > full || first > average {
        return Err(Fault::new(
            ("seek", if average > full { names[1] } else { names[0] }),
            format!(
                "seek times must rise from the single track ({}) over the average ({}) to the \
                 full stroke ({})",
                show(first),
                show(average),
                show(full)
            ),
        ));
    }
    let (low, high) = ((2.0 * first + full) / 3.0, (7.0 * first + 8.0 * full) / 15.0);
    if !(low..=high).contains(&average) {
        return Err(Fault::new(
            ("seek", names[1]),
            format!(
                "no rising seek curve of the usual form a·√d + b·d + c goes through these \
                 three times: with {} for a single track and {} for the full stroke, the \
                 average lies from {} to {}, not at {}",
                show(first),
                show(full),
                show(low),
                show(high),
                show(average)
            ),
        ));
    }
    Ok(())
}
