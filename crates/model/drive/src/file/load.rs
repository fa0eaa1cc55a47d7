//! A drive file's text to a drive, with settings.

use std::sync::Arc;

use disklab_config::{Node, Setting};
use disklab_source::{Source, SourceError};

use super::read::read;
use super::setting::{self, SettingChange};
use super::{DriveFile, ranges, sibling};

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
            ranges.map_or_else(|| Ok(Vec::new()), |ranges| ranges::read(&root, ranges))?;
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
    let (file, _) = read(&changed).map_err(|e| blame(e, name, &own, set))?;
    let DriveFile { plausible, like, .. } = own;
    Ok(DriveFile { plausible, like, changes, ..file })
}

/// An error about a field that was not set, in a drive that is possible without the
/// settings: shown where the last of them is.
fn blame(error: SourceError, name: &str, own: &DriveFile, set: &[Setting]) -> SourceError {
    match set.last() {
        Some(last) if error.file == name => {
            let words: Vec<String> = set.iter().map(Setting::words).collect();
            last.value.error(format!(
                "'{}' cannot be with {}: {}",
                own.id,
                words.join(" and "),
                error.message
            ))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, SHIPPED, hdd};
    use disklab_config::ModelSetting;
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
    fn a_drive_with_settings_keeps_what_is_not_set() {
        for (id, text) in SHIPPED {
            let own = load(id, text).expect("shipped");
            let option = format!("{id}:interface.queue-depth=1");
            let depth = ModelSetting::parse("--set", &option).expect("a setting").setting;
            let set = load_with(id, text, &[depth]).expect("such a drive");
            assert_eq!((&set.plausible, &set.like), (&own.plausible, &own.like), "{id}");
            assert_eq!(set.changes.len(), 1, "{id}");
        }
    }

    #[test]
    fn a_drive_that_stands_for_a_larger_one_has_all_its_zones() {
        let bytes = 100_000_000_000 / 4096 * 4096;
        for (id, text) in SHIPPED {
            let own = load(id, text).expect("shipped");
            let shrunk = own.clone().shrunk_to(bytes).expect("it can be");
            let disk = |file: &DriveFile| match &file.kind {
                Kind::Hdd(disk) => Some(disk.clone()),
                Kind::Smr(shingled) => Some(shingled.disk.clone()),
                Kind::Ssd(_) => None,
            };
            match (disk(&own), disk(&shrunk)) {
                (Some(own), Some(shrunk)) => {
                    let expected = hdd::Parameters { capacity: bytes, visible: bytes, ..own };
                    assert_eq!(shrunk, expected, "{id}");
                }
                _ => assert_eq!(shrunk.kind, own.limited_to(bytes).expect("smaller").kind, "{id}"),
            }
        }
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
