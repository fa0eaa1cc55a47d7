//! What makes one hard disk differ from another.

use crate::Transport;
use crate::sectors::SectorFormat;

/// Seek times as data sheets state them, settling included, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeekTimes {
    /// To the neighbouring cylinder.
    pub single_track: u64,
    /// The mean over all pairs of cylinders, each weighted alike (HGST's
    /// specifications: Σ (max + 1 − n) · (Tn.in + Tn.out) over all distances n).
    pub average: u64,
    /// From edge to edge.
    pub full: u64,
}

impl SeekTimes {
    /// Each longer by `settle`: writes where nothing more is known of them.
    pub fn later_by(self, settle: u64) -> Self {
        Self {
            single_track: self.single_track.saturating_add(settle),
            average: self.average.saturating_add(settle),
            full: self.full.saturating_add(settle),
        }
    }
}

/// A hard disk's data. [`crate::load`] checks them; code that makes them by hand calls
/// [`Parameters::check`]. Times are in ns, rates in B/s, sizes in B.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Capacity of the whole medium, a multiple of its physical sectors.
    pub capacity: u64,
    /// What of it the host sees, from the outer edge on; at most `capacity`.
    pub visible: u64,
    /// Sector sizes.
    pub sectors: SectorFormat,
    /// Turns per minute.
    pub rpm: u64,
    /// Recording surfaces.
    pub heads: u64,
    /// Sustained rate at the outer edge, switches of track and head included,
    /// as data sheets state it (HGST: bytes of a cylinder over its time).
    pub outer_rate: f64,
    /// The same at the inner edge.
    pub inner_rate: f64,
    /// Number of zones of equal track length.
    pub zones: u64,
    /// By how much the tracks of a zone may be longer or shorter in one unit of the model
    /// than in another, as a share: 0.01 is from 1 % less to 1 % more, drawn for each zone by
    /// the drive's seed. Disks of one make and batch differ, because each is recorded as
    /// densely as its own heads and platters bear (Krevat, Tucek, Ganger, 'Disks Are Like
    /// Snowflakes: No Two Are Alike', CMU-PDL-11-102, 2011). With it, the angle between two
    /// sectors far from each other is another one in each unit.
    pub zone_spread: f64,
    /// Neighbouring tracks that a head serves before the next head does
    /// (serpentine layout).
    pub tracks_per_head: u64,
    /// By distance; a read may begin before the head has settled fully.
    pub read_seek: SeekTimes,
    /// Seeks for writing: their settling is held to a narrower bound.
    pub write_seek: SeekTimes,
    /// Switch to another head of the same cylinder, for reading.
    pub head_switch: u64,
    /// What a write waits longer than a read after a switch of heads, and where it
    /// follows a read on the same track.
    pub write_settle: u64,
    /// How it is attached.
    pub transport: Transport,
    /// Payload that the link carries; see [`crate::SATA_LINKS`].
    pub link_rate: f64,
    /// What the controller does for each read before anything else.
    pub read_overhead: u64,
    /// The same for any other request.
    pub write_overhead: u64,
    /// Requests that the drive looks at, at a time; others wait.
    pub queue_depth: u64,
    /// Part of the queue, the oldest first, among which the next request is chosen by shortest
    /// positioning time: 1 is all of it, 0 the oldest request alone.
    pub ncq_quality: f64,
    /// The most requests that are looked at, however many wait. A firmware has little time for
    /// the choice while the medium works: older drives gain up to some depth and then no more.
    pub ncq_window: u64,
    /// A request that waited longer is carried out next.
    pub queue_age: u64,
    /// The drive's memory.
    pub cache: u64,
    /// Number of read segments; they and the write cache share the memory.
    pub segments: u64,
    /// Size of a read segment.
    pub segment_size: u64,
    /// Whether writes complete before they are on the medium.
    pub write_cache: bool,
    /// Written data that may wait for the medium.
    pub dirty_limit: u64,
    /// Separate ranges of written data that may wait for the medium: the window
    /// of the destage.
    pub dirty_extents: u64,
    /// The largest step of the destage.
    pub destage_step: u64,
    /// How long after a read the drive continues reading ahead before it destages.
    pub destage_delay: u64,
    /// How long written data may wait; after that, destages alternate with reads.
    pub destage_age: u64,
    /// How much of the waiting data outlasts a loss of power; 0 for none. With the write cache
    /// off, writes complete when they are part of it.
    pub persistent: u64,
    /// What the medium works to make data outlast it, by writing them to a log (a media cache). 0
    /// if the drive saves its memory to flash when power fails.
    pub persistent_write: u64,
    /// Whether a flush leaves in memory what outlasts a loss of power.
    pub persistent_flush: bool,
}

/// A window that no queue is longer than: a drive that looks at all that its quality allows.
pub const WHOLE_QUEUE: u64 = 256;

impl Parameters {
    /// Time of a revolution.
    pub fn revolution(&self) -> u64 {
        (60_000_000_000 + self.rpm / 2) / self.rpm.max(1)
    }

    /// A disk of this size with all zones of this one.
    #[must_use]
    pub(crate) fn shrunk_to(self, bytes: u64) -> Self {
        Self { capacity: bytes, visible: bytes, ..self }
    }

    /// The same drive, of which the host sees the outer `bytes` only, as with a
    /// partition or a host-protected area.
    ///
    /// # Errors
    /// Where the drive is smaller, or the size is no multiple of its logical sectors.
    pub fn limited_to(&self, bytes: u64) -> Result<Self, crate::Fault> {
        let limited = Self { visible: bytes, ..self.clone() };
        limited.check()?;
        Ok(limited)
    }
}
