//! Through which system interface, and how many at once.

use super::spec::{Chapter, flag, option};
use crate::error::ChoiceError;
use crate::job::Engine;
use crate::policy::{Policy, Runner};
use crate::value::{TimeUnit, real, shown};

/// Linux's io_uring takes no more (IORING_MAX_ENTRIES in io_uring/io_uring.c).
const DEEPEST: u32 = 32768;

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Interface and depth",
    options: &[
        option(
            "ioengine",
            "sync, psync, vsync, pvsync, pvsync2, libaio, io_uring, posixaio or null",
            "The system interface (psync)",
            |d, g| {
                d.engine = engine(g.text, g.policy)?;
                Ok(())
            },
        )
        .differs(
            "where the kernel lacks one, the next best is taken and the result says so; `vsync` \
             does not join neighbouring I/Os; `posixaio` is taken for io_uring; `null`, which opens no file, is an error in a \
             study",
        ),
        option("iodepth", "1 to 32768", "I/Os in flight at once (1)", |d, g| {
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
        option(
            "io_submit_mode",
            "inline or offload",
            "Whether the job itself carries out its I/Os, or `iodepth` threads do so, and the \
             job keeps to its `rate` however long the kernel takes (inline)",
            |d, g| {
                d.offload = g.word(&[("inline", false), ("offload", true)])?;
                Ok(())
            },
        )
        .differs("with `offload`, each thread carries out one I/O at a time, by pread and pwrite"),
        option(
            "latency_target",
            "a time, in µs",
            "The largest depth up to `iodepth` is sought at which I/Os take no longer; then the \
             job runs at that depth for one `latency_window`, and ends",
            |d, g| {
                d.target.latency = g.time(TimeUnit::Microseconds)?;
                Ok(())
            },
        ),
        option("latency_window", "a time, in µs", "How long each depth is tried (0)", |d, g| {
            d.target.window = g.time(TimeUnit::Microseconds)?;
            Ok(())
        }),
        option(
            "latency_percentile",
            "0 to 100",
            "Percent of the I/Os that keep to `latency_target` (100)",
            |d, g| {
                d.target.percentile = match real(g.text)? {
                    percent if (0.0..=100.0).contains(&percent) => percent,
                    _ => return Err(ChoiceError::Percentile.into()),
                };
                Ok(())
            },
        ),
        flag("latency_run", "The depth is sought until the job ends (0)", |d, g| {
            d.target.keeps_seeking = g.flag()?;
            Ok(())
        }),
    ],
};

/// Engines that only fio has, and that work on the files of a directory.
const FIOS: [&str; 5] = ["filecreate", "filedelete", "filestat", "mmap", "splice"];

/// fio's other engines, and what they need (`fio --enghelp` of 3.33, and those that newer
/// ones have).
const OTHERS: &[(&str, &str)] = &[
    ("cpuio", "it does no I/O"),
    ("falloc", "it only reserves room"),
    ("ftruncate", "it only changes lengths"),
    ("e4defrag", "it moves the blocks of an ext4"),
    ("page_fault", "it touches memory"),
    ("dircreate", "it only makes directories"),
    ("dirdelete", "it only removes directories"),
    ("dirstat", "it only looks up directories"),
    ("exec", "it runs programs"),
    ("external", LOADED),
    ("cpp_null", LOADED),
    ("net", NETWORK),
    ("netsplice", NETWORK),
    ("rdma", NETWORK),
    ("http", NETWORK),
    ("nbd", NETWORK),
    ("nfs", NETWORK),
    ("libiscsi", NETWORK),
    ("gfapi", STORE),
    ("gfapi_async", STORE),
    ("rados", STORE),
    ("rbd", STORE),
    ("dfs", STORE),
    ("libhdfs", STORE),
    ("ime_psync", STORE),
    ("ime_psyncv", STORE),
    ("ime_aio", STORE),
    ("mtd", DEVICE),
    ("sg", DEVICE),
    ("io_uring_cmd", DEVICE),
    ("xnvme", DEVICE),
    ("libblkio", DEVICE),
    ("libzbc", DEVICE),
    ("libcufile", DEVICE),
    ("libhipfile", DEVICE),
    ("dev-dax", DEVICE),
    ("libpmem", DEVICE),
    ("pmemblk", DEVICE),
    ("spdk", DEVICE),
    ("spdk_bdev", DEVICE),
    ("windowsaio", OTHER_SYSTEM),
    ("solarisaio", OTHER_SYSTEM),
];

const LOADED: &str = "it is a program loaded from a file";
const OTHER_SYSTEM: &str = "it is that of another system";
const NETWORK: &str = "it works over a network";
const STORE: &str = "it works on a distributed store";
const DEVICE: &str = "it needs a device of its own kind";

fn engine(text: &str, policy: Policy) -> Result<Engine, ChoiceError> {
    const WORDS: [(&str, Engine); 11] = [
        ("sync", Engine::Sync),
        ("psync", Engine::Psync),
        ("vsync", Engine::Vsync),
        ("pvsync", Engine::Pvsync),
        ("pvsync2", Engine::Pvsync2),
        ("libaio", Engine::Libaio),
        // fio's other names for it (load_ioengine in ioengines.c).
        ("linuxaio", Engine::Libaio),
        ("aio", Engine::Libaio),
        ("io_uring", Engine::IoUring),
        ("posixaio", Engine::Posixaio),
        ("null", Engine::Null),
    ];
    match (FIOS.contains(&text), policy.runner) {
        (true, Runner::Fio) => return Ok(Engine::Any),
        (true, Runner::Native) => {
            let other_way = policy.other_way();
            return Err(ChoiceError::NativeEngine { found: text.to_owned(), other_way });
        }
        (false, _) => {}
    }
    if text == "null" && !policy.is_plain() {
        return Err(ChoiceError::NullEngine);
    }
    let name = text.split_once(':').map_or(text, |(name, _)| name);
    if name.contains('/') {
        return Err(ChoiceError::UnsupportedEngine { found: shown(name), why: LOADED });
    }
    if let Some((_, why)) = OTHERS.iter().find(|(other, _)| *other == name) {
        return Err(ChoiceError::UnsupportedEngine { found: name.to_owned(), why });
    }
    crate::given::word(text, &WORDS)
}
