//! How long a command took: `time` of bash, ksh and zsh, `time -p` of POSIX, GNU time.
//!
//! bash: `real 0m9.723s`, `user`, `sys`. POSIX -p: `real 9.72`. GNU time -v: `Elapsed
//! (wall clock) time (h:mm:ss or m:ss): 0:09.72` among others; GNU time without options:
//! `0.01user 1.20system 0:09.72elapsed 12%CPU …`. zsh: `cp a b  0.01s user 1.20s system
//! 12% cpu 9.723 total`. Points may be commas.

use std::sync::Arc;

use disklab_sample::Direction;
use disklab_source::{Source, SourceError};

use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, nanoseconds, one_line, step};
use crate::text::{TextLine, decimal, lines, span};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "time",
    about: "time of bash, ksh and zsh, time -p, GNU time with and without -v",
    looks_like: |text| text.lines().any(|line| elapsed(line).is_some()),
    read,
};

/// What one timing says, in seconds.
#[derive(Debug, Default, Clone)]
struct Times {
    start: Option<usize>,
    real: Option<f64>,
    user: f64,
    system: f64,
    command: Option<String>,
    failure: Option<String>,
}

/// The text of an elapsed time, in whichever dialect, as it is in its line.
fn elapsed(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("real") {
        let rest = rest.trim_start_matches([' ', '\t']);
        return rest.starts_with(|c: char| c.is_ascii_digit()).then_some(rest);
    }
    if let Some(rest) = line.strip_prefix("Elapsed (wall clock) time (h:mm:ss or m:ss):") {
        return Some(rest.trim());
    }
    let word = |end: &str| line.split_whitespace().find_map(|word| word.strip_suffix(end));
    if line.contains("user ")
        && line.contains("system ")
        && let Some(word) = word("elapsed")
    {
        return Some(word);
    }
    let rest = line.strip_suffix(" total")?;
    (rest.contains("s user ") && rest.contains("s system "))
        .then(|| rest.split_whitespace().last())?
}

/// `9.72`, `0m9.723s`, `1:02:03`, `1:02.5`, `2h1m0s` in seconds.
fn seconds(text: &str) -> Option<f64> {
    let mut sum = 0.0;
    let mut rest = text.trim().trim_end_matches('s');
    for (unit, factor) in [('h', 3600.0), ('m', 60.0)] {
        if let Some((part, after)) = rest.split_once(unit) {
            sum += decimal(part)? * factor;
            rest = after;
        }
    }
    let parts: Vec<f64> = rest.split(':').map(decimal).collect::<Option<_>>()?;
    if parts.len() > 3 || parts.iter().skip(1).any(|part| *part >= 60.0) {
        return None;
    }
    Some(sum + parts.iter().fold(0.0, |all, part| all * 60.0 + part))
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    let mut times = Times::default();
    let mut last = 0;
    for line in lines(source) {
        let gnu = line.text.trim_start().starts_with("Command being timed:");
        if (gnu || elapsed(line.text).is_some()) && times.real.is_some() {
            readings.push(reading(source, std::mem::take(&mut times), last));
        }
        take(&mut times, &line)?;
        if times.start.is_some() && !line.text.trim().is_empty() {
            last = line.end();
        }
    }
    if times.real.is_some() {
        readings.push(reading(source, times, last));
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no elapsed time here; expected 'real 0m1.5s', 'real 1.50', or GNU time's \
             'Elapsed (wall clock) time'",
        ));
    }
    Ok(readings)
}

/// Takes in what a line says.
fn take(times: &mut Times, line: &TextLine<'_>) -> Result<(), SourceError> {
    let text = line.text.trim();
    let value = |part: &str| {
        seconds(part).ok_or_else(|| {
            line.place_of(part).error(format!(
                "expected a time such as '9.72', '0m9.723s' or '0:09.72', found '{part}'"
            ))
        })
    };
    if let Some(real) = elapsed(line.text) {
        times.real = Some(value(real)?);
        times.start = times.start.or(Some(line.start));
        // Two dialects have all in one line.
        let mut before = "";
        for word in text.split_whitespace() {
            for (name, field) in [("user", &mut times.user), ("system", &mut times.system)] {
                if let Some(number) = word.strip_suffix(name).filter(|n| !n.is_empty()) {
                    *field = value(number)?;
                } else if word == name && text.ends_with(" total") {
                    *field = value(before)?;
                }
            }
            before = word;
        }
        return Ok(());
    }
    for (label, is_user) in [
        ("user", true),
        ("sys", false),
        ("User time (seconds):", true),
        ("System time (seconds):", false),
    ] {
        let Some(rest) = text.strip_prefix(label).map(str::trim) else { continue };
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let field = if is_user { &mut times.user } else { &mut times.system };
            *field = value(rest)?;
        }
    }
    if let Some(command) = text.strip_prefix("Command being timed:") {
        times.start = Some(line.start);
        times.command = Some(one_line(command.trim().trim_matches('"')));
    }
    let code = text.strip_prefix("Exit status:").map(str::trim);
    if let Some(code) = code.filter(|code| *code != "0") {
        times.failure = Some(format!("the command ended with exit status {}", one_line(code)));
    }
    if let Some(at) = text.find("Command exited with non-zero status") {
        times.failure = Some(one_line(&text[at..]));
    }
    Ok(())
}

fn reading(source: &Arc<Source>, times: Times, end: usize) -> Reading {
    let command = times.command.as_deref().unwrap_or_default();
    let (direction, is_open) = direction_of(command);
    let id = if command.is_empty() { "time".to_owned() } else { id_of(command) };
    let title = if command.is_empty() { "time" } else { command };
    let mut fields = vec![("program", "time".to_owned())];
    if !command.is_empty() {
        fields.push(("command", command.to_owned()));
    }
    let start = times.start.unwrap_or_default();
    let mut reading =
        Reading::new(ImportedWork::unknown(&id, title, fields), span(source, start, end));
    let mut step = step("command", vec![figure(direction, times.real.unwrap_or_default())]);
    step.cpu.user_ns = nanoseconds(times.user);
    step.cpu.system_ns = nanoseconds(times.system);
    reading.steps = vec![step];
    reading.direction_is_open = is_open;
    reading.command = times.command;
    reading.failure = times.failure;
    reading
}

/// What a command line does to files, and whether that is a guess.
pub(super) fn direction_of(command: &str) -> (Direction, bool) {
    let program = command.split_whitespace().find(|word| *word != "sudo").unwrap_or_default();
    match program.rsplit('/').next().unwrap_or_default() {
        "rm" | "rmdir" | "unlink" | "shred" => (Direction::Remove, false),
        "cp" | "mv" | "rsync" | "dd" => (Direction::Copy, false),
        "cat" | "md5sum" | "sha256sum" | "find" | "ls" | "du" | "grep" => (Direction::Read, false),
        _ => (Direction::Copy, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    #[test]
    fn every_dialect() {
        for text in [
            "\nreal\t0m9.500s\nuser\t0m0.250s\nsys\t0m1.500s\n",
            "\nreal\t0m9,500s\nuser\t0m0,250s\nsys\t0m1,500s\n",
            "real 9.50\nuser 0.25\nsys 1.50\n",
            "\tCommand being timed: \"tar xf a\"\n\tUser time (seconds): 0.25\n\tSystem time (seconds): 1.50\n\
             \tElapsed (wall clock) time (h:mm:ss or m:ss): 0:09.50\n\tExit status: 0\n",
            "0.25user 1.50system 0:09.50elapsed 18%CPU (0avgtext+0avgdata 2120maxresident)k\n\
             0inputs+65552outputs (0major+130minor)pagefaults 0swaps\n",
            "tar xf a  0.25s user 1.50s system 18% cpu 9.500 total\n",
        ] {
            let step = &one(&FORMAT, text).steps[0];
            assert_eq!(step.figures[0].elapsed_ns, 9_500_000_000, "{text}");
            assert_eq!(
                (step.cpu.user_ns, step.cpu.system_ns),
                (250_000_000, 1_500_000_000),
                "{text}"
            );
        }
    }

    #[test]
    fn long_times_have_hours() {
        for (text, expected) in [
            ("1:02:03", Some(3723.0)),
            ("62:03", Some(3723.0)),
            ("2h1m0.5s", Some(7260.5)),
            ("1:75", None),
            ("1:2:3:4", None),
            ("0m", None),
            ("abc", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn a_failed_command_is_a_failure_and_a_known_one_has_a_direction() {
        let timed = |command: &str, status: u32| {
            format!(
                "\tCommand being timed: \"{command}\"\n\
                 \tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.00\n\tExit status: {status}\n"
            )
        };
        let all = readings(&FORMAT, &[timed("cp a b", 0), timed("rm b", 1)].concat());
        assert_eq!(all[0].work.id, "cp-a-b");
        assert_eq!((all[0].failure.as_ref(), all[0].direction_is_open), (None, false));
        assert_eq!(all[1].steps[0].figures[0].direction, Direction::Remove);
        assert!(all[1].failure.as_deref().is_some_and(|f| f.ends_with("status 1")));
        let plain = "real 1.00\nuser 0.00\nsys 0.00\n".repeat(3);
        assert_eq!(readings(&FORMAT, &plain).len(), 3);
    }

    #[test]
    fn odd_times_are_refused_with_their_place() {
        let error = fails(&FORMAT, "\nreal\t1,234,567s\n");
        assert_eq!((error.line, error.column), (2, 6));
        assert!(fails(&FORMAT, "nothing").to_string().contains("no elapsed time"));
    }
}
