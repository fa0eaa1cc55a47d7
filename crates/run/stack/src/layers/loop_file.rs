//! A file on a directory, used as a device.

use std::fs::{File, read_to_string};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_study::LayerSpec;
use disklab_units::Bytes;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::reading::OptionReader;
use crate::{
    Form, Layer, LayerContext, LayerKind, Need, Shape, ShapeError, StackError, Volume, undo,
};

/// The loop file's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "loop-file",
    summary: "a file on the directory or pool below, attached as a loop device",
    options: &[
        ("size", "size of the file, such as 10G (the default)"),
        ("allocate", "sparse: blocks are given as they are written (default); full: at once"),
    ],
    parse,
};

#[derive(Debug)]
struct LoopFile {
    size: Bytes,
    full: bool,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let mut reading = OptionReader::new(spec);
    let size = reading.size("size")?.unwrap_or(Bytes::gib(10));
    if size.0 % 4096 != 0 || !(1 << 20..=1 << 60).contains(&size.0) {
        let expected = "a multiple of 4 KiB from 1 MiB to 1 EiB, such as 10G";
        return Err(reading.expected("size", expected, spec.option("size").unwrap_or_default()));
    }
    let full = reading.word("allocate", &[("sparse", false), ("full", true)])?.unwrap_or(false);
    Ok(Box::new(LoopFile { size, full }))
}

impl Layer for LoopFile {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let (Shape::Directory(volume) | Shape::Pool(volume)) = below else {
            return Err(ShapeError::unfit("loop-file", "a directory or a pool", below.kind()));
        };
        if self.size > volume.size {
            return Err(ShapeError::NoRoom {
                layer: "loop-file",
                wanted: self.size,
                room: volume.size,
            });
        }
        Ok(Shape::Devices(vec![Volume { size: self.size, ..volume.clone() }]))
    }

    /// What was never written reads as zeros.
    fn leaves_zeros(&self, _below: bool) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::Loop,
            Need::Program { name: "losetup", package: "mount" },
            Need::Program { name: "blockdev", package: "util-linux" },
        ]
    }

    fn make(&self, below: Form, context: &mut LayerContext<'_>) -> Result<Form, StackError> {
        let kind = below.kind();
        let (Form::Directory(directory) | Form::Pool { directory, .. }) = below else {
            return Err(ShapeError::unfit("loop-file", "a directory or a pool", kind).into());
        };
        let directory = directory
            .canonicalize()
            .map_err(|e| StackError::io("cannot find the directory", &directory, e))?;
        let path = directory.join(format!("{}.img", context.tag));
        let file = context.ledger.create_file(&path)?;
        let how = self
            .allocate(&file)
            .map_err(|e| StackError::io("cannot give its blocks to", &path, e))?;
        drop(file);
        context.ledger.enter(undo::DetachLoop(path.clone()))?;
        let device = attach(&path, context)?;
        let direct = uses_direct_io(&device);
        context.note(
            "loop-file",
            format!(
                "{how}; {}",
                if direct {
                    "the loop device goes to it by direct I/O"
                } else {
                    "the loop device goes through the page cache, as the file system below \
                     allows no direct I/O"
                }
            ),
        );
        Ok(Form::Devices(vec![device]))
    }
}

impl LoopFile {
    /// Gives the file its size and, if asked for, its blocks. Returns how.
    fn allocate(&self, file: &File) -> io::Result<&'static str> {
        file.set_len(self.size.0)?;
        if !self.full {
            return Ok("a sparse file");
        }
        match fallocate(file, FallocateFlags::empty(), 0, self.size.0) {
            Ok(()) => Ok("a file allocated at once with fallocate, not yet written"),
            // ZFS, for one, gives no blocks ahead.
            Err(Errno::OPNOTSUPP) => {
                write_zeros(file, self.size.0)?;
                Ok("a file written with zeros")
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn write_zeros(mut file: &File, size: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 20];
    let mut left = size;
    while left > 0 {
        let part = usize::try_from(left).map_or(zeros.len(), |left| left.min(zeros.len()));
        file.write_all(&zeros[..part])?;
        left -= part as u64;
    }
    file.sync_all()
}

/// Attaches the file to a free loop device, with direct I/O if that works.
/// Without, data would be cached twice, once above and once below.
fn attach(path: &Path, context: &LayerContext<'_>) -> Result<PathBuf, StackError> {
    let losetup = Invocation::new("losetup").args(["--find", "--show"]);
    let done = context.run("loop-file", &losetup.arg(path))?;
    let device = PathBuf::from(done.text().trim());
    // The former user of this loop device may have left it write-protected:
    // `blockdev --setro` outlasts a detach.
    context.run("loop-file", &Invocation::new("blockdev").arg("--setrw").arg(&device))?;
    // It is refused where the file system has no direct I/O. That is noted.
    let direct = Invocation::new("losetup").arg("--direct-io=on").arg(&device);
    match context.executor.run(&direct) {
        Ok(_) => Ok(device),
        Err(source) => Err(StackError::Program { layer: "loop-file".to_owned(), source }),
    }
}

fn uses_direct_io(device: &Path) -> bool {
    let name = device.file_name().unwrap_or_default();
    let path = Path::new("/sys/block").join(name).join("loop/dio");
    read_to_string(path).is_ok_and(|text| text.trim() == "1")
}
