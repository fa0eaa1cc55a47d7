//! `disklab lab shell`: a prompt with modelled drives, in virtual time.

mod directory;
mod drives;
mod greeting;
mod operator;

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use disklab_bench::{ModelError, drive_faults, find_processor};
use disklab_cell::{FaultPlan, LabPlan};
use disklab_exec::{Interrupt, read_input};
use disklab_lab::processors;
use disklab_lab::{
    ConfinementSupport, Console, ContentLimits, CpuLease, CpuLeases, DiskFaults, DiskOptions, Lab,
    LabError, LabOptions, LabReport, console,
};
use disklab_lab_guest::{self as guest, DiskTransport};
use disklab_lab_kernel::{self as kernel, LinuxSource, LinuxVersion, ZfsSource};
use disklab_processor::{Processor, from_node};
use disklab_units::{Bytes, show_duration};

use super::build;
use crate::cli::ShellArgs;
use crate::exit::{DONE, Failure};
use crate::printing::print;
use crate::signals;
use directory::session_directory;
use disklab_guest::drives::DriveFacts;
use disklab_guest::shell::JOB;
use disklab_guest::shell::session::{SessionScript, ShellSession};
use disklab_runner::{check_zfs, usable_memory};
use drives::SessionDrive;
use operator::{ExitCode, ScriptOperator, SessionUser};

/// The script's name in the lab's directory.
const SCRIPT: &str = "script";
/// Nobody writes a longer script.
const LARGEST_SCRIPT: u64 = 16 << 20;

/// Gives a prompt, or runs what was given; returns the exit code of the shell.
pub fn shell(args: &ShellArgs) -> Result<u8, Failure> {
    let (drives, disks) = drives_and_disks(args)?;
    check_memory(args.memory)?;
    let processor = find_processor(&args.processor, Path::new(""))?;
    let processor = processor.as_ref().map(from_node).transpose().map_err(ModelError::from)?;
    let charges = processor.as_ref().map(Processor::kernel_arguments).unwrap_or_default();
    let writable = writable(&args.writable)?;
    let script = script(args)?;
    if script.is_none() && !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failure::usage_error(
            "a prompt needs a terminal as standard input and output; \
             give -c COMMAND or --script FILE to run something without",
        ));
    }
    let interrupt = signals::interrupt()?;
    let (kernel, programs) = kernel_and_programs(args, &interrupt)?;
    warn_of_missing_confinement();
    let directory = session_directory()?;
    let session = ShellSession {
        directory: std::env::current_dir()
            .map_err(|e| Failure::failed(format!("cannot find the current directory: {e}")))?,
        writable: writable.clone(),
        programs,
        charges: charges.clone(),
        script: leave(script, directory.path())?,
        terminal: std::env::var("TERM").unwrap_or_else(|_| "dumb".to_owned()),
        drives: facts(&drives, transport(args)),
    };
    session.write(directory.path())?;
    let code = ExitCode::default();
    let scripted = session.script.is_some();
    let console = if scripted {
        Console::Operator(Box::new(ScriptOperator { code: code.clone() }))
    } else {
        print(&greeting::greeting(&drives, transport(args), processor.as_ref()))?;
        Console::Operator(Box::new(SessionUser::new(interrupt.clone(), code.clone())))
    };
    let program = disklab_guest::guest_program().map_err(Failure::no_own_program)?;
    let mut options = LabOptions::new(kernel, directory.path(), program);
    options.console = console;
    options.writable = writable;
    options.init_arguments = vec![guest::GUEST.to_owned(), JOB.to_owned()];
    options.kernel_arguments = args.linux.unwrap_or_default().arguments();
    options.kernel_arguments.extend(charges);
    options.memory_bytes = args.memory.0;
    options.disks = disks;
    options.seed = args.seed;
    options.content = content(directory.path());
    let lease = processors().ok().and_then(|all| CpuLeases::of_user().take(&all, args.memory.0));
    options.core = lease.as_ref().map(CpuLease::core);
    options.interrupt = interrupt;
    let report = Lab::start(options).and_then(Lab::run);
    if !scripted && report.is_ok() {
        // `poweroff` is a way to leave too.
        if let Ok(mut code) = code.lock() {
            code.get_or_insert(DONE);
        }
    }
    finish(report, &code, directory.path())
}

/// Says what of this system a guest could harm, if anything.
fn warn_of_missing_confinement() {
    for missing in ConfinementSupport::of_this_system().missing() {
        eprintln!("disklab: {missing}");
    }
}

/// The kernel, and where programs that belong to it are.
fn kernel_and_programs(
    args: &ShellArgs,
    interrupt: &Interrupt,
) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let cache = kernel::cache_directory();
    if let Some(named) = build::named(args.kernel.as_deref(), args.linux)? {
        check_zfs(&named, args.zfs).map_err(Failure::usage_error)?;
        return Ok((named.kernel, named.programs.filter(|_| args.zfs)));
    }
    if args.zfs {
        let zfs = match kernel::find_zfs(&cache) {
            Some(zfs) => zfs,
            None => {
                let source = LinuxSource::Debian(LinuxVersion::default());
                build::ensure_zfs(&source, &ZfsSource::Debian, interrupt)?
            }
        };
        return Ok((zfs.kernel, Some(zfs.programs)));
    }
    Ok((build::find_or_build(args.linux, interrupt)?, None))
}

fn finish(
    report: Result<LabReport, LabError>,
    code: &ExitCode,
    directory: &Path,
) -> Result<u8, Failure> {
    let code = code.lock().ok().and_then(|code| *code);
    match (report, code) {
        (Ok(report), code) => {
            let virtual_time = std::time::Duration::from_nanos(report.virtual_time.0);
            eprintln!(
                "disklab: {} of virtual time in {}",
                show_duration(virtual_time),
                show_duration(report.real_time)
            );
            code.ok_or_else(|| {
                Failure::failed(format!(
                    "the guest ended before its shell; the end of its console:\n{}",
                    console::tail(&directory.join(console::FILE))
                ))
            })
        }
        (Err(LabError::Interrupted(_)), _) => Err(Failure::interrupted("interrupted")),
        (Err(e @ (LabError::Options(_) | LabError::Kernel { .. })), _) => {
            Err(Failure::usage_error(e))
        }
        (Err(e), _) => Err(Failure::failed(e)),
    }
}

fn check_memory(memory: Bytes) -> Result<(), Failure> {
    let most = usable_memory();
    if (LabPlan::LEAST_MEMORY..=most).contains(&memory) {
        return Ok(());
    }
    Err(Failure::usage_error(format!(
        "--memory {}: a guest takes from {} to what disklab may use here, {}",
        memory.iec(),
        LabPlan::LEAST_MEMORY.iec(),
        most.iec()
    )))
}

/// The directories, by the paths that they have in the guest too.
fn writable(directories: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let resolve = |directory: &PathBuf| {
        let wrong = |why: String| {
            Failure::usage_error(format!("--writable {}: {why}", directory.display()))
        };
        let path = directory.canonicalize().map_err(|e| wrong(e.to_string()))?;
        if !path.is_dir() {
            return Err(wrong("not a directory".to_owned()));
        }
        // The guest's own are mounted there.
        if ["/", "/dev", "/proc", "/sys", "/run"].iter().any(|own| path == Path::new(own)) {
            return Err(wrong("the guest has one of its own there; name one within".to_owned()));
        }
        Ok(path)
    };
    directories.iter().map(resolve).collect()
}

/// What is to be run, and for a file, what is in it.
enum ShellInput {
    Command(String),
    File(Vec<u8>),
}

fn script(args: &ShellArgs) -> Result<Option<ShellInput>, Failure> {
    if let Some(command) = &args.command {
        return Ok(Some(ShellInput::Command(command.clone())));
    }
    let Some(path) = &args.script else { return Ok(None) };
    let wrong = |e: std::io::Error| {
        Failure::usage_error(format!("cannot read the script '{}': {e}", path.display()))
    };
    if path.as_os_str() != "-" {
        return Ok(Some(ShellInput::File(read_input(path, LARGEST_SCRIPT).map_err(wrong)?)));
    }
    let mut text = Vec::new();
    std::io::stdin().take(LARGEST_SCRIPT + 1).read_to_end(&mut text).map_err(wrong)?;
    if text.len() as u64 > LARGEST_SCRIPT {
        return Err(wrong(std::io::ErrorKind::FileTooLarge.into()));
    }
    Ok(Some(ShellInput::File(text)))
}

/// Leaves a script where the guest finds it.
fn leave(given: Option<ShellInput>, directory: &Path) -> Result<Option<SessionScript>, Failure> {
    Ok(match given {
        None => None,
        Some(ShellInput::Command(text)) => Some(SessionScript::Command(text)),
        Some(ShellInput::File(text)) => {
            let path = directory.join(SCRIPT);
            std::fs::write(&path, text)
                .map_err(|e| Failure::failed(format!("cannot write '{}': {e}", path.display())))?;
            Some(SessionScript::File(SCRIPT.to_owned()))
        }
    })
}

/// What the guest is to see the drives as.
fn transport(args: &ShellArgs) -> DiskTransport {
    match args.scsi_timeout {
        Some(_) => DiskTransport::Scsi,
        None => DiskTransport::Block,
    }
}

fn facts(drives: &[SessionDrive], transport: DiskTransport) -> Vec<DriveFacts> {
    let facts = |(index, drive): (usize, &SessionDrive)| {
        DriveFacts::new(transport.disk_name(index), &drive.model, &drive.serial)
    };
    drives.iter().enumerate().map(facts).collect()
}

/// The drives that were asked for, and the guest's disks that they are, with their faults.
fn drives_and_disks(args: &ShellArgs) -> Result<(Vec<SessionDrive>, Vec<DiskOptions>), Failure> {
    let drives = drives::drives(&args.drives)?;
    let disk = |(number, drive): (u64, &SessionDrive)| {
        // Each stands differently, as drives do.
        DiskOptions {
            transport: transport(args),
            command_timeout: args.scsi_timeout,
            ..DiskOptions::of(&drive.model, args.seed.wrapping_add(number), &drive.serial)
        }
    };
    let mut disks: Vec<DiskOptions> = (0..).zip(&drives).map(disk).collect();
    let faults = args.fault.iter().map(|text| text.parse::<FaultPlan>());
    let faults = faults.collect::<Result<Vec<_>, _>>();
    let faults = faults.map_err(|e| Failure::usage_error(format!("--fault: {e}")))?;
    let faults = drive_faults(&faults, "", &disks, args.seed).map_err(Failure::usage_error)?;
    for (disk, own) in disks.iter_mut().zip(faults) {
        disk.faults = (!own.is_empty()).then(|| DiskFaults::from_start(own));
    }
    Ok((drives, disks))
}

/// What the drives' content may take: most of what is free.
fn content(directory: &Path) -> ContentLimits {
    let free = rustix::fs::statvfs(directory).map(|s| s.f_bavail.saturating_mul(s.f_frsize));
    free.map_or_else(|_| ContentLimits::default(), ContentLimits::of_free)
}
