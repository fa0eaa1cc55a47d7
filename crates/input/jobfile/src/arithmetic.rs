//! Terms of integers, which fio has `bc` compute where a property of the machine is in them.

/// Parentheses may nest so deep.
const DEEPEST: u32 = 64;

/// The value of a term; division is that of integers. `None` if it is not a term, or divides by
/// zero.
pub(crate) fn evaluate(term: &str) -> Option<i64> {
    let mut reader = TermReader { rest: term.trim(), depth: 0 };
    let value = reader.sum()?;
    reader.rest.is_empty().then_some(value)
}

struct TermReader<'a> {
    rest: &'a str,
    depth: u32,
}

impl TermReader<'_> {
    fn takes(&mut self, sign: char) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            value = if self.takes('+') {
                value.checked_add(self.product()?)?
            } else if self.takes('-') {
                value.checked_sub(self.product()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        loop {
            value = if self.takes('*') {
                value.checked_mul(self.factor()?)?
            } else if self.takes('/') {
                value.checked_div(self.factor()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn factor(&mut self) -> Option<i64> {
        let minus = self.takes('-');
        let value = if self.takes('(') {
            self.depth += 1;
            if self.depth > DEEPEST {
                return None;
            }
            let value = self.sum()?;
            self.depth -= 1;
            self.takes(')').then_some(value)?
        } else {
            let text = self.rest.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (digits, rest) = text.split_at(end);
            self.rest = rest;
            digits.parse().ok()?
        };
        if minus { value.checked_neg() } else { Some(value) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_are_those_of_bc() {
        for (term, value) in [
            ("2*4", Some(8)),
            ("2 + 3*4", Some(14)),
            ("(2+3)*4", Some(20)),
            ("7/2", Some(3)),
            ("10-2-3", Some(5)),
            ("-3+5", Some(2)),
            ("8*", None),
            ("8m*2", None),
            ("1/0", None),
            ("", None),
            ("9223372036854775807+1", None),
        ] {
            assert_eq!(evaluate(term), value, "{term}");
        }
        assert_eq!(evaluate(&"(".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn no_term_panics(term in "[-+*/() 0-9a]{0,40}") {
            let _ = evaluate(&term);
        }
    }
}
