//! The lab bench, from the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_bench::{
    BenchError, Campaign, LabBench, LabKernel, LabSettings, ModelledDrives, find_processor,
    free_space, needs_zfs, study_processor,
};
use disklab_config::ModelSetting;
use disklab_exec::{ExecError, Executor, Interrupt};
use disklab_lab::kernel::{NamedKernel, Parts};
use disklab_lab::speed::processors;
use disklab_lab::{ContentLimits, kernel};
use disklab_stack::Ledger;
use disklab_study::Cell;
use disklab_units::Bytes;

use super::{Place, existing_ancestor};
use crate::cli::{Bus, CampaignArgs};
use crate::commands::lab::build;
use crate::exit::{Failure, INTERRUPTED};
use crate::on::On;

/// A guest's memory where neither the user nor the study says it: that of a small NAS.
const MEMORY: Bytes = Bytes::gib(1);
/// With less, programs such as mkfs.xfs are killed.
const LEAST_MEMORY: Bytes = Bytes::mib(128);

/// A guest that is not done then hangs: the longest published study took days, and
/// an idle guest is there within a minute.
const CELL_LIMIT: Duration = Duration::from_secs(30 * 86_400);

/// The lab bench, and the memory of its guests.
pub fn bench(
    args: &CampaignArgs,
    campaign: &Campaign,
    place: &Place<'_>,
    ledger: Ledger,
    executor: Executor,
) -> Result<(LabBench, Bytes), Failure> {
    let over = args.set_drive.iter().map(|text| ModelSetting::parse("--set-drive", text));
    let over = over.collect::<Result<Vec<_>, _>>().map_err(Failure::usage_error)?;
    let drives =
        ModelledDrives::new(&campaign.study, place.study, &over).map_err(Failure::usage_error)?;
    let memory = args.memory.or(campaign.study.lab_memory).unwrap_or(MEMORY);
    let most = machine_memory();
    if memory < LEAST_MEMORY || memory > most {
        return Err(Failure::usage_error(format!(
            "a guest's memory of {} (--memory, or the study's `lab.memory`): it takes from {} to what this machine has, {}",
            memory.iec(),
            LEAST_MEMORY.iec(),
            most.iec()
        )));
    }
    let processor = match &args.processor {
        Some(name) => find_processor(name, Path::new("")),
        None => study_processor(&campaign.study, place.study),
    };
    let processor = processor.map_err(Failure::usage_error)?;
    let cores = processors().map_err(Failure::failed)?;
    let at_once = at_once(args.at_once, cores.len(), memory, most)?;
    let program = std::env::current_exe()
        .map_err(|e| Failure::failed(format!("cannot find disklab's own program: {e}")))?;
    let interrupt = executor.interrupt.clone();
    let free = free_space(&existing_ancestor(place.scratch));
    let content =
        ContentLimits { disk_bytes: free.0 / 10 * 9 / at_once as u64, ..ContentLimits::default() };
    let settings = LabSettings {
        program,
        scratch: place.scratch.to_owned(),
        cores,
        at_once,
        memory,
        machine_memory: most,
        content,
        cell_limit: args.cell_limit.unwrap_or(CELL_LIMIT),
        folder: place.study.to_owned(),
        processor,
        bus: args.bus.unwrap_or(Bus(campaign.study.lab_bus)).0,
        set_drive: args.set_drive.clone(),
    };
    let named = place.kernel.cloned();
    let parts = kernel_parts(campaign);
    let kernels = Box::new(move |zfs| kernel_for(zfs, parts, named.as_ref(), &interrupt));
    Ok((LabBench::new(drives, settings, kernels, ledger, executor), memory))
}

/// The kernel that the user named, by an option or by a variable.
///
/// # Errors
/// [`Failure`] if it is not a program, or if the bench has no use for it.
pub fn named_kernel(args: &CampaignArgs) -> Result<Option<NamedKernel>, Failure> {
    if args.on() == On::Lab {
        return NamedKernel::find(args.kernel.as_deref()).map_err(Failure::usage_error);
    }
    match &args.kernel {
        None => Ok(None),
        Some(_) => Err(Failure::usage_error(format!(
            "--kernel is for the lab's guests; the bench '{}' runs on this machine's own kernel",
            args.on()
        ))),
    }
}

/// Refuses a named kernel that lacks OpenZFS if cells need it.
pub fn check_zfs(named: &NamedKernel, zfs: bool) -> Result<(), String> {
    if !zfs || named.programs.is_some() {
        return Ok(());
    }
    Err(format!(
        "'{}' has no programs of OpenZFS beside it, which stacks with ZFS need: name the kernel \
         that `disklab lab build --zfs` makes, where that put it, or leave these stacks out with \
         --without 'zfs*:*'",
        named.kernel.display()
    ))
}

/// The parts of the lab's kernel that a study's stacks need. Those of all its stacks, so that
/// a run with fewer of them does not cause another build before the next.
pub fn kernel_parts(campaign: &Campaign) -> Parts {
    let needs = campaign.stacks.iter().flat_map(|stack| stack.needs());
    let options: Vec<String> = needs.filter_map(|need| need.kernel_option()).collect();
    Parts::with_options(options.iter().map(String::as_str))
}

/// Whether these cells need the kernel with ZFS, and where that, the plain one or the one that
/// was named is, if it is there.
pub fn kernel_of(
    campaign: &Campaign,
    cells: &[Cell],
    named: Option<&NamedKernel>,
) -> (bool, Option<PathBuf>) {
    let cache = kernel::cache_folder();
    let zfs = needs_zfs(campaign, cells);
    let found = match named {
        Some(named) => Some(named.kernel.clone()),
        None if zfs => kernel::find_zfs(&cache).map(|found| found.kernel),
        None => kernel::find(&cache, kernel_parts(campaign)),
    };
    (zfs, found)
}

/// The kernel; it is built where it is not there yet.
fn kernel_for(
    zfs: bool,
    parts: Parts,
    named: Option<&NamedKernel>,
    interrupt: &Interrupt,
) -> Result<LabKernel, BenchError> {
    let source = kernel::Source::Debian;
    let cache = kernel::cache_folder();
    let failed = |failure: Failure, what: &str| match failure.code {
        INTERRUPTED => BenchError::Program(ExecError::Interrupted),
        _ => BenchError::Other(format!("the lab's kernel{what}: {failure}")),
    };
    let with_programs = |program: PathBuf, programs: Option<PathBuf>| {
        let arguments = programs.iter().map(|_| kernel::ZFS_HOST.to_owned()).collect();
        LabKernel { program, programs, arguments }
    };
    if let Some(named) = named {
        check_zfs(named, zfs).map_err(BenchError::Other)?;
        // The same for all cells of a study, so that its parts can be merged.
        return Ok(with_programs(named.kernel.clone(), named.programs.clone()));
    }
    if !zfs {
        let program = match kernel::find(&cache, parts) {
            Some(program) => program,
            None => build::ensure(&source, parts, interrupt).map_err(|e| failed(e, ""))?,
        };
        return Ok(with_programs(program, None));
    }
    let found = match kernel::find_zfs(&cache) {
        Some(found) => found,
        None => {
            let zfs = kernel::ZfsSource::Debian;
            let hint = " with ZFS, which --without 'zfs*:*' leaves out";
            build::ensure_zfs(&source, &zfs, interrupt).map_err(|e| failed(e, hint))?
        }
    };
    Ok(with_programs(found.kernel, Some(found.programs)))
}

/// How many labs run at once: as many as asked for, or else one on each processor that
/// this process may use, as far as their guests fit into the memory.
fn at_once(
    wanted: Option<usize>,
    cores: usize,
    memory: Bytes,
    most: Bytes,
) -> Result<usize, Failure> {
    let fit = usize::try_from(most.0 / memory.0.max(1)).unwrap_or(usize::MAX);
    match wanted {
        Some(wanted) if wanted == 0 || wanted > cores => Err(Failure::usage_error(format!(
            "--at-once {wanted}: this process may use {cores} processors, and each lab needs one"
        ))),
        Some(wanted) => Ok(wanted),
        None => Ok(fit.clamp(1, cores.max(1))),
    }
}

/// This machine's memory.
pub fn machine_memory() -> Bytes {
    let info = rustix::system::sysinfo();
    Bytes((info.totalram as u64).saturating_mul(u64::from(info.mem_unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lab_has_a_processor_and_its_memory() {
        let labs = |wanted, gib| at_once(wanted, 4, Bytes::gib(2), Bytes::gib(gib));
        for (wanted, gib, labs_at_once) in
            [(None, 1024, 4), (None, 7, 3), (None, 1, 1), (Some(2), 1024, 2), (Some(4), 1, 4)]
        {
            assert_eq!(labs(wanted, gib).unwrap_or_else(|e| panic!("{e}")), labs_at_once);
        }
        assert!(labs(Some(0), 1024).is_err());
        assert!(labs(Some(5), 1024).is_err());
    }
}
