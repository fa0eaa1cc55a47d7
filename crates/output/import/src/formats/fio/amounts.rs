//! Numbers as fio prints them for people: `67.9MiB`, `33.7MiB/s`, `16.8k`, `421Mibit/s`.

use crate::text::{decimal, last_digit};

/// A number as fio rounds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FioAmount {
    pub value: f64,
    /// The step of its last digit.
    pub step: f64,
}

/// What fio means by K, M and G: powers of 1000 since version 2.17, which writes `Ki` for
/// others, and of 1024 in sizes before.
pub(super) const THOUSAND: f64 = 1000.0;
pub(super) const BINARY: f64 = 1024.0;

impl FioAmount {
    /// Reads a number with its unit; `base` is what a prefix without `i` stands for.
    pub fn read(text: &str, base: f64) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','));
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let unit = unit.trim().trim_end_matches("/s");
        let (prefix, parts) = match (unit.strip_suffix("bit"), unit.strip_suffix('B')) {
            (Some(prefix), _) => (prefix, 8.0),
            (None, Some(prefix)) => (prefix, 1.0),
            (None, None) => (unit, 1.0),
        };
        let (letter, base) = match prefix.strip_suffix('i') {
            Some(letter) => (letter, BINARY),
            None => (prefix, base),
        };
        let power = ["", "k", "m", "g", "t", "p"]
            .iter()
            .position(|name| letter.eq_ignore_ascii_case(name))?;
        let factor = base.powi(i32::try_from(power).ok()?) / parts;
        Some(Self { value: decimal(number)? * factor, step: last_digit(number) * factor })
    }

    /// Whether it stands for an exact figure. fio cuts off as well as it rounds, and before
    /// version 2.17 got decimals wrong.
    pub fn shows(self, exact: f64) -> bool {
        (self.value - exact).abs() <= 1.01 * self.step + 0.002 * exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_units() {
        for (text, base, value, step) in [
            ("67.9MiB", THOUSAND, 67.9 * 1_048_576.0, 104_857.6),
            ("35.4MB/s", THOUSAND, 35.4e6, 1e5),
            ("1204KiB/s", THOUSAND, 1204.0 * 1024.0, 1024.0),
            ("40956KB/s", BINARY, 40956.0 * 1024.0, 1024.0),
            ("16.8k", THOUSAND, 16_800.0, 100.0),
            ("8970.5k", THOUSAND, 8_970_500.0, 100.0),
            ("421Mibit/s", THOUSAND, 421.0 * 131_072.0, 131_072.0),
            ("512B", THOUSAND, 512.0, 1.0),
            ("8632", THOUSAND, 8632.0, 1.0),
            ("0", THOUSAND, 0.0, 1.0),
        ] {
            let amount = FioAmount::read(text, base).expect(text);
            assert!((amount.value - value).abs() < 1e-6 * value.max(1.0), "{text}: {amount:?}");
            assert!((amount.step - step).abs() < 1e-6 * step, "{text}: {amount:?}");
        }
        for text in ["", "MiB", "1.2.3MiB", "5 apples", "1e3", "-5"] {
            assert_eq!(FioAmount::read(text, THOUSAND), None, "{text}");
        }
    }
}
