//! Why a program's output gives no figure.

/// Why a program's output gives no figure.
#[derive(Debug, thiserror::Error)]
pub enum OutputProblem {
    /// It is something else.
    #[error("expected {expected}, found {}", quoted(found))]
    Unexpected {
        /// What it prints as a rule.
        expected: &'static str,
        /// What it printed: a line, or the beginning.
        found: String,
    },
    /// It is not the JSON that it should be.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// fio reports nothing that it ran.
    #[error("its report has no jobs")]
    NoJobs,
    /// fio's jobs did nothing.
    #[error("the report of {step} has neither reads nor writes")]
    NoIo {
        /// By its name in the sample.
        step: String,
    },
    /// dd ended well, with another number of bytes.
    #[error("asked for {asked} bytes, it copied {copied}")]
    Copied {
        /// As many were to be copied.
        asked: u64,
        /// As many were.
        copied: u64,
    },
    /// pgbench contradicts its own log.
    #[error("it reports {reported} transactions, its log {logged}")]
    Transactions {
        /// Those of its report.
        reported: u64,
        /// Those of its log.
        logged: u64,
    },
}

fn quoted(found: &str) -> String {
    if found.is_empty() { "nothing".to_owned() } else { format!("'{found}'") }
}
