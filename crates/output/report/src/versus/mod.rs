//! Two runs against each other, in the forms that people and services read.

mod bmf;
mod differences;
mod html;
mod json;
mod markdown;
mod text;
mod two_runs;

use disklab_source::{printable, printable_json};

pub use differences::FigureDifference;
pub use two_runs::TwoRuns;

/// The form in which a comparison is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersusFormat {
    /// For a terminal.
    Text,
    /// For a comment on a pull request.
    Markdown,
    /// One page that needs nothing else.
    Html,
    /// B's figures in Bencher Metric Format, for services that keep histories.
    Bmf,
    /// Everything, for programs.
    Json,
}

impl TwoRuns {
    /// The comparison in a form. Touches nothing.
    pub fn render(&self, format: VersusFormat) -> String {
        let text = match format {
            VersusFormat::Text => text::text(self),
            VersusFormat::Markdown => markdown::text(self),
            VersusFormat::Html => html::page(self),
            VersusFormat::Bmf => return printable_json(&bmf::text(self)).into_owned(),
            VersusFormat::Json => return printable_json(&json::text(self)).into_owned(),
        };
        printable(&text).into_owned()
    }
}
