//! Volumes on a ZFS pool, as block devices.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

use super::zfs::ZFS;
use super::zfs::properties::{Owner, Properties};
use crate::reading::OptionReader;
use crate::wait::{nap, wait_for_node};
use crate::{
    Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError, Volume,
};

/// Volumes on a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Zvol {
    /// Of each; 80 % of the pool, divided by their number, where absent.
    size: Option<Bytes>,
    count: u32,
    properties: Properties,
}

pub(super) const KIND: LayerKind = LayerKind {
    name: "zvol",
    summary: "volumes on a ZFS pool, as block devices",
    options: &[
        ("volblocksize", "block of a volume, such as 16K (ZFS's: 16K; 8K before 2.2)"),
        ("size", "of each volume, such as 100G (default: 80 % of the pool, shared out)"),
        ("count", "how many volumes, 1 to 64 (default 1)"),
        ("compression", "lz4, zstd, zstd-3, gzip-6, off …"),
        (LayerKind::ANY_OPTION, "a compression alone, such as lz4; or sync, primarycache, …"),
    ],
    inputs: &[],
    parse,
};

/// Sizes are multiples of this, or of volblocksize where that is larger: ZFS
/// refuses what is no multiple of volblocksize.
const STEP: Bytes = Bytes::mib(1);

/// A pool that is filled beyond this grows slow; OpenZFS's workload tuning guide
/// says to keep below 80 %.
const FILL: f64 = 0.8;

/// How long ZFS may take to make a block device.
const PATIENCE: Duration = Duration::from_secs(30);

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Zvol, SourceError> {
    let mut reading = OptionReader::new(spec);
    let size = reading.size("size")?;
    let count = reading.integer("count", 1..=64)?.unwrap_or(1);
    let properties = Properties::parse(spec, &["size", "count"], &[Owner::Both, Owner::Volume])?;
    Ok(Zvol { size, count, properties })
}

impl Zvol {
    /// The size of each volume on a pool with this much room.
    fn each(&self, room: Bytes) -> Bytes {
        let step = self.properties.size("volblocksize").unwrap_or(STEP).max(STEP);
        let share = Bytes((room.0 as f64 * FILL / f64::from(self.count)) as u64);
        self.size.map_or_else(|| share.round_down(step), |size| size.round_up(step))
    }

    fn create(&self, name: &str, size: Bytes) -> Invocation {
        Invocation::new("zfs")
            // Without a reservation: with one, ZFS keeps back the worst case of
            // RAID-Z padding, which need not fit.
            .args(["create", "-s", "-V", &size.0.to_string()])
            .args(self.properties.args("-o", "-o"))
            .arg(name)
    }
}

impl Layer for Zvol {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let Shape::Pool(pool) = below else {
            return Err(ShapeError::unfit("zvol", "a ZFS pool", below.kind()));
        };
        let size = self.each(pool.size);
        if size == Bytes::ZERO {
            return Err(ShapeError::NothingLeft { layer: "zvol", got: pool.size });
        }
        let total = size.saturating_mul(u64::from(self.count));
        if total > pool.size {
            return Err(ShapeError::NoRoom { layer: "zvol", wanted: total, room: pool.size });
        }
        // Written as the pool writes large blocks; a small volblocksize on
        // RAID-Z costs more.
        let volume = Volume { size, ..pool.clone() };
        Ok(Shape::Devices(vec![volume; self.count as usize]))
    }

    /// What was never written reads as zeros.
    fn leaves_zeros(&self, _below: bool) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, ZFS, Need::Zfs]
    }

    // Nothing is entered in the ledger: a volume goes with its pool.
    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let LayerOutput::Pool { name: pool, .. } = below else {
            return Err(ShapeError::unfit("zvol", "a ZFS pool", below.kind()).into());
        };
        let available =
            Invocation::new("zfs").args(["get", "-H", "-p", "-o", "value", "available", &pool]);
        let text = context.run("zvol", &available)?.text();
        let room = text.trim().parse().map(Bytes).map_err(|_| StackError::Output {
            command: format!("zfs get available {pool}"),
            expected: "a number of bytes",
            found: text.trim().to_owned(),
        })?;
        let size = self.each(room);
        let mut nodes = Vec::new();
        for number in 0..self.count {
            let name = volume(&pool, number);
            let before = devices_in(Path::new("/sys/block"));
            context.run("zvol", &self.create(&name, size))?;
            // Not by its name: to ask for that opens the device, and ZFS's cache would differ.
            let is_it = |device: &str| !before.contains(device) && size_of(device) == size;
            nodes.push(find(&name, is_it, context)?);
        }
        context.note("zvol", format!("{} volumes of {size}, without reservation", self.count));
        Ok(LayerOutput::Devices(nodes))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let LayerOutput::Pool { name: pool, .. } = below else {
            return Err(ShapeError::unfit("zvol", "a ZFS pool", below.kind()).into());
        };
        let node = |number| {
            let name = volume(&pool, number);
            find(&name, |device| name_of(device).is_some_and(|found| found == name), context)
        };
        (0..self.count).map(node).collect::<Result<_, _>>().map(LayerOutput::Devices)
    }
}

/// The name of a volume on a pool.
fn volume(pool: &str, number: u32) -> String {
    format!("{pool}/volume-{number}")
}

/// The node of the volume `name`: udev's link, or, where there is no udev, the only device that
/// `is_it` knows.
fn find(
    name: &str,
    is_it: impl Fn(&str) -> bool,
    context: &LayerContext<'_>,
) -> Result<PathBuf, StackError> {
    let link = Path::new("/dev/zvol").join(name);
    let began = Instant::now();
    loop {
        if let Ok(node) = link.canonicalize() {
            return Ok(node);
        }
        let devices = devices_in(Path::new("/sys/block"));
        let found: Vec<&String> = devices.iter().filter(|device| is_it(device)).collect();
        // Two at once would be somebody else's; udev's link settles it.
        if let [device] = found.as_slice() {
            return wait_for_node(context, "zvol", &Path::new("/dev").join(device));
        }
        if began.elapsed() > PATIENCE {
            let (layer, what) = ("zvol".to_owned(), format!("a block device of {name}"));
            return Err(StackError::NotShown { layer, what, waited: PATIENCE });
        }
        nap(context, "zvol")?;
    }
}

/// By sysfs; nothing if the device is gone.
fn size_of(device: &str) -> Bytes {
    let sectors = fs::read_to_string(format!("/sys/block/{device}/size")).unwrap_or_default();
    Bytes(sectors.trim().parse::<u64>().unwrap_or(0) * 512)
}

/// The name of the volume that a device is (`BLKZNAME` in OpenZFS' include/sys/fs/zfs.h).
fn name_of(device: &str) -> Option<String> {
    type Name = [u8; 256];
    const BLKZNAME: Opcode = opcode::read::<Name>(0x12, 125);
    let file = fs::File::open(Path::new("/dev").join(device)).ok()?;
    // SAFETY: it fills a buffer of this size.
    let name: Name = unsafe { ioctl(&file, Getter::<BLKZNAME, Name>::new()) }.ok()?;
    Some(CStr::from_bytes_until_nul(&name).ok()?.to_str().ok()?.to_owned())
}

/// The ZFS volumes that the kernel shows: `zd0`, `zd16`, …
fn devices_in(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            let number = name.strip_prefix("zd").unwrap_or_default();
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::tests::spec;
    use crate::redundancy::lost_beyond;

    fn pool(size: Bytes) -> Shape {
        let Shape::Devices(mut drives) = Shape::drives(&[size; 3]) else { panic!("no drives") };
        let loss = lost_beyond(1, &drives);
        Shape::Pool(Volume { loss, drive_writes: vec![0.5; 3], ..drives.remove(0) })
    }

    #[test]
    fn command_lines() {
        let zvol = read_options(&spec("zvol[volblocksize=16K,size=10G,lz4,sync=always]"));
        let line = zvol.expect("zvol").create("p/volume-0", Bytes::gib(10)).command_line();
        assert_eq!(
            line.replace('\'', ""),
            "zfs create -s -V 10737418240 -o volblocksize=16384 -o compression=lz4 -o sync=always \
             p/volume-0"
        );
    }

    #[test]
    fn shares_out_most_of_the_pool() {
        let zvol = read_options(&spec("zvol[count=4]")).expect("zvol");
        let Ok(Shape::Devices(volumes)) = zvol.shape(&pool(Bytes::gib(100))) else {
            panic!("no devices")
        };
        assert_eq!(volumes.len(), 4);
        assert_eq!(volumes[0].size, Bytes::gib(20));
        assert_eq!(volumes[0].tolerates(), 1);
    }

    #[test]
    fn volumes_may_fill_the_pool() {
        let zvol = read_options(&spec("zvol[size=50G,count=2]")).expect("zvol");
        let Ok(Shape::Devices(volumes)) = zvol.shape(&pool(Bytes::gib(100))) else {
            panic!("no devices")
        };
        assert_eq!(volumes.iter().map(|v| v.size).collect::<Vec<_>>(), [Bytes::gib(50); 2]);
    }

    #[test]
    fn volumes_that_do_not_fit_are_refused() {
        for (text, size, expected) in [
            (
                "zvol[size=80G,count=2]",
                100,
                ShapeError::NoRoom {
                    layer: "zvol",
                    wanted: Bytes::gib(160),
                    room: Bytes::gib(100),
                },
            ),
            ("zvol", 0, ShapeError::NothingLeft { layer: "zvol", got: Bytes::ZERO }),
        ] {
            let error = read_options(&spec(text)).expect(text).shape(&pool(Bytes::gib(size)));
            assert_eq!(error.expect_err(text), expected);
        }
        let zvol = read_options(&spec("zvol")).expect("zvol");
        let error = zvol.shape(&Shape::drives(&[Bytes::gib(1)])).expect_err("a drive");
        assert_eq!(error.to_string(), "zvol needs a ZFS pool, got 1 device");
        for (text, words) in [
            ("zvol[recordsize=1M]", "'recordsize' is not an option of zvol"),
            ("zvol[ashift=12]", "'ashift' is not an option of zvol"),
            ("zvol[count=0]", "an integer from 1 to 64"),
        ] {
            let error = read_options(&spec(text)).expect_err(text).message;
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn only_volumes_are_looked_at() {
        let directory = tempfile::tempdir().expect("directory");
        for name in ["zd0", "zd16", "zd", "zdx", "sda", "zram0"] {
            fs::create_dir(directory.path().join(name)).expect("device");
        }
        let found: Vec<_> = devices_in(directory.path()).into_iter().collect();
        assert_eq!(found, ["zd0", "zd16"]);
    }
}
