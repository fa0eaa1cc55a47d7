//! Reading a layer's options, with errors that say what was expected.

use disklab_cell::LayerSpec;
use disklab_source::{SourceError, did_you_mean, one_of};
use disklab_units::Bytes;

/// The options of one layer. [`OptionReader::finish`] refuses whatever was never
/// asked for, so that a misspelt option is never silently ignored.
#[derive(Debug)]
pub(crate) struct OptionReader<'a> {
    spec: &'a LayerSpec,
    asked: Vec<&'static str>,
}

impl<'a> OptionReader<'a> {
    /// The options of `spec`.
    pub fn new(spec: &'a LayerSpec) -> Self {
        Self { spec, asked: Vec::new() }
    }

    /// The text of an option; an option without value gives an empty text.
    pub fn text(&mut self, name: &'static str) -> Option<&'a str> {
        self.asked.push(name);
        self.spec.option(name)
    }

    /// An option that stands alone, such as `discard`.
    ///
    /// # Errors
    /// [`SourceError`] at the option if it has a value.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, SourceError> {
        match self.text(name) {
            None => Ok(false),
            Some("") => Ok(true),
            Some(value) => Err(self.expected(name, "no value", value)),
        }
    }

    /// One of a few words.
    ///
    /// # Errors
    /// [`SourceError`] at the value, with all `words`.
    pub fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, SourceError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| Some(*value));
        found.ok_or_else(|| self.expected(name, &one_of(words.iter().map(|(word, _)| *word)), text))
    }

    /// A size of at least one byte.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not a size.
    pub fn size(&mut self, name: &'static str) -> Result<Option<Bytes>, SourceError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse() {
            Ok(Bytes(0)) => Err(self.expected(name, "a size above 0", text)),
            Ok(size) => Ok(Some(size)),
            Err(e) => Err(self.spec.error(format!("{}: `{name}`: {e}", self.spec.name))),
        }
    }

    /// A size that is a power of two between `low` and `high`, both included.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not a power of two from `low` to `high`.
    pub fn power_of_two(
        &mut self,
        name: &'static str,
        low: Bytes,
        high: Bytes,
    ) -> Result<Option<Bytes>, SourceError> {
        match self.size(name)? {
            Some(size) if !(size.0.is_power_of_two() && size >= low && size <= high) => {
                let expected = format!("a power of two from {low} to {high}");
                Err(self.expected(name, &expected, self.spec.option(name).unwrap_or_default()))
            }
            other => Ok(other),
        }
    }

    /// A whole number within `range`.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not an integer in `range`.
    pub fn integer(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<Option<u32>, SourceError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().ok().filter(|n| range.contains(n)).map(Some).ok_or_else(|| {
            let expected = format!("an integer from {} to {}", range.start(), range.end());
            self.expected(name, &expected, text)
        })
    }

    /// An error about the value of an option.
    pub fn expected(&self, name: &str, expected: &str, found: &str) -> SourceError {
        let found = if found.is_empty() { "no value".to_owned() } else { format!("'{found}'") };
        self.spec.error(format!("{}: `{name}`: expected {expected}, found {found}", self.spec.name))
    }

    /// # Errors
    /// [`SourceError`] at the first option that nothing asked for, with the one that may be meant.
    pub fn finish(self) -> Result<(), SourceError> {
        let unknown = self.spec.options.iter().find(|(key, _)| !self.asked.contains(&key.as_str()));
        let Some((key, _)) = unknown else { return Ok(()) };
        let known = self.asked.iter().copied();
        Err(self.spec.error(format!(
            "'{key}' is not an option of {}{}; expected {}",
            self.spec.name,
            did_you_mean(key, known.clone()),
            one_of(known)
        )))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use disklab_cell::{LayerSpec, parse_layers};
    use disklab_config::{Node, Value};
    use disklab_source::{Location, Source};
    use proptest::prelude::*;

    use super::*;

    /// The layer that a text such as `md-raid5[chunk=64K]` describes.
    pub(crate) fn spec(text: &str) -> LayerSpec {
        let source = Arc::new(Source { name: "test".to_owned(), text: text.to_owned() });
        let place = Location { source, span: 0..text.len() };
        let node = Node { value: Value::Text(text.to_owned()), place };
        parse_layers(&node).expect("a layer").remove(0)
    }

    #[test]
    fn values_are_checked() {
        let spec = spec("x[a=64K,b,c=7,d=near]");
        let mut reading = OptionReader::new(&spec);
        assert_eq!(reading.size("a"), Ok(Some(Bytes::kib(64))));
        assert_eq!(reading.flag("b"), Ok(true));
        assert_eq!(reading.integer("c", 1..=7), Ok(Some(7)));
        assert_eq!(reading.word("d", &[("near", 1), ("far", 2)]), Ok(Some(1)));
        assert_eq!(reading.size("absent"), Ok(None));
        assert_eq!(reading.finish(), Ok(()));
    }

    #[test]
    fn errors_say_what_was_expected() {
        let spec = spec("x[size=0,chunk=3K,bitmap=yes,speed,chnk=1]");
        let mut reading = OptionReader::new(&spec);
        for (error, words) in [
            (reading.size("size").map(drop), "x: `size`: expected a size above 0, found '0'"),
            (
                reading.power_of_two("chunk", Bytes::kib(4), Bytes::mib(1)).map(drop),
                "expected a power of two from 4 KiB to 1 MiB, found '3K'",
            ),
            (
                reading.word("bitmap", &[("none", 0), ("internal", 1)]).map(drop),
                "`bitmap`: expected 'none' or 'internal', found 'yes'",
            ),
            (reading.integer("speed", 1..=2).map(drop), "from 1 to 2, found no value"),
            (
                reading.finish(),
                "'chnk' is not an option of x (did you mean 'chunk'?); expected 'size'",
            ),
        ] {
            let message = error.expect_err(words).message;
            assert!(message.contains(words), "{message}");
        }
    }

    proptest! {
        #[test]
        fn no_option_panics(value in "[^\\[\\]/,]{0,20}") {
            let mut spec = spec("x");
            spec.options = vec![("a".to_owned(), Some(value))];
            let mut reading = OptionReader::new(&spec);
            let _ = reading.size("a");
            let _ = reading.power_of_two("a", Bytes(512), Bytes::mib(16));
            let _ = reading.integer("a", 0..=9);
            let _ = reading.flag("a");
            prop_assert!(reading.finish().is_ok());
        }
    }
}
