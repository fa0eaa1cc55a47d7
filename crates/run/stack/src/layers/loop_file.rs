//! A file on a directory, used as a device.

use std::fs::{File, read_to_string};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::reading::OptionReader;
use crate::{
    Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError, Volume, undo,
};

/// The loop file's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "loop-file",
    summary: "a file on the directory or pool below, attached as a loop device",
    options: &[
        ("size", "size of the file, such as 10G (the default)"),
        ("allocate", "sparse: blocks are given as they are written (default); full: at once"),
    ],
    inputs: &[],
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

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (path, cache) = image(below, context)?;
        let file = context.create_file(&path)?;
        let how = self
            .allocate(&file)
            .map_err(|e| StackError::io("cannot give its blocks to", &path, e))?;
        drop(file);
        use_file(path, cache, how, context)
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (path, cache) = image(below, context)?;
        // Not what a link leads to: that would be attached and removed.
        if !path.symlink_metadata().is_ok_and(|file| file.is_file()) {
            let directory = path.parent().unwrap_or(&path).to_owned();
            let what = format!("the file {}", path.file_name().unwrap_or_default().display());
            return Err(StackError::NotFound {
                layer: "loop-file",
                what,
                devices: vec![directory],
            });
        }
        context.enter(undo::RemoveFile(path.clone()))?;
        context.ledger.created(&path)?;
        use_file(path, cache, "a file that was there", context)
    }
}

/// Which cache a loop device's requests could go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    /// The kernel's, which direct I/O avoids.
    Pages,
    /// ZFS's. Its direct I/O, from OpenZFS 2.3 on, refuses requests that are not whole pages
    /// (`zfs_setup_direct` in module/zfs/zfs_vnops.c), which loop devices send.
    Arc,
}

/// The file's path in the directory or pool below, and what caches it.
fn image(below: LayerOutput, context: &LayerContext<'_>) -> Result<(PathBuf, Cache), StackError> {
    let (directory, cache) = match below {
        LayerOutput::Directory(directory) => (directory, Cache::Pages),
        LayerOutput::Pool { directory, .. } => (directory, Cache::Arc),
        LayerOutput::Devices(_) => {
            let kind = below.kind();
            return Err(ShapeError::unfit("loop-file", "a directory or a pool", kind).into());
        }
    };
    let directory = directory
        .canonicalize()
        .map_err(|e| StackError::io("cannot find the directory", &directory, e))?;
    Ok((directory.join(format!("{}.img", context.tag)), cache))
}

/// Attaches the file, of which `how` says how its blocks came about.
fn use_file(
    path: PathBuf,
    cache: Cache,
    how: &str,
    context: &mut LayerContext<'_>,
) -> Result<LayerOutput, StackError> {
    context.enter(undo::DetachLoop(path.clone()))?;
    let device = attach(&path, cache, context)?;
    let direct = match (cache, uses_direct_io(&device)) {
        (_, true) => "the loop device goes to it by direct I/O",
        (Cache::Arc, false) => "the loop device goes through ZFS's own cache (ARC)",
        (Cache::Pages, false) => {
            "the loop device goes through the page cache, as the file system below allows no \
             direct I/O"
        }
    };
    context.note("loop-file", format!("{how}; {direct}"));
    Ok(LayerOutput::Devices(vec![device]))
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
fn attach(path: &Path, cache: Cache, context: &LayerContext<'_>) -> Result<PathBuf, StackError> {
    let losetup = Invocation::new("losetup").args(["--find", "--show"]);
    let done = context.run("loop-file", &losetup.arg(path))?;
    let device = PathBuf::from(done.text().trim());
    // The former user of this loop device may have left it write-protected:
    // `blockdev --setro` outlasts a detach.
    context.run("loop-file", &Invocation::new("blockdev").arg("--setrw").arg(&device))?;
    if cache == Cache::Arc {
        return Ok(device);
    }
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
