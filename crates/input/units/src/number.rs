//! Numbers for people.

/// Beyond these, zeros would hide the digits.
const SENSIBLE: std::ops::Range<f64> = 1e-12..1e18;

/// `value` with `digits` significant digits: `12.3`, `0.0123`, `1230`; beyond what any drive or
/// clock has, with an exponent: `1.00e300`.
///
/// Digits left of the point are never rounded away: 12345 with three digits is
/// `12345`. Not-a-number and infinities are shown as `-`.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if !SENSIBLE.contains(&value.abs()) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let magnitude = value.abs().log10().floor() as i64;
    let decimals = (digits as i64 - 1 - magnitude).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    // 9.996 with three digits rounds to '10.00': one digit too many.
    let shown = text.chars().filter(char::is_ascii_digit).count();
    let leading_zeros = text
        .trim_start_matches('-')
        .chars()
        .take_while(|c| *c == '0' || *c == '.')
        .filter(|c| *c == '0')
        .count();
    if decimals > 0 && shown - leading_zeros > digits {
        let decimals = decimals - 1;
        return format!("{value:.decimals$}");
    }
    text
}

/// A factor by which sizes are scaled: `1/16` where that is what it is, else three digits.
pub fn scale_words(scale: f64) -> String {
    let inverse = 1.0 / scale;
    if scale < 1.0 && (inverse - inverse.round()).abs() < 1e-9 {
        format!("1/{}", inverse.round())
    } else {
        significant(scale, 3)
    }
}

/// So many of something: `1 stack`, `36 stacks`. `noun` is in the singular and takes an 's'.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `a`, `a and b`, `a, b and c`; beyond `most` the rest is counted.
pub fn list<'a>(items: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let items: Vec<&str> = items.into_iter().collect();
    // Naming one more is no longer than '1 more'.
    if items.len() > most + 1 {
        let (shown, rest) = items.split_at(most);
        return format!("{} and {} more", shown.join(", "), rest.len());
    }
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{list, scale_words, significant};

    #[test]
    fn lists_are_cut() {
        assert_eq!(list([], 3), "");
        assert_eq!(list(["a"], 3), "a");
        assert_eq!(list(["a", "b", "c", "d"], 3), "a, b, c and d");
        assert_eq!(list(["a", "b", "c", "d", "e"], 3), "a, b, c and 2 more");
    }

    #[test]
    fn scales_in_words() {
        assert_eq!(scale_words(0.0625), "1/16");
        assert_eq!(scale_words(0.3), "0.300");
        assert_eq!(scale_words(2.0), "2.00");
    }

    #[test]
    fn keeps_the_asked_digits() {
        for (value, shown) in [
            (0.0, "0"),
            (12.345, "12.3"),
            (9.996, "10.0"),
            (0.012_345, "0.0123"),
            (12_345.6, "12346"),
            (-3.0, "-3.00"),
            (f64::NAN, "-"),
            (1e300, "1.00e300"),
            (-2e-300, "-2.00e-300"),
        ] {
            assert_eq!(significant(value, 3), shown, "{value}");
        }
    }
}
