//! A shingled drive's part of a drive file.

use disklab_study::{Fields, Node, StudyError};
use disklab_units::Bytes;

use super::parameters::{CommitPoint, Parameters};
use crate::hdd;
use crate::values::{at, parse_time, time, whole};

/// Reads the fields of a shingled drive: those of a hard disk and two tables more.
///
/// # Errors
/// Where a field is missing or unknown, or the numbers are impossible.
pub(crate) fn read(root: &Node, fields: &mut Fields<'_>) -> Result<Parameters, StudyError> {
    let disk = hdd::read(root, fields)?;
    let mut log = Fields::new(fields.require("persistent-cache")?, "'persistent-cache'")?;
    let mut bands = Fields::new(fields.require("bands")?, "'bands'")?;
    let parameters = Parameters {
        disk,
        log_size: log.require_bytes("size")?.0,
        log_padding: log.require_bytes("padding")?.0,
        map_entries: whole(&mut log, "map-entries")?,
        map_flush_every: whole(&mut log, "map-flush-every")?,
        map_flush: time(&mut log, "map-flush")?,
        commit: commit(&mut log)?,
        band_tracks: whole(&mut bands, "tracks")?,
        stream_after: bands.require_bytes("stream-after")?.0,
        cleaning_overhead: time(&mut bands, "cleaning-overhead")?,
        small_extent: bands.require_bytes("small-extent")?.0,
        small_cleaning: time(&mut bands, "small-cleaning")?,
        idle_delay: time(&mut bands, "idle-delay")?,
    };
    log.finish()?;
    bands.finish()?;
    parameters.check().map_err(|fault| at(root, fault.field).error(fault.message))?;
    Ok(parameters)
}

/// The table of commit times: two lists of the same length.
fn commit(log: &mut Fields<'_>) -> Result<Vec<CommitPoint>, StudyError> {
    let (sizes, times) = (log.require("commit-sizes")?, log.require("commit-times")?);
    if sizes.items().len() != times.items().len() {
        return Err(times.error(format!(
            "`commit-times`: expected {}, one for each of `commit-sizes`, found {}",
            sizes.items().len(),
            times.items().len()
        )));
    }
    let point = |(size, time): (&Node, &Node)| {
        let text = size.as_text()?;
        let bytes: Bytes = text.trim().parse().map_err(|_| {
            size.error(format!("`commit-sizes`: expected a size such as '1 MiB', found '{text}'"))
        })?;
        Ok(CommitPoint { size: bytes.0, time: parse_time(time, "commit-times")? })
    };
    sizes.items().iter().zip(times.items()).map(point).collect()
}
