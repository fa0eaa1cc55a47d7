//! Lines and numbers of texts that programs print.

use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

#[derive(Debug, Clone)]
pub(crate) struct TextLine<'a> {
    source: &'a Arc<Source>,
    /// The line without its end.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
}

/// The lines of a text. A carriage return begins a new line too: progress
/// displays end with one.
pub(crate) fn lines(source: &Arc<Source>) -> Vec<TextLine<'_>> {
    let mut start = 0;
    let mut all = Vec::new();
    for piece in source.text.split_inclusive(['\n', '\r']) {
        let text = piece.trim_end_matches(['\n', '\r']);
        if !(text.is_empty() && piece == "\n" && source.text[..start].ends_with('\r')) {
            all.push(TextLine { source, text, start });
        }
        start += piece.len();
    }
    all
}

impl<'a> TextLine<'a> {
    /// Where it ends, in bytes.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The line's place.
    pub fn place(&self) -> Location {
        self.place_of(self.text)
    }

    /// The place of a part of the line, which must be cut from its text.
    pub fn place_of(&self, part: &str) -> Location {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let offset = if offset <= self.text.len() { offset } else { 0 };
        let start = self.start + offset;
        let end = (start + part.len()).min(self.source.text.len());
        Location { source: Arc::clone(self.source), span: start..end }
    }

    /// The place from a byte on, such as a run's first, to the end of the line.
    pub fn since(&self, start: usize) -> Location {
        span(self.source, start.min(self.start), self.end())
    }

    /// An error at the line.
    pub fn error(&self, message: impl Into<String>) -> SourceError {
        self.place_of(self.text.trim()).error(message)
    }

    /// A number in a part of the line.
    ///
    /// # Errors
    /// [`SourceError`] at `part` if it is not a number from 0 on.
    pub fn number(&self, part: &'a str, what: &str) -> Result<f64, SourceError> {
        decimal(part.trim()).ok_or_else(|| {
            let found = if part.trim().is_empty() { "nothing" } else { part.trim() };
            self.place_of(part.trim())
                .error(format!("{what}: expected a number from 0, found '{found}'"))
        })
    }

    /// The text behind `label` and a colon, equals sign or spaces, where the line
    /// begins with it.
    pub fn after(&self, label: &str) -> Option<&'a str> {
        let rest = self.text.trim_start().strip_prefix(label)?;
        Some(rest.trim_start().trim_start_matches([':', '=']).trim())
    }
}

/// From the first line to the last, as one place.
pub(crate) fn span(source: &Arc<Source>, start: usize, end: usize) -> Location {
    let length = source.text.len();
    Location {
        source: Arc::clone(source),
        span: start.min(length)..end.clamp(start.min(length), length),
    }
}

/// A number as programs print it in any locale: `12`, `0.5`, `0,5`, `4.2e-05`. Never
/// negative, never infinite; separators of thousands are refused, because whether
/// Whether '1,024' is a thousand or one follows only from its neighbours.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |t: &str| !t.is_empty() && t.chars().all(|c| c.is_ascii_digit());
    let (whole, part) = match mantissa.split_once(['.', ',']) {
        Some((whole, part)) => (whole, part),
        None => (mantissa, "0"),
    };
    let exponent = exponent.unwrap_or("0");
    let sound = digits(whole) && digits(part) && digits(exponent.trim_start_matches(['+', '-']));
    if !sound {
        return None;
    }
    format!("{whole}.{part}e{exponent}").parse().ok().filter(|n: &f64| n.is_finite())
}

/// A number and the unit that follows it, with or without a space: `(12.5,
/// "MB/s")`. The unit ends at a space, a comma, a bracket or their wide forms.
pub(crate) fn quantities(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        // Digits within a word, such as those of 'ext4', are no number.
        let in_word =
            rest[..start].chars().next_back().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let from = &rest[start..];
        let length = number_length(from);
        let (number, behind) = from.split_at(length);
        if !in_word {
            let unit = behind.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
            let ends =
                |c: char| c.is_whitespace() || c.is_ascii_digit() || ",;()[]（），、".contains(c);
            let end = unit.find(ends).unwrap_or(unit.len());
            found.push((number, &unit[..end]));
        }
        rest = behind;
    }
    found
}

/// How many bytes of a text that begins with a digit are its number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut length = digits(0);
    // All groups, so that separators of thousands do not cut a number in two.
    while matches!(bytes.get(length), Some(b'.' | b',')) && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        if digits(length + 1 + sign) > 0 {
            length += 1 + sign + digits(length + 1 + sign);
        }
    }
    length
}

/// How many bytes a unit of size is: `kB`, `MiB`, `GB`. SI letters are powers of
/// 1000, `i` makes them powers of 1024; none for what is no such unit, a bare letter
/// among them.
pub(crate) fn byte_unit(unit: &str) -> Option<f64> {
    let (power, base) = match unit {
        "B" => return Some(1.0),
        "kB" => (1, 1000.0_f64),
        "MB" => (2, 1000.0),
        "GB" => (3, 1000.0),
        "TB" => (4, 1000.0),
        "KiB" | "kiB" => (1, 1024.0),
        "MiB" => (2, 1024.0),
        "GiB" => (3, 1024.0),
        "TiB" => (4, 1024.0),
        _ => return None,
    };
    Some(base.powi(power))
}

/// Whether two figures of the same thing agree, where one of them is rounded to
/// `digits` significant digits: half a unit of the last, and what the other's own
/// rounding adds.
pub(crate) fn agree(exact: f64, rounded: f64, digits: i32) -> bool {
    let allowed = 0.6 * 10_f64.powi(1 - digits) + 0.01;
    exact > 0.0 && (rounded / exact - 1.0).abs() <= allowed
}

/// What one step of a printed number's last digit is: 0.1 of '2.5', 1 of '105'.
pub(crate) fn last_digit(number: &str) -> f64 {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let decimals = mantissa.split_once(['.', ',']).map_or(0, |(_, part)| part.len());
    let exponent: i32 = exponent.parse().unwrap_or(0);
    10_f64.powi(exponent.saturating_sub(i32::try_from(decimals).unwrap_or(i32::MAX)))
}

/// Whether a printed number of a unit is an exact figure, rounded as it is printed; one per cent
/// is for what the other was rounded to.
pub(crate) fn shows(printed: &str, unit: f64, exact: f64) -> bool {
    let allowed = 0.6 * last_digit(printed) * unit + 0.01 * exact;
    decimal(printed).is_some_and(|shown| (shown * unit - exact).abs() <= allowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_any_locale() {
        for (text, number) in [
            ("12", Some(12.0)),
            ("0.5", Some(0.5)),
            ("0,5", Some(0.5)),
            ("4.2e-05", Some(4.2e-5)),
            ("4,2e-05", Some(4.2e-5)),
            ("1e3", Some(1000.0)),
            ("1,048,576", None),
            ("1.048.576", None),
            ("-1", None),
            ("+1", None),
            (".5", None),
            ("5.", None),
            ("inf", None),
            ("1e999", None),
            ("1e", None),
            ("0x10", None),
            ("", None),
        ] {
            assert_eq!(decimal(text), number, "{text}");
        }
    }

    #[test]
    fn printed_numbers_stand_for_what_rounds_to_them() {
        for (printed, unit, exact, expected) in [
            ("0.2", 1000.0, 170.1, true),
            ("0.2", 1000.0, 130.0, false),
            ("0.0", 1000.0, 12.0, true),
            ("105", 1e6, 104_857_600.0, true),
            ("2,1", 1e6, 2_097_152.0, true),
            ("2.1e-05", 1.0, 2.14e-5, true),
            ("1,048,576", 1.0, 1_048_576.0, false),
        ] {
            assert_eq!(shows(printed, unit, exact), expected, "{printed}");
        }
    }

    #[test]
    fn quantities_with_their_units() {
        assert_eq!(
            quantities("1048576 bytes (1,0 MB, 1.0 MiB) copied, 4.2e-05 s, 25 GB/s"),
            [("1048576", "bytes"), ("1,0", "MB"), ("1.0", "MiB"), ("4.2e-05", "s"), ("25", "GB/s")]
        );
        assert_eq!(
            quantities("1048576字节（1.0 MB）已复制，2 s"),
            [("1048576", "字节"), ("1.0", "MB"), ("2", "s")]
        );
        assert_eq!(quantities("ext4 is no number"), []);
    }

    #[test]
    fn returns_and_newlines_end_lines() {
        let source = |text: &str| Arc::new(Source { name: "x".to_owned(), text: text.to_owned() });
        let texts =
            |text: &str| lines(&source(text)).iter().map(|l| l.text.to_owned()).collect::<Vec<_>>();
        assert_eq!(texts("a\r\nb\n\nc\rd"), ["a", "b", "", "c", "d"]);
        assert_eq!(texts(""), Vec::<String>::new());
    }

    #[test]
    fn an_error_shows_the_part() {
        let source = Arc::new(Source { name: "x".to_owned(), text: "a\nb: 1,2,3 s\n".to_owned() });
        let lines = lines(&source);
        let part = lines[1].after("b").expect("label");
        let error = lines[1].number(part, "seconds").expect_err("no number");
        assert_eq!((error.line, error.column), (2, 4));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([0-9.,eE+-]|[a-zA-Z /()%]|\\PC|\n|\r){0,80}") {
            let source = Arc::new(Source { name: "x".to_owned(), text });
            for line in lines(&source) {
                prop_assert_eq!(&source.text[line.start..line.end()], line.text);
                for (number, unit) in quantities(line.text) {
                    prop_assert!(number.starts_with(|c: char| c.is_ascii_digit()));
                    let _ = (decimal(number), byte_unit(unit), line.place_of(unit));
                }
            }
        }
    }
}
