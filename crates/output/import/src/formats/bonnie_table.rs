//! The table that bonnie++ prints for people.
//!
//! 1.0x to 1.97 say K/sec at the head of their columns; 2.00 says /sec, and puts `k`,
//! `m` or `g` behind a figure. All are powers of 1024.

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use super::bonnie_line::{BonnieLine, latency_ns, reading};
use crate::reading::{Reading, one_line};
use crate::text::{TextLine, decimal, lines, span};

/// Which half of the table stands next.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    None,
    /// The head of the first, and whether its unit is K.
    Data {
        kib: bool,
    },
    Files,
}

/// The readings of all tables in a text.
///
/// # Errors
/// [`SourceError`] at the first cell that is not a number.
pub(super) fn table(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    let mut open: Option<(BonnieLine, usize, usize)> = None;
    let (mut half, mut version, mut concurrency, mut start) = (Half::None, None, None, 0);
    for line in lines(source) {
        let text = line.text.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        if text.contains("------Sequential Output------") {
            finish(source, open.take(), &mut readings)?;
            version = text.strip_prefix("Version").and_then(|t| t.split_whitespace().next());
            (half, concurrency, start) = (Half::Data { kib: false }, None, line.start);
        } else if text.contains("------Sequential Create------") {
            half = Half::Files;
        } else if text.starts_with("Concurrency") {
            concurrency = words.get(1).map(|n| one_line(n));
        } else if text.contains("%CP") {
            if half != Half::Files {
                half = Half::Data { kib: text.contains("K/sec") };
            }
        } else if words.first() == Some(&"Latency") {
            if let Some((reported, ..)) = &mut open {
                latencies(reported, &words[1..], half, &line)?;
            }
        } else if let Half::Data { kib } = half
            && let [name, size, rest @ ..] = words.as_slice()
            && rest.len() == 12
        {
            let mut reported = BonnieLine {
                name: one_line(name),
                version: version.map(one_line),
                size: one_line(size),
                concurrency: concurrency.clone(),
                figures: [(None, None); 12],
            };
            figures(&mut reported, rest, 0, if kib { 1024.0 } else { 1.0 }, &line)?;
            open = Some((reported, start, line.end()));
        } else if half == Half::Files
            && let [_, rest @ ..] = words.as_slice()
            && rest.len() == 12
            && let Some((reported, _, end)) = &mut open
        {
            // 1.0x repeats the machine's name here; a figure stands first in neither.
            figures(reported, rest, 6, 1.0, &line)?;
            *end = line.end();
        }
    }
    finish(source, open, &mut readings)?;
    Ok(readings)
}

fn finish(
    source: &Arc<Source>,
    open: Option<(BonnieLine, usize, usize)>,
    readings: &mut Vec<Reading>,
) -> Result<(), SourceError> {
    if let Some((reported, start, end)) = open {
        readings.push(reading(reported, span(source, start, end))?);
    }
    Ok(())
}

/// Six figures, each with its per cent of processor behind it.
fn figures(
    reported: &mut BonnieLine,
    words: &[&str],
    first: usize,
    unit: f64,
    line: &TextLine<'_>,
) -> Result<(), SourceError> {
    for (index, word) in words.iter().step_by(2).enumerate() {
        if word.starts_with('+') {
            continue;
        }
        let part = first + index;
        // Seeks are counted in no unit.
        let unit = if part == 5 { 1.0 } else { unit };
        let (number, letter) = match word.strip_suffix(['k', 'm', 'g']) {
            Some(number) => (number, word.chars().next_back()),
            None => (*word, None),
        };
        let factor = match letter {
            Some('k') => 1024.0,
            Some('m') => 1_048_576.0,
            Some('g') => 1_073_741_824.0,
            _ => unit,
        };
        let value = decimal(number)
            .ok_or_else(|| line.error(format!("expected a figure or '+++++', found '{word}'")))?;
        reported.figures[part].0 = Some(value * factor);
    }
    Ok(())
}

fn latencies(
    reported: &mut BonnieLine,
    words: &[&str],
    half: Half,
    line: &TextLine<'_>,
) -> Result<(), SourceError> {
    let first = if half == Half::Files { 6 } else { 0 };
    for (index, word) in words.iter().take(6).enumerate() {
        reported.figures[first + index].1 = Some(latency_ns(word).ok_or_else(|| {
            line.error(format!("expected a latency such as '43025us', found '{word}'"))
        })?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::formats::bonnie::FORMAT;
    use crate::formats::testing::{fails, one};

    const OLD: &str = "\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
nas            300M    48  99  6224  75  1782  37   124  99  2874  26 100.4   5
Latency               348ms     428ms     936ms   84000us     788ms     543ms
Version  1.97       ------Sequential Create------ --------Random Create--------
nas                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16   233  99  6543 100  3690  89   235  99  6907 100   825  98
";
    const NEW: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
nas             64M  486k  45 1.5g  +++ 90m    20  770k  42 +++++ +++ +++++ +++
Latency             43025us    9765us   12067us   41058us   19906us   43473us
";

    #[test]
    fn tables_of_both_ages() {
        let reading = one(&FORMAT, OLD);
        assert_eq!(reading.steps.len(), 12);
        assert_eq!(reading.steps[1].figures[0].bytes_per_second, Some(6224.0 * 1024.0));
        assert_eq!(reading.steps[5].figures[0].operations_per_second, Some(100.4));
        assert_eq!(reading.steps[11].figures[0].operations_per_second, Some(825.0));
        assert_eq!(reading.stack.as_deref(), Some("nas"));
        let reading = one(&FORMAT, NEW);
        let rates: Vec<_> = reading.steps.iter().map(|s| s.figures[0].bytes_per_second).collect();
        let gib = 1_073_741_824.0;
        assert_eq!(
            rates,
            [Some(486.0 * 1024.0), Some(1.5 * gib), Some(90.0 * 1_048_576.0), Some(770.0 * 1024.0)]
        );
    }

    #[test]
    fn odd_figures_are_refused_with_their_line() {
        let error = fails(&FORMAT, &OLD.replace("6224", "6,2,4"));
        assert!(error.line == 4 && error.to_string().contains("found '6,2,4'"), "{error}");
        assert_eq!(fails(&FORMAT, &NEW.replace("9765us", "9765")).line, 5);
    }
}
