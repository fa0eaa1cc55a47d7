//! What killed runs left: removed at the next start, or for the user to decide about.

use std::path::Path;

use disklab_exec::{Executor, Interrupt};
use disklab_stack::{LedgerId, LeftoverDecision, Recovery, StackError, decide, recover};

use crate::leftovers_error::LeftoversError;
use crate::places::ledger_directory;

/// Tears down what killed runs left; `state` is where disklab remembers that.
///
/// # Errors
/// [`LeftoversError::Failed`] if something cannot be removed; it says what was.
/// [`LeftoversError::Refused`] if somebody else controls the state directory.
pub fn tear_down_leftovers(
    state: &Path,
    interrupt: &Interrupt,
) -> Result<Recovery, LeftoversError> {
    let executor = Executor::new(interrupt.clone());
    without_errors(recover(&ledger_directory(state), &executor))
}

/// Removes or keeps what one of them left.
///
/// # Errors
/// [`LeftoversError`] if there is no such leftover, or it cannot be removed.
pub fn decide_leftover(
    state: &Path,
    id: &LedgerId,
    decision: LeftoverDecision,
) -> Result<Recovery, LeftoversError> {
    let executor = Executor::new(Interrupt::new());
    let decided = decide(&ledger_directory(state), id, decision, &executor).map_err(|error| {
        if error.is_refusal() {
            LeftoversError::Refused(error)
        } else {
            LeftoversError::Undecided(error)
        }
    })?;
    without_errors(decided)
}

/// What a user is told of it, in lines.
pub fn leftover_lines(recovery: &Recovery) -> Vec<String> {
    let done = recovery.done.iter().map(|line| format!("left by a killed run: {line}"));
    let left = recovery.left.iter().map(|left| format!("left by a killed run: {left}"));
    let notes = recovery.notes.iter().map(|note| format!("note: {note}"));
    done.chain(left).chain(notes).collect()
}

fn without_errors(mut recovery: Recovery) -> Result<Recovery, LeftoversError> {
    if recovery.errors.is_empty() {
        return Ok(recovery);
    }
    if recovery.done.is_empty() && recovery.errors.iter().all(StackError::is_refusal) {
        return Err(LeftoversError::Refused(recovery.errors.swap_remove(0)));
    }
    let left = recovery.left.iter().map(ToString::to_string).chain(recovery.notes).collect();
    Err(LeftoversError::Failed { errors: recovery.errors, done: recovery.done, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_ends_with_what_was_done() {
        let failed = |done: &[&str]| {
            let errors = vec![StackError::InUse { path: "/dev/loop3".into(), by: Vec::new() }];
            let done = done.iter().map(|line| (*line).to_owned()).collect();
            without_errors(Recovery { done, errors, ..Recovery::default() })
        };
        let error = failed(&[]).expect_err("failed");
        assert!(matches!(error, LeftoversError::Failed { .. }));
        assert!(error.to_string().ends_with("nothing was removed"), "{error}");
        let error = failed(&["tore down the mount at /x"]).expect_err("failed").to_string();
        assert!(error.ends_with("what was done: tore down the mount at /x"), "{error}");
    }
}
