//! The user's consent to lose what is on drives.

use std::io::IsTerminal;

/// Asks for it at a terminal, unless `--yes` has given it.
///
/// # Errors
/// As text, if it was not given.
pub fn confirm_erasing(yes: bool) -> Result<(), String> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err("the drives named above would be erased; say --yes to go on".to_owned());
    }
    eprint!("Everything on these drives will be lost. Type 'erase' to go on: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(|e| e.to_string())?;
    if answer.trim() == "erase" { Ok(()) } else { Err("nothing was touched".to_owned()) }
}
