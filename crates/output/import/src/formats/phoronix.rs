//! Result files of the Phoronix Test Suite: `composite.xml`.
//!
//! `PhoronixTestSuite/Result`: `Title`, `Description`, `Arguments`, `Scale` (the unit),
//! `Proportion` (`HIB`: higher is better) and, for each system, `Data/Entry` with
//! `Identifier`, `Value` and `RawString`, the single runs with colons between them
//! (`pts-core/objects/pts_result_file.php`). What is reported in no unit of data,
//! operations or time is left out.

use std::collections::HashMap;
use std::sync::Arc;

use disklab_sample::{Direction, Figure, OperationKind, Tool};
use disklab_source::{Location, Source, SourceError};
use roxmltree::{Document, Node};

use crate::format::ImportFormat;
use crate::naming::direction_in;
use crate::reading::{ImportedWork, Reading, check_count, figure, id_of, one_line, step};
use crate::text::{byte_unit, decimal, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "phoronix",
    about: "Phoronix Test Suite: composite.xml",
    looks_like: |text| {
        text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
            && text.contains("<PhoronixTestSuite")
    },
    read,
};

/// Words of a result that say what is done, next to 'read' and 'write'.
const DIRECTIONS: [(&str, Direction); 4] = [
    ("delete", Direction::Remove),
    ("unpack", Direction::Copy),
    ("compile", Direction::Mixed),
    ("create", Direction::Mixed),
];

/// Attributes of one tag; Phoronix writes none. Reading them takes time that grows with the
/// square of their number.
const MOST_ATTRIBUTES: usize = 1000;

/// Refuses a tag of more attributes than that. What is no tag, such as a comment's text, is looked
/// at as if it were one.
fn check_attributes(source: &Arc<Source>) -> Result<(), SourceError> {
    for (start, _) in source.text.match_indices('<') {
        let (mut quote, mut attributes) = (None, 0_usize);
        for byte in source.text.as_bytes()[start + 1..].iter() {
            match (quote, byte) {
                (Some(open), byte) if open == byte => quote = None,
                (_, b'<') | (None, b'>') => break,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => attributes += 1,
                _ => {}
            }
        }
        if attributes > MOST_ATTRIBUTES {
            return Err(span(source, start, start + 1).error(format!(
                "this tag has {attributes} attributes, and may have {MOST_ATTRIBUTES}"
            )));
        }
    }
    Ok(())
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    check_attributes(source)?;
    let whole = |start: usize, end: usize| span(source, start, end);
    let document = Document::parse(&source.text).map_err(|error| {
        let at = error.pos();
        let before = source.text.lines().take(at.row.saturating_sub(1) as usize);
        let line: usize = before.map(|l| l.len() + 1).sum();
        whole(line + at.col.saturating_sub(1) as usize, line + at.col as usize)
            .error(format!("not valid XML: {error}"))
    })?;
    let mut readings = Vec::new();
    let results = document.root_element().children().filter(|n| n.has_tag_name("Result"));
    let mut unknown = Vec::new();
    let mut known = KnownRuns::new();
    for result in results {
        let scale = text(result, "Scale").unwrap_or_default();
        let Some(unit) = Unit::of(&scale) else {
            unknown.push(scale);
            continue;
        };
        let entries = result.descendants().filter(|n| n.has_tag_name("Entry"));
        let test = PhoronixTest::new(result, unit);
        for entry in entries {
            let place = Location { source: Arc::clone(source), span: entry.range() };
            runs(place, &test, entry, &mut readings, &mut known)?;
        }
    }
    unknown.sort();
    unknown.dedup();
    if readings.is_empty() {
        let found = if unknown.is_empty() {
            "no results".to_owned()
        } else {
            format!("results in {}", disklab_source::one_of(unknown.iter().take(6)))
        };
        return Err(whole(0, 0).error(format!(
            "there is no result here that can be imported; expected one in MB/s, IOPS, seconds or \
             the like, found {found}"
        )));
    }
    if !unknown.is_empty() {
        let units = disklab_source::one_of(unknown.iter().take(6));
        let note = format!("Results of this file in {units} were left out.");
        readings.iter_mut().for_each(|reading| reading.notes.push(note.clone()));
    }
    Ok(readings)
}

/// The unit of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    /// Bytes per second: how many one is.
    Bytes(f64),
    /// Operations of a kind per second.
    Operations(OperationKind),
    /// Seconds: how many one is.
    Seconds(f64),
}

impl Unit {
    fn of(scale: &str) -> Option<Self> {
        match scale.trim().to_lowercase().as_str() {
            "iops" => Some(Self::Operations(OperationKind::Io)),
            "files/s" | "files/sec" | "files per second" => {
                Some(Self::Operations(OperationKind::File))
            }
            "transactions per second" | "tps" => Some(Self::Operations(OperationKind::Transaction)),
            "ops/sec" | "operations per second" | "requests per second" => {
                Some(Self::Operations(OperationKind::Operation))
            }
            "seconds" | "sec" | "s" => Some(Self::Seconds(1.0)),
            "ms" | "milliseconds" => Some(Self::Seconds(1e-3)),
            _ => {
                let unit = scale
                    .trim()
                    .strip_suffix("/s")
                    .or_else(|| scale.trim().strip_suffix("/sec"))?;
                // 'KB/s' may be either kind, and is left out.
                byte_unit(unit).map(Self::Bytes)
            }
        }
    }

    fn figure(self, direction: Direction, value: f64) -> Figure {
        match self {
            Self::Bytes(size) => {
                Figure { bytes_per_second: Some(value * size), ..figure(direction, 0.0) }
            }
            Self::Operations(operation) => {
                Figure { operations_per_second: Some(value), operation, ..figure(direction, 0.0) }
            }
            Self::Seconds(size) => figure(direction, value * size),
        }
    }
}

impl Unit {
    /// Adds to a figure what another of the same run tells in this unit; false where it
    /// tells that already, and the two are repeats.
    fn join(self, figure: &mut Figure, other: &Figure) -> bool {
        match self {
            Self::Bytes(_) if figure.bytes_per_second.is_none() => {
                figure.bytes_per_second = other.bytes_per_second;
            }
            Self::Operations(operation) if figure.operations_per_second.is_none() => {
                figure.operations_per_second = other.operations_per_second;
                figure.operation = operation;
            }
            _ => return false,
        }
        true
    }
}

fn text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let child = node.children().find(|n| n.has_tag_name(name))?;
    child.text().map(one_line).filter(|t| !t.is_empty())
}

/// What a result says of all its entries.
struct PhoronixTest {
    unit: Unit,
    direction: Option<Direction>,
    work: ImportedWork,
    tools: Vec<Tool>,
}

impl PhoronixTest {
    fn new(result: Node<'_, '_>, unit: Unit) -> Self {
        let described = [text(result, "Title"), text(result, "Description")];
        let described = described.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let lower = described.to_lowercase();
        let other = || DIRECTIONS.iter().find(|(word, _)| lower.contains(word)).map(|(_, d)| *d);
        let direction = direction_in(&described).or_else(other);
        Self { unit, direction, work: work(result, &described), tools: version(result) }
    }
}

/// The readings of a workload's id on a system.
type KnownRuns = HashMap<(String, String), Vec<usize>>;

/// One reading for each run of an entry.
fn runs(
    place: Location,
    test: &PhoronixTest,
    entry: Node<'_, '_>,
    readings: &mut Vec<Reading>,
    known: &mut KnownRuns,
) -> Result<(), SourceError> {
    let Some(system) = text(entry, "Identifier") else {
        return Err(place.error("this entry has no Identifier: whose figures are they?"));
    };
    let raw = text(entry, "RawString").or_else(|| text(entry, "Value")).unwrap_or_default();
    let &PhoronixTest { unit, direction, ref work, ref tools } = test;
    // The same runs of the same work may be told twice, once in MB/s and once in IOPS.
    let known = known.entry((work.id.clone(), system.clone())).or_default();
    let values: Vec<&str> =
        raw.split([':', ',']).map(str::trim).filter(|v| !v.is_empty()).collect();
    let same = known.iter().filter(|at| readings[**at].work == *work);
    let mut twins = same.take(values.len()).copied().collect::<Vec<_>>().into_iter();
    for value in values {
        let value = decimal(value).filter(|v| *v > 0.0).ok_or_else(|| {
            place.error(format!("{system}: expected figures above 0, found '{value}'"))
        })?;
        let figure = unit.figure(direction.unwrap_or(Direction::Copy), value);
        let twin = twins.next().and_then(|at| readings[at].steps.first_mut()?.figures.first_mut());
        if twin.is_some_and(|twin| unit.join(twin, &figure)) {
            continue;
        }
        let mut reading = Reading::new(work.clone(), place.clone());
        reading.stack = Some(system.clone());
        reading.direction_is_open = direction.is_none();
        reading.steps = vec![step("result", vec![figure])];
        reading.tools = tools.clone();
        reading.notes.push(
            "Phoronix stops repeating when the deviation looks small, and its tests often fit into \
             memory: the figures may be of memory and not of drives."
                .to_owned(),
        );
        known.push(readings.len());
        readings.push(reading);
        check_count(readings.len(), &place)?;
    }
    Ok(())
}

fn work(result: Node<'_, '_>, described: &str) -> ImportedWork {
    let mut fields = vec![("program", "phoronix".to_owned())];
    for (tag, name) in
        [("Identifier", "test"), ("Arguments", "arguments"), ("Description", "about")]
    {
        fields.extend(text(result, tag).map(|text| (name, text)));
    }
    ImportedWork::unknown(&id_of(described), described, fields)
}

fn version(result: Node<'_, '_>) -> Vec<Tool> {
    let version = text(result, "AppVersion").or_else(|| text(result, "Version"));
    let name = text(result, "Title");
    name.zip(version).map(|(name, version)| Tool { name, version }).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, readings};

    const XML: &str = r#"<?xml version="1.0"?>
<PhoronixTestSuite>
  <System><Identifier>ext4</Identifier></System>
  <Result>
    <Identifier>pts/fio-2.1.0</Identifier>
    <Title>Flexible IO Tester</Title>
    <AppVersion>3.36</AppVersion>
    <Arguments>randread libaio 0 1 4k</Arguments>
    <Description>Type: Random Read - Block Size: 4KB</Description>
    <Scale>MB/s</Scale>
    <Proportion>HIB</Proportion>
    <Data>
      <Entry><Identifier>ext4</Identifier><Value>123</Value><RawString>120:123:126</RawString></Entry>
      <Entry><Identifier>btrfs raid1</Identifier><Value>99.5</Value><RawString></RawString></Entry>
    </Data>
  </Result>
  <Result>
    <Title>Unpacking Linux</Title><Scale>Seconds</Scale>
    <Data><Entry><Identifier>ext4</Identifier><Value>7.5</Value></Entry></Data>
  </Result>
  <Result>
    <Title>Some game</Title><Scale>Frames Per Second</Scale>
    <Data><Entry><Identifier>ext4</Identifier><Value>60</Value></Entry></Data>
  </Result>
</PhoronixTestSuite>
"#;

    #[test]
    fn results_in_two_units_are_one_observation() {
        let result = |scale: &str, runs: &str| {
            format!(
                "<Result><Title>Flexible IO Tester</Title><Description>Type: Random Read</Description>\
                 <Scale>{scale}</Scale><Data><Entry><Identifier>nas</Identifier><Value>1</Value>\
                 <RawString>{runs}</RawString></Entry></Data></Result>"
            )
        };
        let of = |results: &[String]| {
            readings(
                &FORMAT,
                &format!("<PhoronixTestSuite>{}</PhoronixTestSuite>", results.concat()),
            )
        };
        let all = of(&[result("MB/s", "41:42:43"), result("IOPS", "10009:10253:10498")]);
        assert_eq!(all.len(), 3);
        let last = &all[2].steps[0].figures[0];
        assert_eq!(last.bytes_per_second, Some(43e6));
        assert_eq!(last.operations_per_second, Some(10498.0));
        // The same unit twice: the test ran twice.
        assert_eq!(of(&[result("IOPS", "1:2"), result("IOPS", "3:4")]).len(), 4);
    }

    #[test]
    fn each_run_is_an_observation_and_each_system_a_stack() {
        let all = readings(&FORMAT, XML);
        assert_eq!(all.len(), 5);
        assert_eq!(all[0].steps[0].figures[0].bytes_per_second, Some(120e6));
        assert!(all[0].notes.iter().any(|n| n.contains("in 'Frames Per Second' were left out")));
        assert_eq!(all[0].steps[0].figures[0].direction, Direction::Read);
        assert_eq!(all[0].work.id, "Flexible-IO-Tester-Type-Random-Read-Block-Size-4KB");
        assert_eq!(all[3].stack.as_deref(), Some("btrfs raid1"));
        assert_eq!(all[4].steps[0].figures[0].elapsed_ns, 7_500_000_000);
        assert_eq!(all[4].steps[0].figures[0].direction, Direction::Copy);
    }

    #[test]
    fn units_are_known_or_left_out() {
        for (scale, unit) in [
            ("MB/s", Some(Unit::Bytes(1e6))),
            ("MiB/s", Some(Unit::Bytes(1_048_576.0))),
            ("KB/s", None),
            ("IOPS", Some(Unit::Operations(OperationKind::Io))),
            ("TPS", Some(Unit::Operations(OperationKind::Transaction))),
            ("Files/s", Some(Unit::Operations(OperationKind::File))),
            ("ms", Some(Unit::Seconds(1e-3))),
            ("Mb/s", None),
            ("/s", None),
            ("", None),
        ] {
            assert_eq!(Unit::of(scale), unit, "{scale}");
        }
    }

    #[test]
    fn odd_files_are_refused() {
        for (text, line, said) in [
            (XML.replace("120:123", "120:abc"), 13, "found 'abc'"),
            (XML.replace("120:123", "0:123"), 13, "above 0"),
            (
                XML.replace("<Identifier>ext4</Identifier><Value>123", "<Value>123"),
                13,
                "no Identifier",
            ),
            (XML.replace("</Data>", ""), 16, "not valid XML"),
            ("<PhoronixTestSuite/>".to_owned(), 1, "found no results"),
            (
                XML.replace("MB/s", "x").replace("Seconds", "y"),
                1,
                "'Frames Per Second', 'x' or 'y'",
            ),
            (
                "<!DOCTYPE a [<!ENTITY b \"c\">]><PhoronixTestSuite>&b;</PhoronixTestSuite>"
                    .to_owned(),
                1,
                "XML",
            ),
        ] {
            let error = fails(&FORMAT, &text);
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(error.line, line, "{error}");
        }
    }
}
