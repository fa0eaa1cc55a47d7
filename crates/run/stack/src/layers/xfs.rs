//! XFS.

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::file_system::{
    BLOCK_SIZE, FileSystemOptions, MKFS, MOUNT, MOUNT_OPTIONS, device_and_point, directory_on,
    find, label, one_volume,
};
use crate::{
    DeviceState, FormatWrites, Layer, LayerContext, LayerKind, LayerOutput, Need, Shape,
    ShapeError, StackError,
};

/// XFS's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "xfs",
    summary: "XFS on one device",
    options: &[BLOCK_SIZE, MKFS, MOUNT_OPTIONS],
    inputs: &[],
    parse,
};

/// mkfs.xfs refuses less since xfsprogs 5.19.
const MINIMUM: Bytes = Bytes::mib(300);

/// The log, which mkfs.xfs zeroes: a 2048th of the file system, 64 MiB at least, and at most
/// 2 GiB less 10 MiB (xfsprogs, `XFS_MAX_LOG_BYTES`, and mkfs/xfs_mkfs.c,
/// `calc_concurrency_logblocks` and what stands before it).
const LOG: (f64, f64, f64) = (1.0 / 2048.0, 67_108_864.0, 2_136_997_888.0);
/// What mkfs.xfs writes besides: measured with xfsprogs 6.1 on 1 GiB and on 10 TB.
const BESIDES: f64 = 5e6;

#[derive(Debug)]
struct Xfs {
    options: FileSystemOptions,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(Xfs { options: FileSystemOptions::parse(spec, &[])? }))
}

impl Layer for Xfs {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let volume = one_volume("xfs", below, MINIMUM)?;
        Ok(directory_on(volume, usable(volume.size)))
    }

    fn format_writes(&self, below: &Shape, _state: DeviceState) -> FormatWrites {
        let Ok(volume) = one_volume("xfs", below, MINIMUM) else { return FormatWrites::default() };
        let (share, least, most) = LOG;
        let log = (volume.size.0 as f64 * share).clamp(least, most);
        FormatWrites::spread(log + BESIDES, volume)
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::FileSystem("xfs"),
            Need::Program { name: "mkfs.xfs", package: "xfsprogs" },
            MOUNT,
        ]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = device_and_point("xfs", below, context)?;
        let mut mkfs = Invocation::new("mkfs.xfs").args([
            "-f",
            "-q",
            "-m",
            &format!("uuid={}", point.uuid),
            "-L",
            &label(context, 12),
        ]);
        if let Some(size) = self.options.block_size {
            mkfs = mkfs.arg("-b").arg(format!("size={}", size.0));
        }
        context.run("xfs", &mkfs.args(&self.options.mkfs).arg(&device))?;
        point.mount(context, "xfs", &device, &self.options.mount)
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = find("xfs", below, context)?;
        point.mount(context, "xfs", &device, &self.options.mount)
    }
}

/// What users can fill: less the log, 1/2048 of the device but 64 MiB to 2 GiB
/// (mkfs/xfs_mkfs.c, `calculate_log_size`), and what is kept for the reference-count trees and
/// for the kernel, 0.7 % and 30 MiB as df shows it.
fn usable(size: Bytes) -> Bytes {
    let log = Bytes((size.0 / 2048).clamp(64 << 20, 2 << 30));
    let kept = size.scaled(0.007, Bytes(4096)) + Bytes::mib(30);
    size.saturating_sub(kept).saturating_sub(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_near_what_df_shows() {
        // xfsprogs 6.1 on sparse files, in MiB available.
        for (size, shown) in [
            (1024, 922),
            (10 << 10, 10_073),
            (102_400, 101_591),
            (1_024_000, 1_016_332),
            (9_537_536, 9_468_983),
        ] {
            let estimate = usable(Bytes::mib(size)).0 >> 20;
            let error = (estimate as f64 / shown as f64 - 1.0).abs();
            assert!(error < 0.005, "{size} MiB: {estimate}, df: {shown}");
        }
    }
}
