//! How files are made, opened, cached, flushed and removed.

/// How files are made, opened, cached and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// `direct`: past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// `sync`: the flag with which files are opened for writing.
    pub sync: Sync,
    /// `create_on_open`: files are made when they are first opened for I/O, not
    /// laid out beforehand.
    pub create_on_open: bool,
    /// `create_fsync`: `fsync` after a file has been laid out.
    pub create_fsync: bool,
    /// `fallocate`: how room is made when a file is laid out.
    pub fallocate: Fallocate,
    /// `overwrite`: a file that is to be written is laid out first.
    pub overwrite: bool,
    /// `file_append`: I/O begins at the end of what the file holds.
    pub append: bool,
    /// `invalidate`: the file's cached pages are dropped before I/O begins.
    pub invalidate: bool,
    /// `fadvise_hint`.
    pub fadvise: Fadvise,
    /// `pre_read`: files are read into the cache before I/O begins. Excludes
    /// `invalidate`, as in fio.
    pub pre_read: bool,
    /// `unlink`: files are removed when the job has ended.
    pub unlink: bool,
    /// `unlink_each_loop`: and after each loop.
    pub unlink_each_loop: bool,
}

/// `sync`: with which flag files are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Neither the file nor its range is synced.
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    Dsync,
}

/// `fallocate`: how room is made when a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallocate {
    /// Not at all.
    None,
    /// `fallocate(2)`, and nothing where the file system has none (fio's default).
    Native,
    /// `posix_fallocate(3)`.
    Posix,
    /// `fallocate(2)` with `FALLOC_FL_KEEP_SIZE`.
    Keep,
    /// `ftruncate(2)`.
    Truncate,
}

/// `fadvise_hint`: what the kernel is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fadvise {
    /// Nothing.
    None,
    /// `POSIX_FADV_RANDOM` where offsets are random, else
    /// `POSIX_FADV_SEQUENTIAL` (fio's default).
    Pattern,
    /// `POSIX_FADV_RANDOM`.
    Random,
    /// `POSIX_FADV_SEQUENTIAL`.
    Sequential,
}

/// When a job waits for the disk. A count of 0 means never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flushing {
    /// `fsync` after so many writes.
    pub fsync: u64,
    /// `fdatasync` after so many writes.
    pub fdatasync: u64,
    /// `write_barrier`: every so manyth write is a barrier. No Linux interface
    /// for files has such writes: as in fio, nothing is done on those.
    pub write_barrier: u64,
    /// `end_fsync`: when the job ends.
    pub end_fsync: bool,
    /// `fsync_on_close`: when a file is closed.
    pub fsync_on_close: bool,
}
