//! Events as messages of disklab: `disklab: warning: …`.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::stderr::StandardError;

/// Characters of a line: it may name anything that a file has.
const LONGEST: usize = 4000;

/// Prints each event as a line.
#[derive(Debug, Clone, Copy)]
pub struct Messages;

impl<S: Subscriber> Layer<S> for Messages {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut words = Words::default();
        event.record(&mut words);
        let line = line(*event.metadata().level(), &words);
        // A reader that closed standard error is no reason to stop.
        let _ = StandardError.write_all(line.as_bytes());
    }
}

fn line(level: Level, words: &Words) -> String {
    let kind = if level == Level::ERROR { "error" } else { "warning" };
    let text = format!("disklab: {kind}: {}{}", words.message, words.fields);
    format!("{}\n", disklab_source::printable(&disklab_source::shortened(&text, LONGEST)))
}

/// What an event says.
#[derive(Debug, Default)]
struct Words {
    message: String,
    /// Its fields, such as ` (drive: sda)`.
    fields: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " ({name}: {value:?})"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_its_level_and_what_a_terminal_would_obey_is_visible() {
        let words =
            Words { message: "no \u{1b}[2J".to_owned(), fields: " (drive: sda)".to_owned() };
        let line = line(Level::WARN, &words);
        assert!(line.starts_with("disklab: warning: no ") && line.ends_with(" (drive: sda)\n"));
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
}
