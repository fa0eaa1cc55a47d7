//! Telling a report that disklab wrote from another file of its name.

use crate::ReportFormat;

/// Whether a file that begins with `head` is a report in this format.
#[must_use]
pub fn is_report(format: ReportFormat, head: &str) -> bool {
    let starts_third_line = |word: &str| head.lines().nth(2).is_some_and(|l| l.starts_with(word));
    match format {
        ReportFormat::Html => head.contains("<meta name=\"generator\" content=\"disklab "),
        ReportFormat::Markdown => {
            let manners = ["**Simulated** on ", "**Imported**, ", "Measured on "];
            head.starts_with("# ") && manners.into_iter().any(starts_third_line)
        }
        ReportFormat::Json => head.contains("\"schema\": \"disklab-report\""),
        ReportFormat::Csv => head.starts_with("study,bench,stack,"),
    }
}
