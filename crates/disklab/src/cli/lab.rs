//! The command line of `disklab lab`.

use std::path::PathBuf;

use super::complete;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use disklab_lab_kernel::LinuxChoice;
use disklab_units::Bytes;

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Build the lab's kernel with all that it can have, if it is not built yet, and say
    /// where it is. Takes some minutes, once; needs no root. Studies build what they need of
    /// it on their own.
    Build(BuildArgs),
    /// Give a prompt with modelled drives, in virtual time: an ordinary user tries
    /// RAIDs and file systems on four 10 TB drives, and `sleep 3600` returns at once.
    Shell(ShellArgs),
    /// Measure how fast the lab is on this machine, in a minute or two: the cost of one
    /// simulated request, in round trips of 16 bytes between two processes (RT), and the
    /// throughput. Needs two idle CPUs.
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// An unpacked source of Linux 6.12 or later, which is only read. A copy gets the lab's
    /// patches; those that do not apply are listed, with what does not hold without them. The
    /// kernel is used only if --kernel names it. [default: Debian's package
    /// linux-source-6.12]
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
    /// Which of the lab's kernels: 6.12, or 7.3, whose source comes from Debian 13's
    /// backports; nothing is installed. [default: 6.12]
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["source", "zfs"])]
    pub linux: Option<LinuxChoice>,
    /// Build only what this study needs, as its run does.
    #[arg(long = "for", value_name = "STUDY", conflicts_with = "zfs", add = ArgValueCompleter::new(complete::study))]
    pub study: Option<String>,
    /// Build the second kernel, with OpenZFS in it; studies with ZFS build it by
    /// themselves. Nothing of it is installed.
    #[arg(long)]
    pub zfs: bool,
    /// An unpacked source of OpenZFS 2.3 or later, with its `configure`. [default: Debian's
    /// packages]
    #[arg(long, value_name = "DIR", requires = "zfs")]
    pub zfs_source: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ShellArgs {
    /// Drives: a model (see `disklab list drives`) or a drive file, how many of
    /// them, and their size [default: the model's]; several with commas. Repeatable.
    #[arg(
        long,
        value_name = "MODEL[:COUNT[:SIZE]]",
        default_value = "hgst-10tb:4",
        add = ArgValueCompleter::new(complete::drive)
    )]
    pub drives: Vec<String>,
    /// Have a drive fail, such as 'drive 2: dies at 30 s', counted from the guest's start; see
    /// `disklab list faults`. Repeatable.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Have the drives be SCSI disks (/dev/sda), whose commands the kernel gives up after this time,
    /// such as 30s. [default: virtio disks (/dev/vda), for which it waits for ever]
    #[arg(long, value_name = "TIME", value_parser = scsi_timeout)]
    pub scsi_timeout: Option<u64>,
    /// The guest's memory.
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub memory: Bytes,
    /// Charge for CPU time as on this processor: a shipped one, such as
    /// atom-d2700 (see `disklab list processors`), or a processor file; 'none' for free.
    #[arg(long, value_name = "PROCESSOR", default_value = "none")]
    pub processor: String,
    /// A directory of this machine that can be written to in the guest too. Repeatable.
    /// The guest cannot change mode, owner and times of files there.
    #[arg(long, value_name = "DIR")]
    pub writable: Vec<PathBuf>,
    /// Run this command line instead of a prompt; the exit code is its own.
    #[arg(short, long, value_name = "COMMAND", conflicts_with = "script")]
    pub command: Option<String>,
    /// Run this shell script instead of a prompt; standard input if '-'.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Seed of everything random. The same script with the same seed takes the same
    /// virtual time.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// With OpenZFS: a kernel that has it, with its programs.
    #[arg(long)]
    pub zfs: bool,
    /// A kernel to use instead of the one that `disklab lab build` makes. Overrides
    /// DISKLAB_LAB_KERNEL.
    #[arg(long, value_name = "PATH")]
    pub kernel: Option<PathBuf>,
    /// Which of the lab's kernels: 6.12, or 7.3 of Debian 13's backports, which runs programs
    /// by seccomp, or 7.3-ptrace. [default: 6.12]
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["kernel", "zfs"])]
    pub linux: Option<LinuxChoice>,
}

/// Seconds after which the kernel gives up a command.
fn scsi_timeout(text: &str) -> Result<u64, String> {
    disklab_study::scsi_timeout(text)?.ok_or_else(|| "expected a time, such as 30s".to_owned())
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// A kernel to use instead of the one that `disklab lab build` makes. Overrides
    /// DISKLAB_LAB_KERNEL.
    #[arg(long, value_name = "PATH")]
    pub kernel: Option<PathBuf>,
    /// Which of the lab's kernels: 6.12, or 7.3 of Debian 13's backports, which runs programs
    /// by seccomp, or 7.3-ptrace. [default: 6.12]
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["kernel", "against"])]
    pub linux: Option<LinuxChoice>,
    /// The CPU to measure on. [default: the first that disklab may use]
    #[arg(long, value_name = "N")]
    pub core: Option<usize>,
    /// Compare with the lab of another disklab, such as an older build: both are measured in
    /// turn, each with its own kernel, and so is what a study of 30 cells takes of the
    /// processor. Shows both and their ratio. Takes a minute or two per repeat.
    #[arg(long, value_name = "PROGRAM", value_hint = clap::ValueHint::ExecutablePath)]
    pub against: Option<PathBuf>,
    /// A kernel for the program that is compared with.
    #[arg(long, value_name = "PATH", requires = "against")]
    pub against_kernel: Option<PathBuf>,
    /// How often everything is measured; medians are shown.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
}
