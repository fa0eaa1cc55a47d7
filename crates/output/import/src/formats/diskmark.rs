//! The text that CrystalDiskMark (5 to 8) and KDiskMark save.
//!
//! CrystalDiskMark: `SEQ    1MiB (Q=  8, T= 1):  3500.123 MB/s [   3338.0 IOPS] <
//! 2395.41 us>` under `[Read]`, `[Write]`, `[Mix]`; before version 7 `Random Read 4KiB (Q=
//! 32,T= 1) :  7.892 MB/s [ 1926.8 IOPS]`. Its MB are 10⁶ bytes, as it says. KDiskMark
//! says the same and shows fio's KiB/s divided by 1000 (`benchmark.cpp`): 1,024,000
//! bytes. If operations are reported, bytes are worked out from them.

use std::sync::Arc;

use disklab_sample::{Direction, Tool};
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use super::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, moments, one_line, step};
use crate::text::{TextLine, agree, lines, quantities, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "diskmark",
    about: "CrystalDiskMark 5 to 8 and KDiskMark: their text",
    looks_like: |text| text.lines().any(is_result),
    read,
};

/// Whether a line is that of a result.
fn is_result(line: &str) -> bool {
    line.contains("MB/s") && line.contains("T=") && (line.contains("(Q=") || line.contains("(T="))
}

/// What is above the results.
#[derive(Default)]
struct Head {
    section: Option<Direction>,
    tools: Vec<Tool>,
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut head = Head::default();
    for line in lines(source) {
        let text = line.text.trim();
        if text.contains("DiskMark") && text.contains(['.', '(']) && !is_result(text) {
            // A new report.
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
            readings.push(result(&line, &head)?);
        } else if let Some((label, rest)) = text.split_once(':') {
            about(label.trim(), rest.trim(), &mut readings);
        }
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no result of CrystalDiskMark or KDiskMark here; expected a line such as 'SEQ \
             1MiB (Q= 8, T= 1): 500.0 MB/s [ 476.8 IOPS]'",
        ));
    }
    Ok(readings)
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
fn about(label: &str, rest: &str, readings: &mut [Reading]) {
    let name = match label {
        "Test" => "test",
        "Date" => "measured at",
        "OS" => "operating system",
        "Mode" => "mode",
        "Target" => "target",
        _ => return,
    };
    for reading in readings.iter_mut().rev().take_while(|r| !r.surroundings.contains_key(name)) {
        reading.surroundings.insert(name.to_owned(), one_line(rest));
        // The size of the file is part of the work: '1 GiB (x5) [C: 50% …]'.
        if name == "test" {
            let size = one_line(rest.split(['(', '[']).next().unwrap_or(rest));
            reading.work.fields.push(("size", size));
        }
    }
}

fn result(line: &TextLine<'_>, head: &Head) -> Result<Reading, SourceError> {
    // Forums set the colon elsewhere than the programs do.
    let (what, figures) = line
        .text
        .split_once(')')
        .and_then(|(what, rest)| Some((what, rest.trim_start().strip_prefix(':')?)))
        .ok_or_else(|| line.error("expected a colon between what was measured and its figures"))?;
    let in_words = |word: &str| what.contains(word);
    let direction = match head.section {
        _ if in_words(" Read ") || in_words(" Read(") => Direction::Read,
        _ if in_words(" Write ") || in_words(" Write(") => Direction::Write,
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
    let named = in_words(" Read ") || in_words(" Write ");
    let title = if named { String::new() } else { format!(" {}", direction.word()) };
    let title = one_line(&format!("{}){title}", what.trim()));
    let mut reading = Reading::new(ImportedWork::unknown(&id, &title, fields), line.place());
    reading.steps = vec![step(
        direction.word(),
        vec![speed(line, figures, direction, size, &mut reading.notes)?],
    )];
    reading.tools = head.tools.clone();
    Ok(reading)
}

/// Block size, queue depth and threads: `SEQ 1MiB (Q=  8, T= 1`.
fn pattern(line: &TextLine<'_>, what: &str) -> Result<(Option<Bytes>, u64, u64), SourceError> {
    // Before version 6, a queue of one was not told: '(T= 1)'.
    let (name, inside) = what.split_once('(').unwrap_or((what, ""));
    let inside = match inside.trim_start().strip_prefix("Q=") {
        Some(inside) => inside.to_owned(),
        None => format!("1,{inside}"),
    };
    let mut numbers = inside.split("T=").map(|n| n.trim_matches([' ', ',', ')']).parse::<u64>());
    let (Some(Ok(queue)), Some(Ok(threads)), None) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        return Err(line.error("expected '(Q= NUMBER, T= NUMBER)'"));
    };
    let sizes = quantities(name);
    let size = match sizes.as_slice() {
        [] => None,
        [(number, unit), ..] => Some(
            format!("{number} {unit}")
                .parse::<Bytes>()
                .ok()
                .filter(|size| size.0 > 0 && unit.ends_with("iB"))
                .ok_or_else(|| {
                    line.error(format!("expected a size such as '4KiB', found '{number}{unit}'"))
                })?,
        ),
    };
    Ok((size, queue, threads))
}

fn speed(
    line: &TextLine<'_>,
    figures: &str,
    direction: Direction,
    size: Option<Bytes>,
    notes: &mut Vec<String>,
) -> Result<disklab_sample::Figure, SourceError> {
    let all = quantities(figures);
    let of =
        |unit: &str| all.iter().find(|(_, u)| u.trim_end_matches('>') == unit).map(|(n, _)| *n);
    let number = |unit: &str| -> Result<Option<f64>, SourceError> {
        let Some(text) = of(unit) else { return Ok(None) };
        crate::text::decimal(text)
            .map(Some)
            .ok_or_else(|| line.error(format!("{unit}: expected a number, found '{text}'")))
    };
    let shown = number("MB/s")?.ok_or_else(|| line.error("expected a number and 'MB/s'"))? * 1e6;
    let iops = number("IOPS")?.filter(|n| *n > 0.0);
    if shown <= 0.0 {
        return Err(line.error("0 MB/s: nothing was measured"));
    }
    let mut figure = figure(direction, 0.0);
    figure.operations_per_second = iops;
    figure.bytes_per_second = Some(shown);
    if let (Some(iops), Some(size)) = (iops, size) {
        let bytes = iops * size.0 as f64;
        // Small rates show too few digits to tell the two units apart.
        let ratio = bytes / shown;
        let kde = (1.014..1.034).contains(&ratio);
        if !kde && !agree(bytes, shown, 2) {
            return Err(line.error(format!(
                "{iops} operations per second of {} are {:.1} MB/s, and the line shows {:.1}: was it \
                 changed?",
                size.iec(),
                bytes / 1e6,
                shown / 1e6
            )));
        }
        if kde {
            let note = "KDiskMark's MB are 1,024,000 bytes (fio's KiB/s divided by 1000), whatever \
                        it says; bytes were worked out from operations.";
            notes.push(note.to_owned());
        }
        figure.bytes_per_second = Some(bytes);
    }
    if let Some(mean) = number("us")?.filter(|n| *n > 0.0) {
        figure.latency = Some(moments(0.0, mean * 1e3, 0.0, 0.0));
    }
    notes.push(
        "DiskMark shows the best of its tests, not their mean, and tells mean latencies only; how \
         long it measured is in the report's own settings."
            .to_owned(),
    );
    Ok(figure)
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
        assert_eq!(first.bytes_per_second, Some(497.0 * 1_048_576.0));
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
        assert_eq!(all[0].steps[0].figures[0].bytes_per_second, Some(3338.0 * 1_048_576.0));
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
