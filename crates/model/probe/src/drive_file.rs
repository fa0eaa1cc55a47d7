//! What was found as a drive file.

use std::fmt::Write as _;

use disklab_drive::{DriveFile, Kind, SHIPPED, load};
use disklab_source::SourceError;
use disklab_validation::{SourcedValue, values};

use crate::field::Field;
use crate::findings::Findings;

/// How a file that this makes begins.
pub const MARK: &str = "# Measured by `disklab drive probe`";

/// What is known of a drive apart from what was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Short name for studies.
    pub id: String,
    /// What it reports to the host.
    pub model: String,
    /// Capacity in bytes.
    pub bytes: u64,
    /// Bytes of a logical and of a physical sector.
    pub sector_sizes: (u64, u64),
    /// How it was measured: a line or more, for a comment.
    pub how: String,
}

/// Why no drive file came out.
#[derive(Debug, thiserror::Error)]
pub enum DriveFileError {
    /// The sibling's text is not at hand: only shipped drives have one.
    #[error("the values do not make a drive that the lab can model: '{0}' is not shipped")]
    NotShipped(String),
    /// No drive can have the values together.
    #[error("the values do not make a drive that the lab can model: {0}")]
    Values(#[from] SourceError),
}

/// A drive file: what was found, each value with its interval, and the values of
/// `sibling`, a shipped drive, for the rest. Each value says behind it which it is.
///
/// # Errors
/// [`DriveFileError::Values`] if no drive can have these values together.
pub fn drive_file(
    findings: &Findings,
    sibling: &DriveFile,
    description: &Description,
) -> Result<String, DriveFileError> {
    let own = SHIPPED.iter().find(|(id, _)| *id == sibling.id).map(|(_, text)| *text);
    let own = own.ok_or_else(|| DriveFileError::NotShipped(sibling.id.clone()))?;
    let mut lines = lines(findings, sibling, own, description);
    fit(&mut lines, sibling);
    let head = head(sibling, description);
    let text = head + &body(&lines);
    load("the drive file", &text)?;
    Ok(with_ranges(text, findings, sibling))
}

/// A line of the file.
#[derive(Debug, Clone)]
struct Line {
    table: String,
    name: String,
    /// The value as TOML.
    value: String,
    source: String,
}

impl Line {
    fn path(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }
}

fn head(sibling: &DriveFile, description: &Description) -> String {
    let Description { id, model, how, .. } = description;
    let mut text = format!("{MARK}.\n");
    for line in how.lines() {
        let _ = writeln!(text, "# {}", comment(line));
    }
    let _ = writeln!(
        text,
        "# 'measured' values were measured on this drive; the interval has 95 % confidence.\n\
         # 'sibling' values were not: they are those of the nearest shipped drive, {}.",
        sibling.id
    );
    let kind = match sibling.kind {
        Kind::Hdd(_) => "hdd",
        Kind::Smr(_) => "smr",
        Kind::Ssd(_) => "ssd",
    };
    let _ = writeln!(text, "id = {}\nname = {}", quoted(id), quoted(&format!("{model}, measured")));
    let _ = writeln!(text, "model = {}\nkind = \"{kind}\"", quoted(model));
    if !sibling.note.is_empty() {
        let note = sibling.note.replace(['"', '\\'], "'");
        let _ = writeln!(text, "note = \"\"\"\nOf its sibling {}: {note}\n\"\"\"", sibling.id);
    }
    text
}

/// One line without what would end a comment.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn quoted(text: &str) -> String {
    let plain: String =
        text.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    format!("\"{plain}\"")
}

/// The values in the order of the sibling's file, and those that it does not state.
fn lines(
    findings: &Findings,
    sibling: &DriveFile,
    text: &str,
    description: &Description,
) -> Vec<Line> {
    let mut lines: Vec<Line> =
        values(text).into_iter().map(|value| line(value, sibling, findings, description)).collect();
    for path in findings.values.keys() {
        let Some((table, name)) = path.split_once('.') else { continue };
        if lines.iter().any(|line| line.table == table && line.name == name) {
            continue;
        }
        if let Some((value, source)) = measured(path, findings) {
            let (table, name) = (table.to_owned(), name.to_owned());
            let behind = lines.iter().rposition(|line| line.table == table);
            let at = behind.map_or(lines.len(), |at| at + 1);
            lines.insert(at, Line { table, name, value, source });
        }
    }
    lines
}

fn line(
    value: SourcedValue,
    sibling: &DriveFile,
    findings: &Findings,
    description: &Description,
) -> Line {
    let SourcedValue { table, name, value, source } = value;
    let path = format!("{table}.{name}");
    let of_sibling = |source: &str| format!("sibling {}: {source}", sibling.id);
    let (value, source) = match (table.as_str(), name.as_str()) {
        ("", "capacity") => {
            (description.bytes.to_string(), "measured: as the kernel sees it".into())
        }
        ("", "sectors") => (
            quoted(sectors(description.sector_sizes)),
            "measured: as the kernel sees it".to_owned(),
        ),
        _ => measured(&path, findings).unwrap_or_else(|| (toml(&value), of_sibling(&source))),
    };
    Line { table, name, value, source }
}

fn sectors((logical, physical): (u64, u64)) -> &'static str {
    match (logical, physical) {
        (4096, _) => "4Kn",
        (_, 4096) => "512e",
        _ => "512n",
    }
}

/// A value that a drive file has without its quotes, as TOML.
fn toml(value: &str) -> String {
    let bare = value.starts_with('[')
        || ["true", "false"].contains(&value)
        || value.parse::<f64>().is_ok_and(f64::is_finite);
    if bare { value.to_owned() } else { quoted(value) }
}

/// A measured value as TOML, and what its comment says.
fn measured(path: &str, findings: &Findings) -> Option<(String, String)> {
    let (field, estimate) = (Field::by_path(path)?, findings.values.get(path)?);
    let [low, high] = [estimate.low, estimate.high].map(|end| field.unit.show(end));
    let interval = if low == high { low } else { format!("{low} to {high}") };
    let source = format!("measured: {interval}, from {} requests or runs", estimate.samples);
    Some((field.unit.toml(estimate.value), source))
}

/// Makes values go together that come from two drives: the memory holds what was found in
/// it, and writes seek as much longer than reads as the sibling's.
fn fit(lines: &mut [Line], sibling: &DriveFile) {
    let number = |lines: &[Line], path: &str| -> Option<u64> {
        let line = lines.iter().find(|line| line.path() == path)?;
        let text = line.value.trim_matches('"');
        text.parse().ok().or_else(|| text.parse::<disklab_units::Bytes>().ok().map(|size| size.0))
    };
    let needed = (|| {
        let segments =
            number(lines, "cache.segments")?.checked_mul(number(lines, "cache.segment-size")?)?;
        segments.checked_add(number(lines, "cache.dirty-limit")?)
    })();
    if let (Some(needed), Some(size)) = (needed, number(lines, "cache.size"))
        && needed > size
        && let Some(line) = lines.iter_mut().find(|line| line.path() == "cache.size")
    {
        line.value = needed.to_string();
        line.source.push_str("; enlarged for the segments that were found");
    }
    let Some(p) = sibling.mechanics() else { return };
    let later = [
        ("average", p.write_seek.average, p.read_seek.average),
        ("full", p.write_seek.full, p.read_seek.full),
    ];
    for (name, write, read) in later {
        let time = |lines: &[Line], name: &str| {
            let line = lines.iter().find(|line| line.table == "seek" && line.name == name)?;
            disklab_units::parse_nanoseconds(line.value.trim_matches('"'))
        };
        let own = time(lines, name);
        let write_name = format!("write-{name}");
        let unmeasured =
            |line: &&mut Line| line.name == write_name && !line.source.starts_with("measured");
        if let (Some(own), Some(line)) = (own, lines.iter_mut().find(unmeasured)) {
            let value = own as f64 + write as f64 - read as f64;
            line.value = crate::FieldUnit::Time.toml(value);
            line.source = format!("sibling {}: as much longer than a read", sibling.id);
        }
    }
}

fn body(lines: &[Line]) -> String {
    let mut text = String::from("\n");
    let mut table = "";
    for line in lines {
        if line.table != table {
            table = &line.table;
            let _ = writeln!(text, "\n[{table}]");
        }
        let _ = writeln!(text, "{} = {} # {}", line.name, line.value, comment(&line.source));
    }
    text
}

/// Adds what is plausible: the intervals of what was measured, the sibling's ranges of the
/// rest. A range in which the drive cannot be is left out.
fn with_ranges(text: String, findings: &Findings, sibling: &DriveFile) -> String {
    let mut ranges: Vec<String> = Vec::new();
    for (path, estimate) in &findings.values {
        let Some(field) = Field::by_path(path) else { continue };
        let [low, high] = [estimate.low, estimate.high].map(|end| field.unit.toml(end));
        ranges.push(format!("\"{path}\" = [{low}, {high}]"));
    }
    for range in &sibling.plausible {
        if !findings.values.contains_key(range.field.as_str()) {
            let [low, high] = [toml(&range.low), toml(&range.high)];
            ranges.push(format!("\"{}\" = [{low}, {high}]", range.field));
        }
    }
    const HEAD: &str = "\n# Between what the values may lie. `disklab sensitivity` moves each to its \
                        ends.\n[plausible]\n";
    ranges.retain(|range| load("the drive file", &format!("{text}{HEAD}{range}\n")).is_ok());
    if ranges.is_empty() { text } else { format!("{text}{HEAD}{}\n", ranges.join("\n")) }
}

#[cfg(test)]
mod tests {
    use disklab_drive::shipped;

    use super::*;
    use crate::estimate::ProbedValue;

    fn description() -> Description {
        Description {
            id: "mine".to_owned(),
            model: "Make \"A\" \\ model\n1".to_owned(),
            bytes: 16_000_900_661_248,
            sector_sizes: (512, 4096),
            how: "On a test bench.\nkind = \"evil\"".to_owned(),
        }
    }

    #[test]
    fn a_file_from_nothing_is_its_sibling() {
        for (id, _) in SHIPPED {
            let sibling = shipped(id).unwrap();
            let description = Description {
                bytes: sibling.capacity(),
                sector_sizes: sibling.sector_sizes(),
                ..description()
            };
            let text = drive_file(&Findings::default(), &sibling, &description).unwrap();
            let file = load("mine.toml", &text).unwrap();
            assert_eq!(file.kind, sibling.kind, "{id}");
            assert!(text.starts_with(MARK), "{id}");
            let sources = values(&text);
            let other = sources.iter().filter(|v| !v.source.starts_with("sibling "));
            assert_eq!(other.count(), 2, "{id}: capacity and sectors");
        }
    }

    #[test]
    fn the_file_has_measured_values_with_their_intervals() {
        let sibling = shipped("mg08aca16te").unwrap();
        let mut findings = Findings::default();
        findings.found("seek.average", ProbedValue::within(8.1e6, 0.1e6, 100));
        findings.found("cache.segments", ProbedValue::between(200.0, 200.0, 201.0, 3));
        findings.found("geometry.outer-rate", ProbedValue::within(260e6, 1e6, 240));
        let text = drive_file(&findings, &sibling, &description()).unwrap();
        let file = load("mine.toml", &text).unwrap();
        let p = file.mechanics().unwrap();
        assert_eq!((p.read_seek.average, p.segments, p.outer_rate), (8_100_000, 200, 260e6));
        assert_eq!(p.write_seek.average, 8_700_000, "0.6 ms longer, as the sibling's");
        assert!(p.cache >= 200 * p.segment_size + p.dirty_limit);
        assert!(
            text.contains("average = \"8.1 ms\" # measured: 8 ms to 8.2 ms, from 100"),
            "{text}"
        );
        let range = file.plausible.iter().find(|range| range.field == "seek.average").unwrap();
        assert_eq!((range.low.as_str(), range.high.as_str()), ("8 ms", "8.2 ms"));
    }

    #[test]
    fn values_that_no_drive_has_are_refused() {
        let sibling = shipped("mg08aca16te").unwrap();
        let mut findings = Findings::default();
        findings.found("seek.average", ProbedValue::within(20e6, 0.1e6, 100));
        let error = drive_file(&findings, &sibling, &description()).unwrap_err().to_string();
        assert!(error.contains("must rise"), "{error}");
    }
}
