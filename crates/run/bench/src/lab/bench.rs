//! The lab bench, on the host.

use std::path::Path;

use disklab_cell::{LabPlan, MachinePlan};
use disklab_exec::Executor;
use disklab_lab::{
    ConfinementSupport, CpuLeases, MappingLimit, printed_configuration, printed_release,
};
use disklab_lab_kernel::{fingerprint, zfs_configuration};
use disklab_measure::environment;
use disklab_prediction::Medium;
use disklab_processor::Processor;
use disklab_sample::{Environment, LabKernelIdentity};
use disklab_source::SourceError;
use disklab_stack::{Ledger, Machine};
use disklab_units::{Bytes, BytesPerSecond};

use super::drives::ModelledDrives;
use super::machine::{described, profile_of};
use super::made_drives::MadeDrivesCache;
use super::processor::processor_of;
use super::shared::{LabKernel, LabSettings, LabShared, PreparedKernel};
use super::workers::LabWorkers;
use crate::bench::{BenchProfile, BenchSteps};
use crate::preflight::preflight_devices;
use crate::{Bench, BenchError, BenchNeeds, CellExecutor, Drives, LoadedStudy, Preflight};

/// What guests can have of a machine's memory. The rest is for what the content of their
/// drives is indexed with, for the page cache and for the system. Guests with 81 % together
/// have met the kernel's killer, those with 60 % have not.
const FOR_GUESTS_PERCENT: u64 = 75;

/// Gives the kernel of this name, or else the bench's own, with ZFS in it if that is asked for; builds
/// it if it is not there yet.
pub type KernelSource = Box<dyn FnMut(Option<&str>, bool) -> Result<LabKernel, BenchError>>;

/// Modelled drives under a real kernel, in virtual time.
pub struct LabBench {
    drives: ModelledDrives,
    /// What guests have, if their stack says nothing else.
    plan: LabPlan,
    /// What CPU time costs; free if `None`.
    processor: Option<Processor>,
    settings: LabSettings,
    kernels: KernelSource,
    machine: Machine,
    ledger: Ledger,
    executor: Executor,
}

impl LabBench {
    /// A bench for cells on `drives` in guests that are as `plan` says, under a kernel from
    /// `kernels`.
    ///
    /// # Errors
    /// Where the plan's processor is not one.
    pub fn new(
        drives: ModelledDrives,
        plan: LabPlan,
        settings: LabSettings,
        kernels: KernelSource,
        ledger: Ledger,
        executor: Executor,
    ) -> Result<Self, SourceError> {
        let machine = Machine::configured(&zfs_configuration(), &["zpool", "zfs"]);
        let processor = processor_of(&plan)?;
        Ok(Self { drives, plan, processor, settings, kernels, machine, ledger, executor })
    }

    fn short_of_memory(&self) -> Option<String> {
        let need = self.plan.memory.0.saturating_mul(self.settings.at_once as u64);
        let hold = CpuLeases::of_user().memory_bytes();
        short_of_memory(Bytes(need), Bytes(hold), self.settings.machine_memory)
    }
}

impl From<LabBench> for Bench {
    fn from(bench: LabBench) -> Self {
        Self::of(bench)
    }
}

impl BenchSteps for LabBench {
    fn profile(&self) -> BenchProfile {
        let work = match &self.processor {
            None => "CPU time is free".to_owned(),
            Some(processor) => {
                format!("CPU time is charged as on {}", processor.about())
            }
        };
        let bus = self.plan.bus.map(|rate| BytesPerSecond(rate as f64));
        let bus = bus.map(|rate| format!(" on one bus of {}", rate.si()));
        let timeout = self.plan.scsi_timeout;
        let timeout =
            timeout.map(|s| format!(" as SCSI disks whose commands time out after {s} s"));
        let about = format!(
            "{}{}{}, under a Linux kernel in virtual time with {} of memory, set up as {}; {work}",
            self.drives.about(),
            bus.unwrap_or_default(),
            timeout.unwrap_or_default(),
            self.plan.memory.iec(),
            self.plan.machine
        );
        BenchProfile {
            name: "lab".to_owned(),
            about,
            medium: Medium::LAB,
            at_once: self.settings.at_once,
            is_simulated: true,
        }
    }

    fn warnings(&self, needs: &BenchNeeds) -> Vec<String> {
        let mut notes = self.drives.notes();
        notes.extend(self.short_of_memory());
        if needs.zfs {
            let limit = MappingLimit::of_this_system();
            notes.extend(limit.and_then(|limit| limit.remedy(self.plan.memory)));
        }
        notes.extend(ConfinementSupport::of_this_system().missing().into_iter().map(str::to_owned));
        notes
    }

    fn preflight(&self, campaign: &LoadedStudy) -> Preflight {
        let planned = MachinePlan::Lab(Box::new(self.plan.clone()));
        preflight_devices(campaign, &self.drives, &self.machine, planned)
    }

    fn prepare(
        mut self: Box<Self>,
        needs: &BenchNeeds,
    ) -> Result<Box<dyn CellExecutor>, BenchError> {
        self.ledger.make()?;
        let named = needs.linux.iter().map(|name| Some(name.as_str()));
        let names: Vec<_> = if needs.linux.is_empty() { vec![None] } else { named.collect() };
        let mut kernels = Vec::new();
        for name in names {
            let kernel = (self.kernels)(name, needs.zfs)?;
            let environment = self.environment(&kernel, identity(&kernel.program, &self.executor)?);
            kernels.push(PreparedKernel { name: name.map(str::to_owned), kernel, environment });
        }
        let Self { settings, ledger, executor, .. } = *self;
        let environment = kernels.first().map(|first| first.environment.clone());
        let environment = environment.unwrap_or_default();
        let shared = LabShared { settings, kernels, made: MadeDrivesCache::default() };
        Ok(Box::new(LabWorkers::new(shared, environment, ledger, executor)))
    }
}

impl LabBench {
    /// What a record says of the machine.
    fn environment(&self, kernel: &LabKernel, identity: LabKernelIdentity) -> Environment {
        let here = environment(&self.executor);
        let release = printed_release(&kernel.program, &self.executor).unwrap_or_default();
        Environment {
            kernel: format!("Linux {release} User-Mode Linux, time travel{}", kernel.words),
            // A guest has one, and what it is does not matter: its time is free, or
            // what the work would take on another is charged.
            processor: Some(match &self.processor {
                None => "simulated, infinitely fast".to_owned(),
                Some(processor) => format!("simulated: {}", processor.about()),
            }),
            processors: 1,
            memory_bytes: self.plan.memory.0,
            virtual_machine: None,
            distribution: here.distribution,
            tools: here.tools,
            lab_kernel: Some(identity),
            extra: [("lab.machine".to_owned(), described(profile_of(&self.plan)))].into(),
            ..Environment::default()
        }
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
