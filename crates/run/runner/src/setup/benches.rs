//! The bench that options ask for.

use std::path::Path;

use disklab_bench::{Bench, DeviceBench, DirBench, DiskDrives, LoadedStudy, LoopDrives};
use disklab_cell::MachinePlan;
use disklab_exec::Executor;
use disklab_lab_kernel::NamedKernel;
use disklab_options::RunSettings;
use disklab_stack::Ledger;
use disklab_units::Bytes;

use super::caller::Caller;
use super::medium::medium_below;
use super::paths::existing_ancestor;
use crate::error::DirectoryProblem;
use crate::places::ledger_directory;
use crate::{BenchKind, RunOptions, RunnerError};

/// Makes the bench that options ask for.
pub(super) struct Benches<'a> {
    pub options: &'a RunOptions,
    pub campaign: &'a LoadedStudy,
    /// For large files and mount points.
    pub scratch: &'a Path,
    /// In which a study's own files are looked for.
    pub study: &'a Path,
    /// The lab's kernel, if the user named one.
    pub kernel: Option<&'a NamedKernel>,
    pub caller: &'a Caller,
    /// What a run records of it.
    pub settings: RunSettings,
    /// The bench; a directory by its whole path.
    pub kind: BenchKind,
}

impl Benches<'_> {
    pub fn ledger(&self) -> Ledger {
        Ledger::planned(&ledger_directory(&self.caller.state))
    }

    /// The bench.
    ///
    /// # Errors
    /// [`RunnerError`] if an option, a drive file or the directory is wrong.
    pub fn bench(&mut self) -> Result<Bench, RunnerError> {
        let executor = Executor::new(self.caller.interrupt.clone());
        match self.kind.clone() {
            BenchKind::Lab => self.lab(executor),
            BenchKind::Loop => {
                let scratch = self.scratch;
                let size =
                    self.settings.drive_size.unwrap_or_else(|| loop_drive_size(self.campaign));
                self.settings.drive_size = Some(size);
                let medium = medium_below(&existing_ancestor(scratch)).0;
                let drives = LoopDrives::new(scratch, size, medium);
                let planned = MachinePlan::Loop;
                Ok(DeviceBench::new(drives, planned, self.ledger(), executor, scratch).into())
            }
            BenchKind::Dir(path) => {
                let refused = |why| {
                    let (flag, path) = ("--on dir:", path.clone());
                    RunnerError::Directory { flag, path, why }
                };
                let meta = path.metadata().map_err(|e| refused(DirectoryProblem::Unreadable(e)))?;
                if !meta.is_dir() {
                    return Err(refused(DirectoryProblem::NotADirectory));
                }
                let path =
                    path.canonicalize().map_err(|e| refused(DirectoryProblem::Unreadable(e)))?;
                self.kind = BenchKind::Dir(path.clone());
                let (medium, watched) = medium_below(&path);
                Ok(DirBench::new(&path, watched, medium, self.ledger(), executor).into())
            }
            BenchKind::Disks(names) => {
                let study = (self.campaign.study.id.to_string(), self.campaign.study.drives.len());
                let drives = DiskDrives::new(&names, &self.options.erase, study);
                let drives = drives.map_err(RunnerError::prepare)?;
                let (planned, scratch) = (MachinePlan::Disks, self.scratch);
                Ok(DeviceBench::new(drives, planned, self.ledger(), executor, scratch).into())
            }
        }
    }
}

/// Twice the largest workload and room for a file system's own, and no less
/// than the study asks for.
fn loop_drive_size(campaign: &LoadedStudy) -> Bytes {
    let space = campaign.workloads.iter().map(|w| w.cost().space).max().unwrap_or_default();
    let asked = campaign.study.loop_drive_size.unwrap_or(Bytes::gib(1));
    (space.saturating_mul(2) + Bytes::mib(512)).max(asked).round_up(Bytes::mib(64))
}
