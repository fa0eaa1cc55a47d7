//! What is logged, by the level or the targets that `DISKLAB_LOG` names. Without it, warnings
//! are shown as messages of disklab, above the bars of progress if there are any.

mod message;
mod stderr;

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use message::Messages;
use stderr::StandardError;
pub use stderr::print_above;

/// The environment variable with the filter.
const VARIABLE: &str = "DISKLAB_LOG";
/// What is logged if the variable is not set.
const DEFAULT: &str = "warn";

/// The variable cannot be read as a filter.
#[derive(Debug, thiserror::Error)]
#[error("invalid {VARIABLE} '{text}': expected a level, such as debug, or TARGET=LEVEL,…")]
pub struct InvalidLogFilter {
    text: String,
    source: Option<ParseError>,
}

/// Logs to standard error from here on.
///
/// # Errors
///
/// [`InvalidLogFilter`] if the variable is neither a level nor a list of `TARGET=LEVEL`.
pub fn start() -> Result<(), InvalidLogFilter> {
    let text = std::env::var_os(VARIABLE).unwrap_or_default();
    let text = text.into_string().map_err(|text| InvalidLogFilter {
        text: text.to_string_lossy().into_owned(),
        source: None,
    })?;
    let filter = filter(&text)?;
    // A log that was asked for has times and targets; without one, sentences are read.
    let lines = if text.trim().is_empty() {
        Messages.boxed()
    } else {
        tracing_subscriber::fmt::layer().with_writer(|| StandardError).boxed()
    };
    tracing_subscriber::registry().with(lines).with(filter).init();
    Ok(())
}

fn filter(text: &str) -> Result<Targets, InvalidLogFilter> {
    let text = if text.trim().is_empty() { DEFAULT } else { text };
    // Spans, which `Targets` would take for the name of a target.
    if text.contains(['[', '{']) {
        return Err(InvalidLogFilter { text: text.to_owned(), source: None });
    }
    text.parse().map_err(|source| InvalidLogFilter { text: text.to_owned(), source: Some(source) })
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn log_filter_is_a_level_or_targets_with_levels() {
        let all = filter("debug").expect("a level");
        assert!(all.would_enable("disklab_lab", &Level::DEBUG));
        assert!(!all.would_enable("disklab_lab", &Level::TRACE));
        let one = filter("warn,disklab_lab=trace").expect("targets");
        assert!(one.would_enable("disklab_lab::event_loop", &Level::TRACE));
        assert!(one.would_enable("disklab_stack", &Level::WARN));
        assert!(!one.would_enable("disklab_stack", &Level::INFO));
        let unset = filter(" ").expect("the default");
        assert!(unset.would_enable("disklab_stack", &Level::WARN));
        assert!(!unset.would_enable("disklab", &Level::INFO));
    }

    #[test]
    fn log_filter_that_is_neither_is_refused_with_its_text() {
        for text in ["disklab=loud", "[span]=debug", "a=b=c"] {
            let error = filter(text).expect_err("no filter");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
