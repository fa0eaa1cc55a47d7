//! Files of this machine as drives.

use std::path::{Path, PathBuf};

use disklab_cell::{DriveKind, DrivePlan};
use disklab_exec::{Executor, Invocation};
use disklab_measure::NamedDevice;
use disklab_prediction::Medium;
use disklab_sample::Note;
use disklab_stack::{Ledger, Need, undo};
use disklab_study::{DriveSpec, Study};
use disklab_units::Bytes;

use crate::drives::Ready;
use crate::{BenchError, Drives};

/// Sparse files in a cell's own directory, attached as loop devices. Each cell gets new
/// ones, which read as zeros.
#[derive(Debug)]
pub struct LoopDrives {
    directory: PathBuf,
    drive_size: Bytes,
    medium: Medium,
}

impl LoopDrives {
    /// Drives of `drive_size`; the cells' directories are below `directory`.
    pub fn new(directory: &Path, drive_size: Bytes, medium: Medium) -> Self {
        // A loop device refuses a size that is no multiple of its sectors.
        let drive_size = drive_size.round_up(Bytes::mib(1));
        Self { directory: directory.to_owned(), drive_size, medium }
    }
}

impl Drives for LoopDrives {
    fn name(&self) -> String {
        "loop".to_owned()
    }

    fn about(&self) -> String {
        format!(
            "loop devices of {} over sparse files in {}, all on the same disk of this machine",
            self.drive_size.iec(),
            self.directory.display()
        )
    }

    fn medium(&self) -> Medium {
        self.medium
    }

    fn plans(&self, study: &Study) -> Vec<Option<DrivePlan>> {
        // Drives that differ in size in the study differ here in proportion,
        // so that SHR and Btrfs have something to chew on.
        let largest = study.drives.iter().map(|d| d.size.0).max().unwrap_or(1).max(1);
        let plan = |(position, spec): (u32, &DriveSpec)| {
            let share = spec.size.0 as f64 / largest as f64;
            let size = self.drive_size.scaled(share, Bytes::mib(1));
            Some(DrivePlan {
                name: spec.name.to_string(),
                position,
                size,
                kind: DriveKind::File,
                stands_for: None,
                role: None,
            })
        };
        (0..).zip(&study.drives).map(plan).collect()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, Need::Loop, Need::Program { name: "losetup", package: "mount" }]
    }

    fn write_cache_switchable(&self) -> bool {
        false
    }

    fn are_ata(&self) -> bool {
        false
    }

    fn are_zero(&self) -> bool {
        true
    }

    fn make_ready(
        &mut self,
        drives: &[DrivePlan],
        _write_cache: Option<bool>,
        directory: &Path,
        ledger: &mut Ledger,
        executor: &Executor,
    ) -> Result<Ready, BenchError> {
        let mut ready = Ready { are_zero: self.are_zero(), ..Ready::default() };
        for DrivePlan { name, position, size, kind, .. } in drives {
            if *kind != DriveKind::File {
                return Err(BenchError::OtherBench);
            }
            // The drive's number: its name in the study never becomes a path.
            let path = directory.join(format!("drive-{position}.img"));
            let file = ledger.create_file(&path)?;
            file.set_len(size.0).map_err(BenchError::io("cannot extend", &path))?;
            drop(file);
            ledger.enter(undo::DetachLoop(path.clone()))?;
            let (device, direct) = attach(executor, &path)?;
            if !direct {
                ready.notes.push(Note {
                    about: name.clone(),
                    text: "the loop device goes through the page cache: the file system below \
                           does not take direct I/O"
                        .to_owned(),
                });
            }
            ready.drives.push(NamedDevice { name: name.clone(), device });
        }
        ready.notes.dedup();
        Ok(ready)
    }
}

/// Attaches a file, with direct I/O where the file system below takes it: its
/// page cache would otherwise be a second, hidden cache.
fn attach(executor: &Executor, path: &Path) -> Result<(PathBuf, bool), BenchError> {
    let losetup =
        |direct: &str| Invocation::new("losetup").args(["--find", "--show", direct]).arg(path);
    let direct = executor.run(&losetup("--direct-io=on"))?;
    let (finished, direct) = if direct.code == 0 {
        (direct, true)
    } else {
        executor.interrupt.check()?;
        (executor.check(&losetup("--direct-io=off"))?, false)
    };
    let device = PathBuf::from(finished.text().trim());
    if device.as_os_str().is_empty() {
        return Err(BenchError::NoLoopDevice { command: finished.command });
    }
    // A loop device keeps `blockdev --setro` from an earlier use.
    executor.check(&Invocation::new("blockdev").arg("--setrw").arg(&device))?;
    Ok((device, direct))
}
