//! Texts from bytes.

use std::sync::Arc;

use crate::{Location, Source, SourceError};

impl Source {
    /// A file's name and content.
    ///
    /// # Errors
    /// The place of the first byte that is no UTF-8.
    pub fn from_bytes(name: String, bytes: Vec<u8>) -> Result<Self, SourceError> {
        let (at, bytes) = match String::from_utf8(bytes) {
            Ok(text) => return Ok(Self { name, text }),
            Err(error) => (error.utf8_error().valid_up_to(), error.into_bytes()),
        };
        let byte = bytes.get(at).copied().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let source = Arc::new(Self { name, text });
        // The byte stands as the replacement character, of three bytes.
        let place = Location { source, span: at..at + 3 };
        Err(place.error(format!("not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_utf8_is_reported_with_its_location() {
        let read = |bytes: &[u8]| Source::from_bytes("a.f".to_owned(), bytes.to_vec());
        assert_eq!(read("naïve\n".as_bytes()).map(|source| source.text), Ok("naïve\n".to_owned()));
        let error = read(b"run 5\n# na\xefve \xff\n").expect_err("Latin-1");
        assert_eq!((error.line, error.column), (2, 5));
        let shown = error.to_string();
        assert!(shown.starts_with("a.f:2:5: not UTF-8 (byte 0xef)"), "{shown}");
        // Cut in the middle of a character, and at the very end.
        assert_eq!(read(b"\xe2\x82").map_err(|e| e.column).map(|_| ()), Err(1));
    }
}
