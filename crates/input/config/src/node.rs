//! A TOML document in which every value knows its place.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use disklab_source::{Location, Source, SourceError};

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What was read, still without meaning.
    pub value: Value,
    /// Where it stands.
    pub place: Location,
}

/// A key of a table, and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Where it stands.
    pub place: Location,
}

/// The types of TOML that files of disklab use.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not taken apart yet: `4 KiB` is one.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// Its elements, each with its own place.
    List(Vec<Node>),
    /// A table, in the order of the file.
    Table(Vec<(Key, Node)>),
}

impl Node {
    /// Parses a document.
    ///
    /// # Errors
    /// [`SourceError`] where TOML's grammar is broken.
    pub fn parse(source: &Arc<Source>) -> Result<Self, SourceError> {
        let table = DeTable::parse(&source.text).map_err(|e| {
            let place = Location { source: Arc::clone(source), span: e.span().unwrap_or(0..0) };
            let message = e.message().lines().collect::<Vec<_>>().join("; ");
            place.error(format!("not valid TOML: {message}"))
        })?;
        let span = table.span();
        from_table(source, table.into_inner(), span)
    }

    /// An error at this value.
    pub fn error(&self, message: impl Into<String>) -> SourceError {
        self.place.error(message)
    }

    /// The value as text: strings as they are, numbers and booleans as written.
    ///
    /// # Errors
    /// [`SourceError`] at a list or a table.
    pub fn as_text(&self) -> Result<String, SourceError> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            Value::Integer(n) => Ok(n.to_string()),
            Value::Float(n) => Ok(n.to_string()),
            Value::Boolean(b) => Ok(b.to_string()),
            Value::List(_) | Value::Table(_) => {
                Err(self.error(format!("expected a text or a number, found {}", self.kind())))
            }
        }
    }

    /// The value in words, lists and tables too.
    pub fn words(&self) -> String {
        match &self.value {
            Value::List(items) => items.iter().map(Self::words).collect::<Vec<_>>().join(", "),
            Value::Table(entries) => {
                let entries = entries.iter().map(|(k, v)| format!("{} = {}", k.name, v.words()));
                entries.collect::<Vec<_>>().join(", ")
            }
            _ => self.as_text().unwrap_or_default(),
        }
    }

    /// What kind of value it is, with its article.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The entries of a list; any other value counts as a list of one.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    /// The entries of a table.
    ///
    /// # Errors
    /// [`SourceError`] at what is not a table.
    pub fn entries(&self) -> Result<&[(Key, Self)], SourceError> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.error(format!("expected a table, found {}", self.kind()))),
        }
    }
}

fn from_table(
    source: &Arc<Source>,
    table: DeTable<'_>,
    span: Range<usize>,
) -> Result<Node, SourceError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let place = Location { source: Arc::clone(source), span: key.span() };
        let key = Key { name: key.into_inner().into_owned(), place };
        let span = value.span();
        entries.push((key, from_value(source, value.into_inner(), span)?));
    }
    Ok(Node { value: Value::Table(entries), place: Location { source: Arc::clone(source), span } })
}

fn from_value(
    source: &Arc<Source>,
    value: DeValue<'_>,
    span: Range<usize>,
) -> Result<Node, SourceError> {
    let place = Location { source: Arc::clone(source), span: span.clone() };
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(n) => {
            Value::Integer(i64::from_str_radix(n.as_str(), n.radix()).map_err(|_| {
                place.error("this number is too large; expected one below 9.2 × 10^18")
            })?)
        }
        DeValue::Float(n) => {
            Value::Float(n.as_str().parse().map_err(|_| place.error("expected a number"))?)
        }
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Datetime(_) => {
            return Err(place.error("expected a text, a number, a list or a table, found a date"));
        }
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| {
                    let span = item.span();
                    from_value(source, item.into_inner(), span)
                })
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => return from_table(source, table, span),
    };
    Ok(Node { value, place })
}
