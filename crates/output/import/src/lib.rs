//! What other programs measured, read from their outputs and kept as a run.
//!
//! [`Import::read`] finds out each file's format ([`FORMATS`]: one file and one line in
//! a table each), reads it, and places every reading: stack, workload, repeat.
//! [`Import::write`] makes a run of it, and [`Import::published`] one of the figures
//! that were published about a study. A figure is taken as it stands or not at all:
//! errors show the line and the column.

mod breadth;
mod drives;
mod encoding;
mod error;
mod files;
mod fio_sections;
mod format;
mod formats;
mod import;
mod json;
mod mapping;
mod naming;
mod near;
mod prefixes;
mod profile;
mod published;
mod ranges;
mod reading;
mod sample;
mod study_text;
mod text;
mod write;

pub use drives::ImportedDrives;
pub use error::{FileFault, ImportError};
pub use format::ImportFormat;
pub use formats::{FORMATS, detect, find_format};
pub use import::{Import, ImportRequest, ImportTarget, ImportedCell, ReportedError};
pub use mapping::{Mapping, MappingTable, TABLE};
pub use published::PUBLISHED;
pub use reading::{ImportedWork, Reading, UNKNOWN_KIND};
pub use sample::ImportedSample;
pub use write::BENCH;
