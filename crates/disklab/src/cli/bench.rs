//! What applies to one bench alone: one struct each. `disklab_runner` refuses what another
//! bench would ignore.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap_complete::ArgValueCompleter;
use disklab_lab_kernel::LinuxChoice;
use disklab_runner::Bus;
use disklab_study::DriveRequests;
use disklab_units::{Bytes, parse_duration};

use super::complete;

/// For the lab.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Lab")]
pub struct LabArgs {
    /// Drives in place of the study's: a model (see `disklab list drives`) or a drive file,
    /// how many, and of what size if not the model's; several with commas. The study's
    /// layouts are made of them as far as they fit. With --on dir: and a study of a
    /// directory: what it lies on, if that is not seen. Repeatable.
    #[arg(
        long,
        value_name = "MODEL[:COUNT[:SIZE]],…",
        add = ArgValueCompleter::new(complete::drive)
    )]
    pub drives: Vec<DriveRequests>,
    /// A guest's memory, the page cache included. [default: the study's, or 1 GiB]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Charge for CPU time as on this processor: a shipped one, such as atom-d2700
    /// (see `disklab list processors`), or a processor file; 'none' for free. [default:
    /// the study's, or none]
    #[arg(long, value_name = "PROCESSOR", add = ArgValueCompleter::new(complete::processor))]
    pub processor: Option<String>,
    /// Have all drives share a bus of this rate, such as '415 MB/s', as behind a port
    /// multiplier, a dock or a slow chipset; 'none' for one each. [default: the study's,
    /// or none]
    #[arg(long, value_name = "RATE")]
    pub bus: Option<Bus>,
    /// Give a field of a drive model another value than its file has, such as
    /// 'hgst-10tb:cache.dirty-limit=32 MiB'. The run and its report say so. Repeatable.
    #[arg(long, value_name = "MODEL:TABLE.FIELD=VALUE")]
    pub set_drive: Vec<String>,
    /// Have a drive of each stack fail while the work runs, such as 'drive 2: dies at 30 s'; see
    /// `disklab list faults`. Repeatable.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// A kernel to use instead of the one that `disklab lab build` makes; its digest is
    /// recorded. Overrides DISKLAB_LAB_KERNEL.
    #[arg(long, value_name = "PATH")]
    pub kernel: Option<PathBuf>,
    /// Which of the lab's kernels: 6.12, or 7.3 of Debian 13's backports, which runs programs
    /// by seccomp, or 7.3-ptrace. Figures of two kernels are not compared. [default: 6.12]
    #[arg(long, value_name = "VERSION", conflicts_with = "kernel")]
    pub linux: Option<LinuxChoice>,
    /// Cells to run in parallel. Results do not depend on it. [default: one per CPU]
    #[arg(long, value_name = "N")]
    pub at_once: Option<usize>,
    /// Virtual time after which a cell's guest is stopped, and the cell has failed.
    /// [default: 30 d]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub cell_limit: Option<Duration>,
}

impl LabArgs {
    /// All drives in place of the study's.
    pub fn drives(&self) -> Option<DriveRequests> {
        all_drives(&self.drives)
    }
}

/// What an option that may be repeated asks for together; nothing if it is not given.
pub fn all_drives(requests: &[DriveRequests]) -> Option<DriveRequests> {
    let all: Vec<_> = requests.iter().flat_map(|drives| drives.0.clone()).collect();
    (!all.is_empty()).then_some(DriveRequests(all))
}

/// For loop devices.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Loop devices")]
pub struct LoopArgs {
    /// Size of a drive, which is a file of this machine. [default: twice the largest
    /// workload, or what the study asks for]
    #[arg(long, value_name = "SIZE")]
    pub drive_size: Option<Bytes>,
}

/// For disks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Disks")]
pub struct DiskArgs {
    /// Erase the drive with this serial number although it carries data. Repeatable.
    #[arg(long, value_name = "SERIAL")]
    pub erase: Vec<String>,
}
