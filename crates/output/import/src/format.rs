//! What a format is.

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use crate::reading::Reading;

/// A format: the output of one program.
#[derive(Debug)]
pub struct ImportFormat {
    /// Its name on the command line, such as `fio-json`.
    pub name: &'static str,
    /// Which programs and versions write it, in one line.
    pub about: &'static str,
    pub(crate) looks_like: fn(&str) -> bool,
    pub(crate) read: fn(&Arc<Source>) -> Result<Vec<Reading>, SourceError>,
}
