//! The command line of `disklab drive`.

use std::path::PathBuf;

use super::complete;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;

/// Validate a drive model, measure a drive, or compare a drive with its model.
///
/// With a model or a drive file alone: validate it against closed-form predictions, such as IOPS
/// at depth 1 against 1/(mean seek + half a revolution + transfer). Takes seconds; exit code 1 if
/// a check fails.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct DriveArgs {
    #[command(subcommand)]
    pub command: Option<DriveCommand>,
    /// A model (see `disklab list drives`) or a drive file. [default: all shipped models, which
    /// needs --pages]
    #[arg(required_unless_present = "pages", add = ArgValueCompleter::new(complete::drive))]
    pub drive: Option<String>,
    /// Draw the checks' charts into this directory, which is created if needed.
    #[arg(long, value_name = "DIR", requires = "drive")]
    pub svg: Option<PathBuf>,
    /// Write the drive's page, or those of all drives, into this directory: Markdown with
    /// pictures, as in docs/drives.
    #[arg(long, value_name = "DIR")]
    pub pages: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum DriveCommand {
    Probe(ProbeArgs),
    Check(CheckArgs),
}

/// Measure a drive of this machine and write a drive file that the lab takes.
///
/// Reads only, for some five minutes on a hard disk. Each value comes with an interval;
/// what reading cannot show is taken from the nearest shipped drive and marked so. With
/// `--writes`, writes are measured as well, in a file of the probe's own or a blank partition.
/// Refuses anything but a whole drive, and a drive that something else uses meanwhile.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// The drive, such as /dev/disk/by-id/ata-…
    pub device: PathBuf,
    /// The drive file to write. An earlier one is replaced only if a probe wrote it.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Measure writes, too, in a file without a name that is made in this directory and vanishes
    /// at the end: 4 GiB on a hard disk, half of what is free on a solid-state drive, up to 400
    /// GiB. The directory is on the drive, on ext4 or XFS. Or in a blank partition of the drive,
    /// by its name in /dev/disk/by-id.
    #[arg(long, value_name = "DIR-OR-PARTITION")]
    pub writes: Option<PathBuf>,
    /// Seed of the places that are read. [default: 1]
    #[arg(long, value_name = "SEED", default_value_t = 1, hide_default_value = true)]
    pub seed: u64,
}

/// Compare a drive of this machine with its model: the same loads on both.
///
/// Reads only, for some two minutes on a hard disk; with `--writes`, writes as well, in a file
/// of its own or a blank partition. Says for each load what the drive and the model make of it,
/// and how far they are apart. Refuses what `probe` refuses.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The drive file, or a model (see `disklab list drives`).
    #[arg(add = ArgValueCompleter::new(complete::drive))]
    pub drive: String,
    /// The drive, such as /dev/disk/by-id/ata-…
    pub device: PathBuf,
    /// Compare writes, too, in 4 GiB: in a file without a name that is made in this directory and
    /// vanishes at the end; the directory is on the drive, on ext4 or XFS. Or in a blank partition
    /// of the drive, by its name in /dev/disk/by-id.
    #[arg(long, value_name = "DIR-OR-PARTITION")]
    pub writes: Option<PathBuf>,
    /// Seed of the places that are read. [default: 1]
    #[arg(long, value_name = "SEED", default_value_t = 1, hide_default_value = true)]
    pub seed: u64,
}
