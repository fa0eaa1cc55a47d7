//! Real disks, named by the user, erased.

use std::collections::BTreeSet;
use std::path::Path;

use disklab_cell::{DriveKind, DrivePlan};
use disklab_exec::Executor;
use disklab_measure::{BlockDevice, NamedDevice, SystemRoot, set_write_cache, write_cache};
use disklab_prediction::Medium;
use disklab_sample::Note;
use disklab_stack::{Ledger, Need, undo};
use disklab_study::{DriveSpec, Study};
use disklab_units::Bytes;

use crate::consent::confirm_erasing;
use crate::drives::Ready;
use crate::error::{Objection, WriteCacheProblem};
use crate::safety::{KernelProbe, Pin, Target, check, claim, losses, reclaim, resolve};
use crate::{BenchError, Drives};

/// Drives that the user named by their stable names. The first is the study's
/// first drive, and so on.
#[derive(Debug)]
pub struct DiskDrives {
    targets: Vec<Target>,
    /// Serial numbers of drives that may be erased although they carry data.
    erase: Vec<String>,
    /// Drives that were looked at and found free: no others are touched.
    free: BTreeSet<usize>,
    /// Drives that this run has erased already: what is on them is its own.
    erased: BTreeSet<usize>,
    warnings: Vec<String>,
    /// The study, and how many drives it has: naming more is a mistake.
    study: (String, usize),
    root: SystemRoot,
}

impl DiskDrives {
    /// Finds the drives, without opening them, for a study of this id that has so many.
    /// `erase` holds the serial numbers of those that may be erased although they carry data.
    ///
    /// # Errors
    /// [`BenchError::Refused`] with all that is wrong with the names.
    pub fn new(
        names: &[String],
        erase: &[String],
        study: (String, usize),
    ) -> Result<Self, BenchError> {
        let root = SystemRoot::here();
        Ok(Self {
            targets: resolve(&root, names).map_err(BenchError::refused)?,
            erase: erase.to_vec(),
            free: BTreeSet::new(),
            erased: BTreeSet::new(),
            warnings: Vec::new(),
            study,
            root,
        })
    }

    /// Whether `--erase` names this drive.
    fn may_be_erased(&self, target: &Target) -> bool {
        target.fingerprint.serial.as_ref().is_some_and(|serial| self.erase.contains(serial))
    }

    /// Where the drive of a plan is: the one that was named for its place, and has the plan's name.
    fn place_of(&self, drive: &DrivePlan) -> Result<usize, BenchError> {
        let index = drive.position as usize;
        match self.targets.get(index) {
            None => Err(BenchError::NoSuchDrive(index)),
            Some(target) if drive.kind == DriveKind::Disk(target.name.clone()) => Ok(index),
            Some(_) => Err(BenchError::OtherBench),
        }
    }

    /// Makes one drive empty, while it is held exclusively; its number and name stay its
    /// own for as long as what is returned lives.
    fn make_empty(&mut self, index: usize, executor: &Executor) -> Result<Pin, BenchError> {
        let target = self
            .targets
            .get(index)
            .filter(|_| self.free.contains(&index))
            .ok_or(BenchError::Unchecked(index))?;
        let probe = KernelProbe::new(executor);
        let claim = if self.erased.contains(&index) {
            // What is on it now is this run's own.
            reclaim(&self.root, &probe, target)
        } else {
            claim(&self.root, &probe, target, &self.erase)
        };
        let claim = claim.map_err(BenchError::refused)?;
        self.erased.insert(index);
        claim.erase(executor)?;
        claim.into_pin(&self.root).map_err(|refusal| BenchError::refused(vec![refusal]))
    }
}

/// A drive for the plan: by model and serial number.
pub(crate) fn described(target: &Target) -> String {
    let fingerprint = &target.fingerprint;
    let size = Bytes(fingerprint.size_bytes);
    format!(
        "{} ({}, serial number {}, {} = {}), now {}",
        target.name.display(),
        fingerprint.model.as_deref().unwrap_or("model unknown"),
        fingerprint.serial.as_deref().unwrap_or("unknown"),
        size.si(),
        size.iec(),
        target.node().display(),
    )
}

/// The objection that more drives are named than the study has.
fn too_many(targets: &[Target], (study, has): &(String, usize)) -> Option<Objection> {
    let has = *has;
    let unused = targets.get(has..).filter(|unused| !unused.is_empty())?;
    let unused = unused.iter().map(|target| target.name.clone()).collect();
    Some(Objection::TooMany { study: study.clone(), has, named: targets.len(), unused })
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

    fn plans(&self, study: &Study) -> Vec<Option<DrivePlan>> {
        let plan = |(position, spec): (u32, &DriveSpec)| {
            let target = self.targets.get(position as usize)?;
            Some(DrivePlan {
                name: spec.name.to_string(),
                position,
                size: Bytes(target.fingerprint.size_bytes),
                kind: DriveKind::Disk(target.name.clone()),
                stands_for: None,
                role: None,
            })
        };
        (0..).zip(&study.drives).map(plan).collect()
    }

    fn check(
        &mut self,
        positions: &BTreeSet<usize>,
        executor: &Executor,
    ) -> Result<(), BenchError> {
        self.free.clear();
        self.warnings.clear();
        let probe = KernelProbe::new(executor);
        let mut against: Vec<Objection> =
            too_many(&self.targets, &self.study).into_iter().collect();
        for (index, target) in self.targets.iter().enumerate() {
            if !positions.contains(&index) {
                self.warnings.push(format!("not touched: {}", described(target)));
                continue;
            }
            let inspection = check(&self.root, &probe, target, &self.erase);
            against.extend(inspection.refusals.into_iter().map(Objection::Drive));
            self.warnings.push(format!("WILL BE ERASED: {}", described(target)));
            let notes = inspection.warnings.iter();
            self.warnings.extend(notes.map(|w| format!("{}: {w}", target.name.display())));
        }
        if !against.is_empty() {
            return Err(BenchError::Refused(against));
        }
        self.free.extend(positions);
        Ok(())
    }

    /// A drive that was erased holds what this run wrote, which nobody can tell from
    /// somebody's unsigned data when the run is resumed.
    fn consents_left(&self) -> Vec<String> {
        let used = self.free.iter().filter_map(|index| Some((index, self.targets.get(*index)?)));
        let needed = used
            .filter(|(index, target)| self.erased.contains(index) || self.may_be_erased(target));
        let serials = needed.filter_map(|(_, target)| target.fingerprint.serial.as_deref());
        serials.flat_map(|serial| ["--erase".to_owned(), serial.to_owned()]).collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        confirm_erasing(yes)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, Need::Program { name: "wipefs", package: "util-linux" }]
    }

    fn write_cache_switchable(&self) -> bool {
        // Whether a drive obeys is known when it is asked; hdparm must be there.
        disklab_exec::find_program("hdparm").is_some()
    }

    fn are_ata(&self) -> bool {
        self.targets.iter().all(|target| takes_ata_commands(&target.device))
    }

    fn tell_smart(&self) -> bool {
        // SAS and NVMe drives too.
        let mut names = self.targets.iter().map(|target| target.device.name());
        names.any(|name| name.starts_with("sd") || name.starts_with("nvme"))
    }

    fn make_ready(
        &mut self,
        drives: &[DrivePlan],
        wanted_cache: Option<bool>,
        _directory: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
    ) -> Result<Ready, BenchError> {
        let mut ready = Ready::default();
        for drive in drives {
            let index = self.place_of(drive)?;
            let node = self.targets[index].node();
            ready.pins.push(self.make_empty(index, executor)?);
            if let Some(on) = wanted_cache {
                switch_cache(&self.targets[index], on, ledger, executor)?;
                ready.notes.push(Note {
                    about: node.display().to_string(),
                    text: format!("write cache switched {}", if on { "on" } else { "off" }),
                });
            }
            ready.drives.push(NamedDevice { name: drive.name.clone(), device: node });
        }
        Ok(ready)
    }

    fn still_whole(&self, drives: &[DrivePlan]) -> Result<(), BenchError> {
        let targets = drives.iter().filter_map(|drive| self.targets.get(drive.position as usize));
        let lost: Vec<_> = targets.flat_map(|target| losses(&self.root, target)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        Err(BenchError::DrivesLost(lost))
    }
}

/// Whether a drive takes ATA commands: one behind libata, or behind an adapter or
/// bridge that translates SCSI commands into ATA ones. Such a one says `ATA` for its
/// vendor, padded to 8 letters (SAT-4, 9.1.2; libata-scsi.c, `ata_scsiop_inq_std`),
/// and has the vital product data page 89h, ATA Information; USB bridges often tell
/// another vendor, and have only the page. SAS drives and others have neither.
fn takes_ata_commands(device: &BlockDevice) -> bool {
    let vendor = device.attribute("device/vendor");
    device.name().starts_with("sd")
        && (vendor.is_some_and(|vendor| vendor.trim() == "ATA")
            || device.attribute_bytes("device/vpd_pg89").is_some_and(|page| !page.is_empty()))
}

/// Switches a drive's write cache, and has it switched back afterwards.
fn switch_cache(
    target: &Target,
    on: bool,
    ledger: &mut Ledger,
    executor: &Executor,
) -> Result<(), BenchError> {
    let node = target.node();
    let cannot = |why| BenchError::WriteCache { drive: target.name.clone(), why };
    let before = write_cache(executor, &node).ok_or_else(|| cannot(WriteCacheProblem::Unknown))?;
    if before != on {
        let serial = target.fingerprint.serial.clone();
        let serial = serial.ok_or_else(|| cannot(WriteCacheProblem::NoSerial))?;
        ledger.enter(undo::RestoreWriteCache { device: node.clone(), serial, on: before })?;
        set_write_cache(executor, &node, on).map_err(|e| cannot(WriteCacheProblem::Failed(e)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use disklab_measure::fabricated::Fabricated;

    use super::*;

    #[test]
    fn sas_drives_with_ata_names_are_not_ata_drives() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").set("sda", "device/vendor", "ATA     \n");
        tree.drive("sdb", (8, 16), "B").set("sdb", "device/vendor", "SEAGATE \n");
        tree.drive("sdc", (8, 32), "C").set("sdc", "device/vendor", "WD      \n");
        tree.set("sdc", "device/vpd_pg89", "\0\u{1}ATA").drive("sdd", (8, 48), "D");
        tree.drive("nvme0n1", (259, 0), "N").drive("vda", (252, 0), "V");
        let root = tree.root();
        let names = ["sda", "sdb", "sdc", "sdd", "nvme0n1", "vda"];
        let ata = names
            .map(|name| takes_ata_commands(&BlockDevice::named(&root, name).expect("in the tree")));
        assert_eq!(ata, [true, false, true, false, false, false]);
    }

    fn named(tree: &Fabricated, serials: &[&str], erase: &[&str]) -> DiskDrives {
        let name = |serial: &&str| format!("/dev/disk/by-id/ata-TESTDRIVE_1000_{serial}");
        let names: Vec<_> = serials.iter().map(name).collect();
        let root = tree.root();
        DiskDrives {
            targets: resolve(&root, &names).expect("in the tree"),
            erase: erase.iter().map(|serial| (*serial).to_owned()).collect(),
            free: BTreeSet::new(),
            erased: BTreeSet::new(),
            warnings: Vec::new(),
            study: ("s".to_owned(), 4),
            root,
        }
    }

    #[test]
    fn resuming_needs_consent_for_what_was_erased_too() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").drive("sdb", (8, 16), "B").drive("sdc", (8, 32), "C");
        let mut drives = named(&tree, &["A", "B", "C"], &["B", "C", "X"]);
        assert!(drives.consents_left().is_empty(), "no cell uses them");
        drives.free.extend([0, 1]);
        assert_eq!(drives.consents_left(), ["--erase", "B"]);
        // By now, both hold what this run wrote.
        drives.erased.extend([0, 1]);
        assert_eq!(drives.consents_left(), ["--erase", "A", "--erase", "B"]);
    }

    #[test]
    fn an_uninspected_drive_is_not_touched() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A");
        let mut drives = named(&tree, &["A"], &[]);
        for index in [0, 1] {
            let refused = drives.make_empty(index, &Executor::default()).expect_err("refused");
            assert!(matches!(refused, BenchError::Unchecked(i) if i == index), "{refused}");
        }
    }
}
