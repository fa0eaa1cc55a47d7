//! One GPT partition on each device.

use std::ffi::OsString;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::file_system::devices;
use crate::find::Search;
use crate::reading::OptionReader;
use crate::redundancy::members;
use crate::seeded::uuid;
use crate::udev::kernel_name;
use crate::wait::{nap, wait_for_node};
use crate::{
    Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError, Volume, undo,
};

/// The partition layer's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "partition",
    summary: "a GPT with one partition on each device, as most installers make",
    options: &[
        ("start", "where the partition begins, such as 1MiB (the default) or 60% of the device"),
        ("size", "size, such as 5G [default: the rest of the device]"),
    ],
    inputs: &[],
    parse,
};

/// Where sfdisk, parted and Windows begin since 2008: a multiple of every
/// sector and erase block size in use.
const START: Bytes = Bytes::mib(1);

/// The second table and the header at the end take 33 sectors (UEFI 2.10, 5.3.2);
/// sfdisk also ends a partition at a multiple of 1 MiB.
const END: Bytes = Bytes::mib(1);

/// Linux file system data, in the list of GPT partition types of UAPI's
/// discoverable partitions specification and util-linux.
const LINUX_DATA: &str = "0FC63DAF-8483-4772-8E79-3D69D8477DE4";

/// How long the kernel may take to show a partition.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
struct Partition {
    start: Start,
    size: Option<Bytes>,
}

/// Where a partition begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    At(Bytes),
    /// In per cent of the device.
    Share(u32),
}

impl Start {
    /// # Errors
    /// What was expected instead, for the error at the option.
    fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(share) = text.strip_suffix('%') {
            let share = share.parse().ok().filter(|share| (1..=99).contains(share));
            return share.map(Self::Share).ok_or("1% to 99%");
        }
        // sfdisk makes no partition before 1 MiB (libfdisk, `first-lba`), and reads sizes in
        // KiB.
        let start = text
            .parse::<Bytes>()
            .ok()
            .filter(|start| start.0 % 1024 == 0 && (START.0..=1 << 50).contains(&start.0));
        start
            .map(Self::At)
            .ok_or("a multiple of 1 KiB from 1 MiB to 1 PiB, such as 1MiB, or a share such as 60%")
    }

    /// On a device of this size.
    fn on(self, size: Bytes) -> Bytes {
        match self {
            Self::At(start) => start,
            Self::Share(share) => size.scaled(f64::from(share) / 100.0, START).max(START),
        }
    }
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let mut reading = OptionReader::new(spec);
    let start = match reading.text("start") {
        None => Start::At(START),
        Some(text) => Start::parse(text).map_err(|e| reading.expected("start", e, text))?,
    };
    let size = reading.size("size")?;
    if size.is_some_and(|size| size.0 == 0 || size.0 % 1024 != 0) {
        let found = spec.option("size").unwrap_or_default();
        return Err(reading.expected("size", "a multiple of 1 KiB, such as 5G", found));
    }
    Ok(Box::new(Partition { start, size }))
}

/// The size of a block device.
pub(super) fn device_size(layer: &str, device: &Path) -> Result<Bytes, StackError> {
    let sectors = kernel_name(device)
        .and_then(|name| read_to_string(format!("/sys/class/block/{name}/size")).ok())
        .and_then(|text| text.trim().parse::<u64>().ok())
        .ok_or_else(|| no_block_device(layer, device))?;
    // The kernel counts in these units, whatever the sectors of the device.
    Ok(Bytes(sectors.saturating_mul(512)))
}

impl Layer for Partition {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let volumes = members("partition", below)?;
        let cut = |volume: &Volume| {
            let lost = self.start.on(volume.size) + END;
            if volume.size <= lost {
                return Err(ShapeError::NothingLeft { layer: "partition", got: volume.size });
            }
            let most = volume.size.saturating_sub(lost);
            let size = self.size.unwrap_or(most);
            if size > most {
                return Err(ShapeError::NoRoom { layer: "partition", wanted: size, room: most });
            }
            Ok(Volume { size, ..volume.clone() })
        };
        volumes.iter().map(cut).collect::<Result<_, _>>().map(Shape::Devices)
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::Program { name: "sfdisk", package: "fdisk" },
            Need::Program { name: "partx", package: "util-linux" },
            Need::Program { name: "blkid", package: "util-linux" },
        ]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let mut partitions = Vec::new();
        for (index, device) in devices("partition", below)?.into_iter().enumerate() {
            let guid = guid(index, context);
            let size = self.size.map_or_else(String::new, |s| format!(" size={}KiB,", s.0 / 1024));
            let whole = BlockDevice::at(&SystemRoot::here(), &device);
            let start = self.start.on(Bytes(whole.map_or(0, |device| device.size_bytes())));
            let first = first_sector(&device, start);
            let script = format!(
                "label: gpt\nlabel-id: {guid}\nunit: sectors\n{first}start={}KiB,{size} \
                 type={LINUX_DATA}, uuid={}\n",
                start.0 / 1024,
                uuid(context, &format!("gpt {index} partition 1"))
            );
            let undo = undo::RemovePartitions { device: device.clone(), guid, count: 1 };
            context.enter(undo)?;
            // The kernel is told below, by partx: its own look at the table
            // fails on loop devices, which have partitions only on request.
            let sfdisk = Invocation::new("sfdisk")
                .args(["--quiet", "--wipe", "always", "--wipe-partitions", "always"])
                .arg("--no-tell-kernel")
                .arg(&device)
                .stdin(script);
            context.run("partition", &sfdisk)?;
            partitions.push(show(&device, context)?);
        }
        Ok(LayerOutput::Devices(partitions))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices("partition", below)?;
        let guids: Vec<String> = (0..context.own).map(|index| guid(index, context)).collect();
        let mut partitions = Vec::new();
        for (device, guid) in table("partition").each(&devices, &guids, context)?.iter().zip(guids)
        {
            let undo = undo::RemovePartitions { device: device.clone(), guid, count: 1 };
            context.enter(undo)?;
            partitions.push(show(device, context)?);
        }
        Ok(LayerOutput::Devices(partitions))
    }

    fn finds_its_devices(&self) -> bool {
        true
    }
}

/// The GUID of the table on the device with this index.
fn guid(index: usize, context: &LayerContext<'_>) -> String {
    uuid(context, &format!("gpt {index}"))
}

/// Looks for partition tables by their GUIDs.
pub(super) fn table(layer: &'static str) -> Search {
    Search { layer, what: "the partition table with the GUID", tag: "PTUUID" }
}

/// Tells the kernel of the partition that is on `device`, and returns its node.
fn show(device: &Path, context: &LayerContext<'_>) -> Result<PathBuf, StackError> {
    context.run("partition", &Invocation::new("partx").arg("--update").arg(device))?;
    wait_for_partition(device, context)
}

/// The line that lets a partition begin at `start` where sfdisk would begin later: it
/// leaves a whole optimal I/O size free, which is 32 MiB on a zvol (libfdisk,
/// alignment.c). Nothing for other devices.
fn first_sector(device: &Path, start: Bytes) -> String {
    let queue =
        kernel_name(device).map(|name| Path::new("/sys/class/block").join(name).join("queue"));
    let read = |what: &str| -> Option<u64> {
        read_to_string(queue.as_ref()?.join(what)).ok()?.trim().parse().ok()
    };
    match (read("optimal_io_size"), read("logical_block_size")) {
        (Some(optimal), Some(sector @ 1..)) if optimal > start.0 => {
            format!("first-lba: {}\n", start.0 / sector)
        }
        _ => String::new(),
    }
}

/// `device` is none.
pub(super) fn no_block_device(layer: &str, device: &Path) -> StackError {
    StackError::NoBlockDevice { layer: layer.to_owned(), device: device.to_owned() }
}

/// The kernel does not show a partition that was made.
pub(super) fn not_shown(layer: &str, drive: &Path, number: usize) -> StackError {
    StackError::NotShown {
        layer: layer.to_owned(),
        what: format!("partition {number} of {}", drive.display()),
        waited: PATIENCE,
    }
}

/// Waits until the kernel knows the first partition of `device`, and until it
/// has a node, made by the kernel's devtmpfs or by udev.
fn wait_for_partition(device: &Path, context: &LayerContext<'_>) -> Result<PathBuf, StackError> {
    let name = kernel_name(device).ok_or_else(|| no_block_device("partition", device))?;
    let directory = Path::new("/sys/class/block").join(name);
    let began = Instant::now();
    loop {
        if let Some(partition) = first_partition(&directory) {
            return wait_for_node(context, "partition", &Path::new("/dev").join(partition));
        }
        if began.elapsed() > PATIENCE {
            return Err(not_shown("partition", device, 1));
        }
        nap(context, "partition")?;
    }
}

/// The name of the first partition of the device with this directory in sysfs.
fn first_partition(directory: &Path) -> Option<OsString> {
    std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .find(|e| read_to_string(e.path().join("partition")).is_ok_and(|n| n.trim() == "1"))
        .map(|e| e.file_name())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::layer;

    #[test]
    fn a_partition_begins_where_it_is_reported() {
        assert_eq!(Start::parse("3T"), Ok(Start::At(Bytes::gib(3072))));
        assert_eq!(Start::parse("60%").expect("a share").on(Bytes::gib(10)), Bytes::gib(6));
        assert_eq!(Start::parse("1%").expect("a share").on(Bytes::mib(64)), START, "not before");
        let left = |text: &str| {
            let shape = layer(text).expect(text).shape(&Shape::drives(&[Bytes::gib(10)]));
            let Ok(Shape::Devices(volumes)) = shape else { panic!("{text}: {shape:?}") };
            volumes[0].size
        };
        assert_eq!(left("partition[start=60%]"), Bytes::gib(4) - END);
        assert_eq!(left("partition[start=9G,size=100M]"), Bytes::mib(100));
        for text in ["0%", "100%", "x%", "-1%", "16K", "17K", "1023K", "17K%", "513"] {
            let error = layer(&format!("partition[start={text}]")).expect_err(text);
            assert!(error.message.contains("`start`: expected"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_start_panics(text in "\\PC{0,12}", size in 0_u64..=1 << 60) {
            if let Ok(start) = Start::parse(&text) {
                prop_assert!(start.on(Bytes(size)) >= START);
            }
        }
    }
}
