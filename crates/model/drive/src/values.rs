//! Quantities of drive files: numbers with their units.

use disklab_config::{Fields, Node};
use disklab_source::{SourceError, one_of};
use disklab_units::{Bytes, parse_nanoseconds};

/// The rates of SATA links, as the trade names them, and the payload that each
/// carries, B/s. Ten bits on the line make a byte (8b/10b), which leaves 150, 300
/// and 600 MB/s; frames and primitives take some 8 % of that (inferred from what
/// fast SSDs reach behind such links).
pub const SATA_LINKS: [(&str, f64); 3] =
    [("1.5 Gb/s", 140e6), ("3 Gb/s", 275e6), ("6 Gb/s", 550e6)];

/// A link: the name of a SATA rate such as '3 Gb/s', or a payload such as '275 MB/s',
/// in B/s of payload.
pub(crate) fn link(fields: &mut Fields<'_>, name: &str) -> Result<f64, SourceError> {
    let node = fields.require(name)?;
    let text = node.as_text()?;
    // Case tells bits from bytes.
    let bare = |text: &str| text.replace(' ', "");
    let sata = SATA_LINKS.iter().find(|(word, _)| bare(word) == bare(&text));
    sata.map(|(_, payload)| *payload).or_else(|| parse_rate(&text)).ok_or_else(|| {
        let names = one_of(SATA_LINKS.iter().map(|(word, _)| *word));
        node.error(format!(
            "`{name}`: expected the rate of a SATA link ({names}), or the payload that it carries \
             such as '275 MB/s', found '{text}'"
        ))
    })
}

/// A time such as '8.5 ms', in ns.
pub(crate) fn time(fields: &mut Fields<'_>, name: &str) -> Result<u64, SourceError> {
    parse_time(fields.require(name)?, name)
}

/// The same, if it is given.
pub(crate) fn optional_time(
    fields: &mut Fields<'_>,
    name: &str,
) -> Result<Option<u64>, SourceError> {
    fields.take(name).map(|node| parse_time(node, name)).transpose()
}

pub(crate) fn parse_time(node: &Node, name: &str) -> Result<u64, SourceError> {
    let text = node.as_text()?;
    parse_nanoseconds(&text).ok_or_else(|| {
        node.error(format!("`{name}`: expected a time such as '8.5 ms' or '50 µs', found '{text}'"))
    })
}

/// A rate such as '240 MB/s', in B/s.
pub(crate) fn rate(fields: &mut Fields<'_>, name: &str) -> Result<f64, SourceError> {
    let node = fields.require(name)?;
    let text = node.as_text()?;
    parse_rate(&text).ok_or_else(|| {
        node.error(format!("`{name}`: expected a rate such as '240 MB/s', found '{text}'"))
    })
}

pub(crate) fn parse_rate(text: &str) -> Option<f64> {
    let size = text.trim().strip_suffix("/s")?;
    size.trim().parse::<Bytes>().ok().map(|bytes| bytes.0 as f64)
}

/// A whole number.
pub(crate) fn whole(fields: &mut Fields<'_>, name: &str) -> Result<u64, SourceError> {
    needed(fields, name, |fields| fields.integer(name, 0..=u64::MAX))
}

/// A number with or without a fraction.
pub(crate) fn number(fields: &mut Fields<'_>, name: &str) -> Result<f64, SourceError> {
    needed(fields, name, |fields| fields.parse(name, "a number"))
}

/// True or false.
pub(crate) fn boolean(fields: &mut Fields<'_>, name: &str) -> Result<bool, SourceError> {
    needed(fields, name, |fields| fields.boolean(name))
}

/// One of a few words.
pub(crate) fn choice<T: Copy>(
    fields: &mut Fields<'_>,
    name: &str,
    choices: &[(&str, T)],
) -> Result<T, SourceError> {
    needed(fields, name, |fields| fields.choice(name, choices))
}

/// The value that `take` finds; where there is none, the error about the missing
/// field. (`Fields` names its table and place only in `require`, which finds
/// nothing a second time.)
fn needed<T>(
    fields: &mut Fields<'_>,
    name: &str,
    take: impl FnOnce(&mut Fields<'_>) -> Result<Option<T>, SourceError>,
) -> Result<T, SourceError> {
    match take(fields)? {
        Some(value) => Ok(value),
        None => match fields.require(name) {
            Err(error) => Err(error),
            Ok(node) => Err(node.error(format!("`{name}` stands here twice"))),
        },
    }
}

/// The node that a path of two keys leads to, the first being empty for the root;
/// `root` where there is none.
pub(crate) fn at<'a>(root: &'a Node, (table, field): (&str, &str)) -> &'a Node {
    let child = |node: &'a Node, name: &str| {
        node.entries().ok()?.iter().find(|(key, _)| key.name == name).map(|(_, child)| child)
    };
    let parent = if table.is_empty() { Some(root) } else { child(root, table) };
    parent.and_then(|parent| child(parent, field)).unwrap_or(root)
}
