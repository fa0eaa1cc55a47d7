//! The encodings in which outputs are kept.

use std::borrow::Cow;

/// A file's text: UTF-8, UTF-16, or else one byte for each character, of which the letters may be
/// wrong and the numbers are not. None if it is no text.
pub(crate) fn decode(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => plain(rest),
        // UTF-16 without its mark: every second byte of English is 0.
        [first, 0, third, 0, ..] if *first > 0 && *third > 0 => utf16(bytes, u16::from_le_bytes),
        [0, second, 0, fourth, ..] if *second > 0 && *fourth > 0 => {
            utf16(bytes, u16::from_be_bytes)
        }
        _ => plain(bytes),
    };
    text.map(|text| {
        let mut text = match without_colours(&text) {
            Cow::Owned(bare) => bare,
            Cow::Borrowed(_) => text,
        };
        // Between files that were joined, too.
        if text.contains('\u{feff}') {
            text = text.replace('\u{feff}', "");
        }
        // The line ends of old Macs.
        if text.contains('\r') && !text.contains('\n') {
            text = text.replace('\r', "\n");
        }
        text
    })
}

fn plain(bytes: &[u8]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    let is_control = |byte: u8| byte < 0x20 && !b"\t\n\r\x08\x0b\x0c\x1b".contains(&byte);
    let ascii = bytes.iter().filter(|byte| byte.is_ascii()).count();
    let is_text = ascii * 2 > bytes.len() && !bytes.iter().any(|byte| is_control(*byte));
    is_text.then(|| bytes.iter().map(|byte| char::from(*byte)).collect())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
}

/// Without what makes a terminal colour, move or clear (ECMA-48): `ESC [ 1 ; 31 m`.
fn without_colours(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find("\x1b[") else { return Cow::Borrowed(text) };
    let mut bare = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(at) = rest.find("\x1b[") {
        bare.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        // Parameters, and one final byte.
        let end = sequence.find(|c: char| !(' '..='?').contains(&c)).unwrap_or(sequence.len());
        rest = &sequence[end..];
        if rest.starts_with(|c: char| c.is_ascii()) {
            rest = &rest[1..];
        }
    }
    bare.push_str(rest);
    Cow::Owned(bare)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_every_encoding() {
        let le: Vec<u8> = "16 MB/s".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = "16 MB/s".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            b"16 MB/s".to_vec(),
            [b"\xef\xbb\xbf".as_slice(), b"16 MB/s"].concat(),
            [[0xff, 0xfe].as_slice(), &le].concat(),
            [[0xfe, 0xff].as_slice(), &be].concat(),
            le,
            be,
            b"\x1b[1;31m16\x1b[0m MB/s\x1b[K".to_vec(),
        ] {
            assert_eq!(decode(&bytes).as_deref(), Some("16 MB/s"), "{bytes:?}");
        }
        assert_eq!(decode("\u{feff}a\r\u{feff}b\r".as_bytes()).as_deref(), Some("a\nb\n"));
        assert_eq!(decode(b"a\rb\r\n").as_deref(), Some("a\rb\r\n"));
        assert_eq!(decode(b"copi\xe9s, 0,5 s").as_deref(), Some("copi\u{e9}s, 0,5 s"));
        for bytes in [b"\xff\x00\x80".as_slice(), b"\x7fELF\x02\x01\xff\x00", b"\xff\xfe\x00"] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "(\\PC|\x1b\\[|m|;){0,40}") {
            let _ = decode(&bytes);
            prop_assert!(decode(text.as_bytes()).is_some_and(|bare| bare.len() <= text.len()));
        }
    }
}
