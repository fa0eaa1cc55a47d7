//! sysbench's `fileio`: 0.4, 1.0 and 1.1.
//!
//! 1.0: `reads/s:`, `writes/s:`, `read, MiB/s:`, `written, MiB/s:`. 1.1: `read:
//! IOPS=2621.66 40.96 MiB/s (42.95 MB/s)`. 0.4: `Operations performed: 6008 Read, 3997
//! Write, …` and `total time:`; its Mb and Kb are powers of 1024 bytes. Latencies are of
//! reads, writes and fsyncs together, in milliseconds. 1.1 does not say how long it ran.

use std::sync::Arc;

use disklab_sample::{Direction, Figure, Tool};
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, one_line, step};
use crate::text::{TextLine, agree, lines, quantities, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "sysbench",
    about: "sysbench fileio 0.4, 1.0 and 1.1",
    looks_like: |text| {
        let has = |part: &str| text.contains(part);
        has("reads/s:") && has("writes/s:")
            || has("read:  IOPS=")
            || has("write: IOPS=") && has("fsync: IOPS=")
            || has("Operations performed:") && has("Requests/sec executed")
    },
    read,
};

/// What one run says.
#[derive(Default)]
struct Summary {
    start: usize,
    version: Option<String>,
    threads: Option<String>,
    block: Option<Bytes>,
    mode: Option<String>,
    direct: Option<String>,
    /// Operations per second of reads and writes.
    rates: [Option<f64>; 2],
    /// Operations of reads and writes.
    counts: [Option<f64>; 2],
    /// MiB/s of reads and writes, as shown.
    speeds: [Option<f64>; 2],
    seconds: Option<f64>,
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    let mut summary = Summary::default();
    let all = lines(source);
    for line in &all {
        let text = line.text.trim();
        if text.starts_with("sysbench ") && text.contains('.') {
            close(std::mem::take(&mut summary), line, &mut readings)?;
            summary =
                Summary { start: line.start, version: Some(one_line(text)), ..Summary::default() };
        }
        take(&mut summary, line)?;
        if let Some(rest) = line.after("total time:") {
            let number = rest.strip_suffix('s').unwrap_or(rest);
            summary.seconds = Some(line.number(number, "the total time")?);
            let started = std::mem::take(&mut summary);
            summary = Summary {
                start: line.end(),
                version: started.version.clone(),
                ..Summary::default()
            };
            close(started, line, &mut readings)?;
        }
    }
    if let Some(last) = all.last() {
        close(summary, last, &mut readings)?;
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no result of sysbench fileio here; expected its 'File operations' and 'total \
             time' (of the other tests nothing is taken)",
        ));
    }
    Ok(readings)
}

/// Ends a run. sysbench has other tests, which have no such figures.
fn close(
    summary: Summary,
    line: &TextLine<'_>,
    readings: &mut Vec<Reading>,
) -> Result<(), SourceError> {
    if summary.rates.iter().chain(&summary.counts).any(Option::is_some) {
        readings.push(reading(&summary, line)?);
    }
    Ok(())
}

const SIDES: [(&str, &str, &str); 2] =
    [("reads/s", "read, MiB/s", "read"), ("writes/s", "written, MiB/s", "write")];

fn take(summary: &mut Summary, line: &TextLine<'_>) -> Result<(), SourceError> {
    for (side, (rate, speed, name)) in SIDES.iter().enumerate() {
        if let Some(rest) = line.after(rate) {
            summary.rates[side] = Some(line.number(rest, rate)?);
        }
        if let Some(rest) = line.after(speed) {
            summary.speeds[side] = Some(line.number(rest, speed)?);
        }
        let new = line.after(name).and_then(|rest| rest.strip_prefix("IOPS="));
        if let Some(rest) = new {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let [iops, mib, "MiB/s", ..] = words.as_slice() else {
                return Err(line.error("expected 'IOPS=NUMBER NUMBER MiB/s (NUMBER MB/s)'"));
            };
            summary.rates[side] = Some(line.number(iops, "IOPS")?);
            summary.speeds[side] = Some(line.number(mib, "MiB/s")?);
        }
    }
    if let Some(rest) = line.after("Operations performed") {
        for (number, what) in quantities(rest) {
            match what {
                "Read" | "reads" => summary.counts[0] = Some(line.number(number, "reads")?),
                "Write" | "writes" => summary.counts[1] = Some(line.number(number, "writes")?),
                _ => {}
            }
        }
    }
    if let Some(rest) = line.after("Block size") {
        // 0.4 writes Kb for what later versions call KiB.
        let size = rest.replace("Kb", "KiB").replace("Mb", "MiB");
        let size = size.parse().map_err(|e| line.place_of(rest).error(format!("Block size: {e}")));
        summary.block = Some(size?);
    }
    let text = line.text.trim();
    if let Some(mode) = text.strip_prefix("Doing ").and_then(|t| t.strip_suffix(" test")) {
        summary.mode = Some(one_line(mode));
    }
    if let Some(threads) = line.after("Number of threads") {
        summary.threads = Some(one_line(threads));
    }
    if let Some(flags) = line.after("Extra file open flags") {
        summary.direct = Some(one_line(flags));
    }
    Ok(())
}

/// How long the run took; 0 if that is not known.
fn seconds(summary: &Summary, line: &TextLine<'_>) -> Result<f64, SourceError> {
    // Version 1.1 does not say it; 0.4 says nothing else.
    let counts = summary.counts.iter().any(Option::is_some);
    match summary.seconds {
        Some(seconds) if seconds > 0.0 => Ok(seconds),
        None if !counts => Ok(0.0),
        None => Err(line.error("the run's 'total time' is missing: it is cut off")),
        Some(_) => Err(line.error("expected a total time above 0")),
    }
}

fn reading(summary: &Summary, line: &TextLine<'_>) -> Result<Reading, SourceError> {
    let Some(block) = summary.block.filter(|block| block.0 > 0) else {
        return Err(line.error(
            "the run's 'Block size' is missing: without it, operations have no size; import the \
             whole output of sysbench",
        ));
    };
    let seconds = seconds(summary, line)?;
    let mut figures: Vec<Figure> = Vec::new();
    for (side, direction) in [Direction::Read, Direction::Write].into_iter().enumerate() {
        let rate = summary.counts[side].map(|n| n / seconds).or(summary.rates[side]);
        let Some(rate) = rate.filter(|rate| *rate > 0.0) else { continue };
        let speed = rate * block.0 as f64;
        let shown = summary.speeds[side].map(|mib| mib * 1_048_576.0);
        if shown.is_some_and(|shown| shown > 1e6 && !agree(speed, shown, 2)) {
            return Err(line.error(format!(
                "the run above says {rate} operations per second of {}, which are not its MiB/s: was \
                 it changed?",
                block.iec()
            )));
        }
        let mut figure = figure(direction, seconds);
        figure.operations_per_second = Some(rate);
        figure.bytes_per_second = Some(speed);
        if seconds > 0.0 {
            figure.operations = Some((rate * seconds).round() as u64);
            figure.bytes = (speed * seconds).round() as u64;
        }
        figures.push(figure);
    }
    if figures.is_empty() {
        return Err(line.error("the run above read and wrote nothing"));
    }
    let mode = summary.mode.clone().unwrap_or_else(|| "fileio".to_owned());
    let id = format!("sysbench-{}-{}", mode.replace("r/w", "readwrite"), block.short());
    let mut fields =
        vec![("program", "sysbench".to_owned()), ("mode", mode.clone()), ("bs", block.short())];
    fields.extend(summary.threads.clone().map(|threads| ("threads", threads)));
    fields.extend(summary.direct.clone().map(|flags| ("open-flags", flags)));
    let title = format!("sysbench fileio, {mode}, {}", block.iec());
    let mut reading =
        Reading::new(ImportedWork::unknown(&id_of(&id), &title, fields), line.since(summary.start));
    reading.steps = vec![step("fileio", figures)];
    reading.tools = summary
        .version
        .iter()
        .map(|version| Tool { name: "sysbench".to_owned(), version: version.clone() })
        .collect();
    reading.notes.push(
        "sysbench tells latencies of reads, writes and fsyncs together; they were left out."
            .to_owned(),
    );
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    const V10: &str = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 1\n\
        Extra file open flags: (none)\nBlock size 16KiB\nDoing random r/w test\nThreads started!\n\n\
        File operations:\n    reads/s:    5970.80\n    writes/s:    3980.54\n    fsyncs/s:    398.55\n\n\
        Throughput:\n    read, MiB/s:     93.29\n    written, MiB/s:    62.20\n\n\
        General statistics:\n    total time:       2.0093s\n    total number of events:   20797\n";

    #[test]
    fn version_1_0() {
        let reading = one(&FORMAT, V10);
        assert_eq!(reading.work.id, "sysbench-random-readwrite-16k");
        let [read, write] = reading.steps[0].figures.as_slice() else { panic!("two figures") };
        assert_eq!(read.bytes_per_second, Some(5970.80 * 16384.0));
        assert_eq!(
            (write.direction, write.operations_per_second),
            (Direction::Write, Some(3980.54))
        );
        assert_eq!(readings(&FORMAT, &V10.repeat(2)).len(), 2);
    }

    #[test]
    fn versions_1_1_and_0_4() {
        let new = "sysbench 1.1.0\nBlock size 16KiB\nDoing sequential read test\n\nThroughput:\n\
             read:  IOPS=2621.66 40.96 MiB/s (42.95 MB/s)\n         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n\
             fsync: IOPS=0.00\n\nLatency (ms):\n         avg:    6.20\n         sum:   40000.00\n\n";
        let reading = one(&FORMAT, new);
        assert_eq!(readings(&FORMAT, &new.repeat(3)).len(), 3);
        assert_eq!(reading.steps[0].figures.len(), 1);
        assert_eq!(reading.steps[0].figures[0].operations_per_second, Some(2621.66));
        let old = "sysbench 0.4.12:  multi-threaded system evaluation benchmark\nBlock size 16Kb\n\
             Doing random r/w test\nOperations performed:  6008 Read, 3997 Write, 12800 Other = 22805 Total\n\
             Read 93.875Mb  Written 62.453Mb  Total transferred 156.33Mb  (2.9644Mb/sec)\n  189.72 Requests/sec executed\n\
             \nTest execution summary:\n    total time:       50.0s\n    total number of events:   10000\n    \
             total time taken by event execution: 60.0000\n";
        let figures = &one(&FORMAT, old).steps[0].figures;
        assert_eq!(figures[0].operations_per_second, Some(6008.0 / 50.0));
        assert_eq!(figures[1].bytes_per_second, Some(3997.0 / 50.0 * 16384.0));
    }

    #[test]
    fn contradictory_output_is_refused() {
        for (from, to, said) in [
            ("93.29", "932.9", "not its MiB/s"),
            ("Block size 16KiB\n", "", "'Block size' is missing"),
            ("5970.80", "5,970.80", "expected a number"),
            ("total time:       2.0093s", "total time: 0s", "above 0"),
            ("total time:       2.0093s", "total time: ", "the total time: expected a number"),
        ] {
            let text = V10.replace(from, to);
            assert!(fails(&FORMAT, &text).to_string().contains(said), "{to}");
        }
        assert!(fails(&FORMAT, "total time: 10s\n").to_string().contains("no result"));
        let cut = "sysbench 0.5\nBlock size 16Kb\nOperations performed:  6008 reads, 3997 writes, 12 Other\n\
                   \u{20} 189.72 Requests/sec executed\n";
        assert!(fails(&FORMAT, cut).to_string().contains("cut off"));
    }
}
