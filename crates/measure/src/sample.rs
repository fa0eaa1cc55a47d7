//! All that one cell measured, raw.

use std::collections::BTreeMap;
use std::fmt;

use disklab_exec::TraceEntry;
use serde::{Deserialize, Serialize};

use crate::{Conditions, FileData, Latency, OperationKind};

/// All that one cell measured, raw.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// What the workload did, in order.
    pub steps: Vec<Step>,
    /// Time that the cell took outside its workload.
    pub overhead: Overhead,
    /// The surroundings, as they were for this cell.
    pub environment: Environment,
    /// What a reader should know: how lazy initialisation and resync were dealt
    /// with, what was written beforehand, whether direct I/O was honoured.
    pub notes: Vec<Note>,
    /// Every command that ran, the layers' included.
    pub trace: Vec<TraceEntry>,
    /// What each drive did from the making of the stack until the workload's end: also
    /// making file systems, resyncing, and writing what is read. Empty in runs made before
    /// this was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<DriveTraffic>,
}

/// One step of a workload: one run of one program, with counters around it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// Its name within the workload, such as `rand-read-4k`, `cp`, `cached`.
    pub name: String,
    /// The figures it gave: one per direction, as a rule.
    pub figures: Vec<Figure>,
    /// Wall-clock nanoseconds from before the program started until it ended.
    pub elapsed_ns: u64,
    /// Processor time.
    pub cpu: Cpu,
    /// What each drive really did during the step.
    pub drives: Vec<DriveTraffic>,
    /// What each drive did, interval by interval.
    pub series: Series,
    /// How steady it was, where the workload counts interval by interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// The figures of the steady part alone, one per direction, where that part is not
    /// the whole and its figures are known: see [`Step::steady_figures`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<Figure>,
    /// What is in the files that it reads, when the workload had ended; absent where the
    /// workload does not know which they are, and in earlier runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_read: Option<FileData>,
}

impl Step {
    /// The figures of the part in which the work was steady.
    ///
    /// # Errors
    /// Why there are none.
    pub fn steady_figures(&self) -> Result<&[Figure], NotSteady> {
        match self.steadiness.map(|steady| steady.course) {
            None => Err(NotSteady::Unknown),
            Some(Course::NotSteady) => Err(NotSteady::Never),
            Some(Course::Flat) => Ok(&self.figures),
            Some(Course::Warmup | Course::Slowdown) if self.steady.is_empty() => {
                Err(NotSteady::Unknown)
            }
            Some(Course::Warmup | Course::Slowdown) => Ok(&self.steady),
        }
    }
}

/// Why a step has no figures of a steady part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSteady {
    /// It did not become steady.
    Never,
    /// Its program does not tell what it did when, or it was too short to say.
    Unknown,
}

/// How steady a step's work was, from its own counts interval by interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Length of an interval in nanoseconds.
    pub interval_ns: u64,
    /// How many whole intervals there were.
    pub intervals: u32,
    /// Its course, by change points.
    pub course: Course,
    /// From when on it was the same until the end, by change points: nanoseconds
    /// from where counting began. 0 where it does not become steady, too.
    pub steady_from_ns: u64,
    /// The same by SNIA's rule, for 25 rounds at most; none where no five of them
    /// are alike.
    pub snia_from_ns: Option<u64>,
    /// From when on [`Step::figures`] count; 0 for all that was counted. Those of the
    /// steady part are in [`Step::steady`].
    pub used_from_ns: u64,
}

impl Steadiness {
    /// From when on the work was steady, where it was not from the start: nanoseconds
    /// from where counting began.
    pub fn later_part(&self) -> Option<u64> {
        let later = matches!(self.course, Course::Warmup | Course::Slowdown);
        later.then_some(self.steady_from_ns)
    }
}

/// What the course of a step was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// The same all along.
    Flat,
    /// Slower at first.
    Warmup,
    /// Faster at first, as where a cache fills.
    Slowdown,
    /// It did not become steady.
    NotSteady,
}

/// What kind of work a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Data read.
    Read,
    /// Data written.
    Write,
    /// Data discarded.
    Trim,
    /// Files copied: read and written.
    Copy,
    /// Files removed.
    Remove,
    /// Operations of all kinds together, such as a file server's: told in operations
    /// per second.
    Mixed,
}

impl Direction {
    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Copy => "copy",
            Self::Remove => "remove",
            Self::Mixed => "mixed",
        }
    }
}

/// One measured result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Kind of work.
    pub direction: Direction,
    /// Bytes that the workload asked for and got.
    pub bytes: u64,
    /// Operations, where they are counted.
    pub operations: Option<u64>,
    /// Nanoseconds that the work took, as the program or disklab clocked it.
    pub elapsed_ns: u64,
    /// Bytes per second. Kept apart from `bytes / elapsed_ns` because programs
    /// such as fio leave start-up out of it.
    pub bytes_per_second: Option<f64>,
    /// Operations per second.
    pub operations_per_second: Option<f64>,
    /// Distribution of the operations' latencies.
    pub latency: Option<Latency>,
    /// Deadlines missed, where the work has deadlines: operations that were
    /// complete only after the moment at which they were needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
    /// What its operations are.
    #[serde(default, skip_serializing_if = "OperationKind::is_io")]
    pub operation: OperationKind,
    /// Distribution of the times until a write was durable, where a sync of its own
    /// follows each: write and sync together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Latency>,
}

/// Processor time of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cpu {
    /// The program's time in user space, in nanoseconds.
    pub user_ns: u64,
    /// The kernel's time on the program's behalf, in nanoseconds.
    pub system_ns: u64,
    /// All processors' busy time, kernel threads included, in nanoseconds.
    pub machine_busy_ns: u64,
    /// Of that, time stolen by a hypervisor.
    pub machine_steal_ns: u64,
    /// How many processors there are.
    pub processors: u32,
}

/// What a drive really did, from its own counters before and after.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveTraffic {
    /// The drive's name in the study, or its device name.
    pub drive: String,
    /// Bytes read from it.
    pub read_bytes: u64,
    /// Read requests completed.
    pub reads: u64,
    /// Bytes written to it.
    pub write_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes discarded on it.
    pub discard_bytes: u64,
    /// Flush requests completed.
    pub flushes: u64,
    /// Nanoseconds during which it had work.
    pub busy_ns: u64,
    /// Request-nanoseconds spent waiting or in service.
    pub queue_ns: u64,
    /// Bytes that it wrote to its own medium meanwhile, where it tells: what it was
    /// given, and what it collected, folded or cleaned. What its write cache holds at
    /// the end is not in it, and what it held at the beginning may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium_write_bytes: Option<u64>,
}

/// Counters interval by interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// Length of an interval in nanoseconds; 0 where there is no series.
    pub interval_ns: u64,
    /// One list per drive.
    pub drives: Vec<DriveSeries>,
}

/// One drive's series; all lists have one entry per interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveSeries {
    /// The drive's name.
    pub drive: String,
    /// Bytes read in each interval.
    pub read_bytes: Vec<u64>,
    /// Bytes written in each interval.
    pub write_bytes: Vec<u64>,
    /// Requests completed in each interval.
    pub requests: Vec<u64>,
}

/// Seconds that a cell took outside its workload.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Overhead {
    /// Making the drives ready and the layers, mkfs and mount included.
    pub make_seconds: f64,
    /// Waiting for a resync or a lazy initialisation.
    pub settle_seconds: f64,
    /// Syncing and dropping caches.
    pub caches_seconds: f64,
    /// Taking everything down.
    pub take_down_seconds: f64,
    /// Writing beforehand what the workload reads: part of the workload, not of
    /// the overhead, but not measured.
    pub prewrite_seconds: f64,
}

impl Overhead {
    /// Everything but the pre-writing and the waiting for the stack to settle.
    pub fn total_seconds(&self) -> f64 {
        self.make_seconds + self.caches_seconds + self.take_down_seconds
    }
}

/// A remark that belongs to a sample.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Note {
    /// What it is about: a layer, a program, a drive.
    pub about: String,
    /// A sentence.
    pub text: String,
}

/// The surroundings of a run or a cell. Absent values were not to be had.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// `uname -srvm`, such as `Linux 6.12.1 #1 SMP x86_64`.
    pub kernel: String,
    /// The distribution's name.
    pub distribution: Option<String>,
    /// The processor's name.
    pub processor: Option<String>,
    /// Processors online.
    pub processors: u32,
    /// Main memory in bytes.
    pub memory_bytes: u64,
    /// Whether a hypervisor is known to lie below.
    pub virtual_machine: Option<String>,
    /// Versions of the programs used.
    pub tools: Vec<Tool>,
    /// Mounts of the stack, as the kernel reports them: `/dev/md0 /mnt ext4 rw,relatime`.
    pub mounts: Vec<String>,
    /// The drives.
    pub drives: Vec<DriveState>,
    /// 1-minute load average before and after the cell.
    pub load: Option<(f64, f64)>,
    /// Bytes that block devices outside the stack moved during the cell.
    pub foreign_bytes: Option<u64>,
    /// Whatever else was found, by name.
    pub extra: BTreeMap<String, String>,
    /// What held around a cell: evidence for audits. Runs of before had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// The kernel of the lab's guests, of a run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_kernel: Option<LabKernelIdentity>,
}

/// What tells a kernel of the lab from another: two builds may share their release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabKernelIdentity {
    /// SHA-256 of its file, in hexadecimal.
    pub digest: String,
    /// Digest of its whole configuration, if it prints one.
    pub configuration: Option<String>,
    /// What it was built from (options and patches, source, compiler), if disklab built it.
    pub recipe: Option<String>,
}

impl fmt::Display for LabKernelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest.get(..16).unwrap_or(&self.digest);
        write!(f, "SHA-256 {digest}")?;
        if let Some(configuration) = &self.configuration {
            write!(f, ", .config {configuration}")?;
        }
        match &self.recipe {
            Some(recipe) => write!(f, ", built from {recipe}"),
            None => f.write_str(", not built by disklab"),
        }
    }
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The program.
    pub name: String,
    /// What it says of its version, in one line.
    pub version: String,
}

/// A drive as the kernel and the drive itself describe it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveState {
    /// Its name in the study, or its device name.
    pub drive: String,
    /// Its device node.
    pub device: String,
    /// Model, where it tells one.
    pub model: Option<String>,
    /// Serial number, where it tells one.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Capacity in bytes.
    pub size_bytes: u64,
    /// Logical and physical sector size in bytes.
    pub sectors: Option<(u32, u32)>,
    /// Whether the kernel takes it for a rotating disk.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// `write back` or `write through`, as the kernel sees it.
    pub write_cache: Option<String>,
    /// World-wide name or another identifier that no two drives share.
    pub wwid: Option<String>,
    /// `host-aware` or `host-managed` where the kernel sees a zoned drive.
    pub zoned: Option<String>,
    /// Speed of its link as negotiated, such as `6.0 Gb/s`.
    pub link_speed: Option<String>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// What SMART said, as `smartctl --json` gives it, cut to what matters.
    pub smart: Option<serde_json::Value>,
}
