//! The lab bench.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_bench::{
    Bench, BenchError, LabBench, LabKernel, LabSettings, LoadedStudy, ModelledDrives,
    find_processor, free_space, set_ordinary, study_processor,
};
use disklab_cell::{HostPlan, LabPlan, Needs};
use disklab_config::ModelSetting;
use disklab_exec::{Executor, Interrupt};
use disklab_guest::guest_program;
use disklab_lab::ContentLimits;
use disklab_lab::processors;
use disklab_lab_kernel as kernel;
use disklab_lab_kernel::{LinuxChoice, LinuxVersion, NamedKernel, Parts};
use disklab_stack::Ledger;
use disklab_study::{SCSI_TIMEOUT, Study};
use disklab_units::Bytes;

use super::allowance::{machine_memory, usable_memory, usable_processors};
use super::benches::Benches;
use super::caller::{Caller, KernelBuilder};
use super::paths::existing_ancestor;
use crate::options::OptionsError;
use crate::{BenchKind, Bus, PlanProblem, RunOptions, RunnerError};

/// A guest's memory where neither the user nor the study says it: that of a small NAS.
const MEMORY: Bytes = Bytes::gib(1);

/// A guest that is not done then hangs: the longest published study took days, and
/// an idle guest is there within a minute.
const CELL_LIMIT: Duration = Duration::from_secs(30 * 86_400);

/// What a lab is made of.
pub(crate) struct PlannedLab {
    /// What its guests have.
    pub plan: LabPlan,
    /// The drives of a study, for words about them.
    drives: ModelledDrives,
    /// The kernel that the user named.
    named: Option<NamedKernel>,
    linux: Option<LinuxChoice>,
    scratch: PathBuf,
    at_once: usize,
    cores: Vec<usize>,
}

impl PlannedLab {
    /// Of a study, with the options that the user gave.
    pub(super) fn of_study(benches: &Benches<'_>) -> Result<Self, RunnerError> {
        let (options, campaign) = (&benches.settings, benches.campaign);
        let over = options.set_drive.iter().map(|text| ModelSetting::parse("--set-drive", text));
        let over = over.collect::<Result<Vec<_>, _>>()?;
        let study = &campaign.study;
        let drives = ModelledDrives::new(study, benches.study, &over)?;
        if has_scsi(study) {
            drives.check_scsi()?;
        }
        let memory = options.memory.or(study.lab_memory).unwrap_or(MEMORY);
        check_memory(memory)?;
        let processor = match &options.processor {
            Some(name) => find_processor(name, Path::new("")),
            None => study_processor(study, benches.study),
        };
        let mut plan = LabPlan {
            machine: study.lab_machine.name.to_owned(),
            memory,
            linux: options.linux.clone(),
            parts: kernel_options(campaign),
            processor: processor?,
            // Whole bytes: `disklab_study::bus` reads no others.
            bus: options.bus.unwrap_or(Bus(study.lab_bus)).0.map(|rate| rate.0 as u64),
            scsi_timeout: study.lab_scsi_timeout,
            host: study.lab_host.clone().map(|table| HostPlan { table, cache: None }),
            limit: options.cell_limit.unwrap_or(CELL_LIMIT),
        };
        set_ordinary(&study.axes, &mut plan);
        let cores = processors().map_err(RunnerError::Processors)?;
        let most = most_memory(study, memory)?;
        let at_once = at_once(benches.options.at_once, cores.len(), most)?;
        let (named, linux) = (benches.kernel.cloned(), benches.options.linux);
        Ok(Self { plan, drives, named, linux, scratch: benches.scratch.to_owned(), at_once, cores })
    }

    /// Of a cell's plan.
    pub(crate) fn of_plan(
        plan: &LabPlan,
        needs: &Needs,
        kernel: Option<&Path>,
        scratch: &Path,
    ) -> Result<Self, RunnerError> {
        check_memory(plan.memory)?;
        let read = |word: &String| word.parse().map_err(|_| PlanProblem::Linux(word.clone()));
        let linux: Option<LinuxChoice> = plan.linux.as_ref().map(read).transpose()?;
        let named = choose_kernel(kernel, linux.filter(|_| kernel.is_none()))?;
        if let Some(named) = &named {
            check_zfs(named, needs.zfs).map_err(RunnerError::prepare)?;
        }
        let (plan, drives) = (plan.clone(), ModelledDrives::default());
        let (scratch, cores) = (scratch.to_owned(), processors().map_err(RunnerError::Processors)?);
        Ok(Self { plan, drives, named, linux, scratch, at_once: 1, cores })
    }

    /// The same with several cells at once, the largest with so much memory: as many as asked for,
    /// or else as there is room for.
    pub(crate) fn side_by_side(
        self,
        wanted: Option<usize>,
        memory: Bytes,
    ) -> Result<Self, OptionsError> {
        check_memory(memory)?;
        let at_once = at_once(wanted, self.cores.len(), memory)?;
        Ok(Self { at_once, ..self })
    }

    /// How many cells run side by side.
    pub(crate) fn at_once(&self) -> usize {
        self.at_once
    }

    /// The bench. Its kernel is built if it is not there yet.
    pub(crate) fn bench(
        self,
        ledger: Ledger,
        executor: Executor,
        caller: &Caller,
    ) -> Result<LabBench, RunnerError> {
        let no_lab = |source| RunnerError::prepare(BenchError::Kernel { zfs: false, source });
        kernel::check_processor().map_err(no_lab)?;
        let Self { plan, drives, named, linux, scratch, at_once, cores } = self;
        let program = guest_program().map_err(RunnerError::OwnProgram)?;
        let content = ContentLimits::of_free(free_space(&existing_ancestor(&scratch)).0);
        let machine_memory = machine_memory();
        let settings = LabSettings { program, scratch, cores, at_once, machine_memory, content };
        let (builder, interrupt) = (caller.kernels, executor.interrupt.clone());
        let parts = Parts::with_options(plan.parts.iter().map(String::as_str));
        let kernels = move |level: Option<&str>, zfs| {
            let read = |word: &str| word.parse().map_err(BenchError::UnknownLinux);
            let linux = level.map_or(Ok(linux), |word| read(word).map(Some))?;
            kernel_for(zfs, parts, named.as_ref(), linux, builder, &interrupt)
        };
        Ok(LabBench::new(drives, plan, settings, Box::new(kernels), ledger, executor)?)
    }
}

impl Benches<'_> {
    /// The bench of modelled drives, which says how much memory its guests have.
    pub(super) fn lab(&mut self, executor: Executor) -> Result<Bench, RunnerError> {
        let planned = PlannedLab::of_study(self)?;
        let memory = planned.plan.memory;
        let bench = planned.bench(self.ledger(), executor, self.caller)?;
        let is_crossed = self.campaign.study.axes.ordinary().contains_key("memory");
        self.settings.memory = (!is_crossed).then_some(memory);
        self.settings.kernel = self.kernel.map(|named| named.kernel.clone());
        Ok(bench.into())
    }
}

/// The most that a guest of this study has, if it has so much where the study says nothing else.
fn most_memory(study: &Study, memory: Bytes) -> Result<Bytes, OptionsError> {
    let axis = study.axes.all().iter().find(|axis| axis.name() == "memory");
    let Some(axis) = axis else { return Ok(memory) };
    // What is no size is refused when all axes are checked.
    let sizes = axis.levels().iter().filter_map(|level| level.parse().ok());
    let most = sizes.max().unwrap_or(memory);
    check_memory(most).map(|()| most)
}

/// Refuses a guest's memory that is too little, or more than this machine has.
fn check_memory(memory: Bytes) -> Result<(), OptionsError> {
    let most = usable_memory();
    if memory < LabPlan::LEAST_MEMORY || memory > most {
        return Err(OptionsError::Memory { memory, least: LabPlan::LEAST_MEMORY, most });
    }
    Ok(())
}

/// The kernel that the user named, by an option or by a variable.
///
/// # Errors
/// [`RunnerError::Kernel`] if it is not a program, or if none is named and kernels are kept
/// where another user may change them, [`RunnerError::Options`] if the bench has
/// no use for it.
pub(super) fn named_kernel(options: &RunOptions) -> Result<Option<NamedKernel>, RunnerError> {
    let bench = options.bench();
    let (named, linux) = (&options.settings.kernel, options.linux);
    if bench != BenchKind::Lab {
        let given = [("--kernel", named.is_some()), ("--linux", linux.is_some())];
        let flag = given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
        return flag.map_or(Ok(None), |f| Err(OptionsError::KernelElsewhere(f, bench).into()));
    }
    choose_kernel(named.as_deref(), linux)
}

/// The kernel that was named, or that the variable names, unless it is to be one of the lab's own.
fn choose_kernel(
    named: Option<&Path>,
    linux: Option<LinuxChoice>,
) -> Result<Option<NamedKernel>, RunnerError> {
    let named = match (named, linux) {
        (Some(_), Some(_)) => return Err(OptionsError::KernelTwice.into()),
        // It goes before the variable, too.
        (None, Some(_)) => None,
        (named, None) => NamedKernel::find(named)?,
    };
    if named.is_none() {
        kernel::check_cache(&kernel::cache_directory())?;
    }
    Ok(named)
}

/// Refuses a named kernel that lacks OpenZFS if cells need it.
///
/// # Errors
/// [`BenchError::KernelLacksZfs`].
pub fn check_zfs(named: &NamedKernel, zfs: bool) -> Result<(), BenchError> {
    if !zfs || named.programs.is_some() {
        return Ok(());
    }
    Err(BenchError::KernelLacksZfs(named.kernel.clone()))
}

/// The parts of the lab's kernel that a study's stacks need. Those of all its stacks, so that
/// a run with fewer of them does not cause another build before the next.
pub fn kernel_parts(campaign: &LoadedStudy) -> Parts {
    Parts::with_options(kernel_options(campaign).iter().map(String::as_str))
}

/// What the kernel has for drives that are SCSI disks.
const SCSI_OPTION: &str = "CONFIG_SCSI_VIRTIO";

/// Whether a study's drives are SCSI disks, in some of its cells at least.
fn has_scsi(study: &Study) -> bool {
    let is_timeout = |level: &String| disklab_study::scsi_timeout(level).is_ok_and(|t| t.is_some());
    let mut axes = study.axes.all().iter();
    study.lab_scsi_timeout.is_some()
        || axes.any(|axis| axis.name() == SCSI_TIMEOUT && axis.levels().iter().any(is_timeout))
}

/// The options that these parts are of, each once.
fn kernel_options(campaign: &LoadedStudy) -> Vec<String> {
    let needs = campaign.stacks.iter().flat_map(|stack| stack.needs());
    let mut options: BTreeSet<String> = needs.filter_map(|need| need.kernel_option()).collect();
    options.extend(has_scsi(&campaign.study).then(|| SCSI_OPTION.to_owned()));
    options.into_iter().collect()
}

/// Whether these cells need the kernel with ZFS, and where that, the plain one or the one that
/// was named is, if it is there.
pub(super) fn kernel_of(
    campaign: &LoadedStudy,
    zfs: bool,
    named: Option<&NamedKernel>,
    linux: Option<LinuxChoice>,
) -> (bool, Option<PathBuf>) {
    let cache = kernel::cache_directory();
    let found = match named {
        Some(named) => Some(named.kernel.clone()),
        None if zfs => kernel::find_zfs(&cache).map(|found| found.kernel),
        None => found(linux, kernel_parts(campaign)),
    };
    (zfs, found)
}

/// A kernel that is there already.
fn found(linux: Option<LinuxChoice>, parts: Parts) -> Option<PathBuf> {
    let cache = kernel::cache_directory();
    match linux {
        Some(linux) => kernel::find_version(&cache, linux.version, parts),
        None => kernel::find(&cache, parts),
    }
}

/// Refuses a version of Linux that OpenZFS is not built into.
///
/// # Errors
/// [`BenchError::LinuxLacksZfs`].
pub(super) fn check_linux(linux: Option<LinuxChoice>, zfs: bool) -> Result<(), BenchError> {
    match linux.filter(|linux| zfs && linux.version != LinuxVersion::default()) {
        Some(linux) => Err(BenchError::LinuxLacksZfs(linux)),
        None => Ok(()),
    }
}

/// The kernel; it is built where it is not there yet.
fn kernel_for(
    zfs: bool,
    parts: Parts,
    named: Option<&NamedKernel>,
    linux: Option<LinuxChoice>,
    builder: KernelBuilder,
    interrupt: &Interrupt,
) -> Result<LabKernel, BenchError> {
    check_linux(linux, zfs)?;
    let chosen = linux.unwrap_or_default();
    let source = kernel::LinuxSource::Debian(chosen.version);
    let cache = kernel::cache_directory();
    let failed = |source| BenchError::Kernel { zfs, source };
    let with_programs = |program: PathBuf, programs: Option<PathBuf>| {
        let arguments = programs.iter().map(|_| kernel::ZFS_HOST.to_owned()).collect();
        LabKernel { program, programs, arguments, words: "" }
    };
    if let Some(named) = named {
        check_zfs(named, zfs)?;
        // The same for all cells of a study, so that its parts can be merged.
        return Ok(with_programs(named.kernel.clone(), named.programs.clone()));
    }
    if !zfs {
        let program = match found(linux, parts) {
            Some(program) => program,
            None => (builder.plain)(&source, parts, interrupt).map_err(failed)?,
        };
        let (arguments, words) = (chosen.arguments(), chosen.words());
        return Ok(LabKernel { program, programs: None, arguments, words });
    }
    let found = match kernel::find_zfs(&cache) {
        Some(found) => found,
        None => {
            let zfs_source = kernel::ZfsSource::Debian;
            (builder.zfs)(&source, &zfs_source, interrupt).map_err(failed)?
        }
    };
    Ok(with_programs(found.kernel, Some(found.programs)))
}

/// How many labs run at once: as many as asked for, or else one on each of the `cores` that
/// this process may use, as far as their guests fit into its memory and its quota of processors.
fn at_once(wanted: Option<usize>, cores: usize, memory: Bytes) -> Result<usize, OptionsError> {
    match wanted {
        Some(wanted) if wanted == 0 || wanted > cores => {
            Err(OptionsError::AtOnce { wanted, processors: cores })
        }
        Some(wanted) => Ok(wanted),
        None => Ok(that_fit(cores.min(usable_processors()), memory, usable_memory())),
    }
}

fn that_fit(processors: usize, memory: Bytes, most: Bytes) -> usize {
    let fit = usize::try_from(most.0 / memory.0.max(1)).unwrap_or(usize::MAX);
    fit.clamp(1, processors.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lab_has_a_processor_and_its_memory() {
        for (processors, gib, labs) in [(4, 1024, 4), (4, 7, 3), (4, 1, 1), (0, 1024, 1)] {
            assert_eq!(that_fit(processors, Bytes::gib(2), Bytes::gib(gib)), labs);
        }
        let labs = |wanted| at_once(Some(wanted), 4, Bytes::gib(1 << 20));
        assert_eq!([labs(2), labs(4)], [Ok(2), Ok(4)]);
        for wanted in [0, 5] {
            assert_eq!(labs(wanted), Err(OptionsError::AtOnce { wanted, processors: 4 }));
        }
    }
}
