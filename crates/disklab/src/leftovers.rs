//! What killed runs left: removed at the next start, or for the user to decide about.

use disklab_exec::{Executor, Interrupt};
use disklab_stack::{Decision, LedgerId, Recovery, StackError, decide, recover};

use crate::exit::Failure;
use crate::setup::ledger_folder;

/// Tears down what killed runs left.
///
/// # Errors
/// If something cannot be removed; the error says what was. A state directory that
/// somebody else controls is a usage error, and nothing was touched.
pub fn tear_down_leftovers(interrupt: &Interrupt) -> Result<Recovery, Failure> {
    let executor = Executor::new(interrupt.clone());
    without_errors(recover(&ledger_folder(), &executor))
}

/// Removes or keeps what one of them left.
///
/// # Errors
/// If there is no such leftover, or it cannot be removed.
pub fn decide_leftover(id: &LedgerId, decision: Decision) -> Result<Recovery, Failure> {
    let executor = Executor::new(Interrupt::new());
    let decided = decide(&ledger_folder(), id, decision, &executor).map_err(|error| {
        if error.is_refusal() { Failure::usage_error(error) } else { Failure::failed(error) }
    })?;
    without_errors(decided)
}

/// What a user is told of it, in lines.
pub fn lines(recovery: &Recovery) -> Vec<String> {
    let done = recovery.done.iter().map(|line| format!("left by a killed run: {line}"));
    let left = recovery.left.iter().map(|left| format!("left by a killed run: {left}"));
    let notes = recovery.notes.iter().map(|note| format!("note: {note}"));
    done.chain(left).chain(notes).collect()
}

fn without_errors(recovery: Recovery) -> Result<Recovery, Failure> {
    let Some(first) = recovery.errors.first() else { return Ok(recovery) };
    if recovery.done.is_empty() && recovery.errors.iter().all(StackError::is_refusal) {
        return Err(Failure::usage_error(first));
    }
    let why: Vec<_> = recovery.errors.iter().map(ToString::to_string).collect();
    let done = if recovery.done.is_empty() {
        "nothing was removed".to_owned()
    } else {
        format!("what was done: {}", recovery.done.join("; "))
    };
    let mut failure = Failure::failed(format!(
        "an earlier run was killed, and what it left cannot be removed: {}; {done}",
        why.join("; ")
    ));
    for line in recovery.left.iter().map(ToString::to_string).chain(recovery.notes) {
        failure = failure.with(&line);
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_ends_with_what_was_done() {
        let failed = |done: &[&str]| {
            let errors = vec![StackError::Other("/dev/loop3 is still in use".to_owned())];
            let done = done.iter().map(|line| (*line).to_owned()).collect();
            without_errors(Recovery { done, errors, ..Recovery::default() })
        };
        let error = failed(&[]).expect_err("failed");
        assert_eq!(error.code, crate::exit::FAILED);
        assert!(error.to_string().ends_with("nothing was removed"), "{error}");
        let error = failed(&["tore down the mount at /x"]).expect_err("failed").to_string();
        assert!(error.ends_with("what was done: tore down the mount at /x"), "{error}");
    }
}
