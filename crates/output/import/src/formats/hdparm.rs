//! hdparm's timings: `-t`, `-T`, `--direct`, `--offset`.
//!
//! Its MB are 2 MiB pieces counted as 2 MB (`TIMING_BUF_MB`, `hdparm.c`): 2²⁰ bytes.
//! `Timing buffered disk reads: 500 MB in  3.00 seconds = 166.53 MB/sec`; below 1 MB/s
//! it shows kB, of 2¹⁰ bytes.

use std::sync::Arc;

use disklab_sample::Direction;
use disklab_source::{Source, SourceError};

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, one_line, step};
use crate::text::{TextLine, agree, lines, quantities, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "hdparm",
    about: "hdparm -t, -T, --direct, --offset",
    looks_like: |text| text.split(['\n', '\r']).any(|line| timing(line).is_some()),
    read,
};

const MIB: f64 = 1_048_576.0;

/// What hdparm prints, and the step's name in a run of disklab's own. Before version 6, the cache
/// was 'buffer-cache'.
const TIMINGS: [(&str, &str); 5] = [
    ("Timing cached reads", "cached-read"),
    ("Timing buffer-cache reads", "cached-read"),
    ("Timing buffered disk reads", "buffered-read"),
    ("Timing O_DIRECT cached reads", "direct-cached-read"),
    ("Timing O_DIRECT disk reads", "direct-read"),
];

/// A timing, as its line has it.
struct Timing<'a> {
    step: &'static str,
    /// Where it was read, in GB, with `--offset`.
    offset: Option<&'a str>,
    figures: &'a str,
}

fn timing(line: &str) -> Option<Timing<'_>> {
    TIMINGS.iter().find_map(|(label, step)| {
        let (_, rest) = line.split_once(label)?;
        let (about, figures) = rest.split_once(':')?;
        let offset = match about.trim() {
            "" => None,
            about => Some(about.strip_prefix("(offset ")?.strip_suffix(" GB)")?.trim()),
        };
        Some(Timing { step, offset, figures })
    })
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut device: Option<(String, usize)> = None;
    let mut open = false;
    for line in lines(source) {
        if let Some(name) = device_in(line.text) {
            device = Some((name, line.start));
            open = false;
        }
        let Some(Timing { step: name, offset, figures }) = timing(line.text) else { continue };
        // A second timing of a kind belongs to the next call.
        let again = readings.last().is_some_and(|r| r.steps.iter().any(|s| s.name == name));
        if !open || again {
            let start = device.as_ref().filter(|_| !again).map_or(line.start, |(_, start)| *start);
            let work = ImportedWork::unknown("hdparm", "hdparm", Vec::new());
            let mut reading = Reading::new(work, span(source, start, line.end()));
            reading.stack = device.as_ref().map(|(name, _)| name.clone());
            reading.drive.clone_from(&reading.stack);
            readings.push(reading);
            open = true;
        }
        if let Some(reading) = readings.last_mut() {
            reading.steps.push(step(name, vec![speed(&line, figures)?]));
            reading.work = work(reading, offset);
            reading.place.span.end = line.end();
        }
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no timing of hdparm here; expected a line such as 'Timing buffered disk \
             reads: 500 MB in 3.00 seconds = 166.53 MB/sec'",
        ));
    }
    Ok(readings)
}

/// `/dev/sda:` alone in a line.
fn device_in(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix("/dev/")?.strip_suffix(':')?;
    let plain = name.chars().all(|c| c.is_ascii_graphic() && c != ':');
    plain.then(|| one_line(name))
}

fn speed<'a>(line: &TextLine<'a>, rest: &'a str) -> Result<disklab_sample::Figure, SourceError> {
    let all = quantities(rest);
    let [(amount, "MB"), (seconds, "seconds"), (rate, unit)] = all.as_slice() else {
        return Err(line.error(
            "expected what was read, the seconds and the rate, such as '500 MB in 3.00 seconds = \
             166.53 MB/sec'",
        ));
    };
    let unit = match *unit {
        "MB/sec" => MIB,
        "kB/sec" => 1024.0,
        other => {
            return Err(line
                .place_of(other)
                .error(format!("expected 'MB/sec' or 'kB/sec', found '{other}'")));
        }
    };
    let bytes = line.number(amount, "what was read")? * MIB;
    let seconds = line.number(seconds, "the seconds")?;
    let shown = line.number(rate, "the rate")? * unit;
    if shown <= 0.0 {
        return Err(line.place_of(rate).error("the rate is 0: nothing was measured"));
    }
    // The seconds are rounded to hundredths, the rate is not: it counts. A short
    // timing's seconds tell nothing.
    if seconds >= 0.2 && !agree(bytes / seconds, shown, 2) {
        return Err(line.place_of(rate).error(format!(
            "{amount} MB in {seconds} s are {:.2} MB/s, and hdparm shows {rate}: was the line \
             changed?",
            bytes / seconds / MIB
        )));
    }
    let mut figure = figure(Direction::Read, bytes / shown);
    figure.bytes = bytes as u64;
    figure.bytes_per_second = Some(shown);
    Ok(figure)
}

/// The same fields as a study's own `hdparm`, and the offset.
fn work(reading: &Reading, offset: Option<&str>) -> ImportedWork {
    let has = |name: &str| reading.steps.iter().any(|s| s.name == name);
    let direct = has("direct-read") || has("direct-cached-read");
    let cached = has("cached-read") || has("direct-cached-read");
    let device = has("buffered-read") || has("direct-read");
    let flags = match (cached, device) {
        (true, true) => "-tT",
        (true, false) => "-T",
        _ => "-t",
    };
    let mut title = format!("hdparm {flags}{}", if direct { " --direct" } else { "" });
    let mut id = if direct { "hdparm-direct" } else { "hdparm" }.to_owned();
    let mut fields = vec![
        ("cached", cached.to_string()),
        ("device", device.to_string()),
        ("direct", direct.to_string()),
    ];
    if let Some(offset) = offset {
        title = format!("{title} --offset {offset}");
        id = id_of(&format!("{id}-offset-{offset}g"));
        fields.push(("offset", format!("{offset} GB")));
    }
    ImportedWork { id, title: one_line(&title), kind: "hdparm", fields }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    #[test]
    fn both_timings_of_a_call_belong_together() {
        let reading = one(
            &FORMAT,
            "\n/dev/loop0:\n Timing cached reads:   22816 MB in  1.99 seconds = 11475.64 MB/sec\n \
             Timing buffered disk reads:  64 MB in  0.18 seconds = 363.63 MB/sec\n",
        );
        let names: Vec<_> = reading.steps.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["cached-read", "buffered-read"]);
        let figure = &reading.steps[1].figures[0];
        assert_eq!(figure.bytes_per_second, Some(363.63 * MIB));
        assert_eq!((figure.bytes, figure.direction), (64 << 20, Direction::Read));
        assert_eq!(reading.stack.as_deref(), Some("loop0"));
        assert_eq!(reading.work.id, "hdparm");
    }

    #[test]
    fn calls_one_after_another_are_repeats() {
        let call =
            "/dev/sda:\n Timing O_DIRECT disk reads: 520 MB in  3.01 seconds = 172.97 MB/sec\n";
        let all = readings(&FORMAT, &call.repeat(3));
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|r| r.work == all[0].work && r.work.id == "hdparm-direct"));
        let grep = " Timing buffered disk reads: 2 MB in  3.00 seconds = 682.67 kB/sec\n".repeat(2);
        assert_eq!(readings(&FORMAT, &grep).len(), 2);
    }

    #[test]
    fn an_offset_is_other_work_and_old_versions_are_read() {
        let text = "/dev/sdx:\n Timing O_DIRECT disk reads (offset 5 GB):  300 MB in  3.00 seconds = \
                    100.00 MB/sec\n";
        let reading = one(&FORMAT, text);
        assert_eq!(reading.steps[0].figures[0].bytes_per_second, Some(100.0 * MIB));
        assert_eq!(reading.work.id, "hdparm-direct-offset-5g");
        assert!(reading.work.fields.contains(&("offset", "5 GB".to_owned())));
        let old = "/dev/hda:\r Timing buffer-cache reads:   128 MB in  0.35 seconds =365.71 MB/sec\r \
                   Timing buffered disk reads:  64 MB in  1.53 seconds = 41.83 MB/sec\r";
        assert_eq!(one(&FORMAT, old).steps.len(), 2);
    }

    #[test]
    fn contradictory_output_is_refused() {
        for (text, said) in [
            ("Timing cached reads: 500 MB in 3.00 seconds = 1666 MB/sec", "hdparm shows 1666"),
            ("Timing cached reads: 500 MB in 3.00 seconds = 166.6 MiB/sec", "'MB/sec' or 'kB/sec'"),
            ("Timing cached reads: 500 MB in 3.00 seconds = 0.00 MB/sec", "the rate is 0"),
            ("Timing cached reads: failed", "expected what was read"),
        ] {
            assert!(fails(&FORMAT, text).to_string().contains(said), "{text}");
        }
    }
}
