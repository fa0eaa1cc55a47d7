//! dd's last lines: GNU coreutils in any locale, BusyBox, Toybox, BSD and macOS.
//!
//! GNU (`dd.c`, `print_xfer_stats`): `1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s,
//! 2.1 MB/s`, where MB are powers of 1000; locales translate the words and put commas
//! for points. BusyBox: `1048576 bytes (1.0MB) copied, 0.5 seconds, 2.0MB/s`, where MB
//! are powers of 1024; Toybox writes `2.0 M/s`. BSD: `1048576 bytes transferred in 0.5
//! secs (2097152 bytes/sec)`. The rate is worked out from bytes and seconds; that which dd
//! shows must agree. With `status=progress`, and on the signal USR1, dd prints such a line
//! for what it has done so far: only the last one of a run is its result.

use std::sync::Arc;

use disklab_sample::Direction;
use disklab_source::{Location, Source, SourceError};
use disklab_units::Bytes;

use super::dd_commands::{CommandLine, Commands};
use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, one_line, step};
use crate::text::{TextLine, byte_unit, decimal, lines, quantities, shows, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "dd",
    about: "dd of GNU coreutils (any locale), BusyBox, Toybox, BSD and macOS",
    looks_like: |text| text.split(['\n', '\r']).any(|line| numbers(line).is_some()),
    read,
};

/// What a last line of dd says: its numbers as written.
#[derive(Debug, Clone, Copy)]
struct Numbers<'a> {
    bytes: &'a str,
    seconds: &'a str,
    rate: &'a str,
    unit: &'a str,
}

/// Words for seconds: those of coreutils' translations, of BusyBox and BSD.
const SECONDS: [&str; 11] =
    ["s", "secs", "sec", "seconds", "秒", "с", "c", "sek", "Sek", "sekund", "segundos"];

/// The same behind a rate, which dd never spells out.
const PER_SECOND: [&str; 4] = ["s", "秒", "с", "c"];

/// The numbers of a last line; none where a line is something else.
fn numbers(line: &str) -> Option<Numbers<'_>> {
    let all = quantities(line);
    if line.contains("bytes transferred in") && line.contains("bytes/sec") {
        let at = all.iter().position(|(_, unit)| *unit == "bytes")?;
        let [(bytes, _), (seconds, _), (rate, _), ..] = all.get(at..)? else { return None };
        return Some(Numbers { bytes, seconds, rate, unit: "B" });
    }
    let at = all.iter().rposition(|(_, unit)| rate_unit(unit).is_some())?;
    let (rate, unit) = all[at];
    let unit = rate_unit(unit)?;
    let (seconds, second) = *all.get(at.checked_sub(1)?)?;
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let candidates = || all[..at - 1].iter().map(|(bytes, _)| *bytes).filter(|b| plain(b));
    let of = |bytes| Numbers { bytes, seconds, rate, unit };
    // What is above a log's lines, such as the time, has numbers, too.
    if let Some(bytes) = candidates().find(|bytes| agrees(&of(bytes)).is_some()) {
        return Some(of(bytes));
    }
    let bytes = candidates().next()?;
    SECONDS.contains(&second).then(|| of(bytes))
}

/// The unit of bytes of a rate.
fn rate_unit(unit: &str) -> Option<&str> {
    let (unit, per) = unit.trim_end_matches('.').split_once('/')?;
    (PER_SECOND.contains(&per) && unit_bytes(unit).is_some()).then_some(unit)
}

/// Bytes of a unit as GNU counts, and as BusyBox and Toybox do.
fn unit_bytes(unit: &str) -> Option<[f64; 2]> {
    let letter = unit.trim_end_matches(['B', 'i']);
    let spelled = match (unit, letter) {
        (_, "") => return Some([1.0, 1.0]),
        (_, "k" | "K") => "k",
        (_, "M" | "G" | "T") => letter,
        _ => return None,
    };
    Some([byte_unit(&format!("{spelled}B"))?, byte_unit(&format!("{spelled}iB"))?])
}

/// Bytes, seconds and rate, if the rate that is shown is theirs.
fn agrees(numbers: &Numbers<'_>) -> Option<(u64, f64, f64)> {
    let bytes: u64 = numbers.bytes.parse().ok().filter(|bytes| *bytes > 0)?;
    let seconds = decimal(numbers.seconds).filter(|s| *s > 0.0)?;
    let rate = bytes as f64 / seconds;
    let units = unit_bytes(numbers.unit)?;
    units.iter().any(|unit| shows(numbers.rate, *unit, rate)).then_some((bytes, seconds, rate))
}

/// What dd said so far of a run.
#[derive(Default)]
struct Open<'a> {
    start: Option<usize>,
    records: Vec<(u64, u64)>,
    failure: Option<String>,
    /// Lines without a count of records above them: dd's progress, or all that somebody kept.
    lines: Vec<(TextLine<'a>, Numbers<'a>)>,
}

/// The results so far.
struct Results<'a> {
    source: &'a Arc<Source>,
    readings: Vec<Reading>,
    commands: Commands,
    open: Open<'a>,
    /// The last result, if the next one may be of the same run.
    last: Option<Part>,
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let all = lines(source);
    let mut results = Results {
        source,
        readings: Vec::new(),
        commands: Commands::default(),
        open: Open::default(),
        last: None,
    };
    for line in all {
        let numbers = numbers(line.text);
        if numbers.is_none() && results.commands.take(line.text) {
            results.close(line.start)?;
            results.open.start = Some(line.start);
        } else if let Some(failure) = failure_in(line.text) {
            results.open.start.get_or_insert(line.start);
            results.open.failure.get_or_insert(failure);
        } else if let Some(numbers) = numbers {
            results.line(line, numbers)?;
        } else if let Some(found) = records_in(line.text) {
            results.open.start.get_or_insert(line.start);
            results.open.records.push(found);
        }
    }
    results.close(source.text.len())?;
    if results.readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no last line of dd here; expected one such as '1048576 bytes (1.0 MB, 1.0 \
             MiB) copied, 0.5 s, 2.1 MB/s'",
        ));
    }
    Ok(results.readings)
}

impl<'a> Results<'a> {
    /// Takes a line with a result in.
    fn line(&mut self, line: TextLine<'a>, numbers: Numbers<'a>) -> Result<(), SourceError> {
        if self.open.records.is_empty() {
            self.open.start.get_or_insert(line.start);
            self.open.lines.push((line, numbers));
            return Ok(());
        }
        let bytes: Option<u64> = numbers.bytes.parse().ok();
        let before = std::mem::take(&mut self.open.lines);
        // Its own progress; what is more is of another run.
        let others = before.into_iter().filter(|(_, n)| n.bytes.parse().ok() > bytes);
        for (line, numbers) in others.collect::<Vec<_>>() {
            let open = Open { start: Some(line.start), ..Open::default() };
            self.result(&line, &numbers, open)?;
        }
        let open = std::mem::take(&mut self.open);
        self.result(&line, &numbers, open)
    }

    /// A line that is a result.
    fn result(
        &mut self,
        line: &TextLine<'a>,
        numbers: &Numbers<'a>,
        open: Open<'a>,
    ) -> Result<(), SourceError> {
        let (bytes, seconds, rate) = checked(line, numbers, open.failure.is_some())?;
        let records = open.records.last().copied();
        let part = records.map(|records| Part { bytes, seconds, records, count: None });
        let interim = self.last.zip(part).is_some_and(|(last, next)| {
            last.may_be_before(&next) && (self.commands.are_over() || !last.was_asked_for())
        });
        if interim {
            self.readings.pop();
            self.commands.back();
        }
        let words = self.commands.next();
        let count = words.as_deref().and_then(|words| CommandLine::of(words).count);
        let place = span(self.source, open.start.unwrap_or(line.start), line.end());
        let mut reading = Reading::new(ImportedWork::unknown("dd", "dd", Vec::new()), place);
        reading.failure = open.failure;
        fill(&mut reading, (bytes, seconds, rate), records, words);
        self.readings.push(reading);
        self.last = part.map(|part| Part { count, ..part });
        Ok(())
    }

    /// Ends with what stands before the next command, or the text's end.
    fn close(&mut self, end: usize) -> Result<(), SourceError> {
        let open = std::mem::take(&mut self.open);
        self.last = None;
        let Some((last, _)) = open.lines.last() else {
            // It failed before it moved anything.
            if let (Some(failure), Some(start)) = (open.failure, open.start) {
                let place = span(self.source, start, end);
                self.readings.push(failed(place, failure, self.commands.next()));
            }
            return Ok(());
        };
        if is_progress(self.source, &open.lines) {
            let cut = "the output ends with dd's progress: its last lines are missing".to_owned();
            let place = span(self.source, open.start.unwrap_or(last.start), last.end());
            let failure = open.failure.unwrap_or(cut);
            self.readings.push(failed(place, failure, self.commands.next()));
            return Ok(());
        }
        for (line, numbers) in &open.lines {
            let open = Open { failure: open.failure.clone(), ..Open::default() };
            self.result(line, numbers, open)?;
        }
        Ok(())
    }
}

/// A result, of which a later one of the same run may have more.
#[derive(Clone, Copy)]
struct Part {
    bytes: u64,
    seconds: f64,
    records: (u64, u64),
    /// How many records its command asks for.
    count: Option<u64>,
}

impl Part {
    /// Whether dd may have given it on the signal USR1, or INFO of BSD, before `next`: that has more
    /// in more time, in records of the same size.
    fn may_be_before(&self, next: &Self) -> bool {
        let of_size = |part: &Self| part.bytes.checked_div(part.records.0).unwrap_or(0);
        self.bytes < next.bytes && self.seconds < next.seconds && of_size(self) == of_size(next)
    }

    /// Whether the number of records is the command's, or else one that somebody may ask for.
    fn was_asked_for(&self) -> bool {
        let (full, partial) = self.records;
        let is_asked = match self.count {
            Some(count) => full == count,
            None => full.is_multiple_of(10) || full.is_multiple_of(16),
        };
        partial == 0 && is_asked
    }
}

/// Whether lines without records are what dd prints while it works: over each other, or of a run
/// that grows second by second.
fn is_progress(source: &Source, lines: &[(TextLine<'_>, Numbers<'_>)]) -> bool {
    let ends = |line: &TextLine<'_>| {
        let rest = &source.text[line.end()..];
        let before = &source.text[..line.start];
        let returns = |text: &str| text.starts_with('\r') && !text.starts_with("\r\n");
        returns(rest) || before.ends_with('\r')
    };
    if source.text.contains('\n') && lines.iter().any(|(line, _)| ends(line)) {
        return true;
    }
    let values =
        |(_, n): &(TextLine<'_>, Numbers<'_>)| n.bytes.parse::<u64>().ok().zip(decimal(n.seconds));
    let steps = |pair: &[(TextLine<'_>, Numbers<'_>)]| {
        let (Some(a), Some(b)) = (values(&pair[0]), values(&pair[1])) else { return false };
        a.0 < b.0 && (0.8..1.3).contains(&(b.1 - a.1))
    };
    lines.len() > 1 && lines.windows(2).all(steps)
}

/// Bytes, seconds and rate of a result, which must be those of one run.
fn checked(
    line: &TextLine<'_>,
    numbers: &Numbers<'_>,
    failed: bool,
) -> Result<(u64, f64, f64), SourceError> {
    if let Some(found) = agrees(numbers) {
        return Ok(found);
    }
    let bytes: u64 = numbers.bytes.parse().map_err(|_| {
        line.place_of(numbers.bytes).error("expected the number of bytes, in digits alone")
    })?;
    if bytes == 0 && failed {
        return Ok((0, 0.0, 0.0));
    }
    if bytes == 0 {
        return Err(line.error("dd moved no bytes here: there is nothing to import"));
    }
    let seconds = decimal(numbers.seconds).filter(|n| *n > 0.0).ok_or_else(|| {
        line.place_of(numbers.seconds).error("the seconds: expected a number above 0")
    })?;
    let rate = bytes as f64 / seconds;
    Err(line.place_of(numbers.rate).error(format!(
        "{bytes} bytes in {seconds} s are {:.3} MB/s, and dd shows {} {}/s: was the line changed, or \
         are these separators of thousands?",
        rate / 1e6,
        numbers.rate,
        numbers.unit
    )))
}

/// A run that has no result.
fn failed(place: Location, failure: String, words: Option<Vec<String>>) -> Reading {
    let command = words.as_deref().map(CommandLine::of);
    let mut reading = Reading::new(work(command.as_ref(), None, None), place);
    reading.failure = Some(failure);
    reading.command = words.map(|words| one_line(&shell_words::join(words)));
    reading
}

fn fill(
    reading: &mut Reading,
    (bytes, seconds, rate): (u64, f64, f64),
    records: Option<(u64, u64)>,
    words: Option<Vec<String>>,
) {
    let command = words.as_deref().map(CommandLine::of);
    let direction = command.as_ref().and_then(|command| command.direction);
    // Where all records are full, their number tells their size.
    let block = match records {
        Some((full, 0)) if full > 0 && bytes.is_multiple_of(full) => {
            Some(Bytes(bytes / full).short())
        }
        _ => None,
    };
    let block = command.as_ref().and_then(|t| t.block.clone()).or(block);
    reading.work = work(command.as_ref(), block, Some(bytes));
    reading.command = words.map(|words| one_line(&shell_words::join(words)));
    reading.direction_is_open = direction.is_none();
    if bytes == 0 {
        return;
    }
    let mut figure = figure(direction.unwrap_or(Direction::Copy), seconds);
    figure.bytes = bytes;
    figure.bytes_per_second = Some(rate);
    figure.operations = records.map(|(full, partial)| full.saturating_add(partial));
    reading.steps = vec![step(direction.map_or("dd", Direction::word), vec![figure])];
}

/// The work: as a study's own `dd` where the command line told what it is.
fn work(command: Option<&CommandLine>, block: Option<String>, bytes: Option<u64>) -> ImportedWork {
    let mut id = "dd".to_owned();
    let (mut kind, mut fields) = (crate::UNKNOWN_KIND, vec![("program", "dd".to_owned())]);
    if let Some(command) = command
        && let Some(direction) = command.direction
    {
        id = format!("dd-{}", direction.word());
        kind = "dd";
        fields = vec![("direction", direction.word().to_owned())];
        if !command.flags.is_empty() {
            fields.push(("flags", command.flags.join(",")));
        }
        fields.extend(command.conv.clone().map(|conv| ("conv", conv)));
        if direction == Direction::Write {
            fields.push(("source", command.source.to_owned()));
        }
    }
    let block = block.or_else(|| command.and_then(|command| command.block.clone()));
    if let Some(block) = block {
        id = format!("{id}-{block}");
        fields.push(("bs", block));
    }
    fields.extend(bytes.map(|bytes| ("size", bytes.to_string())));
    ImportedWork { title: id.clone(), kind, fields, ..ImportedWork::unknown(&id, "", Vec::new()) }
}

/// Words for a warning, as dd's translations begin one.
const WARNINGS: [&str; 14] = [
    "warning",
    "warnung",
    "avertissement",
    "attention",
    "aviso",
    "advertencia",
    "avviso",
    "attenzione",
    "waarschuwing",
    "varning",
    "ostrzeżenie",
    "предупреждение",
    "警告",
    "경고",
];

/// Why dd failed, as a line in any language tells it: `dd: error writing 'x': No space left on
/// device`. A warning is no failure.
fn failure_in(line: &str) -> Option<String> {
    let text = line.trim_start_matches([' ', '\t', '^', 'C']);
    let first = text.split_whitespace().next()?;
    if first.rsplit('/').next() != Some("dd:") {
        return None;
    }
    let message = text[first.len()..].trim();
    let lower = message.to_lowercase();
    // Of short reads dd warns in every language, and names the flag.
    let warns = WARNINGS.iter().any(|word| lower.starts_with(word)) || lower.contains("fullblock");
    (!warns && !message.is_empty()).then(|| one_line(&format!("dd: {message}")))
}

/// `1000+0 records out`, in any language: full and partial records.
fn records_in(line: &str) -> Option<(u64, u64)> {
    let digit = |c: char| c.is_ascii_digit();
    line.match_indices('+').find_map(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + 1..]);
        let full = &before[before.trim_end_matches(digit).len()..];
        let partial = &after[..after.find(|c: char| !digit(c)).unwrap_or(after.len())];
        let rest = &after[partial.len()..];
        let bare = before.len() == full.len()
            || !before[..before.len() - full.len()].ends_with(['+', '.', ':']);
        let words = rest.chars().any(char::is_alphabetic);
        (bare && words).then_some((full.parse().ok()?, partial.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    #[test]
    fn every_dialect_gives_the_same_figures() {
        for text in [
            "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n",
            "1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n",
            "1048576 Bytes (1,0 MB, 1,0 MiB) kopiert, 0,5 s, 2,1 MB/s\n",
            "1048576 octets (1,0 MB, 1,0 MiB) copiés, 0,5 s, 2,1 MB/s\n",
            "1048576字节（1.0 MB，1.0 MiB）已复制，0.5 s，2.1 MB/s\n",
            "1048576 バイト (1.0 MB, 1.0 MiB) コピーされました、 0.5 s、 2.1 MB/s\n",
            "1048576 байт (1,0 MB, 1,0 MiB) скопирован, 0,5 s, 2,1 MB/s\n",
            "скопировано 1048576 байт (1,0 MB), 0,5 c, 2,1 MB/c\n",
            "记录了1048576字节(1.0 MB)，0.5 秒，2.1 MB/秒\n",
            "1048576 bytes (1.0MB) copied, 0.500000 seconds, 2.0MB/s\n",
            "1048576 bytes transferred in 0.500000 secs (2097152 bytes/sec)\n",
        ] {
            assert!((FORMAT.looks_like)(text), "{text}");
            let reading = one(&FORMAT, &format!("16+0 records in\n16+0 records out\n{text}"));
            let figure = &reading.steps[0].figures[0];
            assert_eq!((figure.bytes, figure.elapsed_ns), (1 << 20, 500_000_000), "{text}");
            assert_eq!(figure.bytes_per_second, Some(2_097_152.0), "{text}");
            assert_eq!((figure.operations, figure.direction), (Some(16), Direction::Copy));
            assert!(reading.direction_is_open);
            assert_eq!(reading.work.id, "dd-64k", "{text}");
        }
    }

    #[test]
    fn tiny_times_have_exponents() {
        let text = "1+0 records out\n512 bytes copied, 9.3098e-05 s, 5.5 MB/s\n";
        assert_eq!(one(&FORMAT, text).steps[0].figures[0].elapsed_ns, 93_098);
    }

    #[test]
    fn a_command_line_tells_what_was_done() {
        let text = "root@nas:~# time dd if=/dev/zero of=/mnt/x bs=1M count=2 oflag=dsync 2>&1\n\
                    2+0 records in\n2+0 records out\n2097152 bytes (2.1 MB, 2.0 MiB) copied, 1 s, 2.1 MB/s\n\
                    $ dd if=/mnt/x of=/dev/null bs=1M\n2+0 records in\n2+0 records out\n\
                    2097152 bytes (2.1 MB, 2.0 MiB) copied, 0.1 s, 21.0 MB/s\n";
        let all = readings(&FORMAT, text);
        assert_eq!(all[0].work.id, "dd-write-1M");
        assert_eq!(all[0].work.kind, "dd");
        assert!(all[0].work.fields.contains(&("flags", "dsync".to_owned())));
        assert!(all[0].work.fields.contains(&("source", "zero".to_owned())));
        assert_eq!(all[1].work.id, "dd-read-1M");
        assert_eq!(all[1].steps[0].figures[0].direction, Direction::Read);
        assert!(!all[1].direction_is_open);
    }

    #[test]
    fn progress_is_no_result() {
        let last = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 10 s, 105 MB/s\n";
        let records = "1000+0 records in\n1000+0 records out\n";
        let command = "$ dd if=/dev/zero of=big bs=1M count=1000 conv=fsync status=progress\n";
        let first = "500000000 bytes (500 MB, 477 MiB) copied, 1 s, 500 MB/s";
        let second = "900000000 bytes (900 MB, 858 MiB) copied, 2 s, 450 MB/s";
        for (end, ends) in
            [("\n", "\n"), ("\r", "\r"), ("\r", "\n"), ("\r\r", "\r\n"), ("\r\n", "\r\n")]
        {
            let text = format!("{command}\r{first}{end}{second}{ends}{records}{last}");
            let text = text.replace('\n', if ends == "\r\n" { "\r\n" } else { "\n" });
            let reading = one(&FORMAT, &text.replace("\r\r\n", "\r\n"));
            assert_eq!(reading.work.id, "dd-write-1M", "{end:?}");
            assert_eq!(reading.steps[0].figures[0].bytes_per_second, Some(104_857_600.0));
        }
        // In other words, and as macOS writes it.
        let german = "\r500000000 Bytes (500 MB, 477 MiB) kopiert, 1 s, 500 MB/s\r900000000 Bytes (900 MB, 858 \
                      MiB) kopiert, 2 s, 450 MB/s\n1000+0 Datensätze ein\n1000+0 Datensätze aus\n1048576000 Bytes \
                      (1,0 GB, 1000 MiB) kopiert, 10,0001 s, 105 MB/s\n";
        assert_eq!(one(&FORMAT, german).steps[0].figures[0].bytes, 1_048_576_000);
        let mac = "  524288000 bytes (524 MB, 500 MiB) transferred 1.003s, 523 MB/s\r\n1000+0 records in\n\
                   1000+0 records out\n1048576000 bytes transferred in 2.100000 secs (499321904 bytes/sec)\n";
        assert_eq!(one(&FORMAT, mac).steps[0].figures[0].elapsed_ns, 2_100_000_000);
        let chinese = "记录了1000+0 的读入\n记录了1000+0 的写出\n1048576000字节（1.0 GB，1000 MiB）已复制，10 s，105 MB/s\n";
        assert_eq!(one(&FORMAT, chinese).steps[0].figures[0].operations, Some(1000));
    }

    #[test]
    fn progress_without_an_end_is_a_failure() {
        for text in [
            "$ dd if=/dev/zero of=x bs=1M status=progress\n500000000 bytes (500 MB, 477 MiB) copied, 1 s, 500 MB/s\r",
            "500000000 bytes (500 MB, 477 MiB) copied, 1 s, 500 MB/s\n990000000 bytes (990 MB) copied, 2 s, 495 MB/s\n",
        ] {
            let failure = one(&FORMAT, text).failure.expect("a failure");
            assert!(failure.contains("its last lines are missing"), "{failure}");
        }
        // All that somebody kept of several runs.
        let kept = "1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n".repeat(3);
        assert_eq!(readings(&FORMAT, &kept).len(), 3);
        assert_eq!(readings(&FORMAT, &kept.replace('\n', "\r")).len(), 3);
    }

    #[test]
    fn what_the_signal_makes_dd_print_is_no_result() {
        let at = |records: u64, seconds: u64| {
            let bytes = records << 20;
            format!(
                "{records}+0 records in\n{records}+0 records out\n{bytes} bytes ({} MB) copied, {seconds} s, {} MB/s\n",
                bytes / 1_000_000,
                bytes / seconds / 1_000_000
            )
        };
        let all = readings(&FORMAT, &[at(333, 3), at(777, 7), at(1000, 10)].concat());
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].steps[0].figures[0].operations, Some(1000));
        // Runs of 100, 500 and 1000 records.
        assert_eq!(readings(&FORMAT, &[at(100, 1), at(500, 5), at(1000, 10)].concat()).len(), 3);
        // One command has one result, and that with as many records as it asks for.
        for count in ["", " count=1000"] {
            let command = format!("# dd if=/dev/ada0 of=/dev/null bs=1m{count}\n");
            let signal = "load: 0.10  cmd: dd 1234 [physrd] 1.00r 0.00u 0.10s 1% 2000k\n";
            let text = [&command, signal, &at(150, 1), signal, &at(500, 5), &at(1000, 10)].concat();
            let reading = one(&FORMAT, &text);
            assert_eq!(reading.steps[0].figures[0].operations, Some(1000), "{count}");
            assert_eq!(reading.work.id, "dd-read-1m", "{count}");
        }
    }

    #[test]
    fn a_run_that_ended_in_an_error_failed() {
        let rest = "101+0 records in\n100+0 records out\n104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s\n";
        for error in [
            "dd: error writing 'x': No space left on device",
            "dd: writing `x': No space left on device",
            "dd: Fehler beim Schreiben von 'x': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
            "/usr/bin/dd: erreur d'écriture de 'x': Aucun espace disponible sur le périphérique",
            "dd: fsync failed for 'x': Input/output error",
            "dd: /dev/sdb: end of device",
        ] {
            let failure = one(&FORMAT, &format!("{error}\n{rest}")).failure;
            let (_, message) = error.split_once("dd: ").expect("a message");
            assert_eq!(failure, Some(format!("dd: {message}")));
        }
        let warning = "dd: warning: partial read (4096 bytes); suggest iflag=fullblock\n";
        assert_eq!(one(&FORMAT, &format!("{warning}{rest}")).failure, None);
        // The next run is a good one, and one that could not begin is told, too.
        let good = "$ dd if=/dev/zero of=y bs=1M count=100\n100+0 records in\n100+0 records out\n104857600 bytes \
                    (105 MB) copied, 1 s, 105 MB/s\n";
        let text = format!(
            "{good}$ dd if=nothing of=y bs=1M\ndd: failed to open 'nothing': No such file\n{good}"
        );
        let failed: Vec<bool> =
            readings(&FORMAT, &text).iter().map(|r| r.failure.is_some()).collect();
        assert_eq!(failed, [false, true, false]);
    }

    #[test]
    fn commands_in_one_line_and_in_loops_are_those_of_their_results() {
        let result =
            "100+0 records in\n100+0 records out\n104857600 bytes (105 MB) copied, 1 s, 105 MB/s\n";
        let ids = |text: &str| -> Vec<String> {
            readings(&FORMAT, text).into_iter().map(|r| r.work.id).collect()
        };
        let both = "# dd if=/dev/zero of=x bs=1M count=100; dd if=x of=/dev/null bs=1M\n";
        assert_eq!(ids(&format!("{both}{result}{result}")), ["dd-write-1M", "dd-read-1M"]);
        let looped = "$ for i in 1 2 3; do dd status=none oflag=direct if=/dev/zero of=x bs=1M count=100; done\n";
        assert_eq!(ids(&format!("{looped}{}", result.repeat(3))), ["dd-write-1M"; 3]);
        assert_eq!(ids(&format!("{result}{result}")), ["dd-1m"; 2]);
    }

    #[test]
    fn slow_rates_and_bare_letters() {
        let slow = "10+0 records in\n10+0 records out\n5120 bytes (5.1 kB, 5.0 KiB) copied, 30.1 s, 0.2 kB/s\n";
        assert_eq!(one(&FORMAT, slow).steps[0].figures[0].bytes_per_second, Some(5120.0 / 30.1));
        assert_eq!(readings(&FORMAT, &slow.replace("30.1 s, 0.2", "310 s, 0.0")).len(), 1);
        let android =
            "100+0 records in\n100+0 records out\n104857600 bytes (100 M) copied, 0.5 s, 200 M/s\n";
        assert_eq!(one(&FORMAT, android).steps[0].figures[0].bytes, 104_857_600);
        let logged = "12:00:01 INFO 104857600 bytes (105 MB, 100 MiB) copied, 0.5 s, 210 MB/s\n";
        assert_eq!(one(&FORMAT, logged).steps[0].figures[0].bytes, 104_857_600);
    }

    #[test]
    fn contradictory_output_is_refused() {
        for (text, column, said) in [
            ("1048576 bytes (1.0 MB) copied, 0.5 s, 21 MB/s", 39, "2.097 MB/s, and dd shows 21"),
            ("5120 bytes (5.1 kB, 5.0 KiB) copied, 30.1 s, 0.3 kB/s", 46, "dd shows 0.3 kB/s"),
            ("1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 GB/s", 39, "dd shows 2.1 GB/s"),
            ("1048576 bytes (1.0 MB) copied, 0 s, 2.1 MB/s", 32, "the seconds"),
            ("0 bytes copied, 0.1 s, 0.0 kB/s", 1, "no bytes"),
            ("99999999999999999999999 bytes copied, 0.1 s, 1.0 kB/s", 1, "the number of bytes"),
        ] {
            let error = fails(&FORMAT, text);
            assert_eq!((error.line, error.column), (1, column), "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
        assert!(!(FORMAT.looks_like)(
            "2147483648 bytes written in 10.72 seconds (190.97 MiB/sec).\n"
        ));
        assert!(fails(&FORMAT, "hello\n").to_string().contains("no last line of dd"));
    }
}
