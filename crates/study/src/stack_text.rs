//! The notation of layers: `md-raid5[chunk=64K]/btrfs[compress=zlib]`, bottom-up.

use std::fmt;

use crate::StudyError;
use crate::{Node, Place};

/// One layer as written: a name and options. What names and options exist is
/// the stack crate's knowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSpec {
    /// Name, such as `md-raid5`.
    pub name: String,
    /// Options in the order written; an option without `=` has no value.
    pub options: Vec<(String, Option<String>)>,
    /// Where it stands.
    pub place: Place,
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
    pub fn error(&self, message: impl Into<String>) -> StudyError {
        self.place.error(message)
    }
}

impl fmt::Display for LayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (key, value)) in self.options.iter().enumerate() {
            f.write_str(if index == 0 { "[" } else { "," })?;
            f.write_str(key)?;
            if let Some(value) = value {
                write!(f, "={value}")?;
            }
        }
        if self.options.is_empty() { Ok(()) } else { f.write_str("]") }
    }
}

/// Parses `layer/layer[option,option=value]/…`; an empty text is no layer at all.
///
/// # Errors
/// Where brackets do not match or a name is empty or has odd characters.
pub fn parse_layers(node: &Node) -> Result<Vec<LayerSpec>, StudyError> {
    let text = node.as_text()?;
    let mut layers = Vec::new();
    for part in split_outside(&text, '/').ok_or_else(|| {
        node.error(format!("'{text}': brackets do not match; expected layer[option,…]/layer"))
    })? {
        let part = part.trim();
        if part.is_empty() && text.trim().is_empty() {
            continue;
        }
        let (name, options) = match part.split_once('[') {
            None => (part, Vec::new()),
            Some((name, rest)) => {
                let inner = rest.strip_suffix(']').ok_or_else(|| {
                    node.error(format!("'{part}': expected ']' at the end of the options"))
                })?;
                (name, parse_options(node, inner)?)
            }
        };
        let name = name.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(node.error(format!(
                "'{name}' is no layer's name; expected one such as 'md-raid5' or 'ext4'"
            )));
        }
        layers.push(LayerSpec { name: name.to_owned(), options, place: node.place.clone() });
    }
    Ok(layers)
}

/// Parses `option,option=value`.
pub(crate) fn parse_options(
    node: &Node,
    text: &str,
) -> Result<Vec<(String, Option<String>)>, StudyError> {
    let mut options = Vec::new();
    for option in text.split(',').map(str::trim).filter(|o| !o.is_empty()) {
        let (key, value) = match option.split_once('=') {
            None => (option, None),
            Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
        };
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic() && !"[]/".contains(c)) {
            return Err(node.error(format!("'{option}' is no option; expected name or name=value")));
        }
        options.push((key.to_owned(), value));
    }
    Ok(options)
}

/// Splits at `separator` outside of brackets; nothing where they do not match.
fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut depth, mut start, mut parts) = (0_u32, 0, Vec::new());
    for (index, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            c if c == separator && depth == 0 => {
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
