//! Reading a table field by field, with errors that say what was expected.

use std::str::FromStr;

use disklab_source::{Location, SourceError, did_you_mean, is_hidden, one_of};
use disklab_units::{Bytes, parse_duration};

use crate::Key;
use crate::{Node, Value};

/// The fields of one table. Each is taken once; [`Fields::finish`] refuses
/// whatever was not taken, so that a misspelt field is never silently ignored.
#[derive(Debug)]
pub struct Fields<'a> {
    what: String,
    place: &'a Location,
    left: Vec<&'a (Key, Node)>,
    asked: Vec<String>,
}

impl<'a> Fields<'a> {
    /// The fields of `node`, called `what` in errors ('a workload', 'the study').
    ///
    /// # Errors
    /// [`SourceError`] at `node` if it is not a table.
    pub fn new(node: &'a Node, what: &str) -> Result<Self, SourceError> {
        let entries = node.entries().map_err(|_| {
            node.error(format!("expected {what} as a table, found {}", node.kind()))
        })?;
        Ok(Self {
            what: what.to_owned(),
            place: &node.place,
            left: entries.iter().collect(),
            asked: Vec::new(),
        })
    }

    /// An error at the table.
    pub fn error(&self, message: impl Into<String>) -> SourceError {
        self.place.error(message)
    }

    /// Takes a field, if it is there.
    pub fn take(&mut self, name: &str) -> Option<&'a Node> {
        self.asked.push(name.to_owned());
        let index = self.left.iter().position(|(key, _)| key.name == name)?;
        Some(&self.left.remove(index).1)
    }

    /// Takes a field that must be there.
    ///
    /// # Errors
    /// [`SourceError`] at the table if it has no such key.
    pub fn require(&mut self, name: &str) -> Result<&'a Node, SourceError> {
        self.take(name)
            .ok_or_else(|| self.place.error(format!("{} needs a field '{name}'", self.what)))
    }

    /// A text of one line that people read, such as a title: a terminal shows it as it is.
    ///
    /// # Errors
    /// Where it is a list or a table, or has characters that act or hide.
    pub fn line(&mut self, name: &str) -> Result<Option<String>, SourceError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let text = node.as_text()?;
        match text.chars().find(|c| c.is_control() || is_hidden(*c)) {
            None => Ok(Some(text)),
            Some(c) => Err(node.error(format!(
                "`{name}` has a character that is not visible ({}); expected one line of text",
                c.escape_unicode()
            ))),
        }
    }

    /// The same, of a field that must be there.
    ///
    /// # Errors
    /// As [`Fields::line`], and where it is missing.
    pub fn require_line(&mut self, name: &str) -> Result<String, SourceError> {
        let missing = self.place.error(format!("{} needs a field '{name}'", self.what));
        self.line(name)?.ok_or(missing)
    }

    /// A text, or a number or boolean as text.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is a list or a table.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, SourceError> {
        self.take(name).map(Node::as_text).transpose()
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// [`SourceError`] at the table if it is missing, at the value if that is a list or a table.
    pub fn require_text(&mut self, name: &str) -> Result<String, SourceError> {
        self.require(name)?.as_text()
    }

    /// One or several texts.
    ///
    /// # Errors
    /// [`SourceError`] at the first entry that is not a string.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, SourceError> {
        self.take(name).map(|node| node.items().iter().map(Node::as_text).collect()).transpose()
    }

    /// A value that reads itself from text; `expected` describes it.
    ///
    /// # Errors
    /// [`SourceError`] at the value, with what was `expected`.
    pub fn parse<T: FromStr>(
        &mut self,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, SourceError> {
        self.take(name)
            .map(|node| {
                let text = node.as_text()?;
                text.trim().parse().map_err(|_| {
                    node.error(format!("`{name}`: expected {expected}, found '{text}'"))
                })
            })
            .transpose()
    }

    /// A whole number within `range`.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not an integer in `range`.
    pub fn integer(
        &mut self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, SourceError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let text = node.as_text()?;
        let (low, high) = (range.start(), range.end());
        let expected = if *high == u64::MAX {
            format!("an integer from {low}")
        } else {
            format!("an integer from {low} to {high}")
        };
        text.trim()
            .parse()
            .ok()
            .filter(|n| range.contains(n))
            .map(Some)
            .ok_or_else(|| node.error(format!("`{name}`: expected {expected}, found '{text}'")))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is neither true nor false.
    pub fn boolean(&mut self, name: &str) -> Result<Option<bool>, SourceError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        match node.as_text()?.as_str() {
            "true" | "1" | "on" | "yes" => Ok(Some(true)),
            "false" | "0" | "off" | "no" => Ok(Some(false)),
            other => Err(node.error(format!("`{name}`: expected true or false, found '{other}'"))),
        }
    }

    /// A size such as '4 KiB' or '10 TB'.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not a size with its unit.
    pub fn bytes(&mut self, name: &str) -> Result<Option<Bytes>, SourceError> {
        self.take(name).map(|node| bytes_of(node, name)).transpose()
    }

    /// A size that must be there.
    ///
    /// # Errors
    /// [`SourceError`] if the key is missing, or its value is not a size with its unit.
    pub fn require_bytes(&mut self, name: &str) -> Result<Bytes, SourceError> {
        bytes_of(self.require(name)?, name)
    }

    /// A duration such as '30s'.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not a duration with its unit.
    pub fn duration(&mut self, name: &str) -> Result<Option<std::time::Duration>, SourceError> {
        self.take(name)
            .map(|node| {
                parse_duration(&node.as_text()?).map_err(|e| node.error(format!("`{name}`: {e}")))
            })
            .transpose()
    }

    /// One of a few words.
    ///
    /// # Errors
    /// [`SourceError`] at the value, with all `choices`.
    pub fn choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, SourceError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let text = node.as_text()?;
        let known = choices.iter().map(|(word, _)| *word);
        choices.iter().find(|(word, _)| *word == text).map(|(_, value)| Some(*value)).ok_or_else(
            || {
                let hint = did_you_mean(&text, known.clone());
                node.error(format!(
                    "`{name}`: expected {}, found '{text}'{hint}",
                    one_of(known.clone())
                ))
            },
        )
    }

    /// Whether a field is left that is like one that was asked for, or whose value is no answer
    /// (`is_none`): [`Fields::finish`] refuses it.
    pub fn has_misspelt(&mut self, is_none: impl Fn(&Node) -> bool) -> bool {
        let known = || self.asked.iter().map(String::as_str);
        let at = self
            .left
            .iter()
            .position(|(key, node)| is_none(node) || !did_you_mean(&key.name, known()).is_empty());
        // It is what an error is about.
        at.inspect(|at| self.left.swap(0, *at)).is_some()
    }

    /// Takes all fields that are left, in the order of the file.
    pub fn rest(&mut self) -> Vec<(&'a str, &'a Location, &'a Node)> {
        std::mem::take(&mut self.left)
            .into_iter()
            .map(|(key, node)| (key.name.as_str(), &key.place, node))
            .collect()
    }

    /// # Errors
    /// [`SourceError`] at the first field that nothing asked for, with the one that may be meant.
    pub fn finish(self) -> Result<(), SourceError> {
        let Some((key, _)) = self.left.first() else { return Ok(()) };
        let known = self.asked.iter().map(String::as_str);
        Err(key.place.error(format!(
            "unknown field '{}' in {}{}; expected {}",
            key.name,
            self.what,
            did_you_mean(&key.name, known.clone()),
            one_of(known)
        )))
    }
}

fn bytes_of(node: &Node, name: &str) -> Result<Bytes, SourceError> {
    if let Value::Integer(n) = node.value {
        return u64::try_from(n)
            .map(Bytes)
            .map_err(|_| node.error(format!("`{name}`: a size cannot be negative")));
    }
    node.as_text()?.parse().map_err(|e| node.error(format!("`{name}`: {e}")))
}
