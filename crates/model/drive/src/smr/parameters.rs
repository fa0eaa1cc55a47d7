//! What makes one shingled drive differ from another.

use disklab_units::{Bytes, show_nanoseconds};

use crate::fault::{self, Fault};
use crate::hdd;

/// The longest time that any one parameter may give, ns: an hour.
const HOUR: u64 = 3_600_000_000_000;

/// A point of the table of commit times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitPoint {
    /// Size of a transaction, B.
    pub size: u64,
    /// From the arrival of its first write until it is committed, ns.
    pub time: u64,
}

/// A drive-managed shingled drive's data. [`crate::load`] checks them; code that makes
/// them by hand calls [`Parameters::check`]. Times are in ns, sizes in B.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Platters, arm, memory and link: those of a hard disk. Its capacity is what
    /// the bands hold; the persistent cache lies outside of it.
    pub disk: hdd::Parameters,
    /// The persistent cache: a log at the outer edge.
    pub log_size: u64,
    /// What a transaction leaves unused behind it in the log.
    pub log_padding: u64,
    /// The most extents that the map of the log can hold.
    pub map_entries: u64,
    /// Extents at unrelated places after which the map is written to the medium.
    pub map_flush_every: u64,
    /// How long writing the map takes; nothing else happens meanwhile.
    pub map_flush: u64,
    /// How soon a transaction can be committed, by its size; rising in both.
    pub commit: Vec<CommitPoint>,
    /// Neighbouring tracks of a band.
    pub band_tracks: u64,
    /// A sequential run of more than this goes straight home, from the next beginning of
    /// a band on, whether or not flushes come between.
    pub stream_after: u64,
    /// What a run may leave out between a write and the next; the drive reads it and
    /// writes it again.
    pub stream_skip: u64,
    /// The least of a run that goes straight home where a flush waits or the run pauses;
    /// less goes to the log, and so does the rest of its band.
    pub stream_least: u64,
    /// What cleaning a band takes beyond reading and writing it.
    pub cleaning_overhead: u64,
    /// Extents up to this size can be cleaned one by one.
    pub small_extent: u64,
    /// What cleaning one of them takes, where that is less than rewriting the band.
    pub small_cleaning: u64,
    /// How long the drive must have been idle before it cleans.
    pub idle_delay: u64,
}

impl Parameters {
    /// Whether the numbers go together.
    ///
    /// # Errors
    /// [`Fault`] of the first parameter that cannot be, with what was expected.
    pub fn check(&self) -> Result<(), Fault> {
        self.disk.check()?;
        self.check_sizes()?;
        self.check_commit()?;
        let counts = [
            ("persistent-cache", "map-entries", self.map_entries, 16, 1 << 24),
            ("persistent-cache", "map-flush-every", self.map_flush_every, 1, 1 << 24),
            ("bands", "tracks", self.band_tracks, 1, 10_000),
        ];
        for (table, field, value, low, high) in counts {
            fault::number((table, field), value, low, high)?;
        }
        let times = [
            ("persistent-cache", "map-flush", self.map_flush),
            ("bands", "cleaning-overhead", self.cleaning_overhead),
            ("bands", "small-cleaning", self.small_cleaning),
            ("bands", "idle-delay", self.idle_delay),
        ];
        for (table, field, value) in times {
            if value > HOUR {
                return Err(Fault::new(
                    (table, field),
                    format!("`{field}`: expected at most an hour"),
                ));
            }
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), Fault> {
        let unit = self.disk.sectors.physical();
        // The log must hold what the write cache can hold, and then some, or
        // cleaning could never make room for it.
        let least = 4 * (self.disk.dirty_limit + self.log_padding);
        let sizes = [
            ("persistent-cache", "size", self.log_size, least, self.disk.capacity / 2),
            ("persistent-cache", "padding", self.log_padding, 0, 1 << 30),
            ("cache", "persistent", self.disk.persistent, 0, 0),
            ("bands", "stream-after", self.stream_after, 0, 1 << 40),
            ("bands", "stream-skip", self.stream_skip, 0, 1 << 30),
            ("bands", "stream-least", self.stream_least, 0, 1 << 30),
            ("bands", "small-extent", self.small_extent, 0, 1 << 30),
        ];
        for (table, field, value, low, high) in sizes {
            fault::bytes((table, field), value, low, high, unit)?;
        }
        Ok(())
    }

    fn check_commit(&self) -> Result<(), Fault> {
        let field = ("persistent-cache", "commit-times");
        if self.commit.len() < 2 {
            return Err(Fault::new(
                field,
                "`commit-times`: expected two or more, one for each of `commit-sizes`",
            ));
        }
        let rises = |pair: &[CommitPoint]| {
            pair[0].size < pair[1].size && pair[0].time <= pair[1].time && pair[1].time <= HOUR
        };
        match self.commit.windows(2).find(|pair| !rises(pair)) {
            Some(pair) => Err(Fault::new(
                field,
                format!(
                    "`commit-times`: expected sizes and times that rise, to an hour at most; found \
                     {} in {} before {} in {}",
                    Bytes(pair[0].size).iec(),
                    show_nanoseconds(pair[0].time as f64),
                    Bytes(pair[1].size).iec(),
                    show_nanoseconds(pair[1].time as f64)
                ),
            )),
            None => Ok(()),
        }
    }

    /// The same drive, of which the host sees the first `bytes` only.
    ///
    /// # Errors
    /// Where the drive is smaller, or the size is no multiple of its logical sectors.
    pub fn limited_to(&self, bytes: u64) -> Result<Self, Fault> {
        Ok(Self { disk: self.disk.limited_to(bytes)?, ..self.clone() })
    }

    /// The medium with the log on it, outermost.
    pub(crate) fn medium(&self) -> hdd::Parameters {
        hdd::Parameters { capacity: self.disk.capacity + self.log_size, ..self.disk.clone() }
    }
}
