//! The forms that a report comes in.

use disklab_source::{printable, printable_json};

use crate::Report;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// One page that needs nothing else.
    Html,
    /// Text to post in a forum.
    Markdown,
    /// Everything, for programs.
    Json,
    /// One line per observation, for spreadsheets.
    Csv,
}

impl ReportFormat {
    /// Its words on the command line, which are also the files' extensions.
    pub const WORDS: [(&'static str, Self); 4] =
        [("html", Self::Html), ("md", Self::Markdown), ("json", Self::Json), ("csv", Self::Csv)];

    /// Its word on the command line, which is also the file's extension.
    pub fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }
}

/// Renders a report. Nothing in it acts on a terminal or turns a line around, whatever the
/// run's texts hold.
pub fn render(report: &Report, format: ReportFormat) -> String {
    let text = match format {
        ReportFormat::Html => crate::html::page(report),
        ReportFormat::Markdown => crate::markdown::text(report),
        ReportFormat::Json => return printable_json(&crate::json::text(report)).into_owned(),
        ReportFormat::Csv => crate::csv::text(report),
    };
    printable(&text).into_owned()
}
