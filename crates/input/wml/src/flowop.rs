//! Flowops: the operations of a thread.

use disklab_source::Location;

use crate::{Attribute, FilesetId, PerInstance};

/// Number of a row of the output, in [`Personality::rows`](crate::Personality::rows).
/// Flowops of the same name share a row, and a `target` names one.
pub type RowId = usize;

/// Number of file descriptor slots of a thread; `fd` and `srcfd` are below it
/// (`THREADFLOW_MAXFD` of upstream).
pub const SLOTS: usize = 128;

/// One operation of a thread, or a composite of several.
#[derive(Debug, Clone)]
pub struct Flowop {
    /// Its name, as the output shows it.
    pub name: String,
    /// Its row in the output.
    pub row: RowId,
    /// A number of its own in the personality, from 0 without gaps: state that
    /// belongs to a flowop (semaphores, counters) can be kept in a table.
    pub id: usize,
    /// How often it is done each time its turn comes; drawn each time.
    pub iters: Attribute,
    /// What it does.
    pub action: Action,
    /// Where it is written.
    pub place: Location,
}

/// Which file an operation works on.
#[derive(Debug, Clone)]
pub struct FlowopFiles {
    /// The fileset to pick from. I/O may do without one where the slot is filled
    /// by another flowop of the thread; then an empty slot is an error.
    pub fileset: Option<FilesetId>,
    /// `fd`: the slot, below [`SLOTS`].
    pub slot: usize,
    /// `opennext`: the slot rotates from 127 down to 0, and picks follow a rotor of
    /// the thread.
    pub open_next: bool,
    /// `indexed`: the picked index is this draw modulo the number of entries, or
    /// the next higher one that is available. Where Filebench takes it for a share
    /// (1.4.9, and empty directories), it is one here no longer.
    pub indexed: Option<Attribute>,
    /// How a file is opened where this operation opens one.
    pub how: OpenHow,
}

/// Flags of an open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenHow {
    /// `dsync`: upstream opens with O_SYNC, whatever the name says.
    pub dsync: bool,
    /// `directio`: O_DIRECT.
    pub direct: bool,
    /// `noreadahead`: POSIX_FADV_RANDOM.
    pub no_read_ahead: bool,
}

/// Reading or writing.
#[derive(Debug, Clone)]
pub struct Io {
    /// Which file.
    pub files: FlowopFiles,
    /// `iosize` in bytes. For whole files 0 means all at once; elsewhere a
    /// constant is never 0, but a draw may be.
    pub size: Attribute,
    /// `random`: at a random multiple of the size; else where the file stands.
    pub random: bool,
    /// `workingset`: only this many bytes at the file's start are used; 0 means
    /// the whole file.
    pub working_set: PerInstance,
}

/// What a flowop does (`flowop_library.c`, `fb_localfs.c` of upstream).
#[derive(Debug, Clone)]
pub enum Action {
    /// Opens an existing file; the slot must be empty.
    OpenFile(FlowopFiles),
    /// Makes a file that does not exist, and opens it.
    CreateFile(FlowopFiles),
    /// Closes a slot.
    CloseFile(FlowopFiles),
    /// Removes a file: that last held by the slot where `fd` is above 0, else the
    /// next of the fileset. One that is open elsewhere is skipped and not counted.
    DeleteFile(FlowopFiles),
    /// `fstat(2)` of the slot where `fd` is above 0 and it holds a file, else `stat(2)` of
    /// the next existing file.
    StatFile(FlowopFiles),
    /// Reads `size` bytes.
    Read(Io),
    /// Writes `size` bytes.
    Write(Io),
    /// Reads a file from its start to its end, `size` bytes at a time; counted as
    /// one.
    ReadWholeFile(Io),
    /// Writes a file's drawn size, `size` bytes at a time; counted as one.
    WriteWholeFile {
        /// Where to, and in what pieces.
        io: Io,
        /// `srcfd`: the slot whose file gives the length. None where it is 0 or not
        /// given: in Filebench what slot 0 last held, if it ever held one, else the
        /// working set, else the file's own.
        source: Option<usize>,
    },
    /// Writes `size` bytes at the file's end.
    AppendFile(Io),
    /// Writes ⌊u·(size−1)⌋ bytes at the file's end.
    AppendFileRandom(Io),
    /// `fsync(2)` of a slot; errors are ignored.
    Fsync(FlowopFiles),
    /// `fsync(2)` of all slots that hold files of the fileset.
    FsyncSet(FilesetId),
    /// Makes the next leaf directory that does not exist.
    MakeDir(FlowopFiles),
    /// Removes the next leaf directory that exists.
    RemoveDir(FlowopFiles),
    /// Lists the next inner directory; its bytes are those of the entries.
    ListDir(FlowopFiles),
    /// Writes with asynchronous I/O at a random offset.
    AioWrite(Io),
    /// Waits for the asynchronous writes of this thread. Upstream on Linux only
    /// looks once.
    AioWait,
    /// Ends when `value` operations were done: of the target, else all I/O of the
    /// process.
    FinishOnCount(Finish),
    /// Ends when more than `value` bytes were moved.
    FinishOnBytes(Finish),
    /// Waits for one event.
    EventLimit,
    /// Waits for as many events as reads and writes were done since its last turn.
    IopsLimit(Option<RowId>),
    /// Waits for as many events as I/O operations were done since its last turn.
    OpsLimit(Option<RowId>),
    /// Waits for one event for each MiB moved since its last turn.
    BandwidthLimit(Option<RowId>),
    /// Stores this many times to memory.
    Hog(Attribute),
    /// Sleeps this many seconds.
    Delay(Attribute),
    /// Prints this value.
    Print(Attribute),
    /// Draws this value and does nothing with it.
    TestRandVar(Attribute),
    /// Waits until a `wakeup` names it.
    Block,
    /// Wakes every instance of the target, a `block`.
    Wakeup(RowId),
    /// Waits until `value` posts have come.
    SemBlock {
        /// Number of posts to wait for.
        value: Attribute,
        /// `highwater`: how many posts a `blocking` poster may be ahead.
        highwater: Attribute,
    },
    /// Posts to every instance of the target, a `semblock`.
    SemPost {
        /// Number of posts.
        value: Attribute,
        /// The `semblock`.
        target: RowId,
        /// Whether it also takes the target's highwater credit, and so waits where
        /// it is too far ahead.
        blocking: bool,
    },
    /// These in turn: a composite flowop, its local variables replaced.
    Composite(Vec<Flowop>),
}

/// When a run or a thread ends.
#[derive(Debug, Clone)]
pub struct Finish {
    /// The count or the bytes.
    pub value: PerInstance,
    /// The flowop of the same thread whose operations count; else those of the
    /// process.
    pub target: Option<RowId>,
}

impl Action {
    /// The files it works on, if any.
    pub fn files(&self) -> Option<&FlowopFiles> {
        match self {
            Self::OpenFile(files)
            | Self::CreateFile(files)
            | Self::CloseFile(files)
            | Self::DeleteFile(files)
            | Self::StatFile(files)
            | Self::Fsync(files)
            | Self::MakeDir(files)
            | Self::RemoveDir(files)
            | Self::ListDir(files) => Some(files),
            _ => self.io().map(|io| &io.files),
        }
    }

    /// What it reads or writes, if it does.
    pub fn io(&self) -> Option<&Io> {
        match self {
            Self::Read(io)
            | Self::Write(io)
            | Self::ReadWholeFile(io)
            | Self::WriteWholeFile { io, .. }
            | Self::AppendFile(io)
            | Self::AppendFileRandom(io)
            | Self::AioWrite(io) => Some(io),
            _ => None,
        }
    }

    /// Whether the summary counts it: operations on files and directories, among
    /// them opens, closes and stats.
    pub fn is_io(&self) -> bool {
        self.files().is_some() || matches!(self, Self::FsyncSet(_) | Self::AioWait)
    }

    /// Whether the summary counts it as a read.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Read(_) | Self::ReadWholeFile(_))
    }

    /// Whether the summary counts it as a write.
    pub fn is_write(&self) -> bool {
        self.io().is_some() && !self.is_read()
    }
}

impl Flowop {
    /// Calls `visit` for this flowop and those inside of it, in order.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        if let Action::Composite(inner) = &self.action {
            for flowop in inner {
                flowop.walk(visit);
            }
        }
    }
}
