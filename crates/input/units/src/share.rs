//! Shares, in per cent.

use std::fmt;
use std::ops::RangeInclusive;

use crate::significant;

/// Why a text is no share.
#[derive(Debug, Clone, PartialEq)]
pub enum ParseShareError {
    /// No number.
    Unknown(String),
    /// A number without its `%`, which may be meant as a share or in per cent.
    Bare(String, f64),
    /// A share that makes no sense here, with those that do.
    Outside(String, RangeInclusive<f64>),
}

impl fmt::Display for ParseShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(text) => write!(f, "invalid share '{text}': write it in per cent, as 5%"),
            Self::Bare(text, number) => write!(
                f,
                "'{text}' may mean {text}% or {}: write the one that is meant with its %",
                show_share(*number)
            ),
            Self::Outside(text, bounds) => {
                let (least, most) = (show_share(*bounds.start()), show_share(*bounds.end()));
                write!(f, "{text} is outside {least} to {most}")
            }
        }
    }
}

impl std::error::Error for ParseShareError {}

/// Reads `5%`, `2.5 %`: 0.05, 0.025. The `%` must be there, for a bare `1` is 1 % to one
/// and the whole to another. Any finite number is taken; what makes sense is the caller's
/// to say.
///
/// # Errors
/// Where the text is no number, or has no `%`.
pub fn parse_share(text: &str) -> Result<f64, ParseShareError> {
    let trimmed = text.trim();
    let cut = || trimmed.chars().take(40).collect::<String>();
    let (number, is_bare) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim_end(), false),
        None => (trimmed, true),
    };
    // Rust reads 'inf', 'nan' and '1e3' too.
    let is_plain = number.chars().all(|c| c.is_ascii_digit() || ".+-".contains(c));
    let value = number.parse::<f64>().ok().filter(|value| is_plain && value.is_finite());
    match value {
        Some(value) if is_bare => Err(ParseShareError::Bare(cut(), value)),
        Some(value) => Ok(value / 100.0),
        None => Err(ParseShareError::Unknown(cut())),
    }
}

/// Reads a share as [`parse_share`] does, of which only those in `bounds` make sense.
///
/// # Errors
/// As for [`parse_share`], and [`ParseShareError::Outside`].
pub fn parse_share_within(text: &str, bounds: RangeInclusive<f64>) -> Result<f64, ParseShareError> {
    let share = parse_share(text)?;
    if bounds.contains(&share) {
        return Ok(share);
    }
    Err(ParseShareError::Outside(text.trim().to_owned(), bounds))
}

/// `5%`: as it was read by [`parse_share`], to a billionth.
pub fn show_share(share: f64) -> String {
    // 0.07 × 100 is 7.000000000000001.
    format!("{}%", (share * 1e11).round() / 1e9)
}

/// `5 %`, `4.3 %`: for a sentence, with two significant digits.
pub fn share_words(share: f64) -> String {
    let shown = significant(share * 100.0, 2);
    let short = match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.'),
        false => shown.as_str(),
    };
    format!("{short} %")
}

/// From this share on a figure in per cent is beyond all sense.
const MOST_SHARE: f64 = 1000.0;

/// Below this share one decimal shows none.
const LEAST_SHARE: f64 = 0.0005;

/// A share as per cent, `3 %` or `0.3 %`; what is beyond all sense, or too little for a decimal,
/// as a bound.
pub fn per_cent(share: f64) -> String {
    let value = share * 100.0;
    if value.is_nan() || value > 100.0 * MOST_SHARE {
        return format!(">{:.0} %", 100.0 * MOST_SHARE);
    }
    if share > 0.0 && share < LEAST_SHARE {
        return "<0.1 %".to_owned();
    }
    if value >= 9.95 || value == 0.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// A range of shares: `3 %`, or `0.3 % to 12 %`.
pub fn per_cents((low, high): (f64, f64)) -> String {
    let (a, b) = (per_cent(low), per_cent(high));
    // '<0.1 %' begins at 0.
    if a == b || b.starts_with('<') { b } else { format!("{a} to {b}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_are_per_cent() {
        for (text, share) in
            [("5%", 0.05), (" 2.5 % ", 0.025), ("0.05%", 0.0005), ("150%", 1.5), ("-1%", -0.01)]
        {
            assert_eq!(parse_share(text), Ok(share), "{text}");
        }
        for text in ["", "%", "five", "x%", "5%%", "% 5", "nan%", "inf%", "1e3%", "5 percent"] {
            let error = parse_share(text).expect_err(text).to_string();
            assert!(error.ends_with("write it in per cent, as 5%"), "{text}: {error}");
        }
    }

    #[test]
    fn a_bare_number_is_not_guessed_at() {
        for (text, expected) in [
            ("5", "'5' may mean 5% or 500%: write the one that is meant with its %"),
            ("0.05", "'0.05' may mean 0.05% or 5%: write the one that is meant with its %"),
        ] {
            assert_eq!(parse_share(text).expect_err(text).to_string(), expected);
        }
    }

    #[test]
    fn bounds_are_reported_as_they_are_written() {
        for text in ["0.1%", " 12.5 %", "50%"] {
            assert_eq!(parse_share_within(text, 0.001..=0.5), parse_share(text));
        }
        for text in ["0%", "-1%", "50.1%", "0.09%"] {
            let error = parse_share_within(text, 0.001..=0.5).expect_err(text);
            assert_eq!(error.to_string(), format!("{text} is outside 0.1% to 50%"));
        }
        let bare = parse_share_within("0.05", 0.001..=0.5).expect_err("bare").to_string();
        assert!(bare.contains("may mean 0.05% or 5%"), "{bare}");
    }

    #[test]
    fn shares_beyond_all_sense_are_bounds() {
        assert_eq!(per_cents((0.001, 0.5)), "0.1 % to 50 %");
        assert_eq!(per_cent(f64::INFINITY), ">100000 %");
        assert_eq!(per_cent(0.0004), "<0.1 %");
        assert_eq!(per_cents((0.0, 0.0)), "0 %");
        assert_eq!(per_cents((0.0, 0.0004)), "<0.1 %");
        assert_eq!(per_cents((0.0004, 0.12)), "<0.1 % to 12 %");
    }

    #[test]
    fn words_have_two_digits() {
        for (share, shown) in
            [(0.05, "5 %"), (0.0432, "4.3 %"), (0.123, "12 %"), (0.2, "20 %"), (1e-4, "0.01 %")]
        {
            assert_eq!(share_words(share), shown);
        }
        assert_eq!(show_share(0.07), "7%");
    }

    proptest! {
        #[test]
        fn shares_are_shown_as_read(thousandths in 0_u32..100_000) {
            let text = format!("{}%", f64::from(thousandths) / 1000.0);
            let share = parse_share(&text).expect("a share");
            prop_assert_eq!(show_share(share), text);
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,20}") {
            match parse_share(&text) {
                Ok(share) => prop_assert!(share.is_finite() && text.trim().ends_with('%')),
                Err(error) => prop_assert!(error.to_string().contains('%')),
            }
        }

        #[test]
        fn shares_outside_their_bounds_are_refused(
            thousandths in -1000_i32..200_000, least in 0.0_f64..1.0, more in 0.0_f64..1.0,
        ) {
            let text = format!("{}%", f64::from(thousandths) / 1000.0);
            let share = parse_share(&text).expect("a share");
            let bounds = least..=least + more;
            prop_assert_eq!(parse_share_within(&text, bounds.clone()).is_ok(), bounds.contains(&share));
        }

        #[test]
        fn numbers_need_their_sign(number in -1e6_f64..1e6) {
            let text = format!("{number:.3}");
            prop_assert!(matches!(parse_share(&text), Err(ParseShareError::Bare(..))));
            let with_sign = format!("{text}%");
            prop_assert!(parse_share(&with_sign).is_ok());
        }
    }
}
