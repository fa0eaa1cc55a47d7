//! hyperfine's `--export-json`: one command's runs, each of which is an observation.
//!
//! Fields: `src/benchmark/benchmark_result.rs` of hyperfine 1.15 to 1.19. Times are
//! seconds.

use std::sync::Arc;

use disklab_sample::Cpu;
use disklab_source::{Source, SourceError};

use super::time::direction_of;
use crate::format::ImportFormat;
use crate::json::{Json, JsonNode, parse};
use crate::reading::{
    ImportedWork, Reading, Repeat, check_count, figure, id_of, nanoseconds, one_line, step,
};

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "hyperfine-json",
    about: "hyperfine: --export-json",
    looks_like: |text| {
        let start = text.trim_start();
        let start = start.strip_prefix('{').unwrap_or_default().trim_start();
        start.starts_with("\"results\"") && text.contains("\"times\"")
    },
    read,
};

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let (report, _) = parse(source, &source.text, 0)?;
    let results = report.list("results")?;
    if results.is_empty() {
        return Err(report.place.error("there are no results of hyperfine here"));
    }
    let mut readings: Vec<Reading> = Vec::new();
    let mut runs = 0;
    for result in results {
        let reading = command(result, runs)?;
        runs += reading.repeats.len();
        readings.push(reading);
    }
    Ok(readings)
}

/// All runs of a command, of which there were so many before.
fn command(result: &Json, before: usize) -> Result<Reading, SourceError> {
    let Some(command) = result.text("command") else {
        return Err(result.place.error("this result names no command"));
    };
    let times = result.list("times")?;
    if times.is_empty() {
        return Err(result.place.error(format!(
            "'{}' has no `times`: without its single runs, nothing can be told from chance",
            one_line(&command)
        )));
    }
    let codes = result.list("exit_codes")?;
    let (direction, is_open) = direction_of(&command);
    let mut reading = Reading::new(work(result, &command), result.place.clone());
    let mut step = step("command", vec![figure(direction, 0.0)]);
    step.cpu = cpu(result)?;
    let command = one_line(&command);
    for (index, time) in times.iter().enumerate() {
        check_count(before + index + 1, &time.place)?;
        let seconds = time.as_number("times")?;
        let code = codes.get(index).map(|code| &code.value);
        reading.repeats.push(Repeat {
            elapsed_ns: nanoseconds(seconds),
            failure: failure(&command, seconds, code),
            place: time.place.clone(),
        });
    }
    reading.steps = vec![step];
    reading.direction_is_open = is_open;
    reading.command = Some(command);
    reading.notes.push("CPU time is hyperfine's mean over all runs.".to_owned());
    Ok(reading)
}

/// Means of all runs: hyperfine keeps no others.
fn cpu(result: &Json) -> Result<Cpu, SourceError> {
    let (user, system) = (result.number("user")?, result.number("system")?);
    Ok(Cpu {
        user_ns: nanoseconds(user.unwrap_or(0.0)),
        system_ns: nanoseconds(system.unwrap_or(0.0)),
        ..Cpu::default()
    })
}

/// Why a run has no figure, if it has none.
fn failure(command: &str, seconds: f64, code: Option<&JsonNode>) -> Option<String> {
    if let Some(JsonNode::Number(code)) = code
        && code != "0"
    {
        return Some(format!("'{command}' ended with exit code {code}"));
    }
    // It takes the mean start of a shell off each time, and shows 0 for less.
    (seconds <= 0.0).then(|| {
        format!(
            "hyperfine shows 0 s for this run of '{command}': it was over within the time that \
             hyperfine takes off for the start of its shell; give the command more to do, or \
             run it without a shell (hyperfine --shell=none)"
        )
    })
}

fn work(result: &Json, command: &str) -> ImportedWork {
    let mut fields = vec![("program", "hyperfine".to_owned()), ("command", one_line(command))];
    let parameters = result.get("parameters").map_or(&[][..], Json::entries).iter();
    let parameters: Vec<String> = parameters
        .map(|(name, value)| {
            format!("{}={}", one_line(name), one_line(&value.as_text().unwrap_or_default()))
        })
        .collect();
    if !parameters.is_empty() {
        fields.push(("parameters", parameters.join(" ")));
    }
    ImportedWork::unknown(&id_of(command), command, fields)
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::formats::testing::{fails, readings};

    #[test]
    fn each_run_is_an_observation() {
        let text = r#"{ "results": [ { "command": "cp a b", "mean": 0.07, "user": 0.001,
            "system": 0.017, "times": [0.102, 0.055, 0.052], "exit_codes": [0, 1, 0] },
            { "command": "rm -f b", "times": [0.5], "parameters": { "n": "4" } } ] }"#;
        let all = readings(&FORMAT, text);
        assert_eq!(all.len(), 4);
        assert_eq!(all[0].work.id, "cp-a-b");
        assert_eq!(all[0].steps[0].figures[0].elapsed_ns, 102_000_000);
        assert_eq!(all[0].steps[0].cpu.system_ns, 17_000_000);
        assert_eq!(all[0].steps[0].figures[0].direction, Direction::Copy);
        assert_eq!(all[3].steps[0].figures[0].direction, Direction::Remove);
        assert!(all[3].work.fields.contains(&("parameters", "n=4".to_owned())));
        assert!(all[1].failure.as_deref().is_some_and(|f| f.contains("exit code 1")));
        assert_eq!(all.iter().filter(|r| r.failure.is_some()).count(), 1);
        assert_eq!(&text[all[1].place.span.clone()], "0.055");
    }

    #[test]
    fn a_run_of_no_time_fails_alone() {
        let text = r#"{"results": [{"command": "true", "times": [0.0004, 0.0, 0.0003],
            "exit_codes": [0, 0, 0]}]}"#;
        let all = readings(&FORMAT, text);
        let failed: Vec<bool> = all.iter().map(|r| r.failure.is_some()).collect();
        assert_eq!(failed, [false, true, false]);
        let failure = all[1].failure.as_deref().expect("a failure");
        assert!(failure.contains("shows 0 s for this run of 'true'"), "{failure}");
        assert!(failure.contains("--shell=none"), "{failure}");
    }

    #[test]
    fn results_without_runs_are_refused() {
        for (text, said) in [
            (r#"{"results": [{"command": "x", "times": []}]}"#, "without its single runs"),
            (r#"{"results": [{"command": "x", "mean": 1.0}], "times": 0}"#, "has no `times`"),
            (r#"{"results": [{"times": [1]}]}"#, "names no command"),
            (r#"{"results": [{"command": "x", "times": [-1]}]}"#, "a number from 0"),
            (r#"{"results": [{"command": "x", "times": ["#, "cut off"),
        ] {
            assert!(fails(&FORMAT, text).to_string().contains(said), "{text}");
        }
    }
}
