//! DiskSpd's text (`-Rtext`, its default).
//!
//! Tables and units: `ResultParser.cpp` of 2.2; 2.0 writes MB/s for MiB/s. Of each timespan, the
//! lines `total:` of `Read IO` and `Write IO` count. Latencies are milliseconds.

use std::sync::Arc;

use disklab_sample::{Direction, Figure, Tool};
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, moments, one_line, percentiles, step};
use crate::text::{TextLine, decimal, lines, shows, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "diskspd",
    about: "DiskSpd 2: its text; not its XML",
    looks_like: |text| text.split(['\n', '\r']).any(is_table),
    read,
};

/// Whether a line is the header of a table of threads.
fn is_table(line: &str) -> bool {
    let mut cells = line.split('|').map(str::trim);
    cells.next() == Some("thread") && cells.next() == Some("bytes") && cells.next() == Some("I/Os")
}

/// A part of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Other,
    Side(usize),
    Percentiles,
}

/// The directions that have a table.
const SIDES: [(&str, Direction); 2] =
    [("Read IO", Direction::Read), ("Write IO", Direction::Write)];

/// What there is so far of a timespan.
struct Timespan {
    start: usize,
    seconds: Option<f64>,
    part: Part,
    /// The names of the columns of the table that is read.
    columns: Vec<String>,
    figures: [Option<Figure>; 2],
    /// Shares and nanoseconds of reads and of writes.
    percentiles: [Vec<(f64, f64)>; 2],
}

impl Timespan {
    fn new(start: usize) -> Self {
        Self {
            start,
            seconds: None,
            part: Part::Other,
            columns: Vec::new(),
            figures: [None, None],
            percentiles: [Vec::new(), Vec::new()],
        }
    }
}

/// What was asked for, as the output repeats it.
#[derive(Debug, Default)]
struct Head {
    command: Option<String>,
    block: Option<Bytes>,
    random: Option<&'static str>,
    /// Threads, requests in flight, caches and the like, as they are printed.
    settings: Vec<(&'static str, String)>,
}

/// Lines of the settings that are part of the work: what they begin with, and their name.
const SETTINGS: [(&str, &str); 11] = [
    ("number of outstanding I/O operations per thread:", "depth"),
    ("number of outstanding I/O operations:", "depth"),
    ("threads per file:", "threads"),
    ("thread pool with ", "thread-pool"),
    ("performing mix test (read/write ratio:", "read-write-ratio"),
    ("software cache disabled", "unbuffered"),
    ("hardware write cache disabled, writethrough on", "writethrough"),
    ("hardware and software write caches disabled, writethrough on", "writethrough"),
    ("hardware and software caches disabled", "writethrough"),
    ("throughput rate-limited to ", "rate"),
    ("think time:", "think-time"),
];

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    let (mut head, mut open) = (Head::default(), None::<Timespan>);
    let all = lines(source);
    let mut end = 0;
    for line in &all {
        let text = line.text.trim();
        let begins = text.starts_with("Command Line:") || text.starts_with("Input parameters:");
        if begins || text.starts_with("Results for timespan") || text == "Totals:" {
            close(source, open.take(), &head, end, &mut readings)?;
        }
        if text.starts_with("Command Line:") || begins && head.block.is_some() {
            head = Head::default();
        }
        if text.starts_with("Results for timespan") || open.is_none() && is_result(text) {
            open = Some(Timespan::new(line.start));
        }
        match &mut open {
            Some(open) => take(open, line, text)?,
            None => about(&mut head, text),
        }
        end = if text.is_empty() { end } else { line.end() };
    }
    close(source, open, &head, end, &mut readings)?;
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no result of DiskSpd here; expected its tables 'Read IO' and 'Write IO', each \
             with a line 'total:'",
        ));
    }
    Ok(readings)
}

/// Whether a line is of results: the output may be cut above it.
fn is_result(text: &str) -> bool {
    text == "Total IO"
        || text.starts_with("actual test time:")
        || SIDES.iter().any(|(name, _)| *name == text)
}

/// Takes in what a line says of what was asked for.
fn about(head: &mut Head, text: &str) {
    if let Some(command) = text.strip_prefix("Command Line:") {
        head.command = Some(one_line(command));
    } else if let Some(size) = text.strip_prefix("block size:") {
        head.block = block(size.trim());
    } else if text.starts_with("using random I/O") {
        head.random = Some("random");
    } else if text.contains("sequential I/O (stride") {
        head.random = Some("sequential");
    } else if text.starts_with("using mixed random/sequential I/O") {
        head.random = Some("mixed");
    }
    let setting = SETTINGS.iter().find(|(front, _)| text.starts_with(front));
    if let Some((front, name)) = setting
        && !head.settings.iter().any(|(known, _)| known == name)
    {
        let value = one_line(text[front.len()..].trim_matches([' ', ')', '\t']));
        head.settings.push((name, if value.is_empty() { "1".to_owned() } else { value }));
    }
}

/// `4KiB`, `64K` and `4096`, of which K are 2¹⁰ bytes.
fn block(text: &str) -> Option<Bytes> {
    let text = text.replace("KiB", "K").replace("MiB", "M").replace("GiB", "G");
    let number = text.trim_end_matches(['K', 'M', 'G', 'B']);
    let factor = match text.as_bytes().get(number.len()) {
        Some(b'K') => 1 << 10,
        Some(b'M') => 1 << 20,
        Some(b'G') => 1 << 30,
        _ => 1,
    };
    number.trim().parse::<u64>().ok()?.checked_mul(factor).map(Bytes).filter(|size| size.0 > 0)
}

/// Takes in a line of the results.
fn take(open: &mut Timespan, line: &TextLine<'_>, text: &str) -> Result<(), SourceError> {
    if let Some(seconds) = text.strip_prefix("actual test time:") {
        let seconds = line.number(seconds.trim().trim_end_matches('s'), "the test's time")?;
        open.seconds = Some(seconds);
    } else if let Some(side) = SIDES.iter().position(|(name, _)| *name == text) {
        open.part = Part::Side(side);
    } else if text == "Total IO" {
        open.part = Part::Other;
    } else if is_table(text) {
        open.columns = text.split('|').map(|cell| cell.trim().to_owned()).collect();
    } else if text.starts_with("%-ile") {
        // Of several files, that of all comes last.
        open.part = Part::Percentiles;
        open.percentiles = [Vec::new(), Vec::new()];
    } else if let Some(cells) = text.strip_prefix("total:") {
        if let Part::Side(side) = open.part {
            open.figures[side] = total(open, line, cells, SIDES[side].1)?;
        }
    } else if open.part == Part::Percentiles {
        percentile(open, text);
    }
    Ok(())
}

/// The line of all threads; none if they did nothing in this direction.
fn total(
    open: &Timespan,
    line: &TextLine<'_>,
    cells: &str,
    direction: Direction,
) -> Result<Option<Figure>, SourceError> {
    let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
    let at = |name: &str| {
        let column = open.columns.iter().position(|known| known == name)?;
        cells.get(column.checked_sub(1)?).copied()
    };
    let [bytes, operations, speed, rate, ..] = cells.as_slice() else {
        return Err(line.error("expected bytes, I/Os, MiB/s and I/O per s behind 'total:'"));
    };
    let count = |text: &str, what: &str| {
        text.parse::<u64>().map_err(|_| {
            line.place_of(text).error(format!("{what}: expected an integer, found '{text}'"))
        })
    };
    let (bytes, operations) = (count(bytes, "bytes")?, count(operations, "I/Os")?);
    if operations == 0 {
        return Ok(None);
    }
    let (mib, per_second) = (line.number(speed, "MiB/s")?, line.number(rate, "I/O per s")?);
    // The time is rounded to hundredths, the rates are not rounded as much.
    let seconds = open.seconds.filter(|s| *s > 0.0).unwrap_or(operations as f64 / per_second);
    let exact = bytes as f64 / seconds;
    if mib <= 0.0 && exact > 10_000.0 || mib > 0.0 && !shows(speed, 1_048_576.0, exact) {
        return Err(line.place_of(speed).error(format!(
            "{bytes} bytes in {seconds:.2} s are {:.2} MiB/s, and the line says {speed}: was it changed?",
            exact / 1_048_576.0
        )));
    }
    let mut figure = figure(direction, seconds);
    figure.bytes = bytes;
    figure.operations = Some(operations);
    figure.bytes_per_second = Some(exact).filter(|rate| *rate > 0.0 && rate.is_finite());
    let exact = operations as f64 / seconds;
    figure.operations_per_second = Some(exact).filter(|rate| *rate > 0.0 && rate.is_finite());
    if let Some(mean) = at("AvgLat").and_then(decimal) {
        let deviation = at("LatStdDev").and_then(decimal).unwrap_or(0.0);
        figure.latency = Some(moments(0.0, mean * 1e6, 0.0, deviation * 1e6));
    }
    Ok(Some(figure))
}

/// `25th | 0.351 | 0.371 | 0.362`, `3-nines | …`, `max | …`: reads, writes and all.
fn percentile(open: &mut Timespan, text: &str) {
    let cells: Vec<&str> = text.split('|').map(str::trim).collect();
    let [name, reads, writes, ..] = cells.as_slice() else { return };
    let nines = |name: &str| {
        let nines: i32 = name.strip_suffix("-nines")?.parse().ok()?;
        Some(1.0 - 10_f64.powi(-nines))
    };
    let share = match *name {
        "min" => Some(0.0),
        "max" => Some(1.0),
        name => name
            .strip_suffix("th")
            .and_then(|n| n.parse::<f64>().ok())
            .map(|n| n / 100.0)
            .or_else(|| nines(name)),
    };
    let Some(share) = share.filter(|share| (0.0..=1.0).contains(share)) else { return };
    for (side, value) in [reads, writes].into_iter().enumerate() {
        if let Some(ms) = decimal(value) {
            open.percentiles[side].push((share, ms * 1e6));
        }
    }
}

/// Ends a timespan.
fn close(
    source: &Arc<Source>,
    open: Option<Timespan>,
    head: &Head,
    end: usize,
    readings: &mut Vec<Reading>,
) -> Result<(), SourceError> {
    let Some(open) = open else { return Ok(()) };
    let place = span(source, open.start, end);
    let mut figures = Vec::new();
    for (figure, points) in open.figures.into_iter().zip(&open.percentiles) {
        let Some(mut figure) = figure else { continue };
        if let (Some(latency), false) = (&mut figure.latency, points.is_empty()) {
            let of = |share: f64| points.iter().find(|(known, _)| *known == share).map(|(_, n)| *n);
            latency.min_ns = of(0.0).unwrap_or(0.0) as u64;
            latency.max_ns = of(1.0).unwrap_or(0.0) as u64;
            let count = figure.operations.unwrap_or(0) as f64;
            let ends = (latency.min_ns as f64, latency.max_ns as f64);
            let points: Vec<(f64, f64)> =
                points.iter().copied().filter(|(share, _)| *share > 0.0).collect();
            latency.histogram = percentiles(&points, count, ends).map_err(|_| {
                place.error("of its percentiles, a higher one is smaller than a lower one")
            })?;
        }
        figures.push(figure);
    }
    let mut reading = Reading::new(work(head), place);
    if figures.is_empty() {
        reading.failure = Some("DiskSpd measured nothing in this timespan".to_owned());
    } else {
        reading.steps = vec![step("diskspd", figures)];
    }
    reading.command.clone_from(&head.command);
    reading.tools = vec![Tool { name: "diskspd".to_owned(), version: "2".to_owned() }];
    readings.push(reading);
    Ok(())
}

fn work(head: &Head) -> ImportedWork {
    let order = head.random.unwrap_or("diskspd");
    let size = head.block.map_or_else(String::new, |size| format!("-{}", size.short()));
    let mut fields = vec![("program", "diskspd".to_owned())];
    fields.extend(head.random.map(|order| ("order", order.to_owned())));
    fields.extend(head.block.map(|size| ("bs", size.short())));
    fields.extend(head.settings.iter().cloned());
    let setting = |wanted: &str| head.settings.iter().find(|(name, _)| *name == wanted);
    let depth = setting("depth").map_or_else(String::new, |(_, depth)| format!("-q{depth}"));
    let threads = setting("threads").map_or_else(String::new, |(_, n)| format!("-t{n}"));
    let id = format!("diskspd-{order}{size}{depth}{threads}").replace("diskspd-diskspd", "diskspd");
    ImportedWork::unknown(&id_of(&id), &id, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    /// As version 2.0.21 prints it, with -L.
    const TEXT: &str = "\nCommand Line: diskspd.exe -c1G -b4K -d10 -o8 -t2 -r -w25 -L -Sh x.dat\n\nInput parameters:\n\n\
        \ttimespan:   1\n\t-------------\n\tduration: 10s\n\twarm up time: 5s\n\tpath: 'x.dat'\n\t\tthink time: 0ms\n\
        \t\tsoftware cache disabled\n\t\thardware write cache disabled, writethrough on\n\
        \t\tperforming mix test (read/write ratio: 75/25)\n\t\tblock size: 4KiB\n\
        \t\tusing random I/O (alignment: 4KiB)\n\t\tnumber of outstanding I/O operations per thread: 8\n\
        \t\tthreads per file: 2\n\nSystem information:\n\nResults for timespan 1:\n*****\n\n\
        actual test time:\t10.00s\nthread count:\t\t2\n\nCPU |  Usage |  User  |  Kernel |  Idle\n\
        avg.|  12.50%|   2.50%|  10.00%|  87.50%\n\nTotal IO\n\
        thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n-----\n     \
        0 |        40960000 |        10000 |       3.91 |    1000.00 |    8.000 |     2.000 | x.dat (1GiB)\n-----\n\
        total:         40960000 |        10000 |       3.91 |    1000.00 |    8.000 |     2.000\n\nRead IO\n\
        thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n-----\n\
        total:         30720000 |         7500 |       2.93 |     750.00 |    9.000 |     2.500\n\nWrite IO\n\
        thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n-----\n\
        total:         10240000 |         2500 |       0.98 |     250.00 |    5.000 |     1.000\n\n\n\
        total latency distribution:\n  %-ile |  Read (ms) | Write (ms) | Total (ms)\n-----\n    \
        min |      0.086 |      0.199 |      0.086\n   50th |      8.214 |      4.978 |      7.128\n   \
        99th |     17.406 |      9.024 |     16.098\n3-nines |     34.938 |     25.804 |     34.360\n    \
        max |     38.058 |     35.514 |     38.058\n";

    #[test]
    fn reads_and_writes_of_all_threads() {
        let reading = one(&FORMAT, TEXT);
        let [read, write] = reading.steps[0].figures.as_slice() else { panic!("two figures") };
        assert_eq!(
            (read.direction, read.bytes, read.operations),
            (Direction::Read, 30_720_000, Some(7500))
        );
        assert_eq!((read.bytes_per_second, read.elapsed_ns), (Some(3_072_000.0), 10_000_000_000));
        assert_eq!(write.operations_per_second, Some(250.0));
        let latency = read.latency.as_ref().expect("latencies");
        assert_eq!((latency.mean_ns, latency.min_ns, latency.max_ns), (9e6, 86_000, 38_058_000));
        assert!((latency.histogram.quantile(0.99) as f64 / 17_406_000.0 - 1.0).abs() < 0.001);
        assert_eq!(reading.work.id, "diskspd-random-4k-q8-t2");
        for field in [("read-write-ratio", "75/25"), ("unbuffered", "1"), ("writethrough", "1")] {
            assert!(reading.work.fields.contains(&(field.0, field.1.to_owned())), "{field:?}");
        }
        assert!(reading.command.is_some_and(|command| command.starts_with("diskspd.exe -c1G")));
    }

    #[test]
    fn timespans_runs_and_older_versions() {
        assert_eq!(readings(&FORMAT, &TEXT.repeat(2)).len(), 2);
        let (head, results) = TEXT.split_once("Results for").expect("results");
        let two = format!("{head}Results for{results}\nResults for{results}");
        assert_eq!(readings(&FORMAT, &two).len(), 2);
        let totals = format!(
            "{two}\n\nTotals:\n*****\n\ntype   |       bytes     |     I/Os     |    MiB/s\nread | 1 | 1 | 1\n"
        );
        assert_eq!(readings(&FORMAT, &totals).len(), 2);
        // Version 2.0.15, without latencies, and cut above its results.
        let old = "Read IO\nthread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  file\n-----\n\
                   total:       104857600 |        25600 |      10.00 |    2560.00\n";
        let figure = &one(&FORMAT, old).steps[0].figures[0];
        assert_eq!(
            (figure.bytes_per_second, figure.elapsed_ns),
            (Some(10_485_760.0), 10_000_000_000)
        );
        let commas =
            TEXT.replace("10.00s", "10,00s").replace("2.93", "2,93").replace("750.00", "750,00");
        assert_eq!(one(&FORMAT, &commas).steps[0].figures[0].bytes_per_second, Some(3_072_000.0));
        let stopped = format!(
            "{head}Results for timespan 1:\n*****\nThe test was interrupted before the measurements began.\n{TEXT}"
        );
        let failed: Vec<bool> =
            readings(&FORMAT, &stopped).iter().map(|r| r.failure.is_some()).collect();
        assert_eq!(failed, [true, false]);
    }

    #[test]
    fn contradictory_output_is_refused() {
        for (from, to, said) in [
            ("|       2.93 |", "|      29.30 |", "was it changed?"),
            ("30720000", "30,720,000", "bytes: expected an integer"),
            ("17.406", "1.406", "smaller than a lower one"),
            ("10.00s", "tens", "the test's time: expected a number"),
        ] {
            let error = fails(&FORMAT, &TEXT.replacen(from, to, 1));
            assert!(error.to_string().contains(said), "{to}: {error}");
        }
        assert!(fails(&FORMAT, "hello\n").to_string().contains("no result of DiskSpd"));
    }
}
