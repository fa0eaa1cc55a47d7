//! The types of flowops: one line each.

use disklab_source::SourceError;

use super::flowop_reader::FlowopReader;
use crate::{Action, Finish, Io, PerInstance};

/// A type of flowop.
pub(super) struct FlowopKind {
    pub word: &'static str,
    /// Attributes that mean something to it, in sets, besides `name` and `iters`.
    pub uses: &'static [&'static [&'static str]],
    /// Reads them.
    pub read: fn(&mut FlowopReader<'_, '_>) -> Result<Action, SourceError>,
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
pub(super) static KINDS: &[FlowopKind] = &[
    FlowopKind { word: "openfile", uses: FILES, read: |b| b.files(true).map(Action::OpenFile) },
    FlowopKind { word: "createfile", uses: FILES, read: |b| b.files(true).map(Action::CreateFile) },
    FlowopKind { word: "closefile", uses: FILES, read: |b| b.files(false).map(Action::CloseFile) },
    FlowopKind {
        word: "deletefile",
        uses: FILES,
        // With fd above 0 the slot says which file.
        read: |b| {
            let files = b.files(false)?;
            b.need_fileset_or(&files, files.slot > 0)?;
            Ok(Action::DeleteFile(files))
        },
    },
    FlowopKind {
        word: "statfile",
        uses: FILES,
        read: |b| {
            let files = b.files(false)?;
            b.need_fileset_or(&files, files.slot > 0)?;
            Ok(Action::StatFile(files))
        },
    },
    FlowopKind {
        word: "read",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::Read),
    },
    FlowopKind {
        word: "write",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::Write),
    },
    FlowopKind { word: "readwholefile", uses: IO, read: |b| b.io().map(Action::ReadWholeFile) },
    FlowopKind {
        word: "writewholefile",
        uses: WRITE_WHOLE,
        read: |b| {
            let source = Some(b.slot("srcfd")?).filter(|slot| *slot > 0);
            Ok(Action::WriteWholeFile { io: b.io()?, source })
        },
    },
    FlowopKind {
        word: "appendfile",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::AppendFile),
    },
    FlowopKind {
        word: "appendfilerand",
        uses: IO,
        read: |b| b.io().and_then(|io| b.sized(io)).map(Action::AppendFileRandom),
    },
    FlowopKind { word: "fsync", uses: FILES, read: |b| b.files(false).map(Action::Fsync) },
    FlowopKind {
        word: "fsyncset",
        uses: FILES,
        read: |b| {
            let files = b.files(true)?;
            // `files(true)` has made sure of it.
            Ok(Action::FsyncSet(files.fileset.unwrap_or_default()))
        },
    },
    FlowopKind {
        word: "makedir",
        uses: FILES,
        read: |b| b.leaf_directories().map(Action::MakeDir),
    },
    FlowopKind {
        word: "removedir",
        uses: FILES,
        read: |b| b.leaf_directories().map(Action::RemoveDir),
    },
    FlowopKind { word: "listdir", uses: FILES, read: |b| b.files(true).map(Action::ListDir) },
    FlowopKind {
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
    FlowopKind { word: "aiowait", uses: FILES, read: |_| Ok(Action::AioWait) },
    FlowopKind {
        word: "finishoncount",
        uses: VALUE_TARGET,
        read: |b| finish(b).map(Action::FinishOnCount),
    },
    FlowopKind {
        word: "finishonbytes",
        uses: VALUE_TARGET,
        read: |b| finish(b).map(Action::FinishOnBytes),
    },
    FlowopKind { word: "eventlimit", uses: &[], read: |_| Ok(Action::EventLimit) },
    FlowopKind {
        word: "iopslimit",
        uses: TARGET,
        read: |b| b.target(false).map(Action::IopsLimit),
    },
    FlowopKind { word: "opslimit", uses: TARGET, read: |b| b.target(false).map(Action::OpsLimit) },
    FlowopKind {
        word: "bwlimit",
        uses: TARGET,
        read: |b| b.target(false).map(Action::BandwidthLimit),
    },
    FlowopKind { word: "hog", uses: VALUE, read: |b| b.value("value").map(Action::Hog) },
    FlowopKind { word: "delay", uses: VALUE, read: |b| b.value("value").map(Action::Delay) },
    FlowopKind { word: "print", uses: VALUE, read: |b| b.value("value").map(Action::Print) },
    FlowopKind {
        word: "testrandvar",
        uses: VALUE,
        read: |b| b.value("value").map(Action::TestRandVar),
    },
    FlowopKind { word: "block", uses: &[], read: |_| Ok(Action::Block) },
    FlowopKind {
        word: "wakeup",
        uses: TARGET,
        // `target(true)` has made sure of it.
        read: |b| Ok(Action::Wakeup(b.target(true)?.unwrap_or_default())),
    },
    FlowopKind {
        word: "semblock",
        uses: &[&["value", "highwater"]],
        read: |b| {
            Ok(Action::SemBlock { value: b.value("value")?, highwater: b.number("highwater", 1)? })
        },
    },
    FlowopKind {
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

fn finish(b: &mut FlowopReader<'_, '_>) -> Result<Finish, SourceError> {
    Ok(Finish { value: PerInstance(b.value("value")?), target: b.target(false)? })
}
