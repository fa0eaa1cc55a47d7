//! NILFS2.

use std::path::Path;
use std::time::Duration;

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::file_system::{
    BLOCK_SIZE, FileSystemOptions, MKFS, MOUNT, MOUNT_OPTIONS, MountPoint, device_and_point,
    directory_on, label, one_volume,
};
use crate::find::Search;
use crate::reading::OptionReader;
use crate::undo::started;
use crate::{
    KeptWrites, Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError,
    undo,
};

/// NILFS2's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "nilfs2",
    summary: "NILFS2, a log-structured file system, on one device",
    options: &[
        BLOCK_SIZE,
        MKFS,
        ("cleaner", "its daemon frees what was overwritten, as mount(8) would start it"),
        MOUNT_OPTIONS,
    ],
    inputs: &[],
    parse,
};

/// What mkfs.nilfs2 of nilfs-utils 2.2.9 asks for: 16 segments of 8 MiB, and
/// 4 KiB.
const MINIMUM: Bytes = Bytes(134_221_824);

/// Bytes of metadata that stay in its log for each byte written: `smr-2015`'s file server wrote
/// 641 GB and left 27.5 GB in the lab (files of 1.25 MiB; of 128 KiB, three times the share).
const METADATA: f64 = 0.043;

#[derive(Debug)]
struct Nilfs2 {
    options: FileSystemOptions,
    cleaner: bool,
}

/// The cleaner, by nilfs_cleanerd.conf(5) of this machine.
const CLEANER: Need = Need::Program { name: "nilfs_cleanerd", package: "nilfs-tools" };

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let cleaner = OptionReader::new(spec).flag("cleaner")?;
    Ok(Box::new(Nilfs2 { options: FileSystemOptions::parse(spec, &["cleaner"])?, cleaner }))
}

impl Layer for Nilfs2 {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let volume = one_volume("nilfs2", below, MINIMUM)?;
        // mkfs.nilfs2(8): 5 % of the segments are reserved.
        Ok(directory_on(volume, volume.size.scaled(0.95, Bytes::kib(4))))
    }

    fn kept_writes(&self) -> KeptWrites {
        KeptWrites::elsewhere(METADATA)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![
            Need::FileSystem("nilfs2"),
            Need::Program { name: "mkfs.nilfs2", package: "nilfs-tools" },
            MOUNT,
        ];
        needs.extend(self.cleaner.then_some(CLEANER));
        needs
    }

    /// mkfs.nilfs2 takes no UUID, so disklab's is in the label.
    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = device_and_point("nilfs2", below, context)?;
        let label = label_of(&point, context);
        let mut mkfs = Invocation::new("mkfs.nilfs2").args(["-f", "-q", "-L", &label]);
        if let Some(size) = self.options.block_size {
            mkfs = mkfs.arg("-b").arg(size.0.to_string());
        }
        context.run("nilfs2", &mkfs.args(&self.options.mkfs).arg(&device))?;
        self.mount(point, &device, context)
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = device_and_point("nilfs2", below, context)?;
        let what = "the file system with the label";
        let search = Search { layer: "nilfs2", what, tag: "LABEL" };
        search.all(std::slice::from_ref(&device), &label_of(&point, context), context)?;
        self.mount(point, &device, context)
    }
}

impl Nilfs2 {
    fn mount(
        &self,
        point: MountPoint,
        device: &Path,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let output = point.mount(context, "nilfs2", device, &self.options.mount)?;
        if self.cleaner {
            start_cleaner(device, &output, context)?;
        } else {
            context.note(
                "nilfs2",
                "mounted without its cleaner daemon: space of overwritten data is not freed",
            );
        }
        Ok(output)
    }
}

/// At most 80 bytes (mkfs.nilfs2(8)).
fn label_of(point: &MountPoint, context: &LayerContext<'_>) -> String {
    format!("{} {}", label(context, 40), point.uuid)
}

/// How long the cleaner may take to tell its number.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts the cleaner as mount.nilfs2 does (`lib/cleaner_exec.c` in nilfs-utils): with
/// `-n` it tells the number under which it continues.
fn start_cleaner(
    device: &Path,
    output: &LayerOutput,
    context: &mut LayerContext<'_>,
) -> Result<(), StackError> {
    let LayerOutput::Directory(directory) = output else { return Ok(()) };
    let cleaner = Invocation::new("nilfs_cleanerd").arg("-n").arg(device).arg(directory);
    let number = |text: &str| {
        let (number, _) = text.split_once("NILFS_CLEANERD_PID=")?.1.split_once('\n')?;
        number.parse::<u32>().ok()
    };
    // Entered once its number is known. Should disklab end in between, it bears the mark
    // of an owner that is gone, and holds the mount, whose users are ended.
    let pid = context
        .executor
        .start_daemon(&cleaner, PATIENCE, number)
        .map_err(|source| StackError::Program { layer: "nilfs2".to_owned(), source })?;
    let started = started(pid).ok_or(StackError::CleanerEnded)?;
    context.enter(undo::EndProgram { pid, started })
}
