//! A shingled drive's part of a drive file.

use disklab_config::{Fields, Node};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::parameters::{CommitPoint, Parameters};
use crate::hdd;
use crate::values::{at, parse_time, time, whole};

/// Reads the fields of a shingled drive: those of a hard disk and two tables more.
///
/// # Errors
/// Where a field is missing or unknown, or the numbers are impossible.
pub(crate) fn read(root: &Node, fields: &mut Fields<'_>) -> Result<Parameters, SourceError> {
    let disk = hdd::read(root, fields)?;
    let mut log = Fields::new(fields.require("persistent-cache")?, "'persistent-cache'")?;
    let mut bands = Fields::new(fields.require("bands")?, "'bands'")?;
    let parameters = Parameters {
        disk,
        log_size: log.require_bytes("size")?.0,
        log_padding: log.require_bytes("padding")?.0,
        map_entries: whole(&mut log, "map-entries")?,
        map_flush_every: whole(&mut log, "map-flush-every")?,
        map_flush: time(&mut log, "map-flush")?,
        commit: commit(&mut log)?,
        band_tracks: whole(&mut bands, "tracks")?,
        stream_after: bands.require_bytes("stream-after")?.0,
        stream_skip: bands.require_bytes("stream-skip")?.0,
        stream_least: bands.require_bytes("stream-least")?.0,
        cleaning_overhead: time(&mut bands, "cleaning-overhead")?,
        small_extent: bands.require_bytes("small-extent")?.0,
        small_cleaning: time(&mut bands, "small-cleaning")?,
        idle_delay: time(&mut bands, "idle-delay")?,
    };
    log.finish()?;
    bands.finish()?;
    parameters.check().map_err(|fault| at(root, fault.field).error(fault.message))?;
    Ok(parameters)
}

/// The table of commit times: two lists of the same length.
fn commit(log: &mut Fields<'_>) -> Result<Vec<CommitPoint>, SourceError> {
    let (sizes, times) = (log.require("commit-sizes")?, log.require("commit-times")?);
    if sizes.items().len() != times.items().len() {
        return Err(times.error(format!(
            "`commit-times`: expected {}, one for each of `commit-sizes`, found {}",
            sizes.items().len(),
            times.items().len()
        )));
    }
    let point = |(size, time): (&Node, &Node)| {
        let text = size.as_text()?;
        let bytes: Bytes = text.trim().parse().map_err(|_| {
            size.error(format!("`commit-sizes`: expected a size such as '1 MiB', found '{text}'"))
        })?;
        Ok(CommitPoint { size: bytes.0, time: parse_time(time, "commit-times")? })
    };
    sizes.items().iter().zip(times.items()).map(point).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Kind, SHIPPED, load};
    use proptest::prelude::*;

    fn text() -> &'static str {
        SHIPPED.iter().find(|(id, _)| *id == "st8000as0002").unwrap().1
    }

    /// The shipped drive with another value of the last field of this name.
    fn with(name: &str, value: &str) -> (usize, String) {
        let lines: Vec<&str> = text().lines().collect();
        let place = lines.iter().rposition(|l| l.starts_with(&format!("{name} = "))).unwrap();
        let new = format!("{name} = {value}");
        let changed: Vec<&str> =
            lines.iter().enumerate().map(|(n, l)| if n == place { &*new } else { *l }).collect();
        (place + 1, changed.join("\n"))
    }

    #[test]
    fn impossible_numbers_are_refused_at_their_place() {
        for (field, value, expected) in [
            ("padding", "\"820 KB\"", "multiple of 4096 B"),
            ("padding", "\"2 GiB\"", "from 0 B to 1 GiB"),
            ("map-entries", "3", "from 16 to"),
            ("map-flush-every", "0", "from 1 to"),
            ("map-flush", "\"2000000 s\"", "expected a time"),
            ("map-flush", "\"4000 s\"", "at most an hour"),
            ("commit-sizes", "[\"1 MiB\", \"2 MiB\"]", "one for each of `commit-sizes`"),
            ("commit-times", "\"1 ms\"", "one for each of `commit-sizes`"),
            ("tracks", "0", "from 1 to 10000"),
            ("stream-after", "\"1 B\"", "multiple of 4096 B"),
            ("stream-skip", "\"2 GiB\"", "from 0 B to 1 GiB"),
            ("stream-least", "\"5 KiB\"", "multiple of 4096 B"),
            ("idle-delay", "\"soon\"", "expected a time"),
        ] {
            let (line, text) = with(field, value);
            let message = load("d.toml", &text).unwrap_err().to_string();
            assert!(message.contains(expected), "{field} = {value}: {message}");
            let near = ["commit-times", "commit-sizes"].contains(&field);
            assert!(near || message.starts_with(&format!("d.toml:{line}:")), "{message}");
        }
        let small = text().replacen("size = \"31.5 GiB\"", "size = \"200 MiB\"", 1);
        assert!(load("d.toml", &small).unwrap_err().to_string().contains("`size`: expected"));
        let (_, falling) = with(
            "commit-times",
            "[\"9 ms\", \"8 ms\", \"10 ms\", \"11 ms\", \"12 ms\", \"13 ms\", \"14 ms\"]",
        );
        assert!(load("d.toml", &falling).unwrap_err().to_string().contains("that rise"));
        let (_, missing) = with("idle-delay", "\"1 s\"\ncolour = 3");
        assert!(load("d.toml", &missing).unwrap_err().to_string().contains("'colour'"));
    }

    #[test]
    fn a_shingled_drive_can_be_limited() {
        let file = load("d.toml", text()).unwrap();
        let limited = file.limited_to(200 << 30).unwrap();
        assert_eq!(
            (limited.capacity(), limited.build(1).sectors()),
            (200 << 30, (200 << 30) / 512)
        );
        assert_eq!(limited.sector_sizes(), (512, 4096));
        assert_eq!(limited.mechanics().map(|p| p.heads), file.mechanics().map(|p| p.heads));
        assert!(
            file.limited_to(9_000_000_000_000)
                .unwrap_err()
                .to_string()
                .contains("cannot show 9 TB")
        );
        assert!(matches!(file.kind, Kind::Smr(_)));
    }

    proptest! {
        #[test]
        fn no_number_panics(line in 0_usize..90, value in "-?[0-9]{1,20}|\"[0-9.]{1,9} ?(ms|s|TB|GiB|MiB|B)\"|\\[\"1 ms\", \"2 MiB\"\\]|\\[\\]|nan|inf") {
            let changed: Vec<String> = text().lines().enumerate().map(|(number, text)| {
                match text.split_once(" = ") {
                    Some((key, _)) if number == line => format!("{key} = {value}"),
                    _ => text.to_owned(),
                }
            }).collect();
            match load("d.toml", &changed.join("\n")) {
                Ok(file) => prop_assert!(file.build(0).sectors() > 0),
                Err(error) => prop_assert!(error.to_string().starts_with("d.toml:")),
            }
        }
    }
}
