//! The formats that can be imported: one file each, and one line in [`FORMATS`].

mod bonnie;
mod bonnie_line;
mod bonnie_table;
mod csv_rows;
mod dd;
mod dd_commands;
mod diskmark;
mod diskspd;
mod elbencho;
mod filebench;
mod fio;
mod hdparm;
#[cfg(test)]
mod hostile;
mod hyperfine;
mod iozone;
mod phoronix;
mod sysbench;
#[cfg(test)]
pub(crate) mod testing;
mod time;

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use crate::format::ImportFormat;
use crate::ranges::check_ranges;
use crate::reading::Reading;

/// All formats. Where a text looks like several, the first counts: `time` stands last,
/// because its lines often stand below another program's.
pub static FORMATS: &[ImportFormat] = &[
    fio::JSON,
    fio::TEXT,
    fio::TERSE,
    hyperfine::FORMAT,
    phoronix::FORMAT,
    elbencho::FORMAT,
    bonnie::FORMAT,
    diskmark::FORMAT,
    diskspd::FORMAT,
    iozone::FORMAT,
    sysbench::FORMAT,
    filebench::FORMAT,
    hdparm::FORMAT,
    dd::FORMAT,
    time::FORMAT,
];

/// `None` if no format is called so; see `disklab list formats`.
pub fn find_format(name: &str) -> Option<&'static ImportFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that a text looks like.
pub fn detect(text: &str) -> Option<&'static ImportFormat> {
    FORMATS.iter().find(|format| (format.looks_like)(text))
}

impl ImportFormat {
    /// Whether a text of `first` may have an output of this format before or behind it, which is
    /// another measurement: not the same one in another form, nor how long it took.
    pub(crate) fn may_stand_next_to(&self, first: &Self) -> bool {
        let program = |format: &Self| format.name.split('-').next().unwrap_or_default().to_owned();
        let is_time = |format: &Self| format.name == time::FORMAT.name;
        program(self) != program(first) && !is_time(self) && !is_time(first)
    }

    /// Reads a text of this format.
    ///
    /// # Errors
    /// [`SourceError`] at the first line that this program does not print, or at a figure that
    /// contradicts others.
    pub fn read(&self, source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
        Ok(self.read_joined(source)?.into_iter().flat_map(Reading::each).collect())
    }

    /// As [`Self::read`], with many runs of one command as one reading that has repeats.
    pub(crate) fn read_joined(&self, source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
        let readings = (self.read)(source)?;
        readings.iter().try_for_each(check_ranges)?;
        Ok(readings)
    }
}
