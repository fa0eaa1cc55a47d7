//! Drive files.

mod class;
mod plausible;
mod setting;
mod sibling;

use std::sync::Arc;

use disklab_config::{Fields, Node, Setting};
use disklab_source::{FileName, Source, SourceError};

use disklab_units::parse_nanoseconds;

use crate::values::choice;
use crate::{Drive, hdd, smr, ssd};

pub use class::Class;
pub use plausible::Plausible;
pub use setting::SettingChange;

/// A drive's description, as a file in `drives/` gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveFile {
    /// Short name, by which studies call it, such as `wd40efrx-68n32n0`.
    pub id: String,
    /// Other short names, such as `hgst-10tb`, that are easier to remember.
    pub aliases: Vec<String>,
    /// Its name in the trade, such as `WD Red 4 TB`.
    pub name: String,
    /// The model that it reports to the host.
    pub model: String,
    /// What a reader of its figures must know, such as a property that is not
    /// modelled; empty where there is nothing.
    pub note: String,
    /// What it was made for, by which lists are grouped.
    pub class: Class,
    /// The drive that it is like but for what its file says; `None` if its file says all.
    pub like: Option<String>,
    /// Fields whose value is that of similar drives, for none is published of this model.
    pub of_class: Vec<String>,
    /// What kind of drive it is, and its data.
    pub kind: Kind,
    /// Fields whose value is not certain, and between what it may lie.
    pub plausible: Vec<Plausible>,
    /// What is otherwise here than in its file; empty for the file's own drive.
    pub changes: Vec<SettingChange>,
}

/// The kinds of drives that are modelled.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A hard disk with conventional recording.
    Hdd(hdd::Parameters),
    /// A hard disk with shingled recording, managed by the drive.
    Smr(smr::Parameters),
    /// A solid-state drive.
    Ssd(ssd::Parameters),
}

impl Kind {
    /// What such a drive is called.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Hdd(_) => "hard disk",
            Self::Smr(_) => "shingled hard disk",
            Self::Ssd(_) => "solid-state drive",
        }
    }
}

type Reader = fn(&Node, &mut Fields<'_>) -> Result<Kind, SourceError>;

/// The kinds' words in drive files, and what reads them.
const KINDS: [(&str, Reader); 3] = [
    ("hdd", |root, fields| Ok(Kind::Hdd(hdd::read(root, fields)?))),
    ("smr", |root, fields| Ok(Kind::Smr(smr::read(root, fields)?))),
    ("ssd", |root, fields| Ok(Kind::Ssd(ssd::read(root, fields)?))),
];

impl DriveFile {
    /// A drive of this model. Drives with the same seed are the same to the last
    /// turn; with another seed, the platters stand differently.
    pub fn build(&self, seed: u64) -> Box<dyn Drive> {
        match &self.kind {
            Kind::Hdd(parameters) => Box::new(hdd::HardDisk::new(parameters, seed)),
            Kind::Smr(parameters) => Box::new(hdd::HardDisk::shingled(parameters, seed)),
            Kind::Ssd(parameters) => Box::new(ssd::SolidState::new(parameters)),
        }
    }

    /// Bytes that the host sees.
    pub fn capacity(&self) -> u64 {
        match &self.kind {
            Kind::Hdd(parameters) => parameters.visible,
            Kind::Smr(parameters) => parameters.disk.visible,
            Kind::Ssd(parameters) => parameters.visible,
        }
    }

    /// Platters, arm and their electronics, of a drive that has them.
    pub fn mechanics(&self) -> Option<&hdd::Parameters> {
        match &self.kind {
            Kind::Hdd(parameters) => Some(parameters),
            Kind::Smr(parameters) => Some(&parameters.disk),
            Kind::Ssd(_) => None,
        }
    }

    /// The model itself, of which every unit differs by its
    /// [`zone_spread`](hdd::Parameters::zone_spread).
    pub fn without_spread(mut self) -> Self {
        match &mut self.kind {
            Kind::Hdd(parameters) => parameters.zone_spread = 0.0,
            Kind::Smr(parameters) => parameters.disk.zone_spread = 0.0,
            Kind::Ssd(_) => {}
        }
        self
    }

    /// Bytes of a logical and of a physical sector.
    pub fn sector_sizes(&self) -> (u64, u64) {
        match &self.kind {
            Kind::Hdd(p) => (p.sectors.logical(), p.sectors.physical()),
            Kind::Smr(p) => (p.disk.sectors.logical(), p.disk.sectors.physical()),
            Kind::Ssd(p) => (p.sectors.logical(), p.sectors.physical()),
        }
    }

    /// How many commands it takes at a time; the host keeps the others.
    pub fn queue_depth(&self) -> u64 {
        match &self.kind {
            Kind::Hdd(parameters) => parameters.queue_depth,
            Kind::Smr(parameters) => parameters.disk.queue_depth,
            Kind::Ssd(parameters) => parameters.interface.queue_depth,
        }
    }

    /// What its link carries, bytes of payload per second.
    pub fn link_rate(&self) -> u64 {
        let rate = match &self.kind {
            Kind::Ssd(parameters) => parameters.interface.link_rate,
            Kind::Hdd(parameters) => parameters.link_rate,
            Kind::Smr(parameters) => parameters.disk.link_rate,
        };
        // Checked parameters lie far below 2^64.
        rate as u64
    }

    /// Whether it turns: the host's kernel and file systems treat such drives otherwise.
    pub fn rotates(&self) -> bool {
        self.mechanics().is_some()
    }

    /// Whether it takes discards.
    pub fn takes_discards(&self) -> bool {
        matches!(self.kind, Kind::Ssd(_))
    }

    /// Whether it writes zeros without their being sent.
    pub fn takes_write_zeroes(&self) -> bool {
        matches!(&self.kind, Kind::Ssd(parameters) if parameters.interface.write_zeroes)
    }

    /// What a flush takes by its own, ns, and the ends between which it may lie, if no figure of
    /// this very model decides it. Databases, virtual machines and ZFS's log wait for it.
    pub fn flush_of_class(&self) -> Option<[u64; 3]> {
        const FIELD: &str = "buffer.flush-overhead";
        let Kind::Ssd(parameters) = &self.kind else { return None };
        if !self.of_class.iter().any(|field| field == FIELD) {
            return None;
        }
        let range = self.plausible.iter().find(|range| range.field == FIELD)?;
        let [low, high] = [&range.low, &range.high].map(|end| parse_nanoseconds(end));
        Some([parameters.buffer.flush_overhead, low?, high?])
    }

    /// The same drive, of which the host sees the first `bytes` only.
    ///
    /// # Errors
    /// Where the drive is smaller, or the size is no multiple of its sectors.
    pub fn limited_to(&self, bytes: u64) -> Result<Self, SizeError> {
        let kind = match &self.kind {
            Kind::Hdd(parameters) => parameters.limited_to(bytes).map(Kind::Hdd),
            Kind::Smr(parameters) => parameters.limited_to(bytes).map(Kind::Smr),
            Kind::Ssd(parameters) => parameters.limited_to(bytes).map(Kind::Ssd),
        };
        let kind = kind.map_err(|fault| SizeError { drive: self.id.clone(), fault })?;
        Ok(Self { kind, ..self.clone() })
    }
}

/// A drive cannot be shown with another size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeError {
    /// The drive's id.
    pub drive: String,
    /// Why.
    pub fault: crate::Fault,
}

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "drive '{}': {}", self.drive, self.fault.message)
    }
}

impl std::error::Error for SizeError {}

/// Reads a drive file. `name` is the file's name as the user gave it.
///
/// # Errors
/// Where the text is no TOML, a field is missing or unknown, or the numbers
/// cannot belong to a drive; the error shows the place and what was expected.
pub fn load(name: &str, text: &str) -> Result<DriveFile, SourceError> {
    load_with(name, text, &[])
}

/// Reads a drive file, and gives some of its fields other values; of several settings
/// of a field the last counts.
///
/// # Errors
/// As for [`load`], and where there is no such field or such a drive cannot be; the
/// error then shows where it was set.
pub fn load_with(name: &str, text: &str, set: &[Setting]) -> Result<DriveFile, SourceError> {
    let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
    let (root, like) = sibling::complete(Node::parse(&source)?)?;
    let whole = || -> Result<DriveFile, SourceError> {
        let (own, ranges) = read(&root)?;
        let plausible =
            ranges.map_or_else(|| Ok(Vec::new()), |ranges| plausible::read(&root, ranges))?;
        Ok(DriveFile { plausible, like: like.as_ref().map(|like| like.id.clone()), ..own })
    };
    let own = whole().map_err(|error| match &like {
        Some(like) => like.blame(error, name),
        None => error,
    })?;
    if set.is_empty() {
        return Ok(own);
    }
    let mut changed = root.clone();
    let mut changes: Vec<SettingChange> = Vec::new();
    for setting in set {
        let change = setting::apply(&root, &mut changed, setting)?;
        changes.retain(|c| c.field != change.field);
        changes.push(change);
    }
    let (file, _) = read(&changed).map_err(|e| setting::blame(e, name, &own, set))?;
    let DriveFile { plausible, like, .. } = own;
    Ok(DriveFile { plausible, like, changes, ..file })
}

/// The id, which becomes the name of a page and of a directory of pictures.
fn id(node: &Node) -> Result<String, SourceError> {
    let id = node.as_text()?;
    match FileName::new(&id) {
        Ok(id) => Ok(id.into()),
        Err(why) => Err(node.error(format!("`id`: invalid name '{}': {why}", id.escape_debug()))),
    }
}

/// The drive, and the table of what is plausible.
fn read(root: &Node) -> Result<(DriveFile, Option<&Node>), SourceError> {
    let mut fields = Fields::new(root, "the drive")?;
    let id = id(fields.require("id")?)?;
    let aliases = fields.texts("aliases")?.unwrap_or_default();
    let name = fields.require_text("name")?;
    let model = fields.require_text("model")?;
    let note = fields.text("note")?.unwrap_or_default().trim().to_owned();
    let of_class = fields.texts("of-class")?.unwrap_or_default();
    let read = choice(&mut fields, "kind", &KINDS)?;
    let kind = read(root, &mut fields)?;
    let class = class::read(&mut fields, &kind)?;
    let ranges = fields.take("plausible");
    fields.finish()?;
    let (plausible, changes) = (Vec::new(), Vec::new());
    let like = None;
    for field in &of_class {
        if setting::value(root, field).is_none() {
            return Err(root.error(format!("`of-class`: this file gives no `{field}`")));
        }
    }
    let file = DriveFile {
        id,
        aliases,
        name,
        model,
        note,
        class,
        like,
        of_class,
        kind,
        plausible,
        changes,
    };
    Ok((file, ranges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SHIPPED;
    use proptest::prelude::*;

    const TEXT: &str = SHIPPED[0].1;

    fn error(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "{from}");
        load("d.toml", &TEXT.replacen(from, to, 1)).unwrap_err().to_string()
    }

    /// Replaces the value of the first field `name`.
    fn with(name: &str, value: &str) -> String {
        let line = TEXT.lines().find(|l| l.starts_with(&format!("{name} = "))).unwrap();
        error(line, &format!("{name} = {value}"))
    }

    #[test]
    fn impossible_numbers_are_refused_at_their_place() {
        for (field, value, expected) in [
            ("capacity", "0", "cannot be modelled"),
            ("capacity", "\"900 TB\"", "cannot be modelled"),
            ("capacity", "10000831348737", "multiple of the drive's sectors"),
            ("rpm", "0", "from 1000 to 30000"),
            ("heads", "0", "from 1 to 64"),
            ("zones", "0", "from 1 to 200"),
            ("outer-rate", "\"0 MB/s\"", "from 1 MB/s"),
            ("inner-rate", "\"300 MB/s\"", "cannot be faster"),
            ("outer-rate", "\"fast\"", "expected a rate such as"),
            ("average", "\"17 ms\"", "must rise"),
            ("average", "\"3 ms\"", "no rising seek curve"),
            ("full", "\"-1 ms\"", "expected a time"),
            ("ncq-quality", "1.5", "from 0 to 1"),
            ("ncq-quality", "nan", "from 0 to 1"),
            ("queue-depth", "0", "from 1 to 256"),
            ("size", "\"160 MiB\"", "do not fit"),
            ("read-overhead", "\"0 ms\"", "from 1 ns to 1 s"),
            ("kind", "\"hd\"", "did you mean 'hdd'"),
            ("sectors", "\"4k\"", "'512e'"),
            ("link", "\"12 Gb/s\"", "'1.5 Gb/s', '3 Gb/s' or '6 Gb/s'"),
            ("link", "\"6 GB\"", "such as '275 MB/s'"),
            ("write-average", "\"16.7 ms\"", "must rise"),
            ("write-average", "\"3 ms\"", "no rising seek curve"),
        ] {
            let message = with(field, value);
            assert!(message.contains(expected), "{field} = {value}: {message}");
            let line = TEXT.lines().position(|l| l.starts_with(&format!("{field} = "))).unwrap();
            assert!(message.starts_with(&format!("d.toml:{}:", line + 1)), "{message}");
        }
    }

    /// The first drive with another value of a field, `None` for no such line.
    fn changed(name: &str, value: Option<&str>) -> hdd::Parameters {
        // What is plausible is so for the drive as it is.
        let own = TEXT.lines().take_while(|line| *line != "[plausible]");
        let text = own.filter_map(|line| {
            if !line.starts_with(&format!("{name} = ")) {
                return Some(line.to_owned());
            }
            value.map(|value| format!("{name} = {value}"))
        });
        let text: Vec<String> = text.collect();
        load("d.toml", &text.join("\n")).unwrap().mechanics().unwrap().clone()
    }

    #[test]
    fn a_link_is_named_as_the_trade_does_or_by_what_it_carries() {
        for (value, payload) in [
            ("\"1.5 Gb/s\"", 140e6),
            ("\"3Gb/s\"", 275e6),
            ("\"6 Gb/s\"", 550e6),
            ("\"6 GB/s\"", 6e9),
            ("\"120 MB/s\"", 120e6),
        ] {
            assert_eq!(changed("link", Some(value)).link_rate, payload, "{value}");
        }
    }

    #[test]
    fn writes_seek_as_stated_or_else_as_reads_and_settle() {
        let stated = changed("write-average", Some("\"8.9 ms\""));
        assert_eq!(stated.write_seek.average, 8_900_000);
        let inferred = changed("write-average", None);
        let settled = inferred.read_seek.average + inferred.write_settle;
        assert_eq!(inferred.write_seek.average, settled);
        assert_eq!(inferred.read_seek, stated.read_seek);
    }

    #[test]
    fn missing_and_unknown_fields_are_reported() {
        assert!(error("rpm = ", "rmp = ").contains("needs a field 'rpm'"));
        assert!(error("[seek]", "[seek]\ncolour = 3").contains("unknown field 'colour'"));
        assert!(error("[seek]", "[seeks]").contains("needs a field 'seek'"));
    }

    #[test]
    fn a_drive_can_be_limited_but_not_enlarged() {
        let file = load("d.toml", TEXT).unwrap();
        let limited = file.limited_to(300_000_000_000).unwrap();
        assert_eq!(limited.capacity(), 300_000_000_000);
        assert_eq!(limited.build(1).sectors(), 300_000_000_000 / 512);
        assert!(
            file.limited_to(20_000_000_000_000)
                .unwrap_err()
                .to_string()
                .contains("cannot show 20 TB")
        );
        assert!(file.limited_to(1_000_000_001).unwrap_err().to_string().contains("multiple"));
    }

    /// A value of the class is marked where its source says so, and nowhere else.
    #[test]
    fn values_of_the_class_are_marked() {
        for (id, text) in SHIPPED {
            let file = crate::shipped(id).unwrap();
            let line = text.lines().find(|line| line.starts_with("flush-overhead = "));
            let Some(line) = line else { continue };
            let says = line.contains("# assumed: of the class");
            assert_eq!(file.flush_of_class().is_some(), says, "{id}: {line}");
        }
        let inherited = crate::shipped("wd-sn770-1tb").unwrap();
        assert_eq!(inherited.flush_of_class(), Some([1_500_000, 300_000, 6_700_000]));
        assert!(crate::shipped("samsung-980-1tb").unwrap().flush_of_class().is_none());
        let unknown = error("kind = ", "of-class = [\"buffer.flush\"]\nkind = ");
        assert!(unknown.contains("gives no `buffer.flush`"), "{unknown}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            prop_assert!(load("d.toml", &text).is_err());
        }

        #[test]
        fn no_number_panics(line in 0_usize..60, value in "-?[0-9]{1,20}|\"[0-9.]{1,9} ?(ms|s|TB|MB/s|MiB)\"|\\[\\]|nan|inf") {
            let changed: Vec<String> = TEXT.lines().enumerate().map(|(number, text)| {
                match text.split_once(" = ") {
                    Some((key, _)) if number == line => format!("{key} = {value}"),
                    _ => text.to_owned(),
                }
            }).collect();
            match load("d.toml", &changed.join("\n")) {
                Ok(file) => prop_assert!(file.capacity() > 0 && file.build(0).sectors() > 0),
                Err(error) => prop_assert!(error.to_string().starts_with("d.toml:")),
            }
        }
    }
}
