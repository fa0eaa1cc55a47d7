//! Byte patterns: `0xdeadbeef"text"-12%o` (lib/pattern.c).

use crate::error::PatternError;
use crate::job::PatternPart;
use crate::value::shown;

/// fio keeps 512 bytes up to 3.33, and 128 MiB since.
pub(crate) const LONGEST: usize = 64 << 10;

/// Reads a pattern; `%o` only where `offsets` says so.
pub(crate) fn pattern(text: &str, offsets: bool) -> Result<Vec<PatternPart>, PatternError> {
    let mut parts: Vec<PatternPart> = Vec::new();
    let mut rest = text.trim();
    let mut length = 0;
    if rest.is_empty() {
        return Err(PatternError::Missing);
    }
    while !rest.is_empty() {
        let (bytes, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let (text, after) = quoted.split_once('"').ok_or(PatternError::Unclosed)?;
            (text.as_bytes().to_vec(), after)
        } else if rest.starts_with('\'') {
            return Err(PatternError::File);
        } else if let Some(after) = rest.strip_prefix("%o") {
            if !offsets {
                return Err(PatternError::Offset);
            }
            parts.push(PatternPart::Offset);
            length += 8;
            rest = after;
            continue;
        } else {
            number(rest)?
        };
        length += bytes.len();
        if length > LONGEST {
            return Err(PatternError::TooLong { most: LONGEST });
        }
        if let Some(PatternPart::Bytes(before)) = parts.last_mut() {
            before.extend(bytes);
        } else if !bytes.is_empty() {
            parts.push(PatternPart::Bytes(bytes));
        }
        rest = after;
    }
    if parts.is_empty() { Err(PatternError::Empty) } else { Ok(parts) }
}

/// The bytes of a number at the start of `text`, and what follows it.
///
/// Hexadecimal ones stand as they are written. Of decimal ones, the fewest
/// bytes that hold them, the least first; negative ones have four.
fn number(text: &str) -> Result<(Vec<u8>, &str), PatternError> {
    let wrong = || PatternError::Invalid { found: shown(text) };
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        // In 0xff0x14 the second 0 belongs to the second number.
        let next = digits.get(end.saturating_sub(1)..end + 1);
        let end =
            if next.is_some_and(|next| next.eq_ignore_ascii_case("0x")) { end - 1 } else { end };
        let (digits, after) = digits.split_at(end);
        if digits.is_empty() {
            return Err(wrong());
        }
        // An odd digit stands alone in front.
        let mut bytes = Vec::with_capacity(digits.len() / 2 + 1);
        let (odd, even) = digits.split_at(digits.len() % 2);
        for pair in std::iter::once(odd)
            .filter(|o| !o.is_empty())
            .chain((0..even.len() / 2).map(|i| &even[2 * i..2 * i + 2]))
        {
            bytes.push(u8::from_str_radix(pair, 16).map_err(|_| wrong())?);
        }
        return Ok((bytes, after));
    }
    // A decimal number ends where a hexadecimal one begins: in -70xff that is behind the 7. As
    // strtol does, it passes over blanks before it, and a sign.
    let ahead = text.find("0x").into_iter().chain(text.find("0X")).min().filter(|at| *at > 0);
    let own = &text[..ahead.unwrap_or(text.len())];
    let begin = own.len() - own.trim_start().len();
    let sign = usize::from(own[begin..].starts_with(['-', '+']));
    let digits = own[begin + sign..].find(|c: char| !c.is_ascii_digit());
    let end = digits.map_or(own.len(), |length| begin + sign + length);
    let after = &text[end..];
    let value: i32 = own[begin..end].parse().map_err(|_| wrong())?;
    let bytes = value.to_le_bytes();
    let kept = bytes.iter().rposition(|b| *b != 0).map_or(1, |i| i + 1);
    Ok((bytes[..kept].to_vec(), after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_fios() {
        // Each seen in a file that fio 3.33 wrote.
        for (text, bytes) in [
            ("12", &[12][..]),
            ("-12", &[0xf4, 0xff, 0xff, 0xff]),
            ("256", &[0, 1]),
            ("65536", &[0, 0, 1]),
            ("0x123", &[1, 0x23]),
            ("0x0012", &[0, 0x12]),
            ("0xde\"ab\"-12", &[0xde, b'a', b'b', 0xf4, 0xff, 0xff, 0xff]),
            ("0", &[0]),
            ("12\"a\"", &[12, b'a']),
            ("\"ab\"-70xff", &[b'a', b'b', 0xf9, 0xff, 0xff, 0xff, 0xff]),
            ("-100xab\"1\"", &[0xf6, 0xff, 0xff, 0xff, 0xab, b'1']),
            ("0xff0x14", &[0xff, 0x14]),
            ("0xFF0X1", &[0xff, 1]),
            ("10xff", &[1, 0xff]),
            ("12 34", &[12, 34]),
            ("+5 -1", &[5, 0xff, 0xff, 0xff, 0xff]),
            ("1-2", &[1, 0xfe, 0xff, 0xff, 0xff]),
            ("\"a\" 12", &[b'a', 12]),
        ] {
            assert_eq!(
                pattern(text, false),
                Ok(vec![PatternPart::Bytes(bytes.to_vec())]),
                "{text}"
            );
        }
        assert_eq!(
            pattern("0xff%o\"a\"", true),
            Ok(vec![
                PatternPart::Bytes(vec![0xff]),
                PatternPart::Offset,
                PatternPart::Bytes(vec![b'a'])
            ])
        );
    }

    #[test]
    fn invalid_patterns_are_refused() {
        use PatternError::{Empty, File, Invalid, Missing, Offset, TooLong, Unclosed};
        let invalid = |found: &str| Invalid { found: found.to_owned() };
        for (text, error) in [
            ("", Missing),
            ("abc", invalid("abc")),
            ("\"a", Unclosed),
            ("'file'", File),
            ("%o", Offset),
            ("0x", invalid("0x")),
            ("123456789012", invalid("123456789012")),
            ("\"ab\" \"cd\"", invalid(" \"cd\"")),
            ("\"\"", Empty),
        ] {
            assert_eq!(pattern(text, false), Err(error), "{text}");
        }
        let long = pattern(&format!("0x{}", "00".repeat(LONGEST + 1)), false);
        assert_eq!(long, Err(TooLong { most: LONGEST }));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}", like in "(0x[0-9a-fé]{0,5}|\"|'|-|%o|[0-9]{1,12}| ){0,8}") {
            for text in [text, like] {
                let _ = pattern(&text, true);
            }
        }
    }
}
