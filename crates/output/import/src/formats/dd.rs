//! dd's last lines: GNU coreutils in any locale, BusyBox, BSD and macOS.
//!
//! GNU (`dd.c`, `print_xfer_stats`): `1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s,
//! 2.1 MB/s`, where MB are powers of 1000; locales translate the words and put commas
//! for points. BusyBox: `1048576 bytes (1.0MB) copied, 0.5 seconds, 2.0MB/s`, where MB
//! are powers of 1024. BSD: `1048576 bytes transferred in 0.5 secs (2097152 bytes/sec)`.
//! The rate is worked out from bytes and seconds; that which dd shows must agree.

use std::sync::Arc;

use disklab_sample::Direction;
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use super::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, one_line, step};
use crate::text::{TextLine, agree, byte_unit, decimal, lines, quantities, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "dd",
    about: "dd of GNU coreutils (any locale), BusyBox, BSD and macOS",
    looks_like: |text| text.lines().any(|line| numbers(line).is_some()),
    read,
};

/// What a last line of dd says: its numbers as written.
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
    let (bytes, _) = *all.first()?;
    if let Some((rate, _)) = all.last()
        && line.contains("bytes transferred in")
        && line.contains("bytes/sec")
    {
        let (seconds, _) = all.get(1)?;
        return Some(Numbers { bytes, seconds, rate, unit: "B" });
    }
    let [.., (seconds, second), (rate, unit)] = all.as_slice() else { return None };
    let (unit, per) = unit.split_once('/')?;
    let is_last = all.len() >= 3
        && bytes.bytes().all(|b| b.is_ascii_digit())
        && SECONDS.contains(second)
        && PER_SECOND.contains(&per)
        && byte_unit(unit).is_some();
    is_last.then_some(Numbers { bytes, seconds, rate, unit })
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    let (mut command, mut records, mut start) = (None, Vec::new(), None);
    for line in lines(source) {
        if let Some(found) = command_in(line.text) {
            command = Some(found);
            start = Some(line.start);
        } else if let Some(found) = records_in(line.text) {
            records.push(found);
            start = start.or(Some(line.start));
        } else if let Some(numbers) = numbers(line.text) {
            let place = span(source, start.take().unwrap_or(line.start), line.end());
            let mut reading = Reading::new(ImportedWork::unknown("dd", "dd", Vec::new()), place);
            fill(&mut reading, &line, &numbers, &std::mem::take(&mut records), command.take())?;
            readings.push(reading);
        }
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no last line of dd here; expected one such as '1048576 bytes (1.0 MB, 1.0 \
             MiB) copied, 0.5 s, 2.1 MB/s'",
        ));
    }
    Ok(readings)
}

fn fill(
    reading: &mut Reading,
    line: &TextLine<'_>,
    numbers: &Numbers<'_>,
    records: &[(u64, u64)],
    command: Option<Vec<String>>,
) -> Result<(), SourceError> {
    let bytes: u64 = numbers.bytes.parse().map_err(|_| {
        line.place_of(numbers.bytes).error("expected the number of bytes, in digits alone")
    })?;
    let value = |part: &str, what: &str| {
        decimal(part)
            .filter(|n| *n > 0.0)
            .ok_or_else(|| line.place_of(part).error(format!("{what}: expected a number above 0")))
    };
    if bytes == 0 {
        return Err(line.error("dd moved no bytes here: there is nothing to import"));
    }
    let seconds = value(numbers.seconds, "the seconds")?;
    let shown = value(numbers.rate, "the rate")?;
    let rate = bytes as f64 / seconds;
    let unit = byte_unit(numbers.unit).unwrap_or(1.0);
    // BusyBox means powers of 1024 by the same letters.
    let binary = byte_unit(&numbers.unit.to_ascii_uppercase().replace('B', "iB")).unwrap_or(1.0);
    if ![unit, binary].iter().any(|unit| agree(rate, shown * unit, 2)) {
        return Err(line.place_of(numbers.rate).error(format!(
            "{bytes} bytes in {seconds} s are {:.3} MB/s, and dd shows {shown} {}/s: was the line \
             changed, or are these separators of thousands?",
            rate / 1e6,
            numbers.unit
        )));
    }
    let words = command;
    let command = words.as_ref().map(|words| CommandLine::of(words));
    let mut figure = figure(Direction::Copy, seconds);
    figure.bytes = bytes;
    figure.bytes_per_second = Some(rate);
    figure.operations = records.last().map(|(full, partial)| full.saturating_add(*partial));
    let direction = command.as_ref().and_then(|command| command.direction);
    reading.direction_is_open = direction.is_none();
    figure.direction = direction.unwrap_or(Direction::Copy);
    // Where all records are full, their number tells their size.
    let block = match records.last() {
        Some((full, 0)) if *full > 0 && bytes.is_multiple_of(*full) => {
            Some(Bytes(bytes / full).short())
        }
        _ => None,
    };
    let block = command.as_ref().and_then(|t| t.block.clone()).or(block);
    reading.work = work(command.as_ref(), block, bytes);
    reading.command = words.map(|words| one_line(&shell_words::join(words)));
    reading.steps = vec![step(direction.map_or("dd", Direction::word), vec![figure])];
    Ok(())
}

/// What a command line of dd tells.
struct CommandLine {
    direction: Option<Direction>,
    block: Option<String>,
    flags: Vec<String>,
    conv: Option<String>,
    source: &'static str,
}

impl CommandLine {
    fn of(words: &[String]) -> Self {
        let value = |name: &str| {
            words
                .iter()
                .rev()
                .find_map(|w| w.strip_prefix(name)?.strip_prefix('='))
                .map(str::to_owned)
        };
        let (from, to) = (value("if").unwrap_or_default(), value("of").unwrap_or_default());
        let made = ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&from.as_str());
        let direction = match (made, to.as_str()) {
            (_, "/dev/null") => Some(Direction::Read),
            (true, _) => Some(Direction::Write),
            (false, _) => None,
        };
        let flags = match direction {
            Some(Direction::Read) => value("iflag"),
            _ => value("oflag"),
        };
        Self {
            direction,
            block: value("bs").or_else(|| value("obs")),
            flags: flags.map(|f| f.split(',').map(str::to_owned).collect()).unwrap_or_default(),
            conv: value("conv"),
            source: if from == "/dev/zero" {
                "zero"
            } else if made {
                "random"
            } else {
                "file"
            },
        }
    }
}

/// The work: as a study's own `dd` where the command line told what it is.
fn work(command: Option<&CommandLine>, block: Option<String>, bytes: u64) -> ImportedWork {
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
    if let Some(block) = block {
        id = format!("{id}-{block}");
        fields.push(("bs", block));
    }
    fields.push(("size", bytes.to_string()));
    ImportedWork { title: id.clone(), kind, fields, ..ImportedWork::unknown(&id, "", Vec::new()) }
}

/// The words of a dd command line, behind a prompt or `time`, as terminals show it.
fn command_in(line: &str) -> Option<Vec<String>> {
    let at = line.find("dd if=").or_else(|| line.find("dd of=")).or_else(|| line.find("dd bs="))?;
    let before = line[..at].chars().next_back();
    if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let command = line[at..].split(['|', ';', '&', '>', '`']).next().unwrap_or_default();
    let words = shell_words::split(command.trim_end_matches(['2', ' '])).ok()?;
    (words.len() >= 2).then_some(words)
}

/// `1000+0 records out`, in any language: full and partial records.
fn records_in(line: &str) -> Option<(u64, u64)> {
    let (first, _) = line.trim_start().split_once([' ', '\u{a0}'])?;
    let (full, partial) = first.split_once('+')?;
    Some((full.parse().ok()?, partial.parse().ok()?))
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
    fn contradictory_output_is_refused() {
        for (text, column, said) in [
            ("1048576 bytes (1.0 MB) copied, 0.5 s, 21 MB/s", 39, "2.097 MB/s, and dd shows 21"),
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
