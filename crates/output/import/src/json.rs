//! JSON in which every value knows its place, so that an error can show it.
//!
//! Programs print what is no JSON where a figure is none: `nan`, `-nan`, `inf` (fio
//! before 3 does). Such a value counts as absent.

use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Json {
    pub value: JsonNode,
    pub place: Location,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonNode {
    Absent,
    Boolean(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Values nest no deeper than this: what programs measure does not.
const DEEPEST: usize = 64;

/// Reads the value that begins at a byte of `text`, and says where it ends. `text` has
/// the source's length, and may have blanks where the source has something else.
///
/// # Errors
/// Where there is no value; the error shows the place.
pub(crate) fn parse(
    source: &Arc<Source>,
    text: &str,
    at: usize,
) -> Result<(Json, usize), SourceError> {
    let mut reader = Reader { source, text, at };
    reader.check_length()?;
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

/// Bytes of one document, such as one report of fio's: in memory it takes several times as
/// much.
const LARGEST_DOCUMENT: usize = 64 << 20;

/// Reads the value that begins at a byte of `text`, and says where it ends. `visit` gets the
/// value, or, where it is a list, its items one after the other: only one is in memory.
///
/// # Errors
/// As [`parse`], and what `visit` gives.
pub(crate) fn parse_each(
    source: &Arc<Source>,
    text: &str,
    at: usize,
    visit: &mut dyn FnMut(Json) -> Result<(), SourceError>,
) -> Result<usize, SourceError> {
    let mut reader = Reader { source, text, at };
    reader.blank();
    if !reader.rest().starts_with('[') {
        reader.check_length()?;
        visit(reader.value(0)?)?;
        return Ok(reader.at);
    }
    reader.at += 1;
    if reader.take(']') {
        return Ok(reader.at);
    }
    loop {
        reader.check_length()?;
        visit(reader.value(1)?)?;
        if reader.take(']') {
            return Ok(reader.at);
        }
        if !reader.take(',') {
            return reader.unexpected("',' or ']'");
        }
    }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn place(&self, start: usize) -> Location {
        Location { source: Arc::clone(self.source), span: start..self.at.max(start) }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, SourceError> {
        let found = match self.rest().chars().next() {
            Some(c) => format!("'{c}'"),
            None => "the end of the text: it is cut off".to_owned(),
        };
        Err(self.place(self.at).error(format!("expected {expected}, found {found}")))
    }

    fn take(&mut self, word: char) -> bool {
        self.blank();
        let is_there = self.rest().starts_with(word);
        self.at += if is_there { word.len_utf8() } else { 0 };
        is_there
    }

    /// Refuses a document that is too long before a tree of its first 64 MiB takes a gigabyte.
    fn check_length(&self) -> Result<(), SourceError> {
        let rest = self.rest();
        if rest.len() <= LARGEST_DOCUMENT {
            return Ok(());
        }
        let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
        for (index, byte) in rest.bytes().enumerate() {
            if index > LARGEST_DOCUMENT {
                return Err(self.place(self.at).error(format!(
                    "this document has more than {LARGEST_DOCUMENT} bytes; a program's report has \
                     fewer"
                )));
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_text,
                b'"' if depth > 0 => in_text = !in_text,
                b'{' | b'[' if !in_text => depth += 1,
                b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
                _ => {}
            }
            // Its end, or a value that is no list and no object: as long as a number or a text.
            if depth == 0 && !byte.is_ascii_whitespace() {
                break;
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Json, SourceError> {
        self.blank();
        let start = self.at;
        if depth > DEEPEST {
            return Err(self.place(start).error("values nest too deeply"));
        }
        let value = match self.rest().as_bytes().first() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => JsonNode::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Json { value, place: self.place(start) })
    }

    fn object(&mut self, depth: usize) -> Result<JsonNode, SourceError> {
        self.at += 1;
        let mut entries = Vec::new();
        if self.take('}') {
            return Ok(JsonNode::Object(entries));
        }
        loop {
            self.blank();
            if !self.rest().starts_with('"') {
                return self.unexpected("a name in quotes");
            }
            let name = self.string()?;
            if !self.take(':') {
                return self.unexpected("':'");
            }
            entries.push((name, self.value(depth + 1)?));
            if self.take('}') {
                return Ok(JsonNode::Object(entries));
            }
            if !self.take(',') {
                return self.unexpected("',' or '}'");
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<JsonNode, SourceError> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(']') {
            return Ok(JsonNode::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(']') {
                return Ok(JsonNode::List(items));
            }
            if !self.take(',') {
                return self.unexpected("',' or ']'");
            }
        }
    }

    fn string(&mut self) -> Result<String, SourceError> {
        let start = self.at;
        let (mut escaped, mut end) = (false, None);
        for (index, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    end = Some(start + index + 1);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else {
            return Err(self.place(start).error("this text does not end: it is cut off"));
        };
        self.at = end;
        serde_json::from_str(&self.text[start..end])
            .map_err(|_| self.place(start).error("not valid JSON text"))
    }

    fn word(&mut self) -> Result<JsonNode, SourceError> {
        let start = self.at;
        let ends = |c: char| c.is_whitespace() || ",:[]{}\"".contains(c);
        let word = &self.rest()[..self.rest().find(ends).unwrap_or(self.rest().len())];
        let value = match word {
            "true" => JsonNode::Boolean(true),
            "false" => JsonNode::Boolean(false),
            "null" => JsonNode::Absent,
            _ => match word.trim_start_matches('-').to_ascii_lowercase().as_str() {
                "nan" | "inf" | "infinity" => JsonNode::Absent,
                _ if word.parse::<f64>().is_ok_and(f64::is_finite) => {
                    JsonNode::Number(word.to_owned())
                }
                _ if word.is_empty() => return self.unexpected("a value"),
                _ => {
                    self.at += word.len();
                    return Err(self
                        .place(start)
                        .error(format!("expected a value, found '{word}'")));
                }
            },
        };
        self.at += word.len();
        Ok(value)
    }
}

impl Json {
    /// What kind of value it is, with its article.
    fn kind(&self) -> &'static str {
        match self.value {
            JsonNode::Absent => "nothing",
            JsonNode::Boolean(_) => "a boolean",
            JsonNode::Number(_) => "a number",
            JsonNode::Text(_) => "a text",
            JsonNode::List(_) => "a list",
            JsonNode::Object(_) => "an object",
        }
    }

    /// The entries of an object; none for anything else.
    pub fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            JsonNode::Object(entries) => entries,
            _ => &[],
        }
    }

    /// A field that is there and is not null. Of several, the last counts.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let (_, found) = self.entries().iter().rfind(|(key, _)| key == name)?;
        (found.value != JsonNode::Absent).then_some(found)
    }

    /// The items of a field that is a list; none where it is absent.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not a list.
    pub fn list(&self, name: &str) -> Result<&[Self], SourceError> {
        match self.get(name).map(|field| (field, &field.value)) {
            None => Ok(&[]),
            Some((_, JsonNode::List(items))) => Ok(items),
            Some((field, _)) => Err(field.expected(name, "a list")),
        }
    }

    /// A field's text; a number or boolean as written.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_text()
    }

    /// This value as text; a number or boolean as written.
    pub fn as_text(&self) -> Option<String> {
        match &self.value {
            JsonNode::Text(text) | JsonNode::Number(text) => Some(text.clone()),
            JsonNode::Boolean(value) => Some(value.to_string()),
            JsonNode::Absent | JsonNode::List(_) | JsonNode::Object(_) => None,
        }
    }

    /// A field's number, 0 or above.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is there and is not a number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, SourceError> {
        self.get(name).map(|field| field.as_number(name)).transpose()
    }

    /// This value as a number, 0 or above; `name` is what it is called in errors.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is not a finite number.
    pub fn as_number(&self, name: &str) -> Result<f64, SourceError> {
        let number = match &self.value {
            JsonNode::Number(text) => text.parse().ok().filter(|n| *n >= 0.0),
            _ => None,
        };
        number.ok_or_else(|| self.expected(name, "a number from 0"))
    }

    /// A field's whole number, 0 or above.
    ///
    /// # Errors
    /// [`SourceError`] at the value if it is there and is not a number.
    pub fn count(&self, name: &str) -> Result<Option<u64>, SourceError> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let whole = match &field.value {
            JsonNode::Number(text) => text.parse::<u64>().ok().or_else(|| {
                let number: f64 = text.parse().ok()?;
                (number >= 0.0 && number.fract() == 0.0 && number < 1.8e19).then_some(number as u64)
            }),
            _ => None,
        };
        whole.map(Some).ok_or_else(|| field.expected(name, "an integer from 0"))
    }

    fn expected(&self, name: &str, expected: &str) -> SourceError {
        let found = match &self.value {
            JsonNode::Number(text) => format!("'{text}'"),
            _ => self.kind().to_owned(),
        };
        self.place.error(format!("`{name}`: expected {expected}, found {found}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Json, SourceError> {
        let source = Arc::new(Source { name: "x".to_owned(), text: text.to_owned() });
        parse(&source, text, 0).map(|(value, _)| value)
    }

    #[test]
    fn values_and_their_places() {
        let value = read("{\n \"a\": [1, 2.5e3],\n \"b\": \"x\\u00e9\\n\", \"c\": -nan, \"d\": 18446744073709551615 }")
            .expect("valid");
        assert_eq!(value.list("a").expect("a list")[1].as_number("a").expect("a number"), 2500.0);
        assert_eq!(value.text("b").as_deref(), Some("xé\n"));
        assert_eq!(value.get("c"), None);
        assert_eq!(value.count("d").expect("a count"), Some(u64::MAX));
        let error = value.number("b").expect_err("a text");
        assert_eq!((error.line, error.column), (3, 7));
        assert!(error.to_string().contains("expected a number from 0, found a text"), "{error}");
        assert!(value.count("a").is_err() && value.list("b").is_err());
    }

    #[test]
    fn mistakes_are_shown() {
        for (text, line, said) in [
            ("{\n\"a\" 1}", 2, "expected ':', found '1'"),
            ("{\"a\": 1", 1, "it is cut off"),
            ("{\"a\": \"b", 1, "does not end"),
            ("[1\n 2]", 2, "expected ',' or ']'"),
            ("{a: 1}", 1, "a name in quotes"),
            ("[12x]", 1, "found '12x'"),
            ("[1e999]", 1, "found '1e999'"),
            ("", 1, "expected a value"),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.line, line, "{text}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
        assert!(read(&"[".repeat(100_000)).expect_err("deep").to_string().contains("deeply"));
    }

    proptest! {
        #[test]
        fn reader_agrees_with_serde(text in "(\\[|\\]|\\{|\\}|,|:|\"a\"|\"\\\\n\"|1|-2.5|true|null| ){0,16}") {
            let own = read(&text);
            let mut theirs =
                serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
            if let Some(Ok(_)) = theirs.next() {
                prop_assert!(own.is_ok(), "{text}");
            }
        }

        #[test]
        fn no_text_panics(text in "(\\PC|\n|\"|\\\\|\\{|\\[|[0-9]){0,100}") {
            if let Err(error) = read(&text) {
                prop_assert!(error.line >= 1 && error.column >= 1);
            }
        }
    }
}
