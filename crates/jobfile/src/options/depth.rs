//! Through which system interface, and how many at once.

use super::{Chapter, option};
use crate::job::Engine;
use crate::policy::Runner;

/// Linux's io_uring takes no more (IORING_MAX_ENTRIES in io_uring/io_uring.c).
const DEEPEST: u32 = 32768;

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Interface and depth",
    options: &[
        option(
            "ioengine",
            "sync, psync, vsync, pvsync, pvsync2, libaio, io_uring or posixaio",
            "The system interface (psync)",
            |d, g| {
                d.engine = engine(g.text, g.policy.runner)?;
                Ok(())
            },
        )
        .differs(
            "where the kernel lacks one, the next best is taken and the result says so; `vsync` \
             does not join neighbouring I/Os; `posixaio` is taken for io_uring",
        ),
        option("iodepth", "1 to 32768", "How many I/Os are under way at once (1)", |d, g| {
            d.depth = g.small(1, DEEPEST)?;
            Ok(())
        }),
        option(
            "iodepth_batch",
            "from 0",
            "How many are given to the kernel together (1); 0 means `iodepth`",
            |d, g| {
                d.batch = g.small(0, DEEPEST)?;
                Ok(())
            },
        )
        .alias(&["iodepth_batch_submit"]),
        option(
            "iodepth_batch_complete_min",
            "from 0",
            "For how many it waits (1); 0 looks without waiting",
            |d, g| {
                d.complete_min = g.small(0, DEEPEST)?;
                Ok(())
            },
        )
        .alias(&["iodepth_batch_complete"]),
        option(
            "iodepth_batch_complete_max",
            "from 0",
            "How many it fetches at most (as many as `iodepth_batch_complete_min`)",
            |d, g| {
                d.complete_max = Some(g.small(0, DEEPEST)?).filter(|n| *n > 0);
                Ok(())
            },
        ),
        option(
            "iodepth_low",
            "from 0",
            "Once full, it gives no more to the kernel until so few are left (`iodepth`)",
            |d, g| {
                d.low = g.small(0, DEEPEST)?;
                Ok(())
            },
        ),
    ],
};

/// Engines that only fio has, and that work on the files of a directory. Others
/// need hardware or a network, run programs (`exec`), are loaded from a file
/// (`external`), or do not touch the directory (`null`, `cpuio`).
const FIOS: [&str; 5] = ["filecreate", "filedelete", "filestat", "mmap", "splice"];

fn engine(text: &str, runner: Runner) -> Result<Engine, String> {
    const WORDS: [(&str, Engine); 8] = [
        ("sync", Engine::Sync),
        ("psync", Engine::Psync),
        ("vsync", Engine::Vsync),
        ("pvsync", Engine::Pvsync),
        ("pvsync2", Engine::Pvsync2),
        ("libaio", Engine::Libaio),
        ("io_uring", Engine::IoUring),
        ("posixaio", Engine::Posixaio),
    ];
    match (FIOS.contains(&text), runner) {
        (true, Runner::Fio) => return Ok(Engine::Any),
        (true, Runner::Native) => {
            return Err(format!(
                "the native engine has no '{text}'; run the job through fio itself with \
                 `engine = \"fio\"`"
            ));
        }
        (false, _) => {}
    }
    crate::given::word(text, &WORDS).map_err(|why| {
        format!(
            "{why}; fio's other I/O engines do not work on the files of a directory, or disklab \
             does not know them"
        )
    })
}
