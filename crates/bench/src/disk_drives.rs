//! Real disks, named by the user, erased.

use std::collections::BTreeSet;
use std::io::IsTerminal;

use disklab_exec::Executor;
use disklab_measure::{Note, SystemRoot, set_write_cache, write_cache};
use disklab_stack::{Ledger, Need, Undo};
use disklab_study::Study;
use disklab_units::Bytes;

use crate::drives::Ready;
use crate::safety::{KernelProbe, Refusal, Target, check, claim, losses, reclaim, resolve};
use crate::{BenchError, Drives, Medium, ReadyDrive};

/// Drives that the user named by their stable names. The first is the study's
/// first drive, and so on.
#[derive(Debug)]
pub struct DiskDrives {
    targets: Vec<Target>,
    /// Serial numbers of drives that may be erased although they carry data.
    erase: Vec<String>,
    /// Drives that this run has erased already: what is on them is its own.
    erased: BTreeSet<usize>,
    warnings: Vec<String>,
    root: SystemRoot,
}

impl DiskDrives {
    /// Finds the drives and looks at them, without writing to them.
    ///
    /// # Errors
    /// All that speaks against using them.
    pub fn new(
        names: &[String],
        erase: &[String],
        executor: &Executor,
    ) -> Result<Self, Vec<Refusal>> {
        let root = SystemRoot::here();
        let targets = resolve(&root, names)?;
        let probe = KernelProbe::new(executor);
        let (mut refusals, mut warnings) = (Vec::new(), Vec::new());
        for target in &targets {
            let inspection = check(&root, &probe, target, erase);
            refusals.extend(inspection.refusals);
            warnings.push(would_be_erased(target));
            let remarks = inspection.warnings;
            warnings.extend(remarks.iter().map(|w| format!("{}: {w}", target.name.display())));
        }
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let erase = erase.to_vec();
        Ok(Self { targets, erase, erased: BTreeSet::new(), warnings, root })
    }

    /// Makes one drive empty, while it is held exclusively.
    fn make_empty(&mut self, index: usize, executor: &Executor) -> Result<(), BenchError> {
        let target = &self.targets[index];
        let probe = KernelProbe::new(executor);
        let claim = if self.erased.contains(&index) {
            // What is on it now is this run's own.
            reclaim(&self.root, &probe, target)
        } else {
            claim(&self.root, &probe, target, &self.erase)
        };
        let claim = claim.map_err(|refusals| {
            let why: Vec<_> = refusals.iter().map(ToString::to_string).collect();
            BenchError::Other(why.join("\n"))
        })?;
        self.erased.insert(index);
        claim.erase(executor)
    }
}

/// One line on a drive, for the plan: by model and serial number.
fn would_be_erased(target: &Target) -> String {
    let fingerprint = &target.fingerprint;
    let size = Bytes(fingerprint.size_bytes);
    format!(
        "WILL BE ERASED: {} ({}, serial number {}, {} = {}), now {}",
        target.name.display(),
        fingerprint.model.as_deref().unwrap_or("model unknown"),
        fingerprint.serial.as_deref().unwrap_or("unknown"),
        size.si(),
        size.iec(),
        target.node().display(),
    )
}

impl Drives for DiskDrives {
    fn name(&self) -> String {
        let names: Vec<_> = self.targets.iter().map(|t| t.name.display().to_string()).collect();
        format!("disks:{}", names.join(","))
    }

    fn about(&self) -> String {
        let drives: Vec<_> = self
            .targets
            .iter()
            .map(|t| {
                let model = t.fingerprint.model.as_deref().unwrap_or("unknown model");
                let serial = t.fingerprint.serial.as_deref().unwrap_or("unknown");
                format!(
                    "{model} (serial number {serial}, {})",
                    Bytes(t.fingerprint.size_bytes).si()
                )
            })
            .collect();
        format!("real disks: {}", drives.join(", "))
    }

    fn medium(&self) -> Medium {
        let Some(target) = self.targets.first() else { return Medium::HARD_DISK };
        let rotational = target.device.attribute("queue/rotational");
        Medium::of(target.device.name(), rotational.map(|text| text.trim() == "1"))
    }

    fn sizes(&self, study: &Study) -> Vec<Option<Bytes>> {
        (0..study.drives.len())
            .map(|index| self.targets.get(index).map(|t| Bytes(t.fingerprint.size_bytes)))
            .collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn confirm(&self, yes: bool) -> Result<(), String> {
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

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, Need::Program { name: "wipefs", package: "util-linux" }]
    }

    fn write_cache_switchable(&self) -> bool {
        // Whether a drive obeys is known when it is asked; hdparm must be there.
        disklab_exec::find_program("hdparm").is_some()
    }

    fn are_ata(&self) -> bool {
        self.targets.iter().all(|t| t.device.name().starts_with("sd"))
    }

    fn make_ready(
        &mut self,
        study: &Study,
        indices: &[usize],
        wanted_cache: Option<bool>,
        ledger: &mut Ledger,
        executor: &Executor,
    ) -> Result<Ready, BenchError> {
        let mut ready = Ready::default();
        for index in indices {
            let node = match self.targets.get(*index) {
                Some(target) => target.node(),
                None => return Err(BenchError::Other("the bench has no such drive".to_owned())),
            };
            self.make_empty(*index, executor)?;
            if let Some(on) = wanted_cache {
                switch_cache(&self.targets[*index], on, ledger, executor)?;
                ready.notes.push(Note {
                    about: node.display().to_string(),
                    text: format!("write cache switched {}", if on { "on" } else { "off" }),
                });
            }
            let name = study.drives.get(*index).map_or_else(String::new, |d| d.name.clone());
            ready.drives.push(ReadyDrive { name, device: node });
        }
        Ok(ready)
    }

    fn still_whole(&self, indices: &[usize]) -> Result<(), BenchError> {
        let targets = indices.iter().filter_map(|index| self.targets.get(*index));
        let lost: Vec<String> = targets.flat_map(|target| losses(&self.root, target)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        Err(BenchError::Other(format!("{} while it was measured", lost.join("; "))))
    }
}

/// Switches a drive's write cache, and has it switched back afterwards.
fn switch_cache(
    target: &Target,
    on: bool,
    ledger: &mut Ledger,
    executor: &Executor,
) -> Result<(), BenchError> {
    let node = target.node();
    let cannot = |why: &str| {
        BenchError::Other(format!("the write cache of {}: {why}", target.name.display()))
    };
    let before = write_cache(executor, &node)
        .ok_or_else(|| cannot("hdparm -W does not tell its state, so it cannot be switched"))?;
    if before != on {
        let serial = target.fingerprint.serial.clone().ok_or_else(|| {
            cannot("the drive has no serial number, so it could not be switched back safely")
        })?;
        ledger.enter(Undo::WriteCache { device: node.clone(), serial, on: before })?;
        set_write_cache(executor, &node, on).map_err(|e| cannot(&e.to_string()))?;
    }
    Ok(())
}
