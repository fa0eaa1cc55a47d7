//! The parameters of a drive file with their sources, which stand as comments
//! behind them.

use disklab_drive::SHIPPED;
use serde::Serialize;

use SourceKind::{
    Assumed, DataSheet, Fitted, Measured, Paper, Published, Recalled, Seen, Sibling, Standard,
    Study,
};

/// How a source begins, in the drive files that come with disklab: what kind of
/// knowledge a value is. What follows says more.
pub const KINDS_OF_SOURCES: [(SourceKind, &str, &str); 11] = [
    (DataSheet, "data sheet", "the maker's data sheet or specification of this model"),
    (Published, "published", "measured by somebody who published it"),
    (Seen, "seen", "a listing of such a drive, as by smartctl"),
    (Study, "study", "the study of that name, in its figures or its listings"),
    (Standard, "standard", "a standard that the drive keeps"),
    (Paper, "paper", "a paper about such drives"),
    (Fitted, "fitted", "chosen so that the model gives published figures, which are named"),
    (Recalled, "recalled", "from memory of the source named; may be wrong"),
    (Assumed, "assumed", "chosen, not measured; the reason follows"),
    (Measured, "measured", "by `disklab drive probe` on the very drive that the file is of"),
    (Sibling, "sibling", "not measured by a probe; of the nearest shipped drive, with its source"),
];

/// What kind of knowledge a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// The maker's data sheet or specification.
    DataSheet,
    /// A published measurement.
    Published,
    /// A listing of such a drive.
    Seen,
    /// A study's figures or listings.
    Study,
    /// A standard that the drive keeps.
    Standard,
    /// A paper about such drives.
    Paper,
    /// Fitted to published figures.
    Fitted,
    /// From memory of a source.
    Recalled,
    /// Chosen.
    Assumed,
    /// Measured by a probe on the drive itself.
    Measured,
    /// Of another drive, in a file that a probe wrote.
    Sibling,
}

/// How well a drive is known: how many of its values come from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Known {
    /// From a data sheet or a standard.
    pub stated: usize,
    /// Measured or listed by somebody, or fitted to what was measured.
    pub measured: usize,
    /// From memory of a source, which is mostly a data sheet.
    pub recalled: usize,
    /// Chosen, or taken from a sibling.
    pub assumed: usize,
}

impl Known {
    /// The count of these values; one without a source counts as assumed.
    pub fn new(values: &[SourcedValue]) -> Self {
        let mut known = Self::default();
        for value in values {
            match value.kind() {
                Some(DataSheet | Standard) => known.stated += 1,
                Some(Published | Seen | Study | Paper | Fitted | Measured) => known.measured += 1,
                Some(Recalled) => known.recalled += 1,
                Some(Assumed | Sibling) | None => known.assumed += 1,
            }
        }
        known
    }

    /// The counts in the order of their fields, as percentages of all values.
    pub fn percent(&self) -> [usize; 4] {
        let counts = [self.stated, self.measured, self.recalled, self.assumed];
        let all = counts.iter().sum::<usize>().max(1);
        counts.map(|count| (count * 100 + all / 2) / all)
    }
}

/// Fields that name a drive; they need no source.
const NAMES: [&str; 9] =
    ["id", "aliases", "name", "model", "kind", "class", "like", "of-class", "note"];

/// A parameter of a drive file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourcedValue {
    /// Its table; empty for the drive's own.
    pub table: String,
    /// As the file spells it.
    pub name: String,
    /// Its value, as it stands there.
    pub value: String,
    /// The comment behind it, which says where it is from; empty where there is none.
    pub source: String,
}

impl SourcedValue {
    /// Which of [`KINDS_OF_SOURCES`] its source is; `None` if it has none of them.
    pub fn kind(&self) -> Option<SourceKind> {
        let found = KINDS_OF_SOURCES.iter().find(|(_, word, _)| {
            let rest = self.source.strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        found.map(|(kind, ..)| *kind)
    }

    /// Whether its source is one of [`KINDS_OF_SOURCES`].
    pub fn has_source(&self) -> bool {
        self.kind().is_some()
    }
}

/// The parameters of a drive, in their order, without its names and the ranges within
/// which uncertain values may lie: those of its file, and its sibling's where the file
/// names one and has none. The text need not be a drive file, nor
/// TOML: what cannot be understood is left out.
pub fn values(text: &str) -> Vec<SourcedValue> {
    values_within(text, LONGEST)
}

/// A drive follows that many others at most; a circle ends.
const LONGEST: usize = 8;

fn values_within(text: &str, left: usize) -> Vec<SourcedValue> {
    let own = own_values(text);
    let sibling = sibling(text).and_then(|id| SHIPPED.iter().find(|(known, _)| *known == id));
    let Some((id, base)) = sibling.filter(|_| left > 0) else { return own };
    let is = |a: &SourcedValue, b: &SourcedValue| a.table == b.table && a.name == b.name;
    let mut all: Vec<SourcedValue> =
        values_within(base, left - 1).into_iter().map(|value| inherited(value, id)).collect();
    for value in own {
        match all.iter_mut().find(|known| is(known, &value)) {
            Some(known) => *known = value,
            None => all.push(value),
        }
    }
    all
}

/// A sibling's value: what the sibling is known to have is assumed of this drive. A
/// standard holds for both, and what is chosen was chosen for both.
fn inherited(value: SourcedValue, id: &str) -> SourcedValue {
    let source = match value.kind() {
        Some(Standard | Assumed) => value.source,
        _ => format!("assumed: as {id}, there {}", value.source),
    };
    SourcedValue { source, ..value }
}

/// The id of the sibling that a file names, above its tables.
fn sibling(text: &str) -> Option<&str> {
    let above = text.lines().take_while(|line| !line.trim_start().starts_with('['));
    let mut assignments = above.filter_map(|line| split_comment(line).0.split_once('='));
    let (_, id) = assignments.find(|(name, _)| name.trim() == "like")?;
    Some(id.trim().trim_matches('"'))
}

/// The parameters that a file itself gives.
fn own_values(text: &str) -> Vec<SourcedValue> {
    let (mut table, mut values, mut in_text) = (String::new(), Vec::new(), false);
    for line in text.lines() {
        let line = line.trim();
        // Texts of several lines, such as notes.
        let marks = line.matches("\"\"\"").count();
        if in_text || marks == 1 {
            in_text ^= marks % 2 == 1;
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            name.trim_matches(['[', ' ']).clone_into(&mut table);
            continue;
        }
        let (assignment, source) = split_comment(line);
        let Some((name, value)) = assignment.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim());
        let ranges = table == "plausible";
        if name.is_empty() || ranges || (table.is_empty() && NAMES.contains(&name)) {
            continue;
        }
        values.push(SourcedValue {
            table: table.clone(),
            name: name.to_owned(),
            value: value.trim_matches('"').to_owned(),
            source: source.to_owned(),
        });
    }
    values
}

/// A line without its comment, and the comment. A mark within quotes begins none.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '#' if !quoted => return (&line[..at], line[at + 1..].trim()),
            _ => {}
        }
    }
    (line, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_parameter_of_a_shipped_drive_has_its_source() {
        let kinds = KINDS_OF_SOURCES.map(|(_, word, _)| word);
        for (id, text) in SHIPPED {
            let values = values(text);
            assert!(values.len() > 10, "{id}");
            for value in values {
                assert!(
                    value.has_source(),
                    "drives/{id}.toml: `{}` needs a comment with its source behind it, which \
                     begins with one of {kinds:?}; found '{}'",
                    value.name,
                    value.source
                );
            }
        }
    }

    #[test]
    fn values_are_found_with_their_tables_and_sources() {
        let text = "# a comment = none\nid = \"x\"\nnote = \"\"\"\na = 1 # no\n\"\"\"\n\
                    capacity = 12 # data sheet\n\n[seek]\nfull = \"1 # 2\" # assumed: so\nbare = 3\n";
        let found = values(text);
        let shown: Vec<String> = found
            .iter()
            .map(|v| format!("{}/{}/{}/{}", v.table, v.name, v.value, v.source))
            .collect();
        let expected = ["/capacity/12/data sheet", "seek/full/1 # 2/assumed: so", "seek/bare/3/"];
        assert_eq!(shown, expected);
        assert_eq!(
            found.iter().map(SourcedValue::has_source).collect::<Vec<_>>(),
            [true, true, false]
        );
        let other = SourcedValue { source: "assumedly".to_owned(), ..found[0].clone() };
        assert!(!other.has_source());
    }

    #[test]
    fn a_siblings_values_are_assumed_unless_they_are_a_standard() {
        let text = "id = \"x\"\nlike = \"md04aca400\" # so\n[geometry]\nheads = 6 # data sheet\n";
        let (found, base) = (values(text), values(SHIPPED[5].1));
        assert_eq!((SHIPPED[5].0, found.len()), ("md04aca400", base.len()));
        let source = |name: &str| {
            found.iter().find(|v| v.name == name).map(|v| v.source.as_str()).unwrap_or_default()
        };
        assert_eq!(source("heads"), "data sheet");
        assert_eq!(source("rpm"), "assumed: as md04aca400, there study smr-2015: SMART listing");
        assert_eq!(source("queue-depth"), "standard: ATA, native command queueing");
        assert_eq!(source("segments"), "assumed: 16 to 32");
        let (before, after) = (Known::new(&base), Known::new(&found));
        // One more, the heads; one less, the transport, which is of the other drive's data sheet.
        assert_eq!(source("transport"), "assumed: as md04aca400, there data sheet: Serial ATA");
        assert_eq!((after.measured, after.stated), (0, before.stated));
        assert_eq!(values("like = \"no-such\"\nrpm = 3 # seen").len(), 1);
    }

    #[test]
    fn shares_are_of_all_values() {
        let known = Known { stated: 1, measured: 2, recalled: 0, assumed: 5 };
        assert_eq!(known.percent(), [13, 25, 0, 63]);
        assert_eq!(Known::default().percent(), [0; 4]);
        let bare = SourcedValue { source: String::new(), ..values("rpm = 3")[0].clone() };
        assert_eq!(Known::new(&[bare]).assumed, 1);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(.|[\\[\\]\"#=\n]){0,200}") {
            for value in values(&text) {
                prop_assert!(!value.name.is_empty());
            }
        }
    }
}
