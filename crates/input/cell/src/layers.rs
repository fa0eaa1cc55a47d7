//! The notation of layers: `md-raid5[chunk=64K]/btrfs[compress=zlib]`, bottom-up.
//!
//! What is quoted within brackets is never split: `ext4[mkfs='-O ^a,^b']`. Quotes
//! around a whole value go; those within one stay, for code that reads it as a shell does.

use std::fmt;
use std::sync::Arc;

use disklab_config::Node;
use disklab_source::{Location, Source, SourceError};
use serde::{Deserialize, Serialize};

/// Bytes of one stack's layers as text.
pub const LONGEST_LAYERS: usize = 4_096;

/// One layer as written: a name and options. What names and options exist is
/// the stack crate's knowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSpec {
    /// Name, such as `md-raid5`.
    pub name: String,
    /// Options in the order written; an option without `=` has no value.
    pub options: Vec<(String, Option<String>)>,
    /// Where it stands.
    pub place: Location,
}

impl LayerSpec {
    /// The value of an option; an option without value gives an empty text.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_deref().unwrap_or(""))
    }

    /// An error at this layer.
    pub fn error(&self, message: impl Into<String>) -> SourceError {
        self.place.error(message)
    }
}

/// A layer without its place in a text. [`PlannedLayer::notation`] is how a study has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLayer {
    /// Which kind it is, such as `md-raid5`.
    pub name: String,
    /// Options in the order written; an option without `=` has no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, Option<String>)>,
}

impl From<&LayerSpec> for PlannedLayer {
    fn from(spec: &LayerSpec) -> Self {
        Self { name: spec.name.clone(), options: spec.options.clone() }
    }
}

impl fmt::Display for LayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_layer(f, &self.name, &self.options)
    }
}

impl fmt::Display for PlannedLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_layer(f, &self.name, &self.options)
    }
}

fn write_layer(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    options: &[(String, Option<String>)],
) -> fmt::Result {
    f.write_str(name)?;
    for (index, (key, value)) in options.iter().enumerate() {
        f.write_str(if index == 0 { "[" } else { "," })?;
        f.write_str(key)?;
        if let Some(value) = value {
            write!(f, "={}", quoted(value))?;
        }
    }
    if options.is_empty() { Ok(()) } else { f.write_str("]") }
}

impl PlannedLayer {
    /// The notation of layers, bottom-up, as a study has it.
    pub fn notation(layers: &[Self]) -> String {
        layers.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
    }

    /// What [`PlannedLayer::notation`] has written. No text is no layer.
    ///
    /// # Errors
    /// As for [`parse_layers`].
    pub fn parse_notation(text: &str) -> Result<Vec<Self>, SourceError> {
        Ok(layers_of(text)?.iter().map(Self::from).collect())
    }

    /// These layers with places in their own notation, for errors.
    ///
    /// # Errors
    /// Where a name or an option is not one that the notation can have.
    pub fn placed(layers: &[Self]) -> Result<Vec<LayerSpec>, SourceError> {
        layers_of(&Self::notation(layers))
    }
}

fn layers_of(text: &str) -> Result<Vec<LayerSpec>, SourceError> {
    let source = Arc::new(Source { name: "layers".to_owned(), text: text.to_owned() });
    parse_at(&Location { source, span: 0..text.len() }, text)
}

/// Parses `layer/layer[option,option=value]/…`; an empty text is no layer at all.
///
/// # Errors
/// Where brackets do not match or a name is empty or has odd characters.
pub fn parse_layers(node: &Node) -> Result<Vec<LayerSpec>, SourceError> {
    parse_at(&node.place, &node.as_text()?)
}

fn parse_at(place: &Location, text: &str) -> Result<Vec<LayerSpec>, SourceError> {
    check_length(place, text)?;
    let mut layers = Vec::new();
    for part in split_outside(text, '/').ok_or_else(|| {
        place.error(format!(
            "'{text}': brackets or quotes do not match; expected layer[option,…]/layer"
        ))
    })? {
        let part = part.trim();
        if part.is_empty() && text.trim().is_empty() {
            continue;
        }
        let (name, options) = match part.split_once('[') {
            None => (part, Vec::new()),
            Some((name, rest)) => {
                let inner = rest.strip_suffix(']').ok_or_else(|| {
                    place.error(format!("'{part}': expected ']' at the end of the options"))
                })?;
                (name, parse_options(place, inner)?)
            }
        };
        let name = name.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(place.error(format!(
                "invalid layer name '{name}': expected one such as 'md-raid5' or 'ext4'"
            )));
        }
        layers.push(LayerSpec { name: name.to_owned(), options, place: place.clone() });
    }
    Ok(layers)
}

/// Refuses layers that no stack has: each stack keeps a copy of them.
fn check_length(place: &Location, text: &str) -> Result<(), SourceError> {
    if text.len() <= LONGEST_LAYERS {
        return Ok(());
    }
    Err(place.error(format!(
        "layers and options of {} bytes; expected at most {LONGEST_LAYERS}",
        text.len()
    )))
}

/// Parses `option,option=value`.
pub fn parse_options(
    place: &Location,
    text: &str,
) -> Result<Vec<(String, Option<String>)>, SourceError> {
    check_length(place, text)?;
    let mut options = Vec::new();
    let parts = split_unquoted(text).ok_or_else(|| {
        place.error(format!("'{text}': a quote is not closed; expected option='value,value'"))
    })?;
    for option in parts.into_iter().map(str::trim).filter(|o| !o.is_empty()) {
        let (key, value) = match option.split_once('=') {
            None => (option, None),
            Some((key, value)) => (key.trim(), Some(unquoted(value.trim()).to_owned())),
        };
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic() && !"[]/'\"".contains(c)) {
            return Err(
                place.error(format!("invalid option '{option}': expected name or name=value"))
            );
        }
        options.push((key.to_owned(), value));
    }
    Ok(options)
}

/// Splits at `separator` outside of brackets; nothing where they do not match, or a part has
/// more than one pair of them.
fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut depth, mut start, mut parts) = (0_u32, 0, Vec::new());
    let mut has_options = false;
    let mut quotes = Quotes::default();
    for (index, c) in text.char_indices() {
        match c {
            // There are no quotes outside of brackets.
            c if depth > 0 && quotes.covers(c) => {}
            '[' if depth == 0 && has_options => return None,
            '[' => (depth, has_options) = (depth + 1, true),
            ']' => depth = depth.checked_sub(1)?,
            c if c == separator && depth == 0 => {
                has_options = false;
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            _ => {}
        }
        if depth > 1 {
            return None;
        }
    }
    parts.push(&text[start..]);
    (depth == 0).then_some(parts)
}

/// Which quote is open.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes(Option<char>);

impl Quotes {
    /// Whether the next character is a quote or stands between two.
    fn covers(&mut self, c: char) -> bool {
        match self.0 {
            Some(open) => {
                if c == open {
                    self.0 = None;
                }
                true
            }
            None if c == '\'' || c == '"' => {
                self.0 = Some(c);
                true
            }
            None => false,
        }
    }
}

/// Splits at commas outside of quotes; nothing where a quote is not closed.
fn split_unquoted(text: &str) -> Option<Vec<&str>> {
    let (mut quotes, mut start, mut parts) = (Quotes::default(), 0, Vec::new());
    for (index, c) in text.char_indices() {
        if !quotes.covers(c) && c == ',' {
            parts.push(&text[start..index]);
            start = index + 1;
        }
    }
    parts.push(&text[start..]);
    quotes.0.is_none().then_some(parts)
}

/// `value` without the quotes around it, where they are around all of it.
fn unquoted(value: &str) -> &str {
    ['\'', '"']
        .into_iter()
        .filter_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote).map(|v| (quote, v)))
        .find(|(quote, inner)| !inner.contains(*quote))
        .map_or(value, |(_, inner)| inner)
}

/// `value` as it must be written to be read as it is.
fn quoted(value: &str) -> String {
    let mut quotes = Quotes::default();
    let is_split = value.chars().any(|c| !quotes.covers(c) && matches!(c, ',' | '[' | ']'));
    let is_closed = quotes.0.is_none();
    if !is_split && is_closed && value.trim() == value && unquoted(value) == value {
        return value.to_owned();
    }
    // A value that was read never needs both.
    let quote = if value.contains('\'') { '"' } else { '\'' };
    format!("{quote}{value}{quote}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use disklab_source::Source;

    /// Parses it as a study's text.
    fn layers(text: &str) -> Result<Vec<LayerSpec>, SourceError> {
        // Escapes of what the tests have are the same in Rust and TOML.
        let toml = format!("x = {text:?}");
        let source = Arc::new(Source { name: "x".to_owned(), text: toml });
        let root = Node::parse(&source).expect("toml");
        parse_layers(&root.entries().expect("a table")[0].1)
    }

    fn values(text: &str) -> Vec<String> {
        let layers = layers(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let options = layers.iter().flat_map(|layer| layer.options.clone());
        options.map(|(key, value)| format!("{key}={}", value.unwrap_or_default())).collect()
    }

    #[test]
    fn quoted_values_are_not_split() {
        for (text, expected) in [
            ("ext4[mkfs='-O ^a,^b',noatime]", &["mkfs=-O ^a,^b", "noatime="][..]),
            ("ext4[mkfs=\"-O ^a,^b\"]", &["mkfs=-O ^a,^b"]),
            ("ext4[mkfs=-O '^a,^b' -L x]", &["mkfs=-O '^a,^b' -L x"]),
            ("ext4[mkfs='-L a' -O '^b']", &["mkfs='-L a' -O '^b'"]),
            ("md/ext4[mkfs='a/b]c[,']/x", &["mkfs=a/b]c[,"]),
            ("ext4[context=\"u:r:t:s0,c1\"]", &["context=u:r:t:s0,c1"]),
            ("ext4[label='19\" rack']", &["label=19\" rack"]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
        let shown = layers("ext4[label='19\" rack']").expect("valid")[0].to_string();
        assert_eq!(shown, "ext4[label='19\" rack']");
        for text in ["ext4[mkfs='-O ^a,^b]", "ext4[mkfs=it's]", "ext4['a]", "ext4[a=b]x[c]"] {
            assert!(layers(text).is_err(), "{text}");
        }
    }

    #[test]
    fn planned_layers_are_read_field_by_field() {
        let layers = PlannedLayer::parse_notation("partition/md-raid5[chunk=64K,bitmap]/ext4");
        let layers = layers.expect("a notation");
        let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
        assert_eq!(names, ["partition", "md-raid5", "ext4"]);
        let options = [("chunk".to_owned(), Some("64K".to_owned())), ("bitmap".to_owned(), None)];
        assert_eq!(layers[1].options, options);
        assert_eq!(PlannedLayer::parse_notation(""), Ok(Vec::new()));
        let error = PlannedLayer::parse_notation("md[chunk/ext4").expect_err("an open bracket");
        assert!(error.message.contains("do not match"), "{error}");
    }

    proptest! {
        #[test]
        fn shown_layers_parse_to_the_same(text in "(ext4|md)(\\[[a-z]=[a-c'\",/\\[\\] ]{0,12}\\])?") {
            if let Ok(read) = layers(&text) {
                let shown: Vec<String> = read.iter().map(ToString::to_string).collect();
                let again = layers(&shown.join("/")).expect("what is shown can be read");
                let options = |layers: &[LayerSpec]| {
                    layers.iter().map(|l| (l.name.clone(), l.options.clone())).collect::<Vec<_>>()
                };
                prop_assert_eq!(options(&read), options(&again), "{}", text);
                let planned: Vec<PlannedLayer> = read.iter().map(PlannedLayer::from).collect();
                let notation = PlannedLayer::notation(&planned);
                prop_assert_eq!(&notation, &shown.join("/"));
                prop_assert_eq!(PlannedLayer::parse_notation(&notation), Ok(planned));
            }
        }
    }
}
