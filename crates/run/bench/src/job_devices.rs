//! Drives that jobs write to outside of any study, as `disklab fio` does: the same rules
//! as for the drives of a study.

use disklab_exec::Executor;
use disklab_measure::SystemRoot;

use crate::BenchError;
use crate::disk_drives::described;
use crate::safety::{Claim, KernelProbe, Refusal, Target, Warning, check, claim, resolve};

/// Drives that jobs write to, named by their stable names.
#[derive(Debug)]
pub struct JobDevices {
    root: SystemRoot,
    targets: Vec<Target>,
    erase: Vec<String>,
}

impl JobDevices {
    /// Finds the drives, without opening them. `erase` holds the serial numbers of those
    /// that may be written to although they carry data.
    ///
    /// # Errors
    /// A [`Refusal`] for each name that is not that of a device to write to, or is there twice.
    pub fn new(names: &[String], erase: &[String]) -> Result<Self, Vec<Refusal>> {
        let root = SystemRoot::here();
        let targets = resolve(&root, names)?;
        Ok(Self { root, targets, erase: erase.to_vec() })
    }

    /// Looks at the drives, without writing to them. Returns what the user must know
    /// before anything is written: one line each.
    ///
    /// # Errors
    /// A [`Refusal`] for each reason not to write to one of them, all at once.
    pub fn check(&self, executor: &Executor) -> Result<Vec<String>, Vec<Refusal>> {
        let probe = KernelProbe::new(executor);
        let (mut lines, mut refusals) = (Vec::new(), Vec::new());
        for target in &self.targets {
            let inspection = check(&self.root, &probe, target, &self.erase);
            refusals.extend(inspection.refusals);
            lines.push(format!("WILL BE WRITTEN TO: {}", described(target)));
            let warnings = inspection.warnings.iter();
            lines.extend(warnings.map(|w| format!("{}: {w}", target.name.display())));
        }
        if refusals.is_empty() { Ok(lines) } else { Err(refusals) }
    }

    /// Opens the drives exclusively, repeats all checks, and erases the signatures of those
    /// that may lose them: what a job leaves of a file system or an array must not be taken
    /// for one. The drives are held for as long as the claims live.
    ///
    /// # Errors
    /// [`BenchError::Refused`] with all that speaks against it; if a signature cannot be
    /// erased.
    pub fn claim(&self, executor: &Executor) -> Result<Vec<Claim>, BenchError> {
        let probe = KernelProbe::new(executor);
        let mut claims = Vec::new();
        for target in &self.targets {
            claims
                .push(claim(&self.root, &probe, target, &self.erase).map_err(BenchError::refused)?);
        }
        for claim in &claims {
            let signed =
                |w: &Warning| matches!(w, Warning::Erases { found, .. } if !found.is_empty());
            if claim.warnings.iter().any(signed) {
                claim.erase(executor)?;
            }
        }
        Ok(claims)
    }
}
