//! LVM's thin volumes: a pool over all devices below, and one volume that takes chunks of it as
//! they are written.

use disklab_cell::LayerSpec;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::create::{LVM, VolumeGroup};
use super::space::{EXTENT, volume};
use crate::reading::OptionReader;
use crate::redundancy::{devices, members};
use crate::{
    Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError, Volume,
};

/// A thin pool and its volume.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LvmThin {
    /// What is given at a time; as LVM decides where absent.
    chunk: Option<Bytes>,
    /// Of the volume; as large as the pool where absent.
    size: Option<Bytes>,
}

pub(in crate::layers) const KIND: LayerKind = LayerKind {
    name: "lvm-thin",
    summary: "LVM thin: a pool over all devices, and one volume that takes chunks as they are written",
    options: &[
        ("chunk", "what the pool gives at a time, 64K to 1G (default: what LVM chooses by size)"),
        ("size", "of the volume, which may be more than the pool has (default: as much)"),
    ],
    inputs: &[],
    parse,
};

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let mut reading = OptionReader::new(spec);
    let chunk = reading.power_of_two("chunk", Bytes::kib(64), Bytes::gib(1))?;
    let size = reading.size("size")?;
    reading.finish()?;
    Ok(Box::new(LvmThin { chunk, size }))
}

impl LvmThin {
    /// What is left of a group of this size for data. LVM takes 64 bytes for each chunk, at most
    /// 128 MiB, for which chunks grow (`_estimate_size` in lib/metadata/thin_manip.c), and the
    /// same again as a spare.
    fn room(&self, group: Bytes) -> Bytes {
        let chunk = self.chunk.unwrap_or(Bytes::kib(64));
        let most = if self.chunk.is_some() { Bytes::gib(16) } else { Bytes::mib(128) };
        let metadata = Bytes((group.0 / chunk.0).saturating_mul(64)).round_up(EXTENT);
        let metadata = metadata.max(EXTENT).min(most);
        group.saturating_sub(metadata).saturating_sub(metadata).round_down(EXTENT)
    }
}

impl Layer for LvmThin {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let group = volume(members("lvm-thin", below)?, 1, None)?;
        let room = self.room(group.size);
        if room == Bytes::ZERO {
            return Err(ShapeError::NothingLeft { layer: "lvm-thin", got: group.size });
        }
        // A volume that promises more than there is holds no more.
        let size = self.size.map_or(room, |size| size.round_up(EXTENT).min(room));
        Ok(Shape::Devices(vec![Volume { size, ..group }]))
    }

    /// Chunks that were never written read as zeros, and are zeroed when they are given.
    fn leaves_zeros(&self, _below: bool) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, LVM, Need::DeviceMapper("thin-pool")]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices("lvm-thin", below)?;
        let group = VolumeGroup::create("lvm-thin", &devices, context)?;
        let pool = group.thin_pool(self.chunk, context)?;
        let size = self.size.map_or(pool, |size| size.round_up(EXTENT));
        let node = group.thin_volume(size, context)?;
        let chunk = context.run("lvm-thin", &group.report_pool("chunk_size"))?.text();
        context.note(
            "lvm-thin",
            format!("a pool of {pool} in chunks of {}, a volume of {size}", chunk.trim()),
        );
        Ok(LayerOutput::Devices(vec![node]))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices("lvm-thin", below)?;
        let (_, node) = VolumeGroup::assemble("lvm-thin", &devices, context)?;
        Ok(LayerOutput::Devices(vec![node]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::layer;

    #[test]
    fn metadata_is_taken_twice_and_more_is_only_promised() {
        let size = |text: &str, gib: u64| {
            let shape = layer(text).expect(text).shape(&Shape::drives(&[Bytes::gib(gib)]));
            let Ok(Shape::Devices(volumes)) = shape else { panic!("{text}: {shape:?}") };
            volumes[0].size
        };
        let group = |gib| Bytes::gib(gib) - Bytes::mib(4);
        assert_eq!(size("lvm-thin", 1), group(1) - Bytes::mib(8));
        assert_eq!(size("lvm-thin", 4096), group(4096) - Bytes::mib(256));
        assert_eq!(size("lvm-thin[chunk=64K]", 4096), group(4096) - Bytes::gib(8));
        assert_eq!(size("lvm-thin[size=1T]", 1), group(1) - Bytes::mib(8));
        assert_eq!(size("lvm-thin[size=100M]", 1), Bytes::mib(100));
        for (text, words) in [
            ("lvm-thin[chunk=48K]", "a power of two from 64 KiB to 1 GiB"),
            ("lvm-thin[stripes=2]", "'stripes' is not an option of lvm-thin"),
        ] {
            let error = layer(text).expect_err(text);
            assert!(error.message.contains(words), "{text}: {error}");
        }
    }
}
