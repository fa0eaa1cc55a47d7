//! Synology Hybrid RAID: unequal drives, cut into slices; an md array over each
//! slice; LVM over the arrays, one after the other.
//!
//! Two small partitions that DSM puts on every drive for itself (its system and
//! its swap space, about 4.5 GiB) are left out: they are idle while a volume is
//! measured.

use std::path::{Path, PathBuf};

use disklab_cell::{Care, LayerSpec};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::lvm::{self, VolumeGroup};
use super::md::{self, Md, Resync};
use super::partition::device_size;
use crate::reading::OptionReader;
use crate::redundancy::{Stripe, combine, devices, members};
use crate::{
    DeviceState, FormatWrites, Layer, LayerContext, LayerInUse, LayerKind, LayerOutput, Need,
    RebuildProgress, Shape, ShapeError, StackError, Volume, WindowedPass,
};

mod partitions;
mod slices;

use partitions::{BACK, FRONT, Tables};
use slices::{Slice, SliceKind, slice};

/// SHR or SHR-2 over all devices below.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shr {
    layer: &'static str,
    kind: SliceKind,
    chunk: Bytes,
    bitmap: Option<bool>,
    resync: Option<Resync>,
    stripe_cache: Option<u32>,
}

const OPTIONS: &[(&str, &str)] = &[
    ("chunk", "chunk size [default: 64K, as on a DiskStation]"),
    ("bitmap", "write-intent bitmap: none (default, as on a DiskStation), internal"),
    md::RESYNC,
    md::STRIPE_CACHE,
];

pub(super) const SHR: LayerKind = LayerKind {
    name: "shr",
    summary: "Synology Hybrid RAID: unequal drives in slices; any drive may fail",
    options: OPTIONS,
    inputs: &[],
    parse,
};

pub(super) const SHR2: LayerKind = LayerKind {
    name: "shr2",
    summary: "Synology Hybrid RAID 2: unequal drives in slices; any two drives may fail",
    options: OPTIONS,
    inputs: &[],
    parse,
};

/// What DSM uses, as `/proc/mdstat` of a DiskStation shows it: '64k chunk'.
const CHUNK: Bytes = Bytes::kib(64);

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Shr, SourceError> {
    let (layer, kind) = if spec.name == SHR2.name {
        (SHR2.name, SliceKind::Shr2)
    } else {
        (SHR.name, SliceKind::Shr)
    };
    let mut reading = OptionReader::new(spec);
    let chunk = md::chunk(&mut reading)?.unwrap_or(CHUNK);
    let (bitmap, resync) = md::bitmap_and_resync(&mut reading)?;
    let stripe_cache = md::stripe_cache(&mut reading)?;
    reading.finish()?;
    Ok(Shr { layer, kind, chunk, bitmap, resync, stripe_cache })
}

/// The room that a drive has for slices.
fn room(drive: Bytes) -> Bytes {
    drive.round_down(Bytes::mib(1)) - FRONT - BACK
}

/// The lowest slice worth an array: drives that are sold as equal differ by
/// less than 1/256 of their size, and below 16 MiB there is hardly room for the
/// metadata of md and LVM.
fn minimum(rooms: &[Bytes]) -> Bytes {
    let largest = rooms.iter().max().copied().unwrap_or(Bytes::ZERO);
    Bytes(largest.0 / 256).max(Bytes::mib(16)).round_up(Bytes::mib(1))
}

impl Shr {
    /// The slices of drives of these sizes.
    fn slices(&self, sizes: &[Bytes]) -> Result<Vec<Slice>, ShapeError> {
        let least = self.kind.least_drives();
        if sizes.len() < least {
            let got = sizes.len();
            return Err(ShapeError::TooFew { layer: self.layer.to_owned(), least, got });
        }
        let rooms: Vec<Bytes> = sizes.iter().map(|size| room(*size)).collect();
        let slices = slice(&rooms, self.kind, minimum(&rooms));
        if slices.is_empty() {
            let common = minimum(&rooms) + FRONT + BACK;
            return Err(ShapeError::NothingInCommon { layer: self.layer, least, common });
        }
        Ok(slices)
    }

    /// The slices of the drives with these tables.
    fn slices_of(
        &self,
        tables: &Tables,
        context: &mut LayerContext<'_>,
    ) -> Result<Vec<Slice>, StackError> {
        let sizes = tables.drives.iter().map(|drive| device_size(self.layer, drive));
        let slices = self.slices(&sizes.collect::<Result<Vec<_>, _>>()?)?;
        context.note(self.layer, words(&slices));
        Ok(slices)
    }

    /// The array over a slice.
    fn array(&self, slice: &Slice) -> Md {
        let chunks = slice.level.has_chunks().then_some(self.chunk);
        Md {
            layer: self.layer,
            level: slice.level,
            chunk: chunks,
            layout: None,
            width: None,
            bitmap: Some(self.bitmap.unwrap_or(false)),
            resync: self.resync,
            stripe_cache: self.stripe_cache.filter(|_| slice.level.has_parity()),
            speeds: (None, None),
        }
    }
}

impl Layer for Shr {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let drives = members(self.layer, below)?;
        let sizes: Vec<Bytes> = drives.iter().map(|drive| drive.size).collect();
        let mut arrays = Vec::new();
        for slice in self.slices(&sizes)? {
            let members = on_drives(&slice, drives);
            let mut array = slice.level.array(self.layer, &members, self.array(&slice).chunk)?;
            array.size = lvm::extents(array.size);
            arrays.push(array);
        }
        let total: Bytes = arrays.iter().map(|array| array.size).sum();
        if total == Bytes::ZERO {
            let smallest = sizes.iter().copied().min().unwrap_or(Bytes::ZERO);
            return Err(ShapeError::NothingLeft { layer: self.layer, got: smallest });
        }
        let shares: Vec<f64> = arrays.iter().map(|a| a.size.0 as f64 / total.0 as f64).collect();
        Ok(Shape::Devices(vec![combine(&arrays, &shares, total, Stripe::Plain)]))
    }

    fn format_writes(&self, below: &Shape, state: DeviceState) -> FormatWrites {
        let Ok(drives) = members(self.layer, below) else { return FormatWrites::default() };
        let sizes: Vec<Bytes> = drives.iter().map(|drive| drive.size).collect();
        let slices = self.slices(&sizes).unwrap_or_default();
        let resync = |s: &Slice| self.array(s).first_resync(&on_drives(s, drives), state);
        slices.iter().map(resync).fold(FormatWrites::default(), FormatWrites::and)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::Root, partitions::SFDISK, md::MDADM, lvm::LVM];
        needs.push(Need::DeviceMapper("linear"));
        match self.kind {
            SliceKind::Shr => needs.extend([Need::Md("raid5"), Need::Md("raid1")]),
            SliceKind::Shr2 => needs.push(Need::Md("raid6")),
        }
        needs
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let tables = Tables::new(self.layer, devices(self.layer, below)?);
        let slices = self.slices_of(&tables, context)?;
        let mut arrays = Vec::new();
        for (slice, members) in slices.iter().zip(tables.partitions(&slices, context)?) {
            arrays.push(self.array(slice).create(&members, context)?);
        }
        let group = VolumeGroup::create(self.layer, &arrays, context)?;
        let Some((first, more)) = arrays.split_first() else {
            return Err(ShapeError::NothingLeft { layer: self.layer, got: Bytes::ZERO }.into());
        };
        // Array by array: in one go, LVM would begin with the largest.
        let whole = ["--extents", "100%PVS"].map(str::to_owned);
        let volume: PathBuf = group.volume(&whole, std::slice::from_ref(first), context)?;
        lvm::append_all(&group, more, context)?;
        Ok(LayerOutput::Devices(vec![volume]))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let tables = Tables::find(self.layer, &devices(self.layer, below)?, context)?;
        let slices = self.slices_of(&tables, context)?;
        let mut arrays = Vec::new();
        for (slice, members) in slices.iter().zip(tables.partitions(&slices, context)?) {
            arrays.push(self.array(slice).start_again(&members, context)?);
        }
        let (_, volume) = VolumeGroup::assemble(self.layer, &arrays, context)?;
        Ok(LayerOutput::Devices(vec![volume]))
    }

    fn care(&self) -> &'static [Care] {
        &[Care::Fail, Care::Replace, Care::PassFrom, Care::Rebuild, Care::Scrub]
    }

    fn fail(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        md::care::fail(at, drive)
    }

    fn replace(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        md::care::replace(at, drive)
    }

    fn progress(&self, at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
        md::care::progress(at)
    }

    fn passes(
        &self,
        at: &LayerInUse<'_>,
        drive: Option<&Path>,
    ) -> Result<Vec<Box<dyn WindowedPass>>, StackError> {
        md::care::passes(at, drive)
    }

    fn scrub(&self, at: &LayerInUse<'_>) -> Result<String, StackError> {
        md::care::scrub(at)
    }
}

/// The members of the array over a slice.
fn on_drives(slice: &Slice, drives: &[Volume]) -> Vec<Volume> {
    let of_slice = slice.drives.iter().filter_map(|drive| drives.get(*drive));
    of_slice.map(|drive| Volume { size: slice.height, ..drive.clone() }).collect()
}

/// The slices, for the sample: '0 B to 126 MiB: raid5 over 4 drives; …'.
fn words(slices: &[Slice]) -> String {
    let words: Vec<_> = slices
        .iter()
        .map(|s| {
            let end = s.start + s.height;
            format!("{} to {end}: {} over {} drives", s.start, s.level.word(), s.drives.len())
        })
        .collect();
    format!("slices: {}", words.join("; "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reading::tests::spec;

    fn shape(text: &str, sizes: &[Bytes]) -> Result<Volume, ShapeError> {
        let shr = read_options(&spec(text)).expect("shr");
        match shr.shape(&Shape::drives(sizes))? {
            Shape::Devices(mut volumes) if volumes.len() == 1 => Ok(volumes.remove(0)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn equal_drives_are_a_raid5_or_a_raid6() {
        let four = [Bytes(10_000_831_348_736); 4];
        let shr = shape("shr", &four).expect("shr");
        assert_eq!(shr.tolerates(), 1);
        assert!((shr.drive_writes[0] - 1.0 / 3.0).abs() < 1e-9);
        assert!(shr.size > Bytes(30_000_000_000_000 - 1_000_000_000));
        let shr2 = shape("shr2", &four).expect("shr2");
        assert_eq!(shr2.tolerates(), 2);
        assert!((shr2.drive_writes[3] - 0.5).abs() < 1e-9);
    }

    #[test]
    fn unequal_drives_write_more_to_the_larger() {
        let shr = shape("shr", &[100, 200, 300, 300].map(Bytes::gib)).expect("shr");
        assert_eq!(shr.tolerates(), 1);
        // Of 600 GiB, 300 are on four drives, 200 on three and 100 on two.
        for (write, about) in shr.drive_writes.iter().zip([1.0, 2.0, 3.0, 3.0]) {
            assert!((write - about / 6.0).abs() < 0.01, "{:?}", shr.drive_writes);
        }
    }

    #[test]
    fn errors_say_what_is_needed() {
        let two = [Bytes::gib(1); 2];
        let error = shape("shr2", &two).expect_err("two").to_string();
        assert_eq!(error, "shr2 needs at least 4 devices, got 2");
        let unequal = [Bytes::mib(10), Bytes::gib(1)];
        let error = shape("shr", &unequal).expect_err("nothing in common");
        assert_eq!(error.to_string(), "shr needs at least 2 devices with 18 MiB in common");
    }

    #[test]
    fn drives_sold_as_equal_make_one_slice() {
        let shr = read_options(&spec("shr")).expect("shr");
        let sizes = [Bytes(4_000_787_030_016), Bytes(4_000_785_948_160), Bytes(4_001_000_000_000)];
        assert_eq!(shr.slices(&sizes).expect("slices").len(), 1);
    }

    proptest! {
        #[test]
        fn holds_no_more_than_the_drives(
            sizes in prop::collection::vec((0_u64..1 << 44).prop_map(Bytes), 0..9),
            kind in "shr2?",
        ) {
            if let Ok(volume) = shape(&kind, &sizes) {
                let total: Bytes = sizes.iter().copied().sum();
                prop_assert!(volume.size < total);
                let promised = if kind == "shr" { 1 } else { 2 };
                prop_assert!(volume.tolerates() >= promised);
                for (size, write) in sizes.iter().zip(&volume.drive_writes) {
                    prop_assert!(write * volume.size.0 as f64 <= size.0 as f64);
                }
            }
        }
    }
}
