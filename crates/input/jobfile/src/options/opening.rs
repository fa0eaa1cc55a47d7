//! How files are made, opened, cached, flushed and removed.

use super::spec::{Chapter, flag, option};
use crate::job::{Fadvise, Fallocate, Sync};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Cache, waiting for the disk, making and removing files",
    options: &[
        flag("direct", "Past the page cache (`O_DIRECT`) (0)", |d, g| {
            d.opening.direct = g.flag()?;
            Ok(())
        }),
        flag("buffered", "The opposite of `direct`; the last one wins (1)", |d, g| {
            d.opening.direct = !g.flag()?;
            Ok(())
        }),
        option(
            "sync",
            "none, 0, sync, 1 or dsync",
            "Opens files with `O_SYNC` or `O_DSYNC` (none)",
            |d, g| {
                d.opening.sync = g.word(&[
                    ("none", Sync::None),
                    ("0", Sync::None),
                    ("sync", Sync::Sync),
                    ("1", Sync::Sync),
                    ("dsync", Sync::Dsync),
                ])?;
                Ok(())
            },
        ),
        option("fsync", "from 0", "`fsync` after so many writes; 0 never (0)", |d, g| {
            d.flushing.fsync = g.from(0)?;
            Ok(())
        })
        .differs(
            "one at a time: up to 3.37, fio sends as many as `iodepth` in a row with io_uring and \
             posixaio, since it looks whether one has ended (its pull request 1754)",
        ),
        option("fdatasync", "from 0", "`fdatasync` after so many writes; 0 never (0)", |d, g| {
            d.flushing.fdatasync = g.from(0)?;
            Ok(())
        })
        .differs("their number is reported as that of `fsync`; fio leaves it out"),
        option("write_barrier", "from 0", "Every so manyth write is a barrier", |d, g| {
            d.flushing.write_barrier = g.from(0)?;
            Ok(())
        })
        .differs("no effect: Linux has no such writes, and fio only marks them"),
        flag("end_fsync", "`fsync` when the job ends (0)", |d, g| {
            d.flushing.end_fsync = g.flag()?;
            Ok(())
        }),
        flag("fsync_on_close", "`fsync` when a file is closed (0)", |d, g| {
            d.flushing.fsync_on_close = g.flag()?;
            Ok(())
        }),
        flag("create_fsync", "`fsync` after a file has been laid out (1)", |d, g| {
            d.opening.create_fsync = g.flag()?;
            Ok(())
        }),
        flag(
            "create_on_open",
            "Files are made when they are first opened for I/O, not beforehand (0)",
            |d, g| {
                d.opening.create_on_open = g.flag()?;
                Ok(())
            },
        ),
        option(
            "fallocate",
            "none, native, posix, keep, truncate, 0 or 1",
            "How room is made when a file is laid out (native)",
            |d, g| {
                d.opening.fallocate = g.word(&[
                    ("none", Fallocate::None),
                    ("0", Fallocate::None),
                    ("native", Fallocate::Native),
                    ("posix", Fallocate::Posix),
                    ("1", Fallocate::Posix),
                    ("keep", Fallocate::Keep),
                    ("truncate", Fallocate::Truncate),
                ])?;
                Ok(())
            },
        ),
        flag("overwrite", "Files are laid out before they are written (0)", |d, g| {
            d.opening.overwrite = g.flag()?;
            Ok(())
        }),
        flag(
            "file_append",
            "I/O begins at the end of what a file holds, and goes once through `size` behind it, \
             whatever `loops` and `time_based` say (0)",
            |d, g| {
                d.opening.append = g.flag()?;
                Ok(())
            },
        )
        .differs("what a file holds stays also where a job reads; fio writes it anew"),
        flag("invalidate", "A file's cached pages are dropped before I/O begins (1)", |d, g| {
            d.opening.invalidate = g.flag()?;
            d.invalidate_given = true;
            Ok(())
        }),
        option(
            "fadvise_hint",
            "0, 1, random or sequential",
            "What the kernel is told about the order of I/O; 1 is what `rw` says (1)",
            |d, g| {
                d.opening.fadvise = g.word(&[
                    ("0", Fadvise::None),
                    ("1", Fadvise::Pattern),
                    ("random", Fadvise::Random),
                    ("sequential", Fadvise::Sequential),
                ])?;
                Ok(())
            },
        ),
        flag(
            "pre_read",
            "Files are read into the cache before I/O begins; `invalidate` is off then (0)",
            |d, g| {
                d.opening.pre_read = g.flag()?;
                Ok(())
            },
        ),
        flag("unlink", "Files are removed when the job has ended (0)", |d, g| {
            d.opening.unlink = g.flag()?;
            Ok(())
        }),
        flag("unlink_each_loop", "Files are removed after each of the `loops` (0)", |d, g| {
            d.opening.unlink_each_loop = g.flag()?;
            Ok(())
        }),
    ],
};
