//! A fault, from what a plan has of it.

use disklab_source::{did_you_mean, one_of};

use super::DriveFault;
use super::clauses::{Clauses, InvalidFault};
use super::kinds::FAULTS;

impl DriveFault {
    /// A fault of kind `does` with these clauses, of a drive of so many sectors of 512 B, physical
    /// ones of so many bytes.
    ///
    /// # Errors
    /// [`InvalidFault`] if there is no such kind, or one of its clauses is wrong.
    pub fn new(
        does: &str,
        clauses: &[(String, String)],
        (sectors, physical_bytes): (u64, u32),
        seed: u64,
    ) -> Result<Self, InvalidFault> {
        let known = || FAULTS.iter().map(|kind| kind.name);
        let kind = FAULTS.iter().find(|kind| kind.name == does).ok_or_else(|| {
            let hint = did_you_mean(does, known());
            InvalidFault::new(format!("unknown fault '{does}': expected {}{hint}", one_of(known())))
        })?;
        let size = (sectors, u64::from(physical_bytes / 512).max(1));
        let (mut clauses, when) = Clauses::new(clauses, size, seed)?;
        let effect = (kind.read)(&mut clauses)?;
        if let Some(found) = clauses.rest() {
            let own: Vec<&str> = kind.clauses.iter().map(|(clause, _)| *clause).collect();
            let own = if own.is_empty() { "nothing".to_owned() } else { own.join(", ") };
            return Err(InvalidFault::new(format!(
                "'{does}' does not take '{found}'; besides when and where, it takes {own}"
            )));
        }
        Ok(Self::of(when, clauses.place, effect, size, seed))
    }
}
