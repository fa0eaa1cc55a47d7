//! Digests as text.

/// The first 64 bits in hexadecimal: keys are not secrets, and few.
pub(super) fn short(digest: &[u8]) -> String {
    hex(digest.get(..8).unwrap_or(digest))
}

/// A digest in hexadecimal.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
