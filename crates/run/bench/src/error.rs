//! What can go wrong on a bench.

use std::path::{Path, PathBuf};

use disklab_cell::Cell;
use disklab_exec::{ExecError, Interrupted, owner};
use disklab_lab::LabError;
use disklab_lab_kernel::{KernelError, LinuxChoice};
use disklab_measure::MeasureError;
use disklab_source::SourceError;
use disklab_stack::StackError;
use disklab_units::Bytes;
use disklab_workload::WorkloadError;

use crate::axes::WrongAxis;
use crate::lab::{DrivesError, FaultProblem, ReportedFailure};
use crate::safety::{DriveLoss, Refusal};

/// Why a bench cannot continue at all.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file or device could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ExecError),
    /// The ledger could not be written.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// What was made could not be torn down; continuing would measure on ruins.
    #[error("could not tear down what cell {cell} created: {}", all_of(problems))]
    TearDown {
        /// The cell's number.
        cell: u32,
        /// All that went wrong.
        problems: Vec<StackError>,
    },
    /// The lab's kernel cannot be one.
    #[error(
        "'{}' is not a kernel of the lab: it prints no configuration of User-Mode Linux \
         (--showconfig); name one that `disklab lab build` made, with --kernel", .0.display()
    )]
    NotALabKernel(PathBuf),
    /// The lab's kernel is not there and could not be built.
    #[error(
        "the lab's kernel{}: {source}",
        if *zfs { " with ZFS, which --without 'zfs*:*' leaves out" } else { "" }
    )]
    Kernel {
        /// Whether it is the one with ZFS.
        zfs: bool,
        /// Why.
        source: KernelError,
    },
    /// The kernel that the user named has no OpenZFS, and stacks need it.
    #[error(
        "'{}' has no programs of OpenZFS next to it, which stacks with ZFS need: name the kernel \
         that `disklab lab build --zfs` makes, where that put it, or leave these stacks out with \
         --without 'zfs*:*'", .0.display()
    )]
    KernelLacksZfs(PathBuf),
    /// The chosen version of Linux is not built with OpenZFS, and stacks need it.
    #[error(
        "--linux {0} has no OpenZFS, which stacks with ZFS need: leave --linux out, or these \
         stacks with --without 'zfs*:*'"
    )]
    LinuxLacksZfs(LinuxChoice),
    /// A drive cannot have a fault.
    #[error("'{fault}': {why}; `disklab list faults` has what there is")]
    Fault {
        /// As it is typed.
        fault: String,
        /// Why not.
        #[source]
        why: FaultProblem,
    },
    /// A stack cannot have an event of its workload.
    #[error("'{stack}' cannot {what}: {why}")]
    Care {
        /// What is to be done.
        what: &'static str,
        /// In the notation of its layers.
        stack: String,
        /// Why it cannot be.
        why: String,
    },
    /// Drives that must not be used, and why.
    #[error("{}", lines(.0))]
    Refused(Vec<Objection>),
    /// Nobody consented to what the run destroys.
    #[error("the drives named above would be erased; pass --yes to continue")]
    ConsentNeeded,
    /// The user was asked, and did not consent.
    #[error("nothing was touched")]
    ConsentRefused,
    /// The user's answer could not be read.
    #[error("cannot read the answer: {0}; pass --yes to continue")]
    Answer(std::io::Error),
    /// A drive that was not checked, which is never touched.
    #[error("drive {} of the bench was not checked, so it is not touched", .0 + 1)]
    Unchecked(usize),
    /// The study needs a drive that the bench does not have.
    #[error("the bench has no drive {}", .0 + 1)]
    NoSuchDrive(usize),
    /// Drives were lost.
    #[error(
        "{} while it was measured",
        .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    DrivesLost(Vec<DriveLoss>),
    /// The directory lies on another file system than when the run began: a share or a drive is gone,
    /// or something was mounted over it.
    #[error(
        "{} is not what it was when the run began: it was on {was}, and is on {is}. Mount it as it \
         was, remove this run's files from it (disklab{}x*), and continue with `disklab run \
         --resume`", directory.display(), owner()
    )]
    DirectoryMoved {
        /// As `--on` named it.
        directory: PathBuf,
        /// What held it: 'nas:/films (nfs4)'.
        was: String,
        /// What holds it now.
        is: String,
    },
    /// A drive's write cache cannot be switched.
    #[error("the write cache of {}: {why}", drive.display())]
    WriteCache {
        /// Its node in /dev.
        drive: PathBuf,
        /// What keeps it from being switched, and what to do.
        why: WriteCacheProblem,
    },
    /// The lab has no such kernel.
    #[error(transparent)]
    UnknownLinux(disklab_lab_kernel::UnknownLinux),
    /// A cell has a level that it cannot have here.
    #[error(transparent)]
    Axis(#[from] WrongAxis),
    /// A cell names a stack or a workload that the study does not have.
    #[error("cell {} ({} on {}) is not of study '{study}'", cell.number, cell.levels.workload, cell.levels.stack)]
    UnknownCell {
        /// As the run has it, from the study's text at that time.
        cell: Box<Cell>,
        /// Id of the study.
        study: String,
    },
    /// losetup attached a file and did not say where.
    #[error("`{command}` named no device")]
    NoLoopDevice {
        /// The command line.
        command: String,
    },
    /// No processor is left for a guest.
    #[error("the lab has no processor that it may run on; let disklab run on one (taskset)")]
    NoProcessor,
    /// The guest lacks a disk that the host gave it.
    #[error("the guest has no disk '{serial}'")]
    NoGuestDisk {
        /// Its serial number.
        serial: String,
    },
    /// A cell's plan has a layer or work that cannot be understood.
    #[error("the plan of the cell: {0}")]
    Plan(#[from] SourceError),
    /// A cell's plan is for another bench.
    #[error("the plan of the cell is for another bench")]
    OtherBench,
    /// A cell's work does not fit on its stack.
    #[error("the plan's work needs {}, and its stack has {}", needs.iec(), has.iec())]
    TooSmall {
        /// What the work needs.
        needs: Bytes,
        /// What the stack has.
        has: Bytes,
    },
    /// A drive of a cell's plan is of no known model, or of another size.
    #[error(transparent)]
    Model(#[from] DrivesError),
}

/// Why a write cache cannot be switched.
#[derive(Debug, thiserror::Error)]
pub enum WriteCacheProblem {
    /// Its state is not known.
    #[error("hdparm -W does not tell its state, so it cannot be switched")]
    Unknown,
    /// Nobody could tell later which drive it was.
    #[error("the drive has no serial number, so it could not be switched back safely")]
    NoSerial,
    /// The drive, or the program, refused.
    #[error(transparent)]
    Failed(MeasureError),
}

/// Something that speaks against using the drives that were named.
#[derive(Debug, thiserror::Error)]
pub enum Objection {
    /// A drive is refused.
    #[error("{0}")]
    Drive(Refusal),
    /// A name more than the study has drives is a mistake, and the drive that it leads to
    /// perhaps not meant to be erased.
    #[error(
        "the study '{study}' has {has} {}, and --on names {named}; leave out what it has no use \
         for: {}",
        if *has == 1 { "drive" } else { "drives" },
        unused.iter().map(|name| name.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    TooMany {
        /// Id of the study.
        study: String,
        /// How many drives it has.
        has: usize,
        /// How many were named.
        named: usize,
        /// Those that it has no use for.
        unused: Vec<PathBuf>,
    },
}

fn lines(objections: &[Objection]) -> String {
    objections.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl From<Interrupted> for BenchError {
    fn from(stop: Interrupted) -> Self {
        Self::Program(stop.into())
    }
}

impl BenchError {
    /// Drives that are refused.
    pub fn refused(refusals: Vec<Refusal>) -> Self {
        Self::Refused(refusals.into_iter().map(Objection::Drive).collect())
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Program(ExecError::Interrupted(_)) => true,
            Self::Kernel { source, .. } => source.is_interrupt(),
            Self::Stack(error) => error.is_interrupt(),
            _ => false,
        }
    }

    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let (what, path) = (what.to_owned(), path.to_owned());
        move |source| Self::Io { what, path, source }
    }
}

/// Why one cell has no sample.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// Its drives could not be made ready.
    #[error("drives: {0}")]
    Drives(#[source] BenchError),
    /// Its stack could not be made.
    #[error("{0}")]
    Stack(#[from] StackError),
    /// Its workload failed.
    #[error("{0}")]
    Workload(#[from] WorkloadError),
    /// It failed inside the lab's guest, for a reason of the above kinds.
    #[error("{0}")]
    Guest(ReportedFailure),
    /// What the guest left is not an answer.
    #[error("the guest's answer cannot be understood: {0}")]
    GuestAnswer(#[source] std::io::Error),
    /// The guest powered itself off and left no answer.
    #[error("the guest ended without an answer; the end of its console:\n{console}")]
    NoGuestAnswer {
        /// The last lines of the console.
        console: String,
    },
    /// Its guest did not come to its end.
    #[error("{0}")]
    Lab(#[from] LabError),
}

impl CellError {
    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Drives(e) => e.is_interrupt(),
            Self::Stack(e) => e.is_interrupt(),
            Self::Guest(_) | Self::GuestAnswer(_) | Self::NoGuestAnswer { .. } => false,
            Self::Lab(e) => matches!(e, LabError::Interrupted(_)),
            Self::Workload(e) => e.is_interrupt(),
        }
    }
}

fn all_of(problems: &[StackError]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
