//! What can go wrong while a stack is made or torn down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_exec::ExecError;

use crate::{Distrust, LedgerId, QueueSetting, ShapeError};

/// Why a stack could not be made or torn down.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// A program failed.
    #[error("{layer}: {source}")]
    Program {
        /// The layer at work.
        layer: String,
        /// What happened.
        source: ExecError,
    },
    /// A file or device could not be used.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried, such as 'cannot open'.
        what: String,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A state directory or ledger that somebody else controls: nothing that it lists
    /// is touched.
    #[error("{} is not trusted: {why}; {}", path.display(), remedy(*why, path))]
    Untrusted {
        /// The directory or file.
        path: PathBuf,
        /// Who else could have written it.
        why: Distrust,
    },
    /// A layer cannot be built on what lies below it.
    #[error(transparent)]
    Unfit(#[from] ShapeError),
    /// What a layer is to be built on is not a block device of this machine.
    #[error("{layer}: {} is not a block device", device.display())]
    NoBlockDevice {
        /// Its name in the study's stack.
        layer: String,
        /// What there is.
        device: PathBuf,
    },
    /// Something that was made does not show.
    #[error("{layer}: {what} did not appear within {} s; see the kernel's messages (dmesg)", waited.as_secs())]
    NotShown {
        /// Its name in the study's stack.
        layer: String,
        /// What was waited for: 'partition 1 of /dev/sda'.
        what: String,
        /// How long.
        waited: Duration,
    },
    /// What was made on devices is not on them.
    #[error("{layer}: {what} is not on {}; attach the drives that it was made on", list(devices))]
    NotFound {
        /// Its name in the study's stack.
        layer: &'static str,
        /// What was looked for: 'the array with the UUID …'.
        what: String,
        /// Where.
        devices: Vec<PathBuf>,
    },
    /// A new array whose members differ when its first resync has ended.
    #[error(
        "{layer}: the first resync ended, but not all members agree; see the kernel's messages \
         (dmesg) for errors of a drive"
    )]
    MembersDiffer {
        /// Its name in the study's stack: `md` or `shr`.
        layer: String,
    },
    /// mdadm reported success, and there is no array.
    #[error("{layer}: mdadm made no array with the UUID {uuid} that /sys/block shows")]
    NoArray {
        /// Its name in the study's stack: `md` or `shr`.
        layer: String,
        /// What it would be known by.
        uuid: String,
    },
    /// A layer cannot do what is asked of it while it is in use.
    #[error("{layer} cannot {what}")]
    NotByLayer {
        /// The layer, or the whole stack.
        layer: String,
        /// What was asked for.
        what: &'static str,
    },
    /// A layer has no device on a drive.
    #[error("{layer} has no device on {}", drive.display())]
    NotOnDrive {
        /// Its name in the study's stack.
        layer: String,
        /// The drive's node.
        drive: PathBuf,
    },
    /// A layer lacks redundancy, and nothing is rebuilt.
    #[error("{layer} stays degraded: no rebuild begins; replace the drive first")]
    StaysDegraded {
        /// Its name in the study's stack.
        layer: String,
    },
    /// The kernel has stopped initialising a file system.
    #[error(
        "ext4: the kernel has stopped initialising {} with {left} block groups left; use \
         lazy-init=off", device.display()
    )]
    InitialisingStopped {
        /// The file system's device.
        device: PathBuf,
        /// How many block groups are not initialised.
        left: usize,
    },
    /// The program that frees segments has ended at once.
    #[error("nilfs2: nilfs_cleanerd ended; the system's log says why")]
    CleanerEnded,
    /// A setting of a drive's queue.
    #[error("queue: `{setting}` of {device}: {why}")]
    Queue {
        /// Which of sysfs' attributes.
        setting: QueueSetting,
        /// The kernel's name of the drive.
        device: String,
        /// Why it could not be set.
        why: QueueProblem,
    },
    /// A program's output is not what it prints.
    #[error("`{command}` printed '{found}', where {expected} was expected")]
    Output {
        /// The command line.
        command: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A program was to print JSON.
    #[error("`{command}` printed no valid JSON: {source}")]
    OutputJson {
        /// The command line.
        command: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// An image with partitions, and no program to look at them.
    #[error(
        "{} has partitions; sfdisk is needed to inspect them: apt-get install fdisk", .0.display()
    )]
    NoSfdisk(PathBuf),
    /// A thing that bears a name that disklab gives, and is not what disklab made.
    #[error("{} was left alone: {why}", path.display())]
    LeftAlone {
        /// The thing.
        path: PathBuf,
        /// How it differs from what disklab made.
        why: LeftAlone,
    },
    /// Something uses what is to be torn down.
    #[error("{} is in use{}", path.display(), users(by))]
    InUse {
        /// The thing.
        path: PathBuf,
        /// Who uses it, as far as is known: 'process 12 (fio)'.
        by: Vec<String>,
    },
    /// A mount that was in use was taken out of sight.
    #[error(
        "{} was still in use{} and was only detached; its devices stay busy until that ends{}",
        path.display(), users(by), source.as_ref().map(|e| format!(": {e}")).unwrap_or_default()
    )]
    OnlyDetached {
        /// Where it was mounted.
        path: PathBuf,
        /// Who uses it.
        by: Vec<String>,
        /// What umount said.
        source: Option<Box<ExecError>>,
    },
    /// A mount is there after umount reported success.
    #[error("{} cannot be unmounted", .0.display())]
    StillMounted(PathBuf),
    /// No mount is there after mount reported success.
    #[error("{} is not mounted again, although mounting reported no error", .0.display())]
    NotMountedAgain(PathBuf),
    /// A loop device keeps its file.
    #[error("{} is still in use and stays attached to {}", device.display(), file.display())]
    StaysAttached {
        /// The loop device.
        device: PathBuf,
        /// What it still has open.
        file: PathBuf,
    },
    /// The kernel keeps the partitions of a drive.
    #[error("{} keeps its partitions", .0.display())]
    KeepsPartitions(PathBuf),
    /// An array that was asked to stop.
    #[error("{} does not stop", .0.display())]
    ArrayRuns(PathBuf),
    /// A process that was asked to end, and then killed.
    #[error("process {0} does not end")]
    ProcessRuns(u32),
    /// Programs of a run that was killed.
    #[error(
        "programs of an earlier disklab do not end: {}; what it left is torn down at the next \
         start", .0.join(", ")
    )]
    ProgramsRun(Vec<String>),
    /// All names of ledgers are taken.
    #[error("no name is left for a ledger in {}", .0.display())]
    NoLedgerName(PathBuf),
    /// A line of a ledger that cannot be understood.
    #[error(
        "line {line} of the ledger {} is invalid ({problem}); see what it names, remove that \
         by hand, and then the file",
        path.display()
    )]
    InvalidLedger {
        /// The ledger.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// A decision on what a run left, of which there is nothing.
    #[error("no run left anything under the ID '{id}'; {}", known_ids(known))]
    UnknownLeftover {
        /// What was named.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A decision on what cannot be decided here.
    #[error("cannot decide about '{id}' here: {why}")]
    Undecidable {
        /// What was named.
        id: String,
        /// Why, and what to do.
        why: Undecidable,
    },
}

/// What is wrong with a line of a ledger.
#[derive(Debug, thiserror::Error)]
pub enum LineProblem {
    /// It is no entry.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It has a path that disklab enters nowhere.
    #[error("disklab never enters the path '{}'", .0.display())]
    OddPath(PathBuf),
    /// The line that says whose ledger it is is missing.
    #[error("it does not say on which machine it was written")]
    NoOwner,
}

/// Why a decision on what a run left cannot be carried out here.
#[derive(Debug, thiserror::Error)]
pub enum Undecidable {
    /// It continues.
    #[error("the run that it belongs to has not ended; wait for its end")]
    Running,
    /// It was another machine's.
    #[error(transparent)]
    Elsewhere(LedgerElsewhere),
}

/// A ledger whose things are not here.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "the ledger {} was written {}, so it was left alone: `disklab doctor` there tears down what \
     it lists; if that no longer exists, `disklab doctor --keep {id}` forgets it",
    path.display(),
    if *on_this_machine {
        "in another container or mount namespace of this machine"
    } else {
        "on another machine, or before this one got its machine-id"
    }
)]
pub struct LedgerElsewhere {
    /// Which.
    pub id: LedgerId,
    /// The ledger.
    pub path: PathBuf,
    /// Whether it is this machine's, in another container.
    pub on_this_machine: bool,
}

/// Why a setting of a queue could not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueProblem {
    /// The device has no such setting.
    #[error("it has no such setting; only drives have a scheduler with requests")]
    Absent,
    /// Nobody could tell later which drive it was.
    #[error("the kernel gives the drive no number, so it could not be set back safely")]
    NoNumber,
    /// The kernel took another value.
    #[error("the kernel made '{found}' of '{wanted}'")]
    NotTaken {
        /// What was asked for.
        wanted: String,
        /// What is set now.
        found: String,
    },
}

/// Why a file or directory stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LeftAlone {
    /// It is something else now.
    #[error("it is no longer the file that disklab made")]
    NotTheFile,
    /// It is something else now.
    #[error("it is no longer the directory that disklab created")]
    NotTheDirectory,
    /// Its name is somebody else's.
    #[error("its name is not one that disklab gives")]
    OtherName,
    /// A file system lies in it.
    #[error("something is mounted in it")]
    MountedIn,
    /// A lock shows that another run uses it.
    #[error("another disklab works in it")]
    InUse,
}

/// Paths in a sentence.
pub(crate) fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn users(by: &[String]) -> String {
    if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) }
}

fn remedy(why: Distrust, path: &Path) -> String {
    match why {
        Distrust::Owner { .. } => "set XDG_STATE_HOME to a directory of your own (with sudo, \
                                   use `sudo -H`), or run disklab as that user"
            .to_owned(),
        Distrust::Mode(_) => {
            format!("see what is in it, then `chmod go-w '{}'`", path.display())
        }
        Distrust::Kind | Distrust::Links(_) => {
            "see who made it, and remove it, or set XDG_STATE_HOME to another directory".to_owned()
        }
    }
}

fn known_ids(known: &[String]) -> String {
    if known.is_empty() {
        "nothing is left".to_owned()
    } else {
        format!("known: {}", known.join(", "))
    }
}

impl StackError {
    /// An error of the system: what was tried, on what, and its reason.
    pub(crate) fn io(what: &str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what: what.to_owned(), path: path.to_owned(), source }
    }

    /// Whether nothing was touched, as what disklab was given is to be refused.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Untrusted { .. } | Self::UnknownLeftover { .. } | Self::Undecidable { .. }
        )
    }

    /// Whether it is only that the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Program { source: ExecError::Interrupted(_), .. })
    }
}
