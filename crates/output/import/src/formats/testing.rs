//! What the formats' tests share.

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use crate::Reading;
use crate::format::ImportFormat;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source { name: "x.txt".to_owned(), text: text.to_owned() })
}

/// All readings of a text that the format's own detection must know.
pub(crate) fn readings(format: &ImportFormat, text: &str) -> Vec<Reading> {
    assert!((format.looks_like)(text), "{} does not know: {text}", format.name);
    format.read(&source(text)).unwrap_or_else(|e| panic!("{e}"))
}

/// The only reading of a text.
pub(crate) fn one(format: &ImportFormat, text: &str) -> Reading {
    let mut all = readings(format, text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// Why a text is refused.
pub(crate) fn fails(format: &ImportFormat, text: &str) -> SourceError {
    match format.read(&source(text)) {
        Ok(readings) => panic!("{text} is no error: {readings:?}"),
        Err(error) => error,
    }
}
