//! Texts, and places in them.

use std::ops::Range;
use std::sync::Arc;

/// A file's name and text.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A range of bytes in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Shared by all locations in one file.
    pub source: Arc<Source>,
    /// Bytes in its text.
    pub span: Range<usize>,
}
