//! The lab bench, on the host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_cell::Cell;
use disklab_config::ModelSetting;
use disklab_exec::Executor;
use disklab_lab::{
    ConfinementSupport, ContentLimits, CpuLeases, MappingLimit, printed_configuration,
    printed_release,
};
use disklab_lab_kernel::{fingerprint, zfs_configuration};
use disklab_measure::environment;
use disklab_processor::Processor;
use disklab_sample::{Environment, LabKernelIdentity};
use disklab_stack::{Ledger, Machine, Need};
use disklab_study::MachineProfile;
use disklab_units::{Bytes, BytesPerSecond};

use super::drives::ModelledDrives;
use super::machine::described;
use super::workers::Workers;
use crate::bench::{BenchProfile, BenchSteps, CellRunner};
use crate::own_directory::OwnDirectory;
use crate::preflight::preflight_devices;
use crate::{Bench, BenchError, Campaign, CellToRun, Drives, Medium, Preflight, Sink};

/// A kernel for guests, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabKernel {
    /// A User-Mode Linux program.
    pub program: PathBuf,
    /// A folder of programs that fit to it, such as those of ZFS.
    pub programs: Option<PathBuf>,
    /// Words for its command line.
    pub arguments: Vec<String>,
    /// What a record says of it besides its release, such as how it runs programs.
    pub words: &'static str,
}

/// What guests can have of a machine's memory. The rest is for what the content of their
/// drives is indexed with, for the page cache and for the system. Guests with 81 % together
/// have met the kernel's killer, those with 60 % have not.
const FOR_GUESTS_PERCENT: u64 = 75;

/// Gives the kernel, with ZFS in it if that is asked for; builds it if it is not there yet.
pub type KernelSource = Box<dyn FnMut(bool) -> Result<LabKernel, BenchError>>;

/// What all labs of a bench have in common.
#[derive(Debug, Clone)]
pub struct LabSettings {
    /// The program that is the guest's first: this one.
    pub program: PathBuf,
    /// Where the labs' folders are made.
    pub scratch: PathBuf,
    /// The processors to run on: each lab takes the one that the fewest labs run on.
    pub cores: Vec<usize>,
    /// How many labs run at once.
    pub at_once: usize,
    /// A guest's memory.
    pub memory: Bytes,
    /// The memory of the machine that they all run on.
    pub machine_memory: Bytes,
    /// What the content of one guest's drives may take.
    pub content: ContentLimits,
    /// Virtual time after which a guest is stopped.
    pub cell_limit: Duration,
    /// Against which drive files and the study's own files are found; absolute.
    pub folder: PathBuf,
    /// The machine whose settings guests have.
    pub machine: &'static MachineProfile,
    /// What CPU time costs; free if `None`.
    pub processor: Option<Processor>,
    /// The bus that all drives share; each has its own where absent.
    pub bus: Option<BytesPerSecond>,
    /// What the command line sets of the drives' models, as it was given.
    pub set_drive: Vec<String>,
}

impl LabSettings {
    /// What is set of the drives' sizes, which guests see. All else is the host's: what
    /// a guest reads takes memory, and would show in the figures.
    pub(super) fn set_sizes(&self) -> Vec<String> {
        let is_size = |text: &&String| {
            let set = ModelSetting::parse("--set-drive", text);
            set.is_ok_and(|set| ["capacity", "sectors"].contains(&set.setting.field.as_str()))
        };
        self.set_drive.iter().filter(is_size).cloned().collect()
    }

    /// Words for the guest's kernel: what CPU time costs.
    pub(super) fn charges(&self) -> Vec<String> {
        self.processor.as_ref().map(Processor::kernel_arguments).unwrap_or_default()
    }
}

/// Modelled drives under a real kernel, in virtual time.
pub struct LabBench {
    drives: ModelledDrives,
    settings: LabSettings,
    kernels: KernelSource,
    machine: Machine,
    ledger: Ledger,
    executor: Executor,
}

impl LabBench {
    /// A bench for a campaign on `drives`, under a kernel from `kernels`.
    pub fn new(
        drives: ModelledDrives,
        settings: LabSettings,
        kernels: KernelSource,
        ledger: Ledger,
        executor: Executor,
    ) -> Self {
        let machine = Machine::configured(&zfs_configuration(), &["zpool", "zfs"]);
        Self { drives, settings, kernels, machine, ledger, executor }
    }

    fn short_of_memory(&self) -> Option<String> {
        let need = self.settings.memory.0.saturating_mul(self.settings.at_once as u64);
        let hold = CpuLeases::of_user().memory_bytes();
        short_of_memory(Bytes(need), Bytes(hold), self.settings.machine_memory)
    }
}

/// The lab with the kernel that its guests boot.
struct PreparedLab {
    lab: LabBench,
    kernel: LabKernel,
    identity: LabKernelIdentity,
}

impl From<LabBench> for Bench {
    fn from(bench: LabBench) -> Self {
        Self::of(bench)
    }
}

impl BenchSteps for LabBench {
    fn profile(&self) -> BenchProfile {
        let work = match &self.settings.processor {
            None => "CPU time is free".to_owned(),
            Some(processor) => {
                format!("CPU time is charged as on {}", processor.about())
            }
        };
        let bus = self.settings.bus.map(|rate| format!(" on one bus of {}", rate.si()));
        let about = format!(
            "{}{}, under a Linux kernel in virtual time with {} of memory, set up as {}; {work}",
            self.drives.about(),
            bus.unwrap_or_default(),
            self.settings.memory.iec(),
            self.settings.machine.name
        );
        BenchProfile {
            name: "lab".to_owned(),
            about,
            medium: Medium::LAB,
            at_once: self.settings.at_once,
            is_simulated: true,
        }
    }

    fn warnings(&self, campaign: &Campaign, cells: &[Cell]) -> Vec<String> {
        let mut notes = self.drives.notes();
        notes.extend(self.short_of_memory());
        if needs_zfs(campaign, cells) {
            let limit = MappingLimit::of_this_system();
            notes.extend(limit.and_then(|limit| limit.remedy(self.settings.memory)));
        }
        notes.extend(ConfinementSupport::of_this_system().missing().into_iter().map(str::to_owned));
        notes
    }

    fn preflight(&self, campaign: &Campaign) -> Preflight {
        preflight_devices(campaign, &self.drives, &self.machine)
    }

    fn prepare(
        mut self: Box<Self>,
        campaign: &Campaign,
        cells: &[Cell],
    ) -> Result<Box<dyn CellRunner>, BenchError> {
        self.ledger.make()?;
        let kernel = (self.kernels)(needs_zfs(campaign, cells))?;
        let identity = identity(&kernel.program, &self.executor)?;
        Ok(Box::new(PreparedLab { lab: *self, kernel, identity }))
    }
}

impl CellRunner for PreparedLab {
    fn environment(&self) -> Environment {
        let LabBench { settings, executor, .. } = &self.lab;
        let here = environment(executor);
        let release = printed_release(&self.kernel.program, executor).unwrap_or_default();
        Environment {
            kernel: format!("Linux {release} User-Mode Linux, time travel{}", self.kernel.words),
            // A guest has one, and what it is does not matter: its time is free, or
            // what the work would take on another is charged.
            processor: Some(match &settings.processor {
                None => "simulated, infinitely fast".to_owned(),
                Some(processor) => format!("simulated: {}", processor.about()),
            }),
            processors: 1,
            memory_bytes: settings.memory.0,
            virtual_machine: None,
            distribution: here.distribution,
            tools: here.tools,
            lab_kernel: Some(self.identity.clone()),
            extra: [("lab.machine".to_owned(), described(settings.machine))].into(),
            ..Environment::default()
        }
    }

    fn run_cells(
        &mut self,
        campaign: &Campaign,
        cells: &[CellToRun<'_>],
        sink: &mut dyn Sink,
    ) -> Result<(), BenchError> {
        let LabBench { drives, settings, ledger, executor, .. } = &mut self.lab;
        let (drives, settings, executor) = (&*drives, &*settings, &*executor);
        let mark = ledger.mark();
        let own = OwnDirectory::create(&settings.scratch, ledger)?;
        let labs = cells.iter().map(|next| lab_name(next.cell)).collect();
        ledger.expect(own.path(), labs)?;
        let workers = Workers {
            campaign,
            drives,
            settings,
            kernel: &self.kernel,
            folder: own.path(),
            executor,
        };
        let result = workers.carry_out(cells, sink);
        drop(own);
        let complaints = ledger.tear_down_to(mark, executor);
        for complaint in complaints {
            tracing::warn!("{complaint}");
        }
        result
    }
}

/// What tells this kernel from any other.
///
/// # Errors
/// [`BenchError::NotALabKernel`] if the file is no User-Mode Linux.
fn identity(kernel: &Path, executor: &Executor) -> Result<LabKernelIdentity, BenchError> {
    let digest = fingerprint::digest(kernel).map_err(BenchError::io("cannot read", kernel))?;
    let configuration = printed_configuration(kernel, executor)
        .and_then(|printed| fingerprint::configuration(&printed))
        .ok_or_else(|| BenchError::NotALabKernel(kernel.to_owned()))?;
    let recipe = fingerprint::recipe(kernel);
    Ok(LabKernelIdentity { digest, configuration: Some(configuration), recipe })
}

/// What the user should know if guests that `need` so much do not fit next to those
/// that others of the user's labs `hold`: when all use what they have, the system kills
/// some of them.
fn short_of_memory(need: Bytes, hold: Bytes, machine: Bytes) -> Option<String> {
    let fit = need.0.saturating_add(hold.0) <= machine.0 / 100 * FOR_GUESTS_PERCENT;
    (hold.0 > 0 && !fit).then(|| {
        format!(
            "the guests take up to {}, and those of other labs that run now {}, where this machine has {}: the system may kill some of them; wait for the others' end, or take fewer with --at-once or smaller ones with --memory",
            need.iec(),
            hold.iec(),
            machine.iec()
        )
    })
}

/// Whether these cells need a kernel with ZFS.
pub fn needs_zfs(campaign: &Campaign, cells: &[Cell]) -> bool {
    cells.iter().any(|cell| {
        let stack = campaign.study.stack_index(&cell.levels.stack);
        stack.is_some_and(|index| campaign.stacks[index].needs().contains(&Need::Zfs))
    })
}

/// The folder of one cell's lab.
pub(super) fn lab_folder(folder: &Path, cell: &Cell) -> PathBuf {
    folder.join(lab_name(cell))
}

fn lab_name(cell: &Cell) -> String {
    format!("cell-{}", cell.number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_other_labs_hold_is_reported_where_it_will_be_short() {
        let short =
            |need, hold| short_of_memory(Bytes::gib(need), Bytes::gib(hold), Bytes::gib(24));
        assert_eq!(short(11, 0), None);
        assert_eq!(short(11, 6), None);
        // Alone it is the user's wish, and was found to fit.
        assert_eq!(short(22, 0), None);
        let reported = short(11, 8).unwrap_or_default();
        assert!(reported.contains("11 GiB") && reported.contains("8 GiB"), "{reported}");
    }
}
