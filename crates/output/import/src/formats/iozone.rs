//! IOzone's table of one process, and its throughput test of several.
//!
//! Columns and words: `iozone.c` of 3.489 and before. Its kB and KB are 2¹⁰ bytes. A column is
//! known by where it ends, as tests that were not asked for leave theirs blank. With `-O` figures
//! are operations per second, with `-N` microseconds for each.

use std::sync::Arc;

use disklab_sample::{Direction, Figure, Tool};
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, one_line, step};
use crate::text::{TextLine, lines, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "iozone",
    about: "IOzone 3: its table, and its throughput test (-t); not the report for Excel",
    looks_like: |text| text.split(['\n', '\r']).any(|l| is_header(l) || throughput(l).is_some()),
    read,
};

/// Tests in the order of their columns, and what each does.
const TESTS: [(&str, Direction); 13] = [
    ("write", Direction::Write),
    ("rewrite", Direction::Write),
    ("read", Direction::Read),
    ("reread", Direction::Read),
    ("random-read", Direction::Read),
    ("random-write", Direction::Write),
    ("backward-read", Direction::Read),
    ("record-rewrite", Direction::Write),
    ("stride-read", Direction::Read),
    ("fwrite", Direction::Write),
    ("frewrite", Direction::Write),
    ("fread", Direction::Read),
    ("freread", Direction::Read),
];

/// The same by the names of the throughput test.
const WORKERS: [(&str, &str, Direction); 14] = [
    ("initial writers", "write", Direction::Write),
    ("rewriters", "rewrite", Direction::Write),
    ("readers", "read", Direction::Read),
    ("re-readers", "reread", Direction::Read),
    ("random readers", "random-read", Direction::Read),
    ("random writers", "random-write", Direction::Write),
    ("reverse readers", "backward-read", Direction::Read),
    ("stride readers", "stride-read", Direction::Read),
    ("mixed workload", "mixed", Direction::Mixed),
    ("pwrite writers", "pwrite", Direction::Write),
    ("pread readers", "pread", Direction::Read),
    ("fwriters", "fwrite", Direction::Write),
    ("freaders", "fread", Direction::Read),
    ("fre-readers", "freread", Direction::Read),
];

/// What is above the figures.
#[derive(Debug, Clone, Default)]
struct Head {
    start: usize,
    version: Option<String>,
    command: Option<String>,
    unit: Unit,
    /// Where the columns end, with that of the record size: 13 of tests.
    columns: Vec<usize>,
    /// What is part of the work: processes, sizes, O_DIRECT.
    fields: Vec<(&'static str, String)>,
}

/// What a figure is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Unit {
    #[default]
    Kibibytes,
    Operations,
    Microseconds,
}

/// Lines that say what is part of the work.
const MODES: [(&str, &str); 4] = [
    ("O_DIRECT feature enabled", "direct"),
    ("SYNC Mode", "sync"),
    ("Include fsync in write timing", "fsync"),
    ("Include close in write timing", "close"),
];

/// Whether a line is the lower one of the table's header.
fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().is_some_and(|word| word.eq_ignore_ascii_case("kb"));
    first && words.next() == Some("reclen") && words.next() == Some("write")
}

/// `Children see throughput for  2 initial writers = 4303526.00 kB/sec`: how many, who, and the
/// figure with its unit.
fn throughput(line: &str) -> Option<(u64, &str, &str, &str)> {
    let rest = line.trim().strip_prefix("Children see throughput for")?;
    let (who, figure) = rest.split_once('=')?;
    let (number, who) = who.trim().split_once(' ')?;
    let (figure, unit) = figure.trim().split_once(' ')?;
    Some((number.parse().ok()?, who.trim(), figure, unit.trim()))
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut head = Head::default();
    // The throughput test is one reading with a step for each kind of worker.
    let mut workers: Option<Reading> = None;
    for line in lines(source) {
        let text = line.text.trim();
        if text.starts_with("Iozone: Performance Test") || text.starts_with("Run began:") {
            readings.extend(workers.take());
            let version = head.version.take().filter(|_| text.starts_with("Run"));
            head = Head { start: line.start, version, ..Head::default() };
        } else if is_header(line.text) {
            head.columns = columns(line.text);
        } else if let Some((number, who, value, unit)) = throughput(text) {
            let of = who_and_what(&line, who)?;
            // The same workers again are of the next run.
            let again = workers.as_ref().is_some_and(|r| r.steps.iter().any(|s| s.name == of.0));
            if again {
                readings.extend(workers.take());
            }
            let reading = workers.get_or_insert_with(|| together(&head, number, &line));
            let figure = worker_figure(&line, &head, of.1, (value, unit))?;
            reading.steps.push(step(of.0, vec![figure]));
            reading.place.span.end = line.end();
        } else if !head.columns.is_empty() && is_row(text) {
            readings.push(row(&line, &head)?);
        } else {
            about(&mut head, text);
        }
    }
    readings.extend(workers.take());
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no figure of IOzone here; expected a row below 'kB reclen write rewrite …', or \
             'Children see throughput for …'",
        ));
    }
    Ok(readings)
}

/// Takes in what a line says of the run.
fn about(head: &mut Head, text: &str) {
    if let Some(version) = text.strip_prefix("Version $Revision:") {
        head.version = Some(one_line(version.trim_matches(['$', ' '])));
    } else if let Some(command) = text.strip_prefix("Command line used:") {
        head.command = Some(one_line(command));
    } else if text.starts_with("OPS Mode") {
        head.unit = Unit::Operations;
    } else if text.starts_with("Microseconds/op Mode") {
        head.unit = Unit::Microseconds;
    } else if let Some(size) = text.strip_prefix("Record Size ") {
        head.fields.retain(|(name, _)| *name != "bs");
        head.fields.extend(kibibytes(size).map(|size| ("bs", size.short())));
    } else if let Some(size) = text.strip_prefix("File size set to ") {
        head.fields.retain(|(name, _)| *name != "size");
        head.fields.extend(kibibytes(size).map(|size| ("size", size.short())));
    }
    for (front, name) in MODES {
        if text.starts_with(front) && !head.fields.iter().any(|(known, _)| *known == name) {
            head.fields.push((name, "1".to_owned()));
        }
    }
}

/// `16 kB`, where kB are 2¹⁰ bytes.
fn kibibytes(text: &str) -> Option<Bytes> {
    let number: u64 = text.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024).map(Bytes)
}

/// Where the columns of tests end: at the ends of the header's words. Nowhere if the blanks between
/// them were lost: then only rows of all tests are read.
fn columns(line: &str) -> Vec<usize> {
    let squeezed = !line.trim().contains("  ");
    words(line).skip(2).map(|(_, end)| if squeezed { usize::MAX } else { end }).collect()
}

/// The words of a line, and the characters before the end of each.
fn words(line: &str) -> impl Iterator<Item = (&str, usize)> {
    line.split_whitespace().map(|word| {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        (word, line[..at].chars().count() + word.chars().count())
    })
}

fn is_row(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let integer = |word: Option<&str>| word.is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit()));
    integer(words.next()) && integer(words.next()) && integer(words.next())
}

/// By how many characters a figure may end next to its column's word.
const NEXT_TO: usize = 3;

/// A row: file size, record size, and the figures of the tests.
fn row(line: &TextLine<'_>, head: &Head) -> Result<Reading, SourceError> {
    let mut words = words(line.text);
    let mut size = |what: &str| {
        let (word, _) = words.next().unwrap_or_default();
        let size = kibibytes(word).filter(|size| size.0 > 0);
        size.ok_or_else(|| line.place_of(word).error(format!("{what}: expected a number above 0")))
    };
    let (file, record) = (size("the file's size")?, size("the record's size")?);
    let found: Vec<(&str, usize)> = words.collect();
    let whole = found.len() == TESTS.len();
    let mut fields = vec![("program", "iozone".to_owned()), ("bs", record.short())];
    fields.push(("size", file.short()));
    let modes = head.fields.iter().filter(|(name, _)| !["bs", "size"].contains(name));
    fields.extend(modes.cloned());
    let id = format!("iozone-{}-of-{}", record.short(), file.short());
    let title = format!("IOzone, records of {} of a file of {}", record.iec(), file.iec());
    let mut reading =
        Reading::new(ImportedWork::unknown(&id_of(&id), &title, fields), line.place());
    for (number, (word, end)) in found.iter().enumerate() {
        let column = if whole { Some(number) } else { column(&head.columns, *end) };
        let (name, direction) = column.and_then(|column| TESTS.get(column)).ok_or_else(|| {
            line.place_of(word).error(
                "this figure is below no column's name: were blanks left out? import the output as \
                 IOzone printed it",
            )
        })?;
        let value = line.number(word, name)?;
        if value == 0.0 {
            continue;
        }
        if reading.steps.iter().any(|step| step.name == *name) {
            return Err(line.place_of(word).error("a second figure below this column's name"));
        }
        reading.steps.push(step(name, vec![figure_of(*direction, head.unit, value, record)]));
    }
    if reading.steps.is_empty() {
        return Err(line.error("there is no figure above 0 in this row"));
    }
    finish(&mut reading, head);
    Ok(reading)
}

/// The column that ends where a figure does.
fn column(columns: &[usize], end: usize) -> Option<usize> {
    let distance = |at: &usize| columns[*at].abs_diff(end);
    (0..columns.len().min(TESTS.len())).min_by_key(distance).filter(|at| distance(at) <= NEXT_TO)
}

fn figure_of(direction: Direction, unit: Unit, value: f64, record: Bytes) -> Figure {
    let mut figure = figure(direction, 0.0);
    let per_second = match unit {
        Unit::Kibibytes => value * 1024.0 / record.0 as f64,
        Unit::Operations => value,
        Unit::Microseconds => 1e6 / value,
    };
    figure.operations_per_second = Some(per_second);
    figure.bytes_per_second = Some(match unit {
        Unit::Kibibytes => value * 1024.0,
        _ => per_second * record.0 as f64,
    });
    figure
}

fn who_and_what<'a>(line: &TextLine<'_>, who: &str) -> Result<(&'a str, Direction), SourceError> {
    let known = WORKERS.iter().find(|(name, ..)| *name == who);
    known.map(|(_, name, direction)| (*name, *direction)).ok_or_else(|| {
        let names = disklab_source::one_of(WORKERS.iter().map(|(name, ..)| name));
        line.error(format!("unknown kind of workers '{who}'; expected {names}"))
    })
}

/// The reading of a throughput test, without figures.
fn together(head: &Head, number: u64, line: &TextLine<'_>) -> Reading {
    let of = |name: &str| head.fields.iter().find(|(known, _)| *known == name).map(|(_, v)| v);
    let size = of("bs").map_or_else(String::new, |size| format!("-{size}"));
    let id = format!("iozone-{number}-processes{size}");
    let mut fields = vec![("program", "iozone".to_owned()), ("processes", number.to_string())];
    fields.extend(head.fields.iter().cloned());
    let title = format!("IOzone, throughput of {number} processes");
    let work = ImportedWork::unknown(&id_of(&id), &title, fields);
    let mut reading = Reading::new(work, line.since(head.start));
    finish(&mut reading, head);
    reading
}

fn worker_figure(
    line: &TextLine<'_>,
    head: &Head,
    direction: Direction,
    (value, unit): (&str, &str),
) -> Result<Figure, SourceError> {
    let number = crate::text::decimal(value).filter(|n| *n > 0.0).ok_or_else(|| {
        line.error(format!("the throughput: expected a number above 0, found '{value}'"))
    })?;
    let mut figure = figure(direction, 0.0);
    match unit {
        "kB/sec" | "KB/sec" => figure.bytes_per_second = Some(number * 1024.0),
        "ops/sec" => figure.operations_per_second = Some(number),
        other => {
            return Err(line.error(format!("expected 'kB/sec' or 'ops/sec', found '{other}'")));
        }
    }
    let size = head.fields.iter().find(|(name, _)| *name == "bs");
    let size = size.and_then(|(_, size)| size.parse::<Bytes>().ok()).map(|size| size.0 as f64);
    if let Some(size) = size.filter(|size| *size > 0.0) {
        figure.operations_per_second =
            figure.operations_per_second.or(figure.bytes_per_second.map(|bytes| bytes / size));
        figure.bytes_per_second =
            figure.bytes_per_second.or(figure.operations_per_second.map(|n| n * size));
    }
    Ok(figure)
}

fn finish(reading: &mut Reading, head: &Head) {
    reading.command.clone_from(&head.command);
    let tool = |version: &String| Tool { name: "iozone".to_owned(), version: version.clone() };
    reading.tools = head.version.iter().map(tool).collect();
    if !head.fields.iter().any(|(name, _)| *name == "direct") {
        reading.notes.push(
            "IOzone reads what it just wrote: without -I, and with files smaller than memory, its reads \
             are from memory."
                .to_owned(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    const TABLE: &str = "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.489 $\n\
        \tRun began: Fri Nov 27 22:06:16 2026\n\n\tFile size set to 8192 kB\n\tRecord Size 16 kB\n\
        \tO_DIRECT feature enabled\n\tCommand line used: iozone -I -i 0 -i 2 -s 8m -r 16k\n\
        \tOutput is in kBytes/sec\n\
        \x20                                                             random    random     bkwd    record    stride                                    \n\
        \x20             kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n\
        \x20           8192      16   215593   375053                     477239   429170                                                                \n\
        \niozone test complete.\n";

    #[test]
    fn figures_are_of_the_column_above_them() {
        let reading = one(&FORMAT, TABLE);
        let found: Vec<(&str, Direction, Option<f64>)> = reading
            .steps
            .iter()
            .map(|s| (s.name.as_str(), s.figures[0].direction, s.figures[0].bytes_per_second))
            .collect();
        assert_eq!(
            found,
            [
                ("write", Direction::Write, Some(215_593.0 * 1024.0)),
                ("rewrite", Direction::Write, Some(375_053.0 * 1024.0)),
                ("random-read", Direction::Read, Some(477_239.0 * 1024.0)),
                ("random-write", Direction::Write, Some(429_170.0 * 1024.0)),
            ]
        );
        assert_eq!(reading.steps[0].figures[0].operations_per_second, Some(215_593.0 / 16.0));
        assert_eq!(reading.work.id, "iozone-16k-of-8m");
        assert!(reading.work.fields.contains(&("direct", "1".to_owned())));
        assert_eq!(reading.tools[0].version, "3.489");
        assert_eq!(readings(&FORMAT, &TABLE.repeat(3)).len(), 3);
    }

    #[test]
    fn older_tables_have_narrower_columns_and_all_tests_need_none() {
        let old = "                                                            random  random    bkwd   record   stride                                   \n\
            \x20             KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread\n\
            \x20        1048576       4   91235   95843   110000   120000    1302    1450\n";
        let names = |text: &str| -> Vec<String> {
            one(&FORMAT, text).steps.into_iter().map(|step| step.name).collect()
        };
        assert_eq!(
            names(old),
            ["write", "rewrite", "read", "reread", "random-read", "random-write"]
        );
        let squeezed = "kB reclen write rewrite read reread read write read rewrite read fwrite frewrite fread freread\n\
            4096 64 1 2 3 4 5 6 7 8 9 10 11 12 13\n";
        assert_eq!(names(squeezed).len(), 13);
        let lost = "kB reclen write rewrite read reread read write read rewrite read fwrite frewrite fread freread\n\
            1048576 64 215593 375053 477239 429170\n";
        assert!(fails(&FORMAT, lost).to_string().contains("column's name"));
    }

    #[test]
    fn operations_and_microseconds() {
        let rate = |mode: &str| {
            let text = TABLE.replace("\tFile size", &format!("\t{mode}\n\tFile size"));
            one(&FORMAT, &text).steps[0].figures[0].operations_per_second
        };
        assert_eq!(rate("OPS Mode. Output is in operations per second."), Some(215_593.0));
        assert_eq!(
            rate("Microseconds/op Mode. Output is in microseconds per operation."),
            Some(1e6 / 215_593.0)
        );
    }

    #[test]
    fn throughput_of_several_processes() {
        let text = "\tRecord Size 16 kB\n\tThroughput test with 2 processes\n\
            \tChildren see throughput for  2 initial writers \t= 4303526.00 kB/sec\n\
            \tParent sees throughput for  2 initial writers \t=  766580.77 kB/sec\n\
            \tMin throughput per process \t\t\t=  842566.00 kB/sec \n\
            \tChildren see throughput for 2 re-readers \t= 11741643.00 kB/sec\n\
            \tChildren see throughput for 2 mixed workload \t=  5106972.88 kB/sec\n";
        let reading = one(&FORMAT, text);
        assert_eq!(reading.work.id, "iozone-2-processes-16k");
        let figures: Vec<(&str, Option<f64>)> = reading
            .steps
            .iter()
            .map(|s| (s.name.as_str(), s.figures[0].bytes_per_second))
            .collect();
        assert_eq!(figures[0], ("write", Some(4_303_526.0 * 1024.0)));
        assert_eq!(figures[1], ("reread", Some(11_741_643.0 * 1024.0)));
        assert_eq!(reading.steps[2].figures[0].direction, Direction::Mixed);
        assert_eq!(readings(&FORMAT, &text.repeat(2)).len(), 2);
        let error = fails(&FORMAT, &text.replace("mixed workload", "lazy readers"));
        assert!(error.to_string().contains("unknown kind of workers 'lazy readers'"), "{error}");
        assert!(fails(&FORMAT, &text.replace("kB/sec", "MB/sec")).to_string().contains("kB/sec"));
    }
}
