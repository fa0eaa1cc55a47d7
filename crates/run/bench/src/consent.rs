//! The user's consent to lose what is on drives.

use std::io::IsTerminal;

use crate::BenchError;

/// Asks for it at a terminal, unless `--yes` has given it.
///
/// # Errors
/// [`BenchError::ConsentNeeded`] if there is nobody to ask, [`BenchError::ConsentRefused`] if
/// it was not given.
pub fn confirm_erasing(yes: bool) -> Result<(), BenchError> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(BenchError::ConsentNeeded);
    }
    eprint!("Everything on these drives will be lost. Type 'erase' to continue: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(BenchError::Answer)?;
    if answer.trim() == "erase" { Ok(()) } else { Err(BenchError::ConsentRefused) }
}
