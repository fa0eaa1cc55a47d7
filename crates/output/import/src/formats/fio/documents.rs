//! The reports within a text: fio's JSON with junk around it and in it.

use std::borrow::Cow;
use std::sync::Arc;

use disklab_source::{Source, SourceError};

use crate::json::{Json, JsonNode, parse_each};

/// Lines that fio itself writes among its JSON: warnings, and the display of progress.
const JUNK: [&str; 3] = ["fio:", "Jobs: ", "note: "];

/// Calls `visit` with all reports, in order; only one is in memory.
///
/// # Errors
/// Where a text that begins like a report is none, such as one that is cut off, and what
/// `visit` gives.
pub(super) fn each_document(
    source: &Arc<Source>,
    visit: &mut dyn FnMut(&Json) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    let text = without_junk(&source.text);
    let mut at = 0;
    while let Some(start) = next_start(&text, at) {
        at = parse_each(source, &text, start, &mut |value| each_report(&value, visit))?;
    }
    Ok(())
}

/// A report, or those in a list of them.
fn each_report(
    value: &Json,
    visit: &mut dyn FnMut(&Json) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    if value.get("jobs").is_some() || value.get("client_stats").is_some() {
        visit(value)
    } else if let JsonNode::List(items) = &value.value {
        items.iter().try_for_each(|item| each_report(item, visit))
    } else {
        Ok(())
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
fn without_junk(text: &str) -> Cow<'_, str> {
    let is_junk = |line: &str| JUNK.iter().any(|junk| line.starts_with(junk));
    if !text.split(['\n', '\r']).any(is_junk) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive(['\n', '\r']) {
        if is_junk(line) {
            let content = line.trim_end_matches(['\n', '\r']);
            clean.extend(std::iter::repeat_n(' ', content.len()));
            clean.push_str(&line[content.len()..]);
        } else {
            clean.push_str(line);
        }
    }
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_visited_before_what_follows_is_read() {
        // The second is cut off: that is known only after the first was visited.
        for text in [
            "{\"jobs\": [1]}\n{\"jobs\": [2",
            "[{\"jobs\": [1]},\n{\"jobs\": [2",
            "[\n[{\"jobs\": [1]}],\n{\"jobs\": [2",
        ] {
            let text = text.replace("[\n[", "[[");
            let source = Arc::new(Source { name: "x".to_owned(), text });
            let mut seen = 0;
            let end = each_document(&source, &mut |report| {
                seen += 1;
                assert!(report.get("jobs").is_some());
                Ok(())
            });
            assert!(end.is_err_and(|e| e.to_string().contains("cut off")), "{source:?}");
            assert_eq!(seen, 1, "{source:?}");
        }
    }

    #[test]
    fn junk_lines_become_blanks_and_nothing_else_is_copied() {
        assert!(matches!(without_junk("{\"a\": 1}\nb\n"), Cow::Borrowed(_)));
        let clean = without_junk("fio: x\n{\nnote: y\r}");
        assert_eq!(clean, "      \n{\n       \r}");
    }
}
