//! The reports within a text: fio's JSON with junk around it and in it.

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use crate::json::{Json, Value, parse};

/// Lines that fio itself writes among its JSON: warnings, and the display of progress.
const JUNK: [&str; 3] = ["fio:", "Jobs: ", "note: "];

/// All reports, in order.
///
/// # Errors
/// Where a text that begins like a report is none, such as one that is cut off.
pub(super) fn documents(source: &Arc<Source>) -> Result<Vec<Json>, SourceError> {
    let text = without_junk(&source.text);
    let mut reports = Vec::new();
    let mut at = 0;
    while let Some(start) = next_start(&text, at) {
        let (value, end) = parse(source, &text, start)?;
        at = end;
        collect(value, &mut reports);
    }
    Ok(reports)
}

/// A report, or those in a list of them.
fn collect(value: Json, reports: &mut Vec<Json>) {
    if value.get("jobs").is_some() || value.get("client_stats").is_some() {
        reports.push(value);
    } else if let Value::List(items) = value.value {
        items.into_iter().for_each(|item| collect(item, reports));
    }
}

/// Names that a report begins with: fio's own first one, and those that come first
/// where another program sorted them.
const FIRST: [&str; 5] =
    ["\"fio version\"", "\"jobs\"", "\"client_stats\"", "\"disk_util\"", "\"global options\""];

/// Where the next report begins: with a brace or bracket at the start of a line, and
/// one of its names behind it. Braces of a report's inside are indented.
pub(super) fn next_start(text: &str, from: usize) -> Option<usize> {
    let starts = text.get(from..)?.match_indices(['{', '[']).map(|(index, _)| from + index);
    let line = |at: &usize| *at == 0 || matches!(text.as_bytes()[at - 1], b'\n' | b'\r');
    let named = |at: &usize| {
        let rest = text[*at..].trim_start_matches('[').trim_start().trim_start_matches('{');
        FIRST.iter().any(|name| rest.trim_start().starts_with(name))
    };
    starts.into_iter().find(|at| line(at) && named(at))
}

/// The same text with blanks in place of the lines that are junk, so that every byte
/// keeps its place.
fn without_junk(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\r']) {
        if JUNK.iter().any(|junk| line.starts_with(junk)) {
            let content = line.trim_end_matches(['\n', '\r']);
            clean.extend(std::iter::repeat_n(' ', content.len()));
            clean.push_str(&line[content.len()..]);
        } else {
            clean.push_str(line);
        }
    }
    clean
}
