//! The open files of a clone.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use disklab_jobfile::{Engine, Fadvise, Job, Sync};

use super::FileTarget;
use super::device_access::DeviceAccess;
use crate::error::{EngineError, FileProblem};
use crate::io_failure::{DirectLimits, IoFailure};

/// The files of a clone, of which a limited number is open.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    targets: Vec<FileTarget>,
    open: Vec<Option<File>>,
    /// Those that are open, the oldest first; empty where all can be.
    order: VecDeque<u32>,
    most: usize,
    flags: libc::c_int,
    reads_only: bool,
    writes: bool,
    advice: Option<libc::c_int>,
    invalidate: bool,
    pre_read: bool,
    fsync_on_close: bool,
    devices: DeviceAccess,
    /// `ioengine=null`: no file is opened, nor need there be one.
    opens_none: bool,
}

impl OpenFiles {
    /// Opens the files of a clone; all of them where `openfiles` allows. `devices` are the
    /// block devices that it may write to.
    pub(crate) fn new(
        job: &Job,
        targets: Vec<FileTarget>,
        devices: &DeviceAccess,
    ) -> Result<Self, EngineError> {
        let access = job.pattern.access;
        let mut flags = libc::O_CLOEXEC;
        if job.opening.direct {
            flags |= libc::O_DIRECT;
        }
        flags |= match job.opening.sync {
            Sync::None => 0,
            Sync::Sync => libc::O_SYNC,
            Sync::Dsync => libc::O_DSYNC,
        };
        let advice = match job.opening.fadvise {
            Fadvise::None => None,
            Fadvise::Pattern if access.random => Some(libc::POSIX_FADV_RANDOM),
            Fadvise::Random => Some(libc::POSIX_FADV_RANDOM),
            Fadvise::Pattern | Fadvise::Sequential => Some(libc::POSIX_FADV_SEQUENTIAL),
        };
        let most = usize::try_from(job.files.open).unwrap_or(usize::MAX).max(1);
        let mut files = Self {
            open: targets.iter().map(|_| None).collect(),
            targets,
            order: VecDeque::new(),
            most,
            flags,
            reads_only: !access.writes,
            writes: access.writes,
            advice,
            invalidate: job.opening.invalidate,
            pre_read: job.opening.pre_read,
            fsync_on_close: job.flushing.fsync_on_close,
            devices: devices.clone(),
            opens_none: job.engine == Engine::Null,
        };
        if files.are_all_open() {
            raise_limit();
            files.open_all()?;
        }
        Ok(files)
    }

    fn are_all_open(&self) -> bool {
        self.most >= self.targets.len()
    }

    fn open_all(&mut self) -> Result<(), EngineError> {
        if self.opens_none {
            return Ok(());
        }
        for number in 0..self.targets.len() {
            self.open_one(number).map_err(|e| self.describe("open", number, e))?;
        }
        Ok(())
    }

    fn describe(&self, action: &'static str, number: usize, error: io::Error) -> EngineError {
        let path = self.targets[number].path.clone();
        if self.flags & libc::O_DIRECT != 0 && error.raw_os_error() == Some(libc::EINVAL) {
            return EngineError::File { action, path, source: FileProblem::NoDirectIo };
        }
        EngineError::file(action, path, error)
    }

    fn open_one(&mut self, number: usize) -> io::Result<()> {
        let target = &self.targets[number];
        let open = |flags| {
            OpenOptions::new()
                .read(true)
                .write(self.writes)
                .create(self.writes)
                .truncate(false)
                .mode(0o644)
                .custom_flags(flags)
                .open(&target.path)
        };
        // The time of access would be a write of its own. Only the owner may ask.
        let file = match open(self.flags | libc::O_NOATIME) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => open(self.flags)?,
            result => result?,
        };
        if self.writes {
            self.devices.check_open(&file)?;
        }
        if self.invalidate {
            advise(&file, target, libc::POSIX_FADV_DONTNEED);
        }
        if let Some(advice) = self.advice {
            advise(&file, target, advice);
        }
        if self.pre_read {
            let mut source = File::open(&target.path)?;
            io::copy(&mut source, &mut io::sink())?;
        }
        self.open[number] = Some(file);
        Ok(())
    }

    /// The descriptor of a file, where it is open.
    #[inline]
    pub(crate) fn descriptor(&self, file: u32) -> Option<RawFd> {
        if self.opens_none {
            return Some(-1);
        }
        self.open.get(file as usize)?.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Opens a file, and closes the one that was opened first where there are too
    /// many. No I/O may be in flight.
    pub(crate) fn open(&mut self, file: u32) -> Result<RawFd, EngineError> {
        if self.order.len() >= self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.close(oldest)?;
        }
        let number = file as usize;
        self.open_one(number).map_err(|e| self.describe("open", number, e))?;
        self.order.push_back(file);
        Ok(self.descriptor(file).unwrap_or(-1))
    }

    fn close(&mut self, file: u32) -> Result<(), EngineError> {
        let closed = self.open[file as usize].take();
        if let (true, true, Some(closed)) = (self.fsync_on_close, self.writes, &closed) {
            closed.sync_all().map_err(|e| self.describe("fsync", file as usize, e))?;
        }
        Ok(())
    }

    pub(crate) fn close_all(&mut self) -> Result<(), EngineError> {
        self.order.clear();
        (0..self.open.len()).try_for_each(|file| self.close(file as u32))
    }

    /// Descriptors by number, where all are open and stay so: to be registered.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        let all: Option<Vec<RawFd>> =
            self.open.iter().map(|file| file.as_ref().map(AsRawFd::as_raw_fd)).collect();
        all.unwrap_or_default()
    }

    /// Each file: where its I/O lies, and how long it is.
    pub(crate) fn lengths(&self) -> Vec<(disklab_jobfile::Extent, u64)> {
        let length = |target: &FileTarget| match self.opens_none {
            true => target.extent.end(),
            false => std::fs::metadata(&target.path).map_or(0, |there| there.len()),
        };
        self.targets.iter().map(|target| (target.extent, length(target))).collect()
    }

    /// `fsync` of all that are open.
    pub(crate) fn sync_all(&self) -> Result<(), EngineError> {
        for (number, file) in self.open.iter().enumerate() {
            if let Some(file) = file {
                file.sync_all().map_err(|e| self.describe("fsync", number, e))?;
            }
        }
        Ok(())
    }

    /// Drops the cached pages of one file, where the job wants it.
    pub(crate) fn invalidate(&self, file: u32) {
        if let (true, Some(Some(open))) = (self.invalidate, self.open.get(file as usize)) {
            advise(open, &self.targets[file as usize], libc::POSIX_FADV_DONTNEED);
        }
    }

    /// Removes all files. Those that are gone already are no error: clones share. The
    /// nodes of devices stay, and links to them, as with fio (unlink_all_files in
    /// filesetup.c).
    pub(crate) fn unlink(&mut self) -> Result<(), EngineError> {
        self.close_all()?;
        if self.opens_none {
            return Ok(());
        }
        for target in &self.targets {
            if std::fs::metadata(&target.path).is_ok_and(|there| !there.is_file()) {
                continue;
            }
            match std::fs::remove_file(&target.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(EngineError::file("remove", &target.path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens all again, where all can be open.
    pub(crate) fn reopen(&mut self) -> Result<(), EngineError> {
        if self.are_all_open() { self.open_all() } else { Ok(()) }
    }

    /// What went wrong with an I/O.
    pub(crate) fn failure(
        &self,
        file: u32,
        request: &'static str,
        offset: u64,
        errno: i32,
    ) -> IoFailure {
        let path = self.path(file).to_owned();
        let may_be_direct = errno == libc::EINVAL && self.flags & libc::O_DIRECT != 0;
        let direct = may_be_direct.then(|| direct_limits(&path));
        let source = io::Error::from_raw_os_error(errno).into();
        IoFailure::Io { request, path, offset, source, direct }
    }

    /// A file's path.
    pub(crate) fn path(&self, file: u32) -> &Path {
        self.targets.get(file as usize).map_or(Path::new(""), |t| t.path.as_path())
    }

    /// All paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.targets.iter().map(|target| target.path.clone()).collect()
    }

    /// Whether it only reads.
    pub(crate) fn reads_only(&self) -> bool {
        self.reads_only
    }
}

fn advise(file: &File, target: &FileTarget, advice: libc::c_int) {
    let at = |n: u64| libc::off_t::try_from(n).unwrap_or(libc::off_t::MAX);
    let (offset, length) = (at(target.extent.offset), at(target.extent.length));
    // SAFETY: plain numbers, and a descriptor that is open. It is advice: where
    // the file system takes none, nothing is lost.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), offset, length, advice) };
}

/// What direct I/O on a file has to be aligned to: '; direct I/O …', or nothing
/// where the kernel (before 6.1) does not tell.
fn direct_limits(path: &Path) -> DirectLimits {
    use std::os::unix::ffi::OsStrExt;
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else {
        return DirectLimits::Unknown;
    };
    // SAFETY: statx is plain numbers, for which zero is a value.
    let mut stat: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: the name ends with a zero byte; the structure is ours.
    let result = unsafe {
        libc::statx(libc::AT_FDCWD, name.as_ptr(), 0, libc::STATX_DIOALIGN, &raw mut stat)
    };
    if result != 0 || stat.stx_mask & libc::STATX_DIOALIGN == 0 {
        return DirectLimits::Unknown;
    }
    match stat.stx_dio_offset_align {
        0 => DirectLimits::Unsupported,
        bytes => DirectLimits::Multiples(bytes),
    }
}

/// Raises the limit of open files as far as it goes.
fn raise_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours. A limit that cannot be raised stays.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0
            && limit.rlim_cur < limit.rlim_max
        {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
