//! Withdrawing what was entered and never made.

use super::{Ledger, LedgerLine};
use crate::StackError;

impl Ledger {
    /// Withdraws the entry that was made last, without tearing anything down: the thing of
    /// that name was not made, because another one has the name. Nothing is left to do
    /// for it, here or in a recovery.
    ///
    /// # Errors
    /// [`StackError::Io`] if that cannot be written to the ledger's file.
    pub fn withdraw(&mut self) -> Result<(), StackError> {
        let Some((number, _)) = self.entries.pop() else { return Ok(()) };
        match &mut self.file {
            Some(file) => file.append(&LedgerLine::Gone { number }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::{Executor, Interrupt};

    use super::*;
    use crate::{recover, undo};

    #[test]
    fn withdrawn_entry_is_never_torn_down() {
        let temp = tempfile::tempdir().expect("temp");
        let (state, another) = (temp.path().join("state"), temp.path().join("another"));
        std::fs::write(&another, "x").expect("write");
        let executor = Executor::new(Interrupt::new());
        let mut ledger = Ledger::open(&state).expect("ledger");
        ledger.enter(undo::RemoveFile(another.clone())).expect("enter");
        ledger.withdraw().expect("withdraw");
        assert!(ledger.tear_down_to(0, &executor).is_empty());
        assert!(another.exists());
        ledger.enter(undo::RemoveFile(another.clone())).expect("enter");
        ledger.withdraw().expect("withdraw");
        // As if the process had been killed.
        drop(ledger.file.take());
        drop(ledger);
        let recovery = recover(&state, &executor);
        assert!(recovery.left.is_empty() && recovery.errors.is_empty(), "{recovery:?}");
        assert!(another.exists());
    }
}
