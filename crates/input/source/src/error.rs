//! Errors that show the place.

use std::fmt;

use crate::{Location, is_hidden, shortened};

/// Characters of a message and of an excerpt. A value, a line or a list of names can have as many
/// as the file.
const LONGEST_MESSAGE: usize = 3000;
const LONGEST_EXCERPT: usize = 200;

/// What is wrong in a text, where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// The file's name as the user gave it; empty if it was in no text.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
    excerpt: String,
    width: usize,
}

impl SourceError {
    /// An error at `place`.
    pub fn new(place: &Location, message: impl Into<String>) -> Self {
        let text = &place.source.text;
        let start = floor(text, place.span.start);
        let end = floor(text, place.span.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        Self {
            file: place.source.name.clone(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            message: shortened(&message.into(), LONGEST_MESSAGE).into_owned(),
            excerpt: text[line_start..line_end].trim_end().chars().take(LONGEST_EXCERPT).collect(),
            width: text[start..end.min(line_end)].chars().count().max(1),
        }
    }
}

impl Location {
    /// An error at this place.
    pub fn error(&self, message: impl Into<String>) -> SourceError {
        SourceError::new(self, message)
    }
}

/// The nearest character boundary at or below `index`.
fn floor(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            // It was in no text.
            return f.write_str(&self.message);
        }
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if !self.excerpt.trim().is_empty() {
            let excerpt: String = self
                .excerpt
                .chars()
                .map(|c| if c.is_control() || is_hidden(c) { ' ' } else { c })
                .collect();
            let number = self.line.to_string();
            write!(f, "\n {number} | {excerpt}\n {} | ", " ".repeat(number.len()))?;
            if self.column <= LONGEST_EXCERPT {
                let marks = "^".repeat(self.width.min(80));
                write!(f, "{}{marks}", " ".repeat(self.column - 1))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}
