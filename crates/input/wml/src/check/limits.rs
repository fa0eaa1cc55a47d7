//! What a script may have of what is kept.

/// Bytes that a text with variables may grow to.
pub(super) const MAX_TEXT: usize = 64 << 10;
/// Notes that are kept; more would not be read.
pub(super) const MAX_NOTES: usize = 100;
