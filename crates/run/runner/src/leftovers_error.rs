//! Why what killed runs left cannot be removed.

use disklab_stack::StackError;

/// What a killed run left cannot be removed.
#[derive(Debug, thiserror::Error)]
pub enum LeftoversError {
    /// Nothing was touched, as disklab must not: the state directory is another's, or there is
    /// no such leftover.
    #[error(transparent)]
    Refused(StackError),
    /// Something could not be removed.
    #[error(
        "an earlier run was killed, and what it left cannot be removed: {}; {}{}",
        joined(errors),
        if done.is_empty() {
            "nothing was removed".to_owned()
        } else {
            format!("what was done: {}", done.join("; "))
        },
        left.iter().map(|line| format!("\n{line}")).collect::<String>()
    )]
    Failed {
        /// What went wrong.
        errors: Vec<StackError>,
        /// What was done.
        done: Vec<String>,
        /// What is left for the user to decide about, line by line.
        left: Vec<String>,
    },
    /// What the user decided could not be done.
    #[error(transparent)]
    Undecided(StackError),
}

fn joined(errors: &[StackError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
