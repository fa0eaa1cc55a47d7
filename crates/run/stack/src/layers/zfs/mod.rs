//! ZFS pools: stripes, mirrors and RAID-Z over all devices below.

use std::path::{Path, PathBuf};

use disklab_cell::{Care, LayerSpec};
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::partition;
use crate::reading::OptionReader;
use crate::redundancy::{Stripe, combine, devices, members};
use crate::remount::import;
use crate::udev;
use crate::undo::{DATASET_NAME, POOL_MARK};
use crate::{
    InputKind, Inputs, KeptWrites, Layer, LayerContext, LayerInUse, LayerKind, LayerOutput,
    MadePool, Need, RebuildProgress, Remount, Shape, ShapeError, StackError, Volume, seeded, undo,
};

mod care;
mod draid;
pub(super) mod properties;
mod space;

use draid::{DATA, Draid, SPARES_OPTION};
use properties::{Owner, Properties};
use space::{LEAST_DEVICE, PoolGeometry, Vdev};

/// Bytes of metadata that stay for each byte written: an estimate, twice Btrfs's, as its blocks'
/// pointers have 128 bytes each (`blkptr_t` in `include/sys/spa.h`).
const METADATA: f64 = 0.02;

/// One pool over all devices below.
#[derive(Debug)]
struct Zfs {
    layer: &'static str,
    vdev: Vdev,
    /// Devices in one top-level vdev; all where absent.
    width: Option<usize>,
    properties: Properties,
    /// Whether files are in a data set of their own, which has the properties.
    has_dataset: bool,
    /// For whole disks where there is no udev.
    partition: Box<dyn Layer>,
}

const WIDTH: (&str, &str) =
    ("width", "devices in one mirror or RAID-Z, the pool striping over several (default: all)");
const ASHIFT: (&str, &str) = (
    "ashift",
    "sectors of 2^ashift bytes, 9 to 16 (zpool asks the drive; of mirror and RAID-Z: at least)",
);
const RECORDSIZE: (&str, &str) =
    ("recordsize", "largest block of a file, such as 1M (ZFS's: 128K)");
const COMPRESSION: (&str, &str) = ("compression", "lz4, zstd, zstd-3, gzip-6, off …");
const ENCRYPTION: (&str, &str) = (
    "encryption",
    "ZFS's own: on, aes-256-gcm, aes-128-ccm, … (keyformat and keylocation: no effect)",
);
const DATASET: (&str, &str) =
    ("dataset", "files are in a data set of the pool, which has the properties; not in its root");
const REST: (&str, &str) = (
    LayerKind::ANY_OPTION,
    "a compression alone, such as lz4; or atime, sync, primarycache, checksum, … (zfsprops(7)); \
     acltype, normalization, … are set and change no figure, mountpoint, canmount, … are not set",
);

const POOL_OPTIONS: &[(&str, &str)] =
    &[WIDTH, ASHIFT, RECORDSIZE, COMPRESSION, ENCRYPTION, DATASET, REST];
const DRAID_OPTIONS: &[(&str, &str)] =
    &[DATA, SPARES_OPTION, WIDTH, ASHIFT, RECORDSIZE, COMPRESSION, ENCRYPTION, DATASET, REST];

const LOG: InputKind = InputKind {
    name: "log",
    summary: "separate intent log (SLOG) for synchronous writes; several devices are a mirror",
    most: 4,
    if_lost: "the pool continues with a log on its data devices; what was synced in the last seconds \
              is lost only if the machine fails at the same time",
};
const CACHE: InputKind = InputKind {
    name: "cache",
    summary: "second cache for reads (L2ARC), in front of the data devices",
    most: 32,
    if_lost: "no data are lost",
};
const SPECIAL: InputKind = InputKind {
    name: "special",
    summary: "metadata are here, and small blocks (special_small_blocks); several devices are a mirror",
    most: 4,
    if_lost: "the pool is lost with the last of them",
};
const SPARE: InputKind = InputKind {
    name: "spare",
    summary: "hot spares: one takes the place of a device that fails",
    most: 32,
    if_lost: "no data are lost",
};
const INPUTS: &[InputKind] = &[LOG, CACHE, SPECIAL, SPARE];

const fn kind(name: &'static str, summary: &'static str) -> LayerKind {
    LayerKind { name, summary, options: POOL_OPTIONS, inputs: INPUTS, parse }
}

pub(super) const STRIPE: LayerKind = LayerKind {
    options: &[ASHIFT, RECORDSIZE, COMPRESSION, ENCRYPTION, DATASET, REST],
    ..kind("zfs", "ZFS pool over all devices, no redundancy")
};
pub(super) const MIRROR: LayerKind =
    kind("zfs-mirror", "ZFS mirror, or with width=2 a pool of mirrors like RAID 10");
pub(super) const RAIDZ1: LayerKind = kind("zfs-raidz1", "ZFS RAID-Z: any device may fail");
pub(super) const RAIDZ2: LayerKind = kind("zfs-raidz2", "ZFS RAID-Z2: any two devices may fail");
pub(super) const RAIDZ3: LayerKind = kind("zfs-raidz3", "ZFS RAID-Z3: any three devices may fail");

const fn draid(name: &'static str, summary: &'static str) -> LayerKind {
    LayerKind { options: DRAID_OPTIONS, ..kind(name, summary) }
}

pub(super) const DRAID1: LayerKind =
    draid("zfs-draid1", "ZFS dRAID: any device may fail, and spares are spread over all");
pub(super) const DRAID2: LayerKind =
    draid("zfs-draid2", "ZFS dRAID: any two devices may fail, and spares are spread over all");
pub(super) const DRAID3: LayerKind =
    draid("zfs-draid3", "ZFS dRAID: any three devices may fail, and spares are spread over all");

const VDEVS: [(&str, Vdev); 8] = [
    (STRIPE.name, Vdev::Stripe),
    (MIRROR.name, Vdev::Mirror),
    (RAIDZ1.name, Vdev::RaidZ(1)),
    (RAIDZ2.name, Vdev::RaidZ(2)),
    (RAIDZ3.name, Vdev::RaidZ(3)),
    (DRAID1.name, Vdev::Draid(Draid::new(1))),
    (DRAID2.name, Vdev::Draid(Draid::new(2))),
    (DRAID3.name, Vdev::Draid(Draid::new(3))),
];

pub(super) const ZPOOL: Need = Need::Program { name: "zpool", package: "zfsutils-linux" };
pub(super) const ZFS: Need = Need::Program { name: "zfs", package: "zfsutils-linux" };

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Zfs, SourceError> {
    let found = VDEVS.iter().find(|(name, _)| *name == spec.name);
    let (layer, vdev) = *found.ok_or_else(|| spec.error("no kind of ZFS pool"))?;
    let (vdev, own): (Vdev, &[&str]) = match vdev {
        Vdev::Stripe => (vdev, &["dataset"]),
        Vdev::Mirror | Vdev::RaidZ(_) => (vdev, &["width", "dataset"]),
        Vdev::Draid(draid) => {
            (Vdev::Draid(draid.read(spec)?), &["width", "dataset", DATA.0, SPARES_OPTION.0])
        }
    };
    let has_dataset = OptionReader::new(spec).flag("dataset")?;
    let width = match spec.option("width").filter(|_| own.contains(&"width")) {
        None => None,
        Some(text) => {
            Some(text.parse().ok().filter(|n| (2..=255).contains(n)).ok_or_else(|| {
                spec.error(format!(
                    "{layer}: `width`: expected a number of devices from 2, found '{text}'"
                ))
            })?)
        }
    };
    let owners = [Owner::Pool, Owner::FileSystem, Owner::Both];
    let properties = Properties::parse(spec, own, &owners)?;
    let plain = LayerSpec {
        name: "partition".to_owned(),
        options: Vec::new(),
        inputs: Vec::new(),
        ..spec.clone()
    };
    let partition = (partition::KIND.parse)(&plain)?;
    Ok(Zfs { layer, vdev, width, properties, has_dataset, partition })
}

impl Vdev {
    /// zpool's word before the devices, so many of them.
    fn word(self, devices: usize) -> Option<String> {
        match self {
            Self::Stripe => None,
            Self::Mirror => Some("mirror".to_owned()),
            Self::RaidZ(parity) => Some(format!("raidz{parity}")),
            Self::Draid(draid) => Some(draid.word(devices)),
        }
    }

    /// The fewest devices that zpool takes (`get_replication` and the table of
    /// types in `cmd/zpool/zpool_vdev.c`).
    fn least_devices(self) -> usize {
        match self {
            Self::Stripe => 1,
            Self::Mirror => 2,
            Self::RaidZ(parity) => parity as usize + 1,
            Self::Draid(draid) => draid.least_devices(),
        }
    }
}

impl Zfs {
    /// How many of so many devices one top-level vdev has.
    fn width_of(&self, devices: usize) -> usize {
        match self.vdev {
            Vdev::Stripe => 1,
            _ => self.width.unwrap_or(devices).max(1),
        }
    }

    /// The devices of each top-level vdev.
    ///
    /// # Errors
    /// Where they do not come out even, or are too few.
    fn vdevs<'a, T>(&self, devices: &'a [T]) -> Result<Vec<&'a [T]>, ShapeError> {
        let width = self.width_of(devices.len());
        let least = self.vdev.least_devices();
        if width < least || devices.len() < least {
            let got = width.min(devices.len());
            return Err(ShapeError::TooFew { layer: self.layer.to_owned(), least, got });
        }
        if !devices.len().is_multiple_of(width) {
            let devices = devices.len();
            return Err(ShapeError::Groups { layer: self.layer, devices, width, what: "vdevs" });
        }
        Ok(devices.chunks(width).collect())
    }

    fn create(
        &self,
        made: &DrawnPool<'_>,
        vdevs: &[&[PathBuf]],
        inputs: &Inputs<PathBuf>,
    ) -> Invocation {
        let mut create = udev::zpool()
            .args(["create", "-f", "-o", "cachefile=none"])
            .args(self.properties.args_of(|owner| owner == Owner::Pool, "-o"));
        if !self.has_dataset {
            create = self.dataset_properties(create, "-O", made);
        }
        create = create.args(["-O", &format!("{POOL_MARK}={}", made.mark)]).arg("-m");
        create = if self.has_dataset { create.arg("none") } else { create.arg(made.directory) };
        create = create.arg(made.pool);
        for devices in vdevs {
            create = create.args(self.vdev.word(devices.len())).args(*devices);
        }
        for (name, devices) in inputs.each() {
            let is_mirror = [LOG.name, SPECIAL.name].contains(&name) && devices.len() > 1;
            create = create.arg(name).args(is_mirror.then_some("mirror")).args(devices);
        }
        create
    }

    /// What makes the data set of a pool.
    fn create_dataset(&self, made: &DrawnPool<'_>) -> Invocation {
        let create = Invocation::new("zfs").arg("create");
        self.dataset_properties(create, "-o", made)
            .args(["-o", &format!("{POOL_MARK}={}", made.mark), "-o"])
            .arg(format!("mountpoint={}", made.directory.display()))
            .arg(made.files())
    }

    /// The properties of what holds the files, and the key, from standard input.
    fn dataset_properties(
        &self,
        mut to: Invocation,
        flag: &str,
        made: &DrawnPool<'_>,
    ) -> Invocation {
        to = to.args(self.properties.args_of(|owner| owner != Owner::Pool, flag));
        if let Some(key) = &made.key {
            to = to.args([flag, "keyformat=hex", flag, "keylocation=prompt"]).stdin(key.as_str());
        }
        to
    }

    /// zpool partitions a whole disk and then waits for udev to show it; where
    /// there is none, it is given partitions, by `partition`, in the disks' places.
    fn partitioned(
        &self,
        devices: Vec<PathBuf>,
        context: &mut LayerContext<'_>,
        partition: impl Fn(LayerOutput, &mut LayerContext<'_>) -> Result<LayerOutput, StackError>,
    ) -> Result<Vec<PathBuf>, StackError> {
        let (whole, others): (Vec<PathBuf>, Vec<PathBuf>) =
            devices.iter().cloned().partition(|device| is_whole_disk(device));
        if udev::is_running() || whole.is_empty() {
            return Ok(devices);
        }
        let branch = context.branch.clone();
        if !others.is_empty() {
            // The others may be such partitions themselves.
            context.branch.push_str("zfs:");
        }
        context.own -= others.len().min(context.own);
        let made = partition(LayerOutput::Devices(whole), context)?;
        context.branch = branch;
        let mut made = crate::redundancy::devices(self.layer, made)?.into_iter();
        let mut placed = Vec::new();
        for device in devices {
            match others.contains(&device) {
                true => placed.push(device),
                false => placed.extend(made.next()),
            }
        }
        Ok(placed)
    }

    /// Has `start` make or import the pool that is entered in the ledger, of so many data vdevs.
    fn pool(
        &self,
        devices: Vec<PathBuf>,
        vdevs: usize,
        context: &mut LayerContext<'_>,
        start: impl Fn(&DrawnPool<'_>, &[PathBuf], &LayerContext<'_>) -> Result<(), StackError>,
    ) -> Result<LayerOutput, StackError> {
        let number = context.number();
        let pool = context.name(number);
        let mark = seeded::uuid(context, &format!("zfs {number}"));
        let directory = context.directory.join(format!("pool-{number}"));
        context.enter(undo::RemoveDirectory(directory.clone()))?;
        context.enter(undo::DestroyPool {
            name: pool.clone(),
            mark: mark.clone(),
            devices: devices.clone(),
        })?;
        // Before the pool is destroyed: this also ends what still uses it.
        context.enter(undo::Unmount(directory.clone()))?;
        let drawn = DrawnPool {
            pool: &pool,
            mark: &mark,
            directory: &directory,
            has_dataset: self.has_dataset,
            key: self.properties.is_encrypted().then(|| seeded::key(&mark)),
        };
        start(&drawn, &devices, context)?;
        let (files, key) = (drawn.files(), drawn.key);
        self.note_what_was_made(&pool, vdevs, &files, context)?;
        context.mounted.push(Remount::Pool {
            name: pool.clone(),
            directory: directory.clone(),
            devices,
            key,
        });
        Ok(LayerOutput::Pool { name: files, directory })
    }

    /// Imports the pool of these devices and mounts its files in this context's directory, which
    /// need not be the one where they were mounted before.
    fn import(
        &self,
        pool: &DrawnPool<'_>,
        devices: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> Result<(), StackError> {
        context.run(self.layer, &import(devices).arg("-N").arg(pool.pool))?;
        let (zfs, files) = (|| Invocation::new("zfs"), pool.files());
        let get = zfs().args(["get", "-H", "-o", "value", "mountpoint", &files]);
        let directory = pool.directory.display().to_string();
        if context.run(self.layer, &get)?.text().trim() != directory {
            let set = zfs().arg("set").arg(format!("mountpoint={directory}"));
            context.run(self.layer, &set.arg(&files))?;
        }
        let mount = match &pool.key {
            Some(key) => zfs().args(["mount", "-l"]).stdin(key.as_str()),
            None => zfs().arg("mount"),
        };
        context.run(self.layer, &mount.arg(&files)).map(drop)
    }
}

/// A pool with the names that were drawn for it.
struct DrawnPool<'a> {
    pool: &'a str,
    mark: &'a str,
    directory: &'a Path,
    has_dataset: bool,
    /// In hexadecimal digits, of one that is encrypted.
    key: Option<String>,
}

impl DrawnPool<'_> {
    /// What holds the files: the root of the pool, or its data set.
    fn files(&self) -> String {
        match self.has_dataset {
            true => format!("{}/{DATASET_NAME}", self.pool),
            false => self.pool.to_owned(),
        }
    }
}

/// Whether zpool partitions it: it is neither a partition nor made by device-mapper or loop.
fn is_whole_disk(device: &Path) -> bool {
    udev::kernel_name(device).is_some_and(|name| {
        let directory = Path::new("/sys/class/block").join(&name);
        let made = ["partition", "dm", "loop"].iter().any(|made| directory.join(made).exists());
        !made && !name.starts_with("zd")
    })
}

impl Layer for Zfs {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let vdevs: Vec<&[Volume]> = self.vdevs(members(self.layer, below)?)?;
        let geometry = PoolGeometry {
            vdev: self.vdev,
            ashift: self.properties.get("ashift").and_then(|text| text.parse().ok()),
            recordsize: self.properties.size("recordsize"),
        };
        geometry.pool(self.layer, &vdevs).map(Shape::Pool)
    }

    /// A log holds what is in memory, too, and a cache what is on the data devices: neither's loss is
    /// the pool's. Metadata are nowhere else than on special devices.
    fn with_inputs(
        &self,
        made: Shape,
        data: &Shape,
        inputs: &Inputs<Volume>,
    ) -> Result<Shape, ShapeError> {
        let Shape::Pool(mut pool) = made else { return Ok(made) };
        for input in INPUTS {
            inputs.check_size(self.layer, input.name, LEAST_DEVICE)?;
        }
        let smallest = members(self.layer, data)?.iter().map(|device| device.size).min();
        inputs.check_size(self.layer, SPARE.name, smallest.unwrap_or_default())?;
        if let special @ [first, ..] = inputs.get(SPECIAL.name) {
            let copies = vec![1.0; special.len()];
            let special = combine(special, &copies, first.size, Stripe::mirror(special.len()));
            let (size, small_write) = (pool.size, pool.small_write);
            pool = combine(&[pool, special], &[1.0, METADATA], size, Stripe::Plain);
            pool.small_write = small_write;
        }
        if self.properties.get("sync").is_some_and(|sync| sync == "always") {
            inputs.get(LOG.name).iter().for_each(|log| pool.add_writes(log, 1.0));
        }
        Ok(Shape::Pool(pool))
    }

    fn kept_writes(&self) -> KeptWrites {
        KeptWrites {
            hides_repeats: self.properties.is_encrypted(),
            ..KeptWrites::elsewhere(METADATA)
        }
    }

    fn is_imported(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::Root, ZPOOL, ZFS, Need::Zfs];
        if !udev::is_running() {
            needs.extend(self.partition.needs());
        }
        needs
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let data = devices(self.layer, below)?;
        let inputs = std::mem::take(&mut context.inputs);
        let all = data.iter().chain(inputs.all()).cloned().collect();
        let all = self.partitioned(all, context, |below, context| {
            context.note(
                self.layer,
                "without udev ZFS cannot partition disks, so they were partitioned first",
            );
            self.partition.make(below, context)
        })?;
        let (data, others) = all.split_at(data.len().min(all.len()));
        let inputs = inputs.with(others.iter().cloned());
        let vdevs = self.vdevs(data)?;
        self.pool(all.clone(), vdevs.len(), context, |pool, _, context| {
            context.run(self.layer, &self.create(pool, &vdevs, &inputs))?;
            if self.has_dataset {
                context.run(self.layer, &self.create_dataset(pool))?;
            }
            Ok(())
        })
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let mut all = devices(self.layer, below)?;
        let inputs = std::mem::take(&mut context.inputs);
        let vdevs = context.own / self.width_of(context.own);
        context.own += inputs.all().count();
        for device in inputs.all() {
            if !all.contains(device) {
                all.push(device.clone());
            }
        }
        let devices = self
            .partitioned(all, context, |below, context| self.partition.assemble(below, context))?;
        self.pool(devices, vdevs, context, |pool, devices, context| {
            self.import(pool, devices, context)
        })
    }

    fn finds_its_devices(&self) -> bool {
        true
    }

    fn care(&self) -> &'static [Care] {
        match self.vdev {
            Vdev::Stripe => &[Care::Scrub],
            Vdev::Mirror | Vdev::RaidZ(_) | Vdev::Draid(_) => {
                &[Care::Fail, Care::Replace, Care::TakeSpare, Care::Rebuild, Care::Scrub]
            }
        }
    }

    fn fail(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::fail(at, drive)
    }

    fn replace(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::replace(at, drive)
    }

    fn take_spare(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::take_spare(at, drive)
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

impl Zfs {
    /// What ZFS made of what was asked for: its defaults differ between versions.
    fn note_what_was_made(
        &self,
        pool: &str,
        vdevs: usize,
        files: &str,
        context: &mut LayerContext<'_>,
    ) -> Result<(), StackError> {
        let (layer, properties) = (self.layer, &self.properties);
        let mut shown = "recordsize,compression,checksum,atime,sync,primarycache".to_owned();
        if properties.is_encrypted() {
            shown.push_str(",encryption");
        }
        let others =
            Invocation::new("zfs").args(["get", "-H", "-o", "property,value", &shown, files]);
        let asked = properties.get("ashift");
        let ashift = self.ashift(pool, vdevs, context)?;
        let words: Vec<String> = ashift.iter().map(u8::to_string).collect();
        let made = words.join(" and ");
        if let Some(asked) = asked.filter(|asked| *asked != made) {
            context.note(
            layer,
            format!(
                "ashift={asked} was asked for and ZFS took {made}: a mirror or RAID-Z takes the \
                 drives' physical sectors where these are larger (OpenZFS, issues 13557 and \
                 15844)"
            ),
        );
        }
        let mut words = vec![format!("ashift={made}")];
        let text = context.run(layer, &others)?.text();
        words.extend(text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join("=")));
        let sync = text.lines().find_map(|line| Some(line.strip_prefix("sync")?.trim().to_owned()));
        context.pools.push(MadePool { name: pool.to_owned(), ashift, sync });
        context.note(layer, words.join(", "));
        for note in properties.notes() {
            context.note(layer, note);
        }
        Ok(())
    }

    /// The sector size that ZFS works with. The pool's own property is what was asked
    /// for, 0 where nothing was; what was chosen, the vdevs know from OpenZFS 2.2 on
    /// (vdevprops(7)).
    fn ashift(
        &self,
        pool: &str,
        vdevs: usize,
        context: &LayerContext<'_>,
    ) -> Result<Vec<u8>, StackError> {
        let layer = self.layer;
        // A dRAID is not found by the name that `all-vdevs` has for it, as `draid1:3d:4c:0s-0`.
        let of_data = match layer.strip_prefix("zfs-") {
            Some(kind) => (0..vdevs).map(|number| format!("{kind}-{number}")).collect(),
            None => vec!["all-vdevs".to_owned()],
        };
        let get = ["get", "-H", "-o", "value", "ashift", pool];
        let answer = context
            .executor
            .run(&Invocation::new("zpool").args(get).args(of_data))
            .map_err(|source| StackError::Program { layer: layer.to_owned(), source })?;
        match chosen(&answer.text(), vdevs) {
            ashift if answer.code == 0 && !ashift.is_empty() => Ok(ashift),
            _ => {
                let asked =
                    Invocation::new("zpool").args(["get", "-H", "-o", "value", "ashift", pool]);
                Ok(context.run(layer, &asked)?.text().trim().parse().into_iter().collect())
            }
        }
    }
}

/// The values of the first so many vdevs, each once: those of the data, as others come after them.
fn chosen(answer: &str, vdevs: usize) -> Vec<u8> {
    let values = answer.lines().filter_map(|line| line.trim().parse().ok());
    let mut ashifts: Vec<u8> = values.filter(|ashift| *ashift > 0).take(vdevs).collect();
    ashifts.sort_unstable();
    ashifts.dedup();
    ashifts
}

#[cfg(test)]
mod tests;
