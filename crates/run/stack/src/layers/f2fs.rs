//! F2FS.

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::file_system::{
    FileSystemOptions, MKFS, MOUNT, MOUNT_OPTIONS, device_and_point, directory_on, find, label,
    one_volume,
};
use crate::{
    KeptWrites, Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError,
};

/// F2FS's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "f2fs",
    summary: "F2FS, a log-structured file system for flash, on one device",
    options: &[MKFS, MOUNT_OPTIONS],
    inputs: &[],
    parse,
};

/// The least that mkfs.f2fs of f2fs-tools 1.15 takes, found by trying.
const MINIMUM: Bytes = Bytes::mib(52);

/// Bytes of metadata that stay for each byte written: Filebench's file server with files of 128 KiB
/// wrote 48 GB and left 0.9 GB in the lab.
const METADATA: f64 = 0.02;

#[derive(Debug)]
struct F2fs {
    options: FileSystemOptions,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let options = FileSystemOptions::parse(spec, &[])?;
    if options.block_size.is_some() {
        return Err(spec.error("f2fs has no `block-size`: its blocks are as large as a page"));
    }
    Ok(Box::new(F2fs { options }))
}

impl Layer for F2fs {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let volume = one_volume("f2fs", below, MINIMUM)?;
        // mkfs.f2fs keeps back a share that falls with the size, next to the
        // metadata. Seen with f2fs-tools 1.15 in `df`, in MiB: 480 of 600, 1030
        // of 1200, 4664 of 5000, 19290 of 20000, 98286 of 100000, 993796 of
        // 1000000; this is within 3 % of each.
        let mib = volume.size.0 as f64 / f64::from(1 << 20);
        let lost = 10.0 + 5.0 * mib.sqrt() + mib / 800.0;
        Ok(directory_on(volume, volume.size.scaled((1.0 - lost / mib).max(0.0), Bytes::kib(4))))
    }

    fn kept_writes(&self) -> KeptWrites {
        KeptWrites::elsewhere(METADATA)
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::FileSystem("f2fs"),
            Need::Program { name: "mkfs.f2fs", package: "f2fs-tools" },
            MOUNT,
        ]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = device_and_point("f2fs", below, context)?;
        // -r fixes the seed of the checkpoint's version.
        let mkfs = Invocation::new("mkfs.f2fs")
            .args(["-f", "-q", "-r", "-U", &point.uuid, "-l", &label(context, 80)])
            .args(&self.options.mkfs)
            .arg(&device);
        context.run("f2fs", &mkfs)?;
        point.mount(context, "f2fs", &device, &self.options.mount)
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = find("f2fs", below, context)?;
        point.mount(context, "f2fs", &device, &self.options.mount)
    }
}
