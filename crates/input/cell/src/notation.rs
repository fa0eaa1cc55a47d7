//! The notation of layers: `md-raid5[chunk=64K]/btrfs[compress=zlib]`, bottom-up.
//!
//! What is quoted within brackets is never split: `ext4[mkfs='-O ^a,^b']`. Quotes
//! around a whole value go; those within one stay, for code that reads it as a shell does.
//!
//! Inputs besides the data are in braces, as numbers of the stack's drives:
//! `zfs-raidz1{log=4,cache=5}`, or `md-raid5{journal=4-5/md-raid1}` with layers on them.

use std::fmt;
use std::sync::Arc;

use disklab_config::Node;
use disklab_source::{Location, Source, SourceError};

use crate::layers::{DriveRange, InputSpec, LayerSpec, PlannedInput, PlannedLayer};

/// Bytes of one stack's layers as text.
pub const LONGEST_LAYERS: usize = 4_096;

impl fmt::Display for LayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PlannedLayer::from(self).fmt(f)
    }
}

impl fmt::Display for PlannedLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (key, value)) in self.options.iter().enumerate() {
            f.write_str(if index == 0 { "[" } else { "," })?;
            f.write_str(key)?;
            if let Some(value) = value {
                write!(f, "={}", quoted(value))?;
            }
        }
        f.write_str(if self.options.is_empty() { "" } else { "]" })?;
        for (index, input) in self.inputs.iter().enumerate() {
            write!(f, "{}{input}", if index == 0 { "{" } else { "," })?;
        }
        f.write_str(if self.inputs.is_empty() { "" } else { "}" })
    }
}

impl fmt::Display for PlannedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.drives)?;
        self.layers.iter().try_for_each(|layer| write!(f, "/{layer}"))
    }
}

impl fmt::Display for DriveRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
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
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let unmatched = || {
        place.error(format!(
            "'{text}': brackets or quotes do not match; expected layer[option,…]/layer"
        ))
    };
    let parts = split_outside(text, '/').ok_or_else(unmatched)?;
    parts.into_iter().map(|part| parse_layer(place, part.trim())).collect()
}

/// One layer: a name, options in brackets, inputs in braces.
fn parse_layer(place: &Location, part: &str) -> Result<LayerSpec, SourceError> {
    let (name, rest) = part.split_at(part.find(['[', '{']).unwrap_or(part.len()));
    let (options, rest) = match rest.strip_prefix('[') {
        None => (Vec::new(), rest),
        Some(rest) => {
            let end = end_of_options(rest).ok_or_else(|| {
                place.error(format!("'{part}': expected ']' at the end of the options"))
            })?;
            (parse_options(place, &rest[..end])?, rest[end + 1..].trim_start())
        }
    };
    let inputs = match rest.strip_prefix('{').map(|rest| rest.strip_suffix('}')) {
        None if rest.is_empty() => Vec::new(),
        Some(Some(inner)) => parse_inputs(place, inner)?,
        _ => {
            return Err(place.error(format!(
                "'{part}': expected nothing after the options, or inputs such as {{log=4}}"
            )));
        }
    };
    let name = name.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(fits) {
        return Err(place.error(format!(
            "invalid layer name '{name}': expected one such as 'md-raid5' or 'ext4'"
        )));
    }
    Ok(LayerSpec { name: name.to_owned(), options, inputs, place: place.clone() })
}

/// Where the options end whose '[' is before `text`.
fn end_of_options(text: &str) -> Option<usize> {
    let mut quotes = Quotes::default();
    text.char_indices().find(|(_, c)| !quotes.covers(*c) && *c == ']').map(|(at, _)| at)
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

/// Splits at `separator` outside of brackets and braces; nothing where these do not match, or are
/// nested deeper than any stack needs.
fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    const DEEPEST: u32 = 8;
    let (mut start, mut parts) = (0, Vec::new());
    let (mut in_options, mut depth) = (false, 0_u32);
    let mut quotes = Quotes::default();
    for (index, c) in text.char_indices() {
        match c {
            // There are no quotes outside of brackets.
            c if in_options && quotes.covers(c) => {}
            '[' if in_options => return None,
            ']' if in_options => in_options = false,
            _ if in_options => {}
            '[' => in_options = true,
            ']' => return None,
            '{' if depth == DEEPEST => return None,
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            c if c == separator && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (depth == 0 && !in_options).then_some(parts)
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

/// Parses `name=drives/layer,…`, what is between the braces.
fn parse_inputs(place: &Location, text: &str) -> Result<Vec<InputSpec>, SourceError> {
    let unmatched = || place.error(format!("'{text}': braces do not match"));
    let parts = split_outside(text, ',').ok_or_else(unmatched)?;
    parts.into_iter().map(|part| parse_input(place, part)).collect()
}

fn parse_input(place: &Location, text: &str) -> Result<InputSpec, SourceError> {
    let invalid = || {
        place.error(format!(
            "invalid input '{text}': expected a name and numbers of the stack's drives, such as \
             log=4 or journal=4-5/md-raid1"
        ))
    };
    let (name, source) = text.split_once('=').ok_or_else(invalid)?;
    let (name, (drives, layers)) = (name.trim(), source.split_once('/').unwrap_or((source, "")));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
        return Err(invalid());
    }
    let drives = parse_range(drives).ok_or_else(invalid)?;
    let layers = parse_at(place, layers)?;
    Ok(InputSpec { name: name.to_owned(), drives, layers, place: place.clone() })
}

fn parse_range(text: &str) -> Option<DriveRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (1 <= first && first <= last).then_some(DriveRange { first, last })
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

    fn any_layer(depth: u32) -> BoxedStrategy<PlannedLayer> {
        let options =
            prop::collection::vec(("[a-z]{1,4}", prop::option::of("[a-c,/{}=]{1,6}")), 0..2);
        let inputs = match depth {
            0 => Just(Vec::new()).boxed(),
            _ => prop::collection::vec(input(depth - 1), 0..3).boxed(),
        };
        ("[a-z][a-z0-9-]{0,5}", options, inputs)
            .prop_map(|(name, options, inputs)| PlannedLayer { name, options, inputs })
            .boxed()
    }

    fn input(depth: u32) -> impl Strategy<Value = PlannedInput> {
        let layers = prop::collection::vec(any_layer(depth), 0..3);
        ("[a-z]{1,7}", 1_u32..9, 0_u32..3, layers).prop_map(|(name, first, more, layers)| {
            PlannedInput { name, drives: DriveRange { first, last: first + more }, layers }
        })
    }

    #[test]
    fn inputs_are_read_and_give_roles() {
        let text = "partition/md-raid5[chunk=64K]{journal=4-5/md-raid1,spare=6}/ext4";
        let layers = PlannedLayer::parse_notation(text).expect("a graph");
        assert_eq!(PlannedLayer::notation(&layers), text);
        assert_eq!(layers[1].inputs[0].layers[0].name, "md-raid1");
        let roles = ["data", "data", "data", "journal", "journal", "spare", "data"];
        assert_eq!(PlannedLayer::roles(&layers, 7), roles);
        assert_eq!(PlannedLayer::roles(&layers, 1), ["data"]);
    }

    #[test]
    fn what_is_no_input_is_refused() {
        for (text, words) in [
            ("zfs{log}", "invalid input 'log'"),
            ("zfs{log=0}", "invalid input"),
            ("zfs{log=3-2}", "invalid input"),
            ("zfs{=3}", "invalid input"),
            ("zfs{log=x}", "such as log=4"),
            ("zfs{log=3,}", "invalid input ''"),
            ("zfs{log=3", "do not match"),
            ("zfs{log=3}}", "do not match"),
            ("zfs{log=3}[lz4]", "expected nothing after the options, or inputs"),
            ("zfs{log=3}x", "expected nothing after"),
            ("zfs{log=3/}x/{", "do not match"),
            ("zfs{log=3/a{b=4/ }}", ""),
        ] {
            let read = PlannedLayer::parse_notation(text);
            match words {
                "" => assert!(read.is_ok(), "{text}: {read:?}"),
                _ => assert!(read.expect_err(text).message.contains(words), "{text}"),
            }
        }
        let deep = format!("{}{}", "a{b=1/".repeat(500), "}".repeat(500));
        assert!(PlannedLayer::parse_notation(&deep).is_err());
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

        #[test]
        fn graphs_are_read_back_the_same(layers in prop::collection::vec(any_layer(2), 1..3)) {
            let text = PlannedLayer::notation(&layers);
            prop_assert_eq!(PlannedLayer::parse_notation(&text), Ok(layers.clone()), "{}", text);
            let json = serde_json::to_string(&layers).expect("json");
            prop_assert_eq!(serde_json::from_str::<Vec<PlannedLayer>>(&json).expect("json"), layers);
        }

        #[test]
        fn no_text_of_layers_panics(text in "(zfs|md|[\\[\\]{}=,/'0-9-]){0,12}") {
            if let Ok(layers) = PlannedLayer::parse_notation(&text) {
                let shown = PlannedLayer::notation(&layers);
                prop_assert_eq!(PlannedLayer::parse_notation(&shown), Ok(layers));
            }
        }
    }
}
