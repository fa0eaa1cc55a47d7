//! The types of flowops: one line each.

use disklab_source::SourceError;

use super::flowops::Building;
use crate::{Action, Finish, Io, PerInstance};

/// A type of flowop.
pub(super) struct Kind {
    /// Its word.
    pub word: &'static str,
    /// Attributes that mean something to it, in sets, besides `name` and `iters`.
    pub uses: &'static [&'static [&'static str]],
    /// Reads them.
    pub read: fn(&mut Building<'_, '_>) -> Result<Action, SourceError>,
}

/// Which file, and how it is opened.
const FILE: &[&str] =
    &["filename", "filesetname", "fd", "opennext", "indexed", "dsync", "directio", "noreadahead"];
/// How much is read or written, and where.
const PLACE: &[&str] = &["iosize", "random", "workingset", "possetname"];

const FILES: &[&[&str]] = &[FILE];
const IO: &[&[&str]] = &[FILE, PLACE];
const WRITE_WHOLE: &[&[&str]] = &[FILE, PLACE, &["srcfd"]];
const VALUE: &[&[&str]] = &[&["value"]];
const VALUE_TARGET: &[&[&str]] = &[&["value", "target"]];
const TARGET: &[&[&str]] = &[&["target"]];

/// All types (`flowoplib_funcs` of `flowop_library.c`, `fb_lfs_flowops` of
/// `fb_localfs.c`).
pub(super) static KINDS: &[Kind] = &[
    Kind { word: "openfile", uses: FILES, read: |b| b.files(true).map(Action::OpenFile) },
    Kind { word: "createfile", uses: FILES, read: |b| b.files(true).map(Action::CreateFile) },
    Kind { word: "closefile", uses: FILES, read: |b| b.files(false).map(Action::CloseFile) },
    Kind {
        word: "deletefile",
        uses: FILES,
        // With fd above 0 the slot says which file.
        read: |b| {
            let files = b.files(false)?;
            b.need_fileset_or(&files, files.slot > 0)?;
            Ok(Action::DeleteFile(files))
        },
    },
    Kind {
        word: "statfile",
        uses: FILES,
        read: |b| {
            let files = b.files(false)?;
            b.need_fileset_or(&files, files.slot > 0)?;
            Ok(Action::StatFile(files))
        },
    },
    Kind { word: "read", uses: IO, read: |b| b.io().and_then(|io| b.sized(io)).map(Action::Read) },
    Kind {
        word: "write",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::Write),
    },
    Kind { word: "readwholefile", uses: IO, read: |b| b.io().map(Action::ReadWholeFile) },
    Kind {
        word: "writewholefile",
        uses: WRITE_WHOLE,
        read: |b| {
            let source = Some(b.slot("srcfd")?).filter(|slot| *slot > 0);
            Ok(Action::WriteWholeFile { io: b.io()?, source })
        },
    },
    Kind {
        word: "appendfile",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::AppendFile),
    },
    Kind {
        word: "appendfilerand",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::AppendFileRandom),
    },
    Kind { word: "fsync", uses: FILES, read: |b| b.files(false).map(Action::Fsync) },
    Kind {
        word: "fsyncset",
        uses: FILES,
        read: |b| {
            let files = b.files(true)?;
            // `files(true)` has made sure of it.
            Ok(Action::FsyncSet(files.fileset.unwrap_or_default()))
        },
    },
    Kind { word: "makedir", uses: FILES, read: |b| b.leaf_directories().map(Action::MakeDir) },
    Kind { word: "removedir", uses: FILES, read: |b| b.leaf_directories().map(Action::RemoveDir) },
    Kind { word: "listdir", uses: FILES, read: |b| b.files(true).map(Action::ListDir) },
    Kind {
        word: "aiowrite",
        uses: IO,
        read: |b| {
            let io: Io = b.io().and_then(|io| b.sized(io))?;
            if io.random {
                Ok(Action::AioWrite(io))
            } else {
                Err(b.error("'aiowrite' needs 'random': it writes nowhere else"))
            }
        },
    },
    Kind { word: "aiowait", uses: FILES, read: |_| Ok(Action::AioWait) },
    Kind {
        word: "finishoncount",
        uses: VALUE_TARGET,
        read: |b| finish(b).map(Action::FinishOnCount),
    },
    Kind {
        word: "finishonbytes",
        uses: VALUE_TARGET,
        read: |b| finish(b).map(Action::FinishOnBytes),
    },
    Kind { word: "eventlimit", uses: &[], read: |_| Ok(Action::EventLimit) },
    Kind { word: "iopslimit", uses: TARGET, read: |b| b.target(false).map(Action::IopsLimit) },
    Kind { word: "opslimit", uses: TARGET, read: |b| b.target(false).map(Action::OpsLimit) },
    Kind { word: "bwlimit", uses: TARGET, read: |b| b.target(false).map(Action::BandwidthLimit) },
    Kind { word: "hog", uses: VALUE, read: |b| b.value("value").map(Action::Hog) },
    Kind { word: "delay", uses: VALUE, read: |b| b.value("value").map(Action::Delay) },
    Kind { word: "print", uses: VALUE, read: |b| b.value("value").map(Action::Print) },
    Kind { word: "testrandvar", uses: VALUE, read: |b| b.value("value").map(Action::TestRandVar) },
    Kind { word: "block", uses: &[], read: |_| Ok(Action::Block) },
    Kind {
        word: "wakeup",
        uses: TARGET,
        // `target(true)` has made sure of it.
        read: |b| Ok(Action::Wakeup(b.target(true)?.unwrap_or_default())),
    },
    Kind {
        word: "semblock",
        uses: &[&["value", "highwater"]],
        read: |b| {
            Ok(Action::SemBlock { value: b.value("value")?, highwater: b.number("highwater", 1)? })
        },
    },
    Kind {
        word: "sempost",
        uses: &[&["value", "target", "blocking"]],
        read: |b| {
            let target = b.target(true)?.unwrap_or_default();
            Ok(Action::SemPost {
                value: b.value("value")?,
                target,
                blocking: b.switch("blocking")?,
            })
        },
    },
];

fn finish(b: &mut Building<'_, '_>) -> Result<Finish, SourceError> {
    Ok(Finish { value: PerInstance(b.value("value")?), target: b.target(false)? })
}
