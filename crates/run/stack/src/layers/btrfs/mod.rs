//! Btrfs over one or several devices.

use std::path::{Path, PathBuf};

use disklab_cell::{Care, LayerSpec};
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::file_system::{
    BLOCK_SIZE, FileSystemOptions, MKFS, MOUNT, MOUNT_OPTIONS, MountPoint, devices, file_system,
    label,
};
use crate::reading::OptionReader;
use crate::redundancy::{Stripe, combine, lost_beyond, members};
use crate::{
    DeviceState, FormatWrites, KeptWrites, Layer, LayerContext, LayerInUse, LayerKind, LayerOutput,
    Need, RebuildProgress, Remount, Shape, ShapeError, StackError, Volume, undo,
};

mod allocate;
mod care;
mod chunks;
mod profile;

use allocate::allocate;
use chunks::shares_of_first;
use profile::Profile;

/// A name of the family, with the profiles it stands for.
#[derive(Debug)]
struct Variant {
    name: &'static str,
    summary: &'static str,
    data: Profile,
    /// On several devices; `dup` on one.
    metadata: Profile,
}

/// The family. Metadata follows mkfs.btrfs(8) where the profile has no copies,
/// and the data where it has; on raid5 and raid6 it is mirrored as often as the
/// parity allows drives to fail, as btrfs(5) recommends.
const VARIANTS: [Variant; 10] = [
    Variant {
        name: "btrfs",
        summary: "Btrfs on one device",
        data: Profile::Single,
        metadata: Profile::Dup,
    },
    Variant {
        name: "btrfs-single",
        summary: "Btrfs over all devices, one after the other",
        data: Profile::Single,
        metadata: Profile::Raid1,
    },
    Variant {
        name: "btrfs-dup",
        summary: "Btrfs with two copies of data on the same device",
        data: Profile::Dup,
        metadata: Profile::Dup,
    },
    Variant {
        name: "btrfs-raid0",
        summary: "Btrfs, striped over all devices",
        data: Profile::Raid0,
        metadata: Profile::Raid1,
    },
    Variant {
        name: "btrfs-raid1",
        summary: "Btrfs with two copies on different devices",
        data: Profile::Raid1,
        metadata: Profile::Raid1,
    },
    Variant {
        name: "btrfs-raid1c3",
        summary: "Btrfs with three copies on different devices",
        data: Profile::Raid1c3,
        metadata: Profile::Raid1c3,
    },
    Variant {
        name: "btrfs-raid1c4",
        summary: "Btrfs with four copies on different devices",
        data: Profile::Raid1c4,
        metadata: Profile::Raid1c4,
    },
    Variant {
        name: "btrfs-raid10",
        summary: "Btrfs with two copies, striped",
        data: Profile::Raid10,
        metadata: Profile::Raid10,
    },
    Variant {
        name: "btrfs-raid5",
        summary: "Btrfs, striped with one parity; metadata raid1",
        data: Profile::Raid5,
        metadata: Profile::Raid1,
    },
    Variant {
        name: "btrfs-raid6",
        summary: "Btrfs, striped with two parities; metadata raid1c3",
        data: Profile::Raid6,
        metadata: Profile::Raid1c3,
    },
];

const OPTIONS: &[(&str, &str)] = &[
    BLOCK_SIZE,
    MKFS,
    ("data", "profile of data, such as raid1 [default: from the layer's name]"),
    ("metadata", "profile of metadata, such as raid1c3 [default: from the layer's name]"),
    ("csum", "checksum: crc32c, xxhash, sha256 or blake2"),
    ("nodesize", "size of a node of its trees, such as 16K"),
    REPLACED_BY,
    MOUNT_OPTIONS,
];

const REPLACED_BY: (&str, &str) = (
    "replaced-by",
    "how what failed is replaced: `btrfs replace` (replace, the default), or `device add` and `device remove` (remove)",
);

/// The checksums that mkfs.btrfs knows.
const CHECKSUMS: [&str; 4] = ["crc32c", "xxhash", "sha256", "blake2"];

/// What mkfs.btrfs writes, with two copies of its trees on one drive, and to each of several
/// drives: measured with btrfs-progs 6.2, whatever the size.
const WRITTEN: (f64, f64) = (5.5e6, 4.5e6);

/// Bytes of metadata that stay for each byte written: `smr-2015`'s file server left 0.8 GB in the lab
/// for its set of 105 GB, and no more in the ten hours after that.
const METADATA: f64 = 0.01;

const fn kind(index: usize) -> LayerKind {
    LayerKind {
        name: VARIANTS[index].name,
        summary: VARIANTS[index].summary,
        options: OPTIONS,
        inputs: &[],
        parse,
    }
}

/// `btrfs`'s line in the table.
pub(in crate::layers) const BTRFS: LayerKind = kind(0);
/// `btrfs-single`'s line in the table.
pub(in crate::layers) const SINGLE: LayerKind = kind(1);
/// `btrfs-dup`'s line in the table.
pub(in crate::layers) const DUP: LayerKind = kind(2);
/// `btrfs-raid0`'s line in the table.
pub(in crate::layers) const RAID0: LayerKind = kind(3);
/// `btrfs-raid1`'s line in the table.
pub(in crate::layers) const RAID1: LayerKind = kind(4);
/// `btrfs-raid1c3`'s line in the table.
pub(in crate::layers) const RAID1C3: LayerKind = kind(5);
/// `btrfs-raid1c4`'s line in the table.
pub(in crate::layers) const RAID1C4: LayerKind = kind(6);
/// `btrfs-raid10`'s line in the table.
pub(in crate::layers) const RAID10: LayerKind = kind(7);
/// `btrfs-raid5`'s line in the table.
pub(in crate::layers) const RAID5: LayerKind = kind(8);
/// `btrfs-raid6`'s line in the table.
pub(in crate::layers) const RAID6: LayerKind = kind(9);

#[derive(Debug)]
struct Btrfs {
    name: &'static str,
    options: FileSystemOptions,
    data: Profile,
    /// By the number of devices where absent.
    metadata: Option<Profile>,
    default_metadata: Profile,
    checksum: Option<&'static str>,
    node_size: Option<Bytes>,
    replaced_by: care::ReplacedBy,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let variant = VARIANTS.iter().find(|v| v.name == spec.name).unwrap_or(&VARIANTS[0]);
    let profiles = Profile::ALL.map(|profile| (profile.name(), profile));
    let mut reading = OptionReader::new(spec);
    Ok(Box::new(Btrfs {
        name: variant.name,
        options: FileSystemOptions::parse(
            spec,
            &["data", "metadata", "csum", "nodesize", REPLACED_BY.0],
        )?,
        data: reading.word("data", &profiles)?.unwrap_or(variant.data),
        metadata: reading.word("metadata", &profiles)?,
        default_metadata: variant.metadata,
        checksum: reading.word("csum", &CHECKSUMS.map(|name| (name, name)))?,
        node_size: reading.power_of_two("nodesize", Bytes::kib(4), Bytes::kib(64))?,
        replaced_by: reading.word(REPLACED_BY.0, &care::ReplacedBy::WORDS)?.unwrap_or_default(),
    }))
}

impl Btrfs {
    fn metadata(&self, devices: usize) -> Profile {
        match self.metadata {
            Some(profile) => profile,
            None if devices == 1 && self.default_metadata == Profile::Raid1 => Profile::Dup,
            None => self.default_metadata,
        }
    }

    /// The least size of a device, as mkfs.btrfs 6.2 says when it refuses.
    fn minimum(&self, devices: usize) -> Bytes {
        match (self.data, self.metadata(devices)) {
            (Profile::Dup, _) => Bytes::mib(229),
            (_, Profile::Dup | Profile::Single) => Bytes::mib(109),
            _ => Bytes::mib(125),
        }
    }
}

impl Layer for Btrfs {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let name = self.name;
        let volumes = members(name, below)?;
        if name == "btrfs" && volumes.len() != 1 {
            let remedy = "for several take btrfs-single, btrfs-raid1, …";
            return Err(ShapeError::with_remedy(name, "exactly 1 device", below.kind(), remedy));
        }
        let metadata = self.metadata(volumes.len());
        for (what, profile) in [("data", self.data), ("metadata", metadata)] {
            if volumes.len() < profile.least_devices() {
                let layer = format!("{name} ({what} {})", profile.name());
                let (least, got) = (profile.least_devices(), volumes.len());
                return Err(ShapeError::TooFew { layer, least, got });
            }
        }
        let minimum = self.minimum(volumes.len());
        if let Some(small) = volumes.iter().find(|v| v.size < minimum) {
            return Err(ShapeError::TooSmall { layer: name, least: minimum, got: small.size });
        }
        let sizes: Vec<Bytes> = volumes.iter().map(|v| v.size).collect();
        let (size, shares) = allocate(&sizes, self.data, metadata);
        // The loss of the metadata is the loss of the data.
        let [stripe, of_metadata] = [self.data, metadata].map(|p| p.stripe(volumes.len()));
        let mut loss = lost_beyond(stripe.survives().min(of_metadata.survives()), volumes);
        if volumes.len() > 1 {
            loss = loss.rebuilt_by_use();
        }
        Ok(Shape::Directory(Volume { loss, ..combine(volumes, &shares, size, stripe) }))
    }

    fn shape_of_first(&self, below: &Shape, data: Bytes) -> Result<Shape, ShapeError> {
        let (shape, Shape::Devices(volumes)) = (self.shape(below)?, below) else {
            return self.shape(below);
        };
        let Shape::Directory(whole) = shape else { return Ok(shape) };
        let sizes: Vec<Bytes> = volumes.iter().map(|v| v.size).collect();
        let metadata = self.metadata(volumes.len());
        let shares = shares_of_first(&sizes, self.data, metadata, data);
        let Volume { drive_writes, .. } = combine(volumes, &shares, whole.size, Stripe::Plain);
        Ok(Shape::Directory(Volume { drive_writes, ..whole }))
    }

    fn kept_writes(&self) -> KeptWrites {
        let in_place = self.options.mount.iter().any(|option| option == "nodatacow");
        KeptWrites { old_data: !in_place, ..KeptWrites::elsewhere(METADATA) }
    }

    fn format_writes(&self, below: &Shape, _state: DeviceState) -> FormatWrites {
        let Ok(Shape::Directory(made)) = self.shape(below) else { return FormatWrites::default() };
        let is_used = |share: &f64| *share > 0.0;
        let used = made.drive_writes.iter().filter(|share| is_used(share)).count();
        let each = if used > 1 { WRITTEN.1 } else { WRITTEN.0 };
        let bytes = |share: &f64| if is_used(share) { each } else { 0.0 };
        let bytes = made.drive_writes.iter().map(bytes).collect();
        FormatWrites { bytes, ..FormatWrites::default() }
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::FileSystem("btrfs"),
            Need::Program { name: "mkfs.btrfs", package: "btrfs-progs" },
            Need::Program { name: "btrfs", package: "btrfs-progs" },
            Need::Program { name: "blkid", package: "util-linux" },
            MOUNT,
        ]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices(self.name, below)?;
        let point = MountPoint::new(context)?;
        // mkfs refuses a UUID that is in blkid's cache, which may be
        // seconds behind; without a cache it looks at the devices.
        let mut mkfs = Invocation::new("mkfs.btrfs")
            .env("BLKID_FILE", "/dev/null")
            .args(["--force", "--quiet", "--uuid", &point.uuid, "--label", &label(context, 80)])
            .args(["--data", self.data.name()])
            .args(["--metadata", self.metadata(devices.len()).name()]);
        if let Some(checksum) = self.checksum {
            mkfs = mkfs.args(["--csum", checksum]);
        }
        if let Some(size) = self.node_size {
            mkfs = mkfs.args(["--nodesize", &size.0.to_string()]);
        }
        if let Some(size) = self.options.block_size {
            mkfs = mkfs.args(["--sectorsize", &size.0.to_string()]);
        }
        context.enter(undo::RemoveBtrfs { uuid: point.uuid.clone(), devices: devices.clone() })?;
        context.run(self.name, &mkfs.args(&self.options.mkfs).args(&devices))?;
        self.mount(point, &devices, context)
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices(self.name, below)?;
        let point = MountPoint::new(context)?;
        let devices = file_system(self.name).all(&devices, &point.uuid, context)?;
        context.enter(undo::RemoveBtrfs { uuid: point.uuid.clone(), devices: devices.clone() })?;
        self.mount(point, &devices, context)
    }

    fn care(&self) -> &'static [Care] {
        // Of as many devices as any profile needs.
        let survives = |profile: Profile| profile.stripe(8).survives() > 0;
        if survives(self.data) && survives(self.metadata(8)) {
            &[Care::Fail, Care::Replace, Care::Rebuild, Care::Scrub]
        } else {
            &[Care::Scrub]
        }
    }

    fn fail(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::fail(at, drive, &self.options.mount)
    }

    fn replace(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::replace(at, drive, &self.options.mount, self.replaced_by)
    }

    fn progress(&self, at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
        care::progress(at)
    }

    fn scrub(&self, at: &LayerInUse<'_>) -> Result<String, StackError> {
        care::scrub(at)
    }

    fn scrubbed(&self, at: &LayerInUse<'_>) -> Result<Option<(Bytes, Bytes)>, StackError> {
        care::scrubbed(at)
    }
}

impl Btrfs {
    fn mount(
        &self,
        point: MountPoint,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        // Where there is no udev, nobody else tells the kernel which devices
        // belong together.
        let scan = Invocation::new("btrfs").args(["device", "scan"]).args(devices);
        context.run(self.name, &scan)?;
        let output = point.mount(context, "btrfs", &devices[0], &self.options.mount)?;
        if let Some(Remount::FileSystem { directory, degraded, .. }) = context.mounted.last_mut()
            && devices.len() > 1
        {
            let mounts = devices.iter();
            *degraded =
                mounts.map(|one| care::mount(&self.options.mount, one, directory)).collect();
        }
        Ok(output)
    }
}

#[cfg(test)]
mod tests;
