//! Filebench's output, 1.4.9 and 1.5: the breakdown by flowop and the summary.
//!
//! Lines and units: `disklab-wml`'s reader; mb are 2²⁰ bytes. Figures are those of a
//! run that disklab makes itself: all operations together, and a step for each flowop.

use std::sync::Arc;

use disklab_sample::{Direction, Figure};
use disklab_source::{Source, SourceError};
use disklab_wml::output::{ParsedRow, ParsedSummary, parse_row, parse_stop, parse_summary};

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, moments, one_line, step};
use crate::text::{TextLine, lines, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "filebench",
    about: "Filebench 1.4.9 and 1.5: its standard output",
    looks_like: |text| {
        text.lines()
            .any(|l| l.contains("IO Summary:") || parse_stop(l).is_some() || loaded(l).is_some())
    },
    read,
};

const MIB: f64 = 1_048_576.0;
const NO_RUN: &str = "no run command in the WML script";

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    let (mut rows, mut name, mut start) = (Vec::new(), None, None);
    let mut stop: Option<Stop> = None;
    for line in lines(source) {
        if let Some(loaded) = loaded(line.text) {
            name = Some(loaded);
            start = Some(line.start);
            stop = None;
        }
        let begin = start.unwrap_or(line.start);
        if let Some(why) = parse_stop(line.text) {
            let reading = Reading::new(work(name.as_deref()), span(source, begin, line.end()));
            let new = Stop { at: readings.len(), begin, why: why.to_owned(), seconds: None };
            readings.push(reading);
            new.tell(&mut readings, source, line.end());
            stop = Some(new);
            rows.clear();
        } else if let Some(row) = parse_row(line.text) {
            start = Some(begin);
            rows.push(row);
        } else if line.text.contains("IO Summary:") {
            let summary = parse_summary(line.text).ok_or_else(|| {
                line.error(
                    "this summary is that of no Filebench that is known; expected one such as 'IO \
                     Summary: 1397 ops 23.2 ops/s 2/4 rd/wr 0.5mb/s 100.1ms/op'",
                )
            })?;
            if let Some(mut stopped) = stop.take() {
                stopped.seconds = counted_of(&summary).map(|(_, seconds)| seconds);
                stopped.tell(&mut readings, source, line.end());
            } else {
                let place = span(source, begin, line.end());
                let mut reading = Reading::new(work(name.as_deref()), place);
                fill(&mut reading, &line, &summary, &rows)?;
                readings.push(reading);
            }
            rows.clear();
            start = None;
        } else if let Some(stopped) = &mut stop {
            if line.text.starts_with(char::is_whitespace) {
                stopped.why = format!("{} {}", stopped.why, line.text.trim()).trim().to_owned();
                stopped.tell(&mut readings, source, line.end());
            } else if !line.text.is_empty() && !line.text.starts_with("Per-Operation Breakdown") {
                // Whatever else is told is told of another run.
                stop = None;
            }
        }
    }
    if readings.is_empty() { Err(no_summary(source)) } else { Ok(readings) }
}

/// Why a text has no reading.
fn no_summary(source: &Arc<Source>) -> SourceError {
    // What 1.5 says of its own scripts, most of which have none.
    match lines(source).iter().find(|l| l.text.contains(NO_RUN)) {
        Some(line) => line.error(
            "Filebench ran nothing: its script has no 'run'; end it with one, such as 'run 60', \
             and measure again",
        ),
        None => span(source, 0, 0).error(
            "there is no 'IO Summary' of Filebench here: the run did not end, or another program \
             wrote this",
        ),
    }
}

/// A run that ended before its time. disklab shows what was measured until then, right
/// after the warning; Filebench 1.5 shows nothing.
struct Stop {
    /// The reading of it.
    at: usize,
    /// Where its text begins.
    begin: usize,
    why: String,
    /// How long it was measured, where figures were shown.
    seconds: Option<f64>,
}

impl Stop {
    /// Makes its reading a failure, whose text goes as far as `end`. Figures of a part of
    /// the work are not taken: nothing would tell them from those of the whole.
    fn tell(&self, readings: &mut [Reading], source: &Arc<Source>, end: usize) {
        let Some(reading) = readings.get_mut(self.at) else { return };
        let why = one_line(&self.why);
        reading.failure = Some(match self.seconds {
            Some(seconds) => format!(
                "Filebench stopped early, after {seconds:.1} s; what it showed of them is not \
                 taken for the run that was asked for: {why}"
            ),
            None => format!("Filebench stopped early and told no figures: {why}"),
        });
        reading.place = span(source, self.begin, end);
    }
}

/// The personality's name, from the line that says that it was loaded.
fn loaded(line: &str) -> Option<String> {
    let (before, _) = line.split_once(" personality successfully loaded")?;
    let before = before.split_once(": ").map_or(before, |(_, name)| name);
    let name = before.split(" Version").next().unwrap_or(before);
    Some(one_line(name))
}

fn work(name: Option<&str>) -> ImportedWork {
    let Some(name) = name else {
        return ImportedWork::unknown(
            "filebench",
            "Filebench",
            vec![("program", "filebench".to_owned())],
        );
    };
    // As the shipped personalities are called: 'File-server' is fileserver.
    let id = id_of(&name.to_lowercase().replace(['-', ' '], ""));
    let fields = vec![("program", "filebench".to_owned()), ("personality", id.clone())];
    ImportedWork::unknown(&id, &format!("Filebench {name}"), fields)
}

fn fill(
    reading: &mut Reading,
    line: &TextLine<'_>,
    summary: &ParsedSummary,
    rows: &[ParsedRow],
) -> Result<(), SourceError> {
    let Some((operations, seconds)) = counted_of(summary) else {
        return Err(line.error(
            "this summary counts no operations: Filebench measured nothing (1.5 does that where its \
             shared memory is too small)",
        ));
    };
    let all = with_latency(
        counted(seconds, operations, summary.mb_per_second),
        (0.0, summary.mean_ms, 0.0),
    );
    let name = reading.work.id.clone();
    reading.steps.push(step(&name, vec![all]));
    // Filebench prints its flowops backwards.
    for row in rows.iter().rev() {
        // What counts no operation, or more than a number holds, has no figure.
        let Some(operations) = u64::try_from(row.operations).ok().filter(|n| *n > 0) else {
            continue;
        };
        let (min, max) = row.range_ms.unwrap_or((0.0, 0.0));
        let figure =
            with_latency(counted(seconds, operations, row.mb_per_second), (min, row.mean_ms, max));
        reading.steps.push(step(&row.name, vec![figure]));
    }
    reading.notes.push(
        "Filebench tells latencies by mean and extremes only, and rates of data in tenths of \
         MiB/s."
            .to_owned(),
    );
    Ok(())
}

/// Operations of a summary, and the seconds that they took; none where it counts none.
fn counted_of(summary: &ParsedSummary) -> Option<(u64, f64)> {
    let operations = u64::try_from(summary.operations).ok().filter(|n| *n > 0)?;
    // There are three digits after the point: more than the clock of 'Run took' has.
    (summary.per_second > 0.0).then(|| (operations, operations as f64 / summary.per_second))
}

fn counted(seconds: f64, operations: u64, mb_per_second: f64) -> Figure {
    let mut figure = figure(Direction::Mixed, seconds);
    figure.operations = Some(operations);
    figure.operations_per_second = Some(operations as f64 / seconds).filter(|n| n.is_finite());
    figure.bytes_per_second = Some(mb_per_second * MIB).filter(|n| *n > 0.0 && n.is_finite());
    figure
}

/// Latencies in milliseconds: smallest, mean, largest; 0 where they were not told.
fn with_latency(mut figure: Figure, (min, mean, max): (f64, f64, f64)) -> Figure {
    if mean > 0.0 && max >= mean {
        figure.latency = Some(moments(min * 1e6, mean * 1e6, max * 1e6, 0.0));
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    const V15: &str = "0.001: File-server Version 3.0 personality successfully loaded\n\
        61.022: Per-Operation Breakdown\n\
        appendfilerand1      1200ops       20ops/s   0.2mb/s    2.500ms/op [0.020ms - 150.250ms]\n\
        createfile1          600ops       10ops/s   0.0mb/s    0.500ms/op [0.003ms -  9.500ms]\n\
        61.022: IO Summary:  1800 ops 30.000 ops/s 5/10 rd/wr   0.2mb/s 1.833ms/op\n";

    #[test]
    fn both_dialects() {
        let reading = one(&FORMAT, V15);
        assert_eq!(reading.work.id, "fileserver");
        let names: Vec<_> = reading.steps.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["fileserver", "createfile1", "appendfilerand1"]);
        let all = &reading.steps[0].figures[0];
        assert_eq!((all.operations, all.elapsed_ns), (Some(1800), 60_000_000_000));
        assert_eq!(all.operations_per_second, Some(30.0));
        let append = reading.steps[2].figures[0].latency.as_ref().expect("told");
        assert_eq!((append.min_ns, append.max_ns, append.mean_ns), (20_000, 150_250_000, 2.5e6));
        assert_eq!(append.histogram.count(), 0, "no percentile is made up");
        let old = "61.5: IO Summary:  1800 ops,  30.000 ops/s, (5/10 r/w),   0.2mb/s,  500us cpu/op,   1.8ms latency\n";
        let reading = one(&FORMAT, old);
        assert_eq!(reading.work.id, "filebench");
        assert_eq!(reading.steps[0].figures[0].operations, Some(1800));
    }

    #[test]
    fn each_summary_is_a_reading_and_an_early_stop_a_failure() {
        assert_eq!(readings(&FORMAT, &V15.repeat(3)).len(), 3);
        let text = "0.1: Varmail Version 3.0 personality successfully loaded\n\
                    2.0: WARNING! Run stopped early: flowop createfile1-1 could not obtain a file\n";
        let reading = one(&FORMAT, text);
        assert!(reading.failure.as_deref().is_some_and(|f| f.contains("could not obtain a file")));
        assert_eq!((reading.work.id.as_str(), reading.steps.len()), ("varmail", 0));
    }

    #[test]
    fn an_early_stop_keeps_its_figures_from_being_those_of_the_run() {
        // As 1.5 prints it: the reason in the lines that follow, and no figures.
        let upstream = "0.1: Varmail Version 3.0 personality successfully loaded\n\
            2.0: WARNING! Run stopped early:\n             flowop createfile1-1 could not obtain a \
            file. Please\n             reduce runtime, increase fileset entries ($nfiles), or \
            switch modes.\n";
        let reading = one(&FORMAT, upstream);
        let failure = reading.failure.expect("a failure");
        assert!(failure.ends_with(
            "told no figures: flowop createfile1-1 could not obtain a file. Please reduce runtime, \
             increase fileset entries ($nfiles), or switch modes."
        ));
        assert_eq!(reading.place.span.end, upstream.len() - 1);
        // As disklab prints it, in both dialects: two runs, of which the second stopped.
        let warning = "61.0: WARNING! Run stopped early: flowop 'x' found no file\n";
        let old = "Per-Operation Breakdown\n\
            x                    6ops        3ops/s   0.0mb/s      1.0ms/op        0us/op-cpu [0ms - 3ms]\n\
            2.0: IO Summary:     6 ops, 3.000 ops/s, (0/3 r/w),   0.0mb/s,      0us cpu/op,   1.0ms latency\n";
        let (head, new) = V15.split_once("61.022: Per").expect("a head");
        let new = format!("Per{new}");
        for (figures, seconds) in [(new.as_str(), "60.0"), (old, "2.0")] {
            let text = format!("{head}{figures}{warning}{figures}");
            let both = readings(&FORMAT, &text);
            assert_eq!((both.len(), both[0].failure.as_deref()), (2, None), "{text}");
            assert!(!both[0].steps.is_empty());
            let failure = both[1].failure.as_deref().expect("a failure");
            assert!(failure.contains(&format!("after {seconds} s")), "{failure}");
            assert!(failure.ends_with(": flowop 'x' found no file"), "{failure}");
            assert_eq!(both[1].steps, [], "no figure of a part is one of the whole");
            // A run after it is its own.
            assert_eq!(readings(&FORMAT, &format!("{warning}{figures}{figures}")).len(), 2);
            let later = readings(&FORMAT, &format!("{warning}0.1: Running...\n{figures}"));
            assert_eq!(later.iter().filter(|r| r.failure.is_none()).count(), 1);
        }
        // Also one that had done nothing until then.
        let nothing = "1: IO Summary: 0 ops 0.000 ops/s 0/0 rd/wr 0.0mb/s 0.000ms/op\n";
        assert!(one(&FORMAT, &format!("{warning}{nothing}")).failure.is_some());
    }

    #[test]
    fn summaries_that_say_nothing_are_refused() {
        for (text, said) in [
            ("1: IO Summary: 0 ops 0.000 ops/s 0/0 rd/wr 0.0mb/s 0.000ms/op", "measured nothing"),
            ("1: IO Summary: many", "no Filebench that is known"),
            ("0.1: Varmail Version 3.0 personality successfully loaded\n", "did not end"),
            (
                "0.1: Varmail Version 3.0 personality successfully loaded\n\
                 Warning: no run command in the WML script!\n",
                "ran nothing",
            ),
        ] {
            assert!(fails(&FORMAT, text).to_string().contains(said), "{text}");
        }
    }
}
