//! What only the real kernel and the drive itself can answer.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::time::Duration;

use disklab_exec::{Executor, Invocation};
use disklab_measure::{BlockDevice, fill_cache, has_cached};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::signature::{parse_blkid, parse_wipefs};
use super::surface::sample;
use super::{InspectionError, Signature, Surface};

/// A drive that must spin up takes its time; one that never answers is refused.
const LIMIT: Duration = Duration::from_secs(120);

/// A program that only looks in, such as udev's, lets go of a device within
/// moments; so a busy one is tried this often, with a pause in between.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// A device held open so that the kernel gives it to nobody else.
#[derive(Debug)]
pub struct Hold(Option<File>);

impl Hold {
    /// One that holds nothing: of a probe that replaces the kernel.
    pub fn nothing() -> Self {
        Self(None)
    }

    /// The open device, where it is a real one.
    pub fn file(&self) -> Option<&File> {
        self.0.as_ref()
    }
}

/// Why a device could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The kernel, or somebody, has it in use.
    Busy,
    /// It cannot be opened.
    Failed(InspectionError),
}

/// What only the real kernel and the drive itself can answer.
pub trait Probe {
    /// What is written on a device; empty where nothing known is.
    ///
    /// # Errors
    /// Where that cannot be found out: a program is missing, the device cannot be read.
    fn signatures(&self, device: &BlockDevice) -> Result<Vec<Signature>, InspectionError>;

    /// What a sample of the surface of a device, which is held, shows. `seed` decides
    /// its random offsets.
    ///
    /// # Errors
    /// [`InspectionError::Io`] if it cannot be read.
    fn surface(
        &self,
        device: &BlockDevice,
        hold: &Hold,
        seed: u64,
    ) -> Result<Surface, InspectionError>;

    /// Opens a device that nothing else has open, so that nobody else can claim it meanwhile
    /// (O_EXCL; open(2)), for writing or for reading only. Nothing is written. After a device that
    /// was open for writing is closed, udev looks at it anew, and may activate
    /// what it finds; so that is for the moment before the first write.
    ///
    /// # Errors
    /// Where it is in use, or cannot be opened at all.
    fn open_exclusively(&self, device: &BlockDevice, write: bool) -> Result<Hold, OpenError>;
}

/// Asks wipefs, blkid and the kernel.
#[derive(Debug)]
pub struct KernelProbe<'a> {
    executor: &'a Executor,
}

impl<'a> KernelProbe<'a> {
    /// One that runs its programs through `executor`.
    pub fn new(executor: &'a Executor) -> Self {
        Self { executor }
    }
}

impl Probe for KernelProbe<'_> {
    fn signatures(&self, device: &BlockDevice) -> Result<Vec<Signature>, InspectionError> {
        // wipefs lists every magic number, also of what is damaged or overlaid;
        // blkid knows some things by their structure. Either may know more.
        let wipefs = Invocation::new("wipefs").args(["--no-act", "--json"]).arg(device.node());
        let finished = self.executor.check(&wipefs.timeout(LIMIT))?;
        let mut found = parse_wipefs(device.name(), &finished.text())?;
        let blkid = Invocation::new("blkid").args(["--probe", "--output", "export"]);
        let blkid = blkid.arg(device.node()).timeout(LIMIT);
        let finished = self.executor.run(&blkid)?;
        // blkid ends alike where there is nothing and where it cannot read;
        // wipefs has just read the device.
        let more = parse_blkid(device.name(), finished.code, &finished.text())?;
        for signature in more {
            if !found.iter().any(|known| known.kind == signature.kind) {
                found.push(signature);
            }
        }
        Ok(found)
    }

    fn surface(
        &self,
        device: &BlockDevice,
        hold: &Hold,
        seed: u64,
    ) -> Result<Surface, InspectionError> {
        let node = device.node();
        let file = hold.file().ok_or_else(|| InspectionError::NotOpen(node.clone()))?;
        let discards = device.attribute("queue/discard_max_bytes");
        let trims = discards.is_some_and(|bytes| bytes.trim() != "0");
        sample(file, device.size_bytes(), seed, trims).map_err(|source| InspectionError::Io {
            what: "read",
            node,
            source,
        })
    }

    fn open_exclusively(&self, device: &BlockDevice, write: bool) -> Result<Hold, OpenError> {
        for _ in 1..TRIES {
            match open_alone(device, write) {
                Err(OpenError::Busy) => std::thread::sleep(PAUSE),
                opened => return opened,
            }
        }
        open_alone(device, write)
    }
}

/// Opens a device that nothing else has open.
fn open_alone(device: &BlockDevice, write: bool) -> Result<Hold, OpenError> {
    if is_open(device, true)? {
        return Err(OpenError::Busy);
    }
    // Who has the drive open has the partition, too. While another partition is in use, the drive
    // is open for that, and only /proc shows who else has it.
    if device.is_partition() {
        let drive = device.whole();
        let mut others = drive.partitions();
        others.retain(|other| other != device);
        if is_open(&drive, false)?
            && !others.iter().any(|other| is_open(other, false).unwrap_or(true))
        {
            return Err(OpenError::Busy);
        }
    }
    open(device, true, write).map(|file| Hold(Some(file)))
}

/// Whether something that need not show in /proc has a device open.
fn is_open(device: &BlockDevice, exclusively: bool) -> Result<bool, OpenError> {
    let read = |source| {
        OpenError::Failed(InspectionError::Io { what: "read", node: device.node(), source })
    };
    let first = open(device, exclusively, false)?;
    fill_cache(&first).map_err(read)?;
    drop(first);
    has_cached(&open(device, exclusively, false)?).map_err(read)
}

fn open(device: &BlockDevice, exclusively: bool, write: bool) -> Result<File, OpenError> {
    let node = device.node();
    let failed =
        |what, source| OpenError::Failed(InspectionError::Io { what, node: node.clone(), source });
    let mut flags = OFlags::NOFOLLOW;
    flags.set(OFlags::EXCL, exclusively);
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).write(write).custom_flags(flags).open(&node);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::BUSY) => OpenError::Busy,
        Some(Errno::ACCESS | Errno::PERM) => {
            OpenError::Failed(InspectionError::NotRoot(node.clone()))
        }
        _ => failed("opened", error),
    })?;
    let metadata = file.metadata().map_err(|error| failed("looked at", error))?;
    let number = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
    if !metadata.file_type().is_block_device() || device.number() != Some(number) {
        let device = device.name().to_owned();
        return Err(OpenError::Failed(InspectionError::OtherNode { node, device }));
    }
    Ok(file)
}
