//! The text that CrystalDiskMark (2 to 9) and KDiskMark save.
//!
//! CrystalDiskMark: `SEQ    1MiB (Q=  8, T= 1):  3500.123 MB/s [   3338.0 IOPS] <
//! 2395.41 us>` under `[Read]`, `[Write]`, `[Mix]`; before version 7 `Random Read 4KiB (Q=
//! 32,T= 1) :  7.892 MB/s [ 1926.8 IOPS]`; before version 4 `Random Read 4KB (QD=32) :`, where
//! KB are 2¹⁰ bytes. Its MB are 10⁶ bytes, as it says. KDiskMark says the same and shows fio's
//! KiB/s divided by 1000 (`benchmark.cpp`): 1,024,000 bytes. Where operations are reported, they
//! say which it is; the figure that is rounded less is taken.

use std::sync::Arc;

use disklab_sample::{Direction, Figure, Tool};
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, moments, one_line, step};
use crate::text::{TextLine, last_digit, lines, quantities, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "diskmark",
    about: "CrystalDiskMark 2 to 9 and KDiskMark: their text",
    looks_like: |text| text.split(['\n', '\r']).any(is_result),
    read,
};

/// Words with which the lines of version 3 and before begin.
const OLD_LINES: [&str; 4] = ["Sequential Read", "Sequential Write", "Random Read", "Random Write"];

/// Whether a line is that of a result.
fn is_result(line: &str) -> bool {
    let queued = line.contains("T=") && (line.contains("(Q=") || line.contains("(T="));
    let old = || OLD_LINES.iter().any(|front| line.trim_start().starts_with(front));
    line.contains("MB/s") && line.contains(':') && (queued || old())
}

/// What is above the results.
#[derive(Default)]
struct Head {
    section: Option<Direction>,
    tools: Vec<Tool>,
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut report: Vec<(Reading, Direction, Speed)> = Vec::new();
    let mut head = Head::default();
    for line in lines(source) {
        let text = line.text.trim();
        if text.contains("DiskMark") && text.contains(['.', '(']) && !is_result(text) {
            // A new report.
            finish(&head, std::mem::take(&mut report), &mut readings);
            let name = text.split([' ', '(']).next().unwrap_or("DiskMark").to_owned();
            let version = one_line(text.split(" (C)").next().unwrap_or(text));
            head = Head::default();
            head.tools = vec![Tool { name, version }];
        } else if let Some(fio) = text.strip_prefix("Flexible I/O Tester (") {
            let version = fio.split(')').next().unwrap_or(fio);
            head.tools.push(Tool { name: "fio".to_owned(), version: one_line(version) });
        } else if let Some(section) = section(text) {
            head.section = Some(section);
        } else if is_result(text) {
            report.push(result(&line, &head)?);
        } else if let Some((label, rest)) = text.split_once(':') {
            about(label.trim(), rest.trim(), &mut report);
        }
    }
    finish(&head, report, &mut readings);
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no result of CrystalDiskMark or KDiskMark here; expected a line such as 'SEQ \
             1MiB (Q= 8, T= 1): 500.0 MB/s [ 476.8 IOPS]'",
        ));
    }
    Ok(readings)
}

/// Ends a report: all its lines mean the same by MB.
fn finish(head: &Head, report: Vec<(Reading, Direction, Speed)>, readings: &mut Vec<Reading>) {
    let is_kde = head.tools.iter().any(|tool| tool.name == "KDiskMark");
    let unit = report.iter().find_map(|(_, _, speed)| speed.unit);
    let unit = unit.unwrap_or(if is_kde { KDE_MB } else { MB });
    for (mut reading, direction, speed) in report {
        let unit = speed.unit.unwrap_or(unit);
        if unit > MB {
            reading.notes.push(
                "KDiskMark's MB are 1,024,000 bytes (fio's KiB/s divided by 1000), whatever it says."
                    .to_owned(),
            );
        }
        reading.notes.push(
            "DiskMark shows the best of its tests, not their mean, and tells mean latencies only; \
             how long it measured is in the report's own settings."
                .to_owned(),
        );
        reading.steps = vec![step(direction.word(), vec![speed.figure(direction, unit)])];
        readings.push(reading);
    }
}

fn section(text: &str) -> Option<Direction> {
    let name = text.strip_prefix('[')?.split(']').next()?;
    match name {
        "Read" => Some(Direction::Read),
        "Write" => Some(Direction::Write),
        "Mix" | "Mixed" => Some(Direction::Mixed),
        _ => None,
    }
}

/// What stands below the results holds for those of this report.
fn about(label: &str, rest: &str, report: &mut [(Reading, Direction, Speed)]) {
    let name = match label {
        "Test" => "test",
        "Date" => "measured at",
        "OS" => "operating system",
        "Mode" => "mode",
        "Target" => "target",
        _ => return,
    };
    let readings = report.iter_mut().map(|(reading, ..)| reading);
    for reading in readings.rev().take_while(|r| !r.surroundings.contains_key(name)) {
        reading.surroundings.insert(name.to_owned(), one_line(rest));
        // The size of the file is part of the work: '1 GiB (x5) [C: 50% …]'.
        if name == "test" {
            let size = one_line(rest.split(['(', '[']).next().unwrap_or(rest));
            reading.work.fields.push(("size", size));
        }
    }
}

fn result(line: &TextLine<'_>, head: &Head) -> Result<(Reading, Direction, Speed), SourceError> {
    // Forums set the colon elsewhere than the programs do.
    let (what, figures) = line
        .text
        .rsplit_once(':')
        .ok_or_else(|| line.error("expected a colon between what was measured and its figures"))?;
    let what = what.trim();
    let in_words = |word: &str| what.split([' ', '(']).any(|part| part == word);
    let direction = match head.section {
        _ if in_words("Read") => Direction::Read,
        _ if in_words("Write") => Direction::Write,
        Some(section) => section,
        None => return Err(line.error("this result stands neither under [Read] nor under [Write]")),
    };
    let random = in_words("Random") || in_words("RND");
    let (size, queue, threads) = pattern(line, what)?;
    // Before version 7, the size of sequential operations was not told.
    let size_text = size.map_or_else(String::new, |size| size.short());
    let order = if random { "rand" } else { "seq" };
    let id = format!("{order}-{}-{size_text}-q{queue}-t{threads}", direction.word());
    let mut fields = vec![("program", "diskmark".to_owned()), ("pattern", id_of(&id))];
    fields.extend(size.map(|size| ("bs", size.short())));
    // Before version 7 the name tells the direction, then the section does.
    let named = in_words("Read") || in_words("Write");
    let title = if named { String::new() } else { format!(" {}", direction.word()) };
    let title = one_line(&format!("{what}{title}"));
    let mut reading = Reading::new(ImportedWork::unknown(&id, &title, fields), line.place());
    reading.tools.clone_from(&head.tools);
    Ok((reading, direction, Speed::of(line, figures, size)?))
}

/// Block size, queue depth and threads: `SEQ 1MiB (Q=  8, T= 1)`.
fn pattern(line: &TextLine<'_>, what: &str) -> Result<(Option<Bytes>, u64, u64), SourceError> {
    let (name, inside) = what.split_once('(').unwrap_or((what, "QD=1"));
    let inside = inside.trim().trim_end_matches(')');
    // Before version 6, a queue of one was not told: '(T= 1)'; before 4, there were no threads.
    let (queue, threads) = match (inside.strip_prefix("QD="), inside.strip_prefix("Q=")) {
        (Some(queue), _) => (queue, "1"),
        (None, Some(both)) => both.split_once("T=").unwrap_or((both, "")),
        (None, None) => ("1", inside.strip_prefix("T=").unwrap_or_default()),
    };
    let number = |text: &str| text.trim_matches([' ', ',']).parse::<u64>().ok();
    let (Some(queue), Some(threads)) = (number(queue), number(threads)) else {
        return Err(line.error("expected '(Q= NUMBER, T= NUMBER)'"));
    };
    let is_old = inside.starts_with("QD=");
    let sizes = quantities(name);
    let Some((number, unit)) = sizes.first() else { return Ok((None, queue, threads)) };
    let binary = match *unit {
        "KB" if is_old => "KiB",
        "MB" if is_old => "MiB",
        unit => unit,
    };
    let size = format!("{number} {binary}").parse::<Bytes>().ok();
    let size = size.filter(|size| size.0 > 0 && binary.ends_with("iB")).ok_or_else(|| {
        line.error(format!("expected a size such as '4KiB', found '{number}{unit}'"))
    })?;
    Ok((Some(size), queue, threads))
}

/// Bytes of a megabyte, and of what KDiskMark takes for one.
const MB: f64 = 1e6;
const KDE_MB: f64 = 1_024_000.0;

/// By how much two figures of one measurement may differ, beyond what they are rounded to: less
/// than the two kinds of MB do.
const SLACK: f64 = 0.008;

/// What a line shows of a result.
struct Speed {
    /// MB/s, and the step of its last digit.
    shown: (f64, f64),
    /// Operations per second, likewise.
    iops: Option<(f64, f64)>,
    size: Option<Bytes>,
    mean_us: Option<f64>,
    /// Bytes of its MB, as far as the operations decide it.
    unit: Option<f64>,
}

impl Speed {
    fn of(line: &TextLine<'_>, figures: &str, size: Option<Bytes>) -> Result<Self, SourceError> {
        let all = quantities(figures);
        let number = |unit: &str| -> Result<Option<(f64, f64)>, SourceError> {
            let found = all.iter().find(|(_, u)| u.trim_end_matches('>') == unit);
            let Some((text, _)) = found else { return Ok(None) };
            crate::text::decimal(text)
                .map(|value| Some((value, last_digit(text))))
                .ok_or_else(|| line.error(format!("{unit}: expected a number, found '{text}'")))
        };
        let shown = number("MB/s")?.ok_or_else(|| line.error("expected a number and 'MB/s'"))?;
        if shown.0 <= 0.0 {
            return Err(line.error("0 MB/s: nothing was measured"));
        }
        let iops = number("IOPS")?.filter(|(value, _)| *value > 0.0);
        let mean_us = number("us")?.map(|(mean, _)| mean).filter(|mean| *mean > 0.0);
        let mut speed = Self { shown, iops, size, mean_us, unit: None };
        speed.unit = match (speed.fits(MB), speed.fits(KDE_MB)) {
            (true, true) => None,
            (true, false) => Some(MB),
            (false, true) => Some(KDE_MB),
            (false, false) => {
                let (iops, size) = (iops.map_or(0.0, |(n, _)| n), size.unwrap_or(Bytes(0)));
                return Err(line.error(format!(
                    "{iops} operations per second of {} are {:.1} MB/s, and the line shows {:.1}: \
                     was it changed?",
                    size.iec(),
                    iops * size.0 as f64 / 1e6,
                    shown.0
                )));
            }
        };
        Ok(speed)
    }

    /// Whether operations and MB of so many bytes are of one measurement.
    fn fits(&self, unit: f64) -> bool {
        let (Some((iops, step)), Some(size)) = (self.iops, self.size) else { return true };
        let (shown, digit) = self.shown;
        let (size, bytes) = (size.0 as f64, shown * unit);
        (iops * size - bytes).abs() <= 0.6 * (step * size + digit * unit) + SLACK * bytes
    }

    fn figure(&self, direction: Direction, unit: f64) -> Figure {
        let mut figure = figure(direction, 0.0);
        let (shown, digit) = self.shown;
        figure.bytes_per_second = Some(shown * unit);
        figure.operations_per_second = self.iops.map(|(iops, _)| iops);
        if let (Some((iops, step)), Some(size)) = (self.iops, self.size) {
            let size = size.0 as f64;
            match step / iops < digit / shown {
                true => figure.bytes_per_second = Some(iops * size),
                false => figure.operations_per_second = Some(shown * unit / size),
            }
        }
        figure.latency = self.mean_us.map(|mean| moments(0.0, mean * 1e3, 0.0, 0.0));
        figure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, readings};

    const KDE: &str = "KDiskMark (3.0.0): https://github.com/JonMagon/KDiskMark\n\
        Flexible I/O Tester (fio-3.30): https://github.com/axboe/fio\n\
        * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n* KB = 1000 bytes, KiB = 1024 bytes\n\n\
        [Read]\nSequential   1 MiB (Q=  8, T= 1):   508.928 MB/s [    497.0 IOPS] < 13840.05 us>\n\
        Random   4 KiB (Q= 32, T= 1):   354.658 MB/s [  88664.6 IOPS] <   352.37 us>\n\n\
        [Write]\nSequential   1 MiB (Q=  8, T= 1):   460.288 MB/s [    449.5 IOPS] < 15153.11 us>\n\n\
        Profile: Default\n   Test: 1 GiB (x5) [Measure: 5 sec / Interval: 5 sec]\n   Date: 2022-08-24 16:10:33\n";

    #[test]
    fn kdiskmarks_unit_is_found_out() {
        let all = readings(&FORMAT, KDE);
        assert_eq!(all.len(), 3);
        let first = &all[0].steps[0].figures[0];
        assert_eq!(all[0].work.id, "seq-read-1m-q8-t1");
        assert_eq!(first.bytes_per_second, Some(508.928 * 1_024_000.0));
        assert!(all[0].notes.iter().any(|n| n.contains("1,024,000")));
        assert_eq!(all[1].work.id, "rand-read-4k-q32-t1");
        assert_eq!(all[2].steps[0].figures[0].direction, Direction::Write);
        assert!(all.iter().all(|r| r.work.fields.contains(&("size", "1 GiB".to_owned()))));
        assert_eq!(all[0].tools[1].version, "fio-3.30");
    }

    #[test]
    fn crystaldiskmark_of_all_ages() {
        let new = "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n\
            * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n\n[Read]\n\
            SEQ    1MiB (Q=  8, T= 1):  3500.147 MB/s [   3338.0 IOPS] <  2395.41 us>\n\
            [Mix] Read 70%/Write 30%\n  RND    4KiB (Q=  1, T= 1):    50.000 MB/s [  12207.0 IOPS] <    80.00 us>\n";
        let all = readings(&FORMAT, new);
        assert_eq!(all[0].steps[0].figures[0].bytes_per_second, Some(3_500_147_000.0));
        assert!(all[0].notes.iter().all(|n| !n.contains("1,024,000")));
        assert_eq!(all[1].steps[0].figures[0].direction, Direction::Mixed);
        let old = "CrystalDiskMark 6.0.0 x64 (C) 2007-2017 hiyohiyo\n\
            * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n\n\
            Sequential Read (Q= 32,T= 1) :    91.559 MB/s\n\
            Random Write 4KiB (Q=  8,T= 8) :     3.173 MB/s [    774.7 IOPS]\n\n\
            Test : 1024 MiB [I: 11.7% (14.0/119.2 GiB)] (x5)  [Interval=5 sec]\n";
        let all = readings(&FORMAT, old);
        assert_eq!(all[0].work.id, "seq-read-q32-t1");
        assert_eq!(all[0].steps[0].figures[0].bytes_per_second, Some(91_559_000.0));
        assert_eq!(all[1].work.id, "rand-write-4k-q8-t8");
        assert_eq!(all[1].steps[0].figures[0].operations_per_second, Some(774.7));
    }

    #[test]
    fn reports_are_read_as_forums_cut_them() {
        // Blanks before the colon, no head, and a queue of one that version 5 does not tell.
        let cut = "Sequential Read (Q= 32,T= 1)   :   554.872 MB/s\n\
            Random Write 4KiB (Q= 32,T= 1) :   237.549 MB/s [ 57995.4 IOPS]\n\
            Sequential Read (T= 1)         :   532.327 MB/s\n";
        let all = readings(&FORMAT, cut);
        let ids: Vec<&str> = all.iter().map(|r| r.work.id.as_str()).collect();
        assert_eq!(ids, ["seq-read-q32-t1", "rand-write-4k-q32-t1", "seq-read-q1-t1"]);
        assert_eq!(all[1].work.title, "Random Write 4KiB (Q= 32,T= 1)");
        let body = KDE.split_once("[Read]").expect("two parts").1;
        assert_eq!(readings(&FORMAT, &format!("[Read]{body}")).len(), 3);
    }

    #[test]
    fn slow_rates_are_not_those_of_rounded_operations() {
        let text = "[Write]\n  SEQ    1MiB (Q=  1, T= 1):     1.203 MB/s [      1.1 IOPS] <869565.22 us>\n";
        let figure = |text: &str| readings(&FORMAT, text)[0].steps[0].figures[0].clone();
        assert_eq!(figure(text).bytes_per_second, Some(1_203_000.0));
        assert_eq!(figure(text).operations_per_second, Some(1_203_000.0 / 1_048_576.0));
        // One line of a report says what all mean by MB: 64 KiB are too few digits here.
        let kde = "KDiskMark (3.0.0): x\n[Read]\nRandom 64 KiB (Q= 1, T= 1): 0.064 MB/s [ 1.0 IOPS]\n\
                   Random 4 KiB (Q= 32, T= 1): 354.658 MB/s [ 88664.6 IOPS]\n";
        assert_eq!(figure(kde).bytes_per_second, Some(0.064 * 1_024_000.0));
        let crystal =
            kde.replace("KDiskMark (3.0.0)", "CrystalDiskMark 8.0.4").replace("88664.6", "86586.4");
        assert_eq!(figure(&crystal).bytes_per_second, Some(64_000.0));
    }

    #[test]
    fn crystaldiskmark_3_has_no_threads_and_kilobytes_of_1024_bytes() {
        let text = "CrystalDiskMark 3.0.3 x64 (C) 2007-2013 hiyohiyo\n* MB/s = 1,000,000 byte/s [SATA/300 = \
                    300,000,000 byte/s]\n\n           Sequential Read :   100.000 MB/s\n          Sequential Write :    \
                    90.000 MB/s\n         Random Read 512KB :    40.123 MB/s\n    Random Read 4KB (QD=1) :     \
                    0.410 MB/s [   100.1 IOPS]\n   Random Write 4KB (QD=32) :     1.203 MB/s [   293.7 IOPS]\n\n  \
                    Test : 1000 MB [D: 50.0% (50.0/100.0 GB)] (x5)\n";
        let all = readings(&FORMAT, text);
        let found: Vec<(&str, Option<f64>)> = all
            .iter()
            .map(|r| (r.work.id.as_str(), r.steps[0].figures[0].bytes_per_second))
            .collect();
        assert_eq!(found[0], ("seq-read-q1-t1", Some(100e6)));
        assert_eq!(found[1], ("seq-write-q1-t1", Some(90e6)));
        assert_eq!(found[2], ("rand-read-512k-q1-t1", Some(40.123e6)));
        assert_eq!(found[3], ("rand-read-4k-q1-t1", Some(100.1 * 4096.0)));
        assert_eq!(found[4].0, "rand-write-4k-q32-t1");
        assert!(all[4].work.fields.contains(&("size", "1000 MB".to_owned())));
    }

    #[test]
    fn odd_lines_are_refused() {
        for (from, to, said) in [
            ("497.0 IOPS", "49.70 IOPS", "was it changed?"),
            ("1 MiB", "1 MB", "such as '4KiB'"),
            ("T= 1", "T= x", "expected '(Q="),
            ("508.928", "0.000", "nothing was measured"),
            ("508.928", "1,508,928", "MB/s: expected a number"),
            ("[Read]", "", "neither under [Read]"),
        ] {
            let error = fails(&FORMAT, &KDE.replacen(from, to, 1));
            assert!(error.to_string().contains(said), "{to}: {error}");
        }
    }
}
