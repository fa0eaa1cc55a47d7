//! A hard disk's part of a drive file.

use disklab_config::{Fields, Node};
use disklab_source::SourceError;

use super::parameters::{Parameters, SeekTimes, WHOLE_QUEUE};
use crate::Transport;
use crate::sectors::SectorFormat;
use crate::values::{at, boolean, choice, link, number, optional_time, rate, time, whole};

/// Reads the fields of a hard disk.
///
/// # Errors
/// Where a field is missing or unknown, or the numbers are impossible.
pub(crate) fn read(root: &Node, fields: &mut Fields<'_>) -> Result<Parameters, SourceError> {
    let capacity = fields.require_bytes("capacity")?.0;
    let sectors = choice(fields, "sectors", &SectorFormat::WORDS)?;

    let mut geometry = Fields::new(fields.require("geometry")?, "'geometry'")?;
    let mut seek = Fields::new(fields.require("seek")?, "'seek'")?;
    let mut interface = Fields::new(fields.require("interface")?, "'interface'")?;
    let mut cache = Fields::new(fields.require("cache")?, "'cache'")?;
    let write_settle = time(&mut seek, "write-settle")?;
    let [read_seek, write_seek] = seeks(&mut seek, write_settle)?;
    let parameters = Parameters {
        capacity,
        visible: capacity,
        sectors,
        rpm: whole(&mut geometry, "rpm")?,
        heads: whole(&mut geometry, "heads")?,
        outer_rate: rate(&mut geometry, "outer-rate")?,
        inner_rate: rate(&mut geometry, "inner-rate")?,
        zones: whole(&mut geometry, "zones")?,
        zone_spread: geometry.parse("zone-spread", "a number")?.unwrap_or(0.0),
        tracks_per_head: whole(&mut geometry, "tracks-per-head")?,
        read_seek,
        write_seek,
        head_switch: time(&mut seek, "head-switch")?,
        write_settle,
        transport: Transport::read(&mut interface, Transport::Sata)?,
        link_rate: link(&mut interface, "link")?,
        read_overhead: time(&mut interface, "read-overhead")?,
        write_overhead: time(&mut interface, "write-overhead")?,
        queue_depth: whole(&mut interface, "queue-depth")?,
        ncq_quality: number(&mut interface, "ncq-quality")?,
        ncq_window: interface.integer("ncq-window", 0..=u64::MAX)?.unwrap_or(WHOLE_QUEUE),
        queue_age: time(&mut interface, "queue-age")?,
        cache: cache.require_bytes("size")?.0,
        segments: whole(&mut cache, "segments")?,
        segment_size: cache.require_bytes("segment-size")?.0,
        write_cache: boolean(&mut cache, "write-cache")?,
        dirty_limit: cache.require_bytes("dirty-limit")?.0,
        dirty_extents: whole(&mut cache, "dirty-extents")?,
        destage_step: cache.require_bytes("destage-step")?.0,
        destage_delay: time(&mut cache, "destage-delay")?,
        destage_age: time(&mut cache, "destage-age")?,
        persistent: cache.bytes("persistent")?.map_or(0, |size| size.0),
        persistent_write: optional_time(&mut cache, "persistent-write")?.unwrap_or(0),
        persistent_flush: cache.boolean("persistent-flush")?.unwrap_or(false),
    };
    for fields in [geometry, seek, interface, cache] {
        fields.finish()?;
    }
    parameters.check().map_err(|fault| at(root, fault.field).error(fault.message))?;
    Ok(parameters)
}

/// Seeks for reading and for writing, which settle longer if nothing more is stated.
fn seeks(seek: &mut Fields<'_>, write_settle: u64) -> Result<[SeekTimes; 2], SourceError> {
    let read = SeekTimes {
        single_track: time(seek, "single-track")?,
        average: time(seek, "average")?,
        full: time(seek, "full")?,
    };
    let assumed = read.later_by(write_settle);
    let write = SeekTimes {
        single_track: optional_time(seek, "write-single-track")?.unwrap_or(assumed.single_track),
        average: optional_time(seek, "write-average")?.unwrap_or(assumed.average),
        full: optional_time(seek, "write-full")?.unwrap_or(assumed.full),
    };
    Ok([read, write])
}
