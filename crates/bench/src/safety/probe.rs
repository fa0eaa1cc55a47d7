//! What only the real kernel and the drive itself can answer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::time::Duration;

use disklab_exec::{Executor, Invocation};
use disklab_measure::BlockDevice;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::signature::{parse_blkid, parse_wipefs};
use super::surface::sample;
use super::{Signature, Surface};

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
    /// One that holds nothing: of a probe that stands in for the kernel.
    pub fn nothing() -> Self {
        Self(None)
    }

    /// The open device, where it is a real one.
    pub fn file(&self) -> Option<&File> {
        self.0.as_ref()
    }
}

/// Why a device could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenError {
    /// The kernel, or somebody, has it in use.
    Busy,
    /// Anything else, in words.
    Other(String),
}

/// What only the real kernel and the drive itself can answer.
pub trait Probe {
    /// What is written on a device; empty where nothing known is.
    ///
    /// # Errors
    /// In words, where that cannot be found out: a program is missing, the
    /// device cannot be read.
    fn signatures(&self, device: &BlockDevice) -> Result<Vec<Signature>, String>;

    /// What a sample of the surface of a device, which is held, shows. `seed` decides
    /// its random offsets.
    ///
    /// # Errors
    /// As text, if it cannot be read.
    fn surface(&self, device: &BlockDevice, hold: &Hold, seed: u64) -> Result<Surface, String>;

    /// Opens a device so that nobody else can claim it meanwhile (O_EXCL; open(2)),
    /// for writing or for reading only. Nothing is written. After a device that
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
    fn signatures(&self, device: &BlockDevice) -> Result<Vec<Signature>, String> {
        // wipefs lists every magic number, also of what is damaged or overlaid;
        // blkid knows some things by their structure. Either may know more.
        let wipefs = Invocation::new("wipefs").args(["--no-act", "--json"]).arg(device.node());
        let finished = self.executor.check(&wipefs.timeout(LIMIT)).map_err(|e| e.to_string())?;
        let mut found = parse_wipefs(device.name(), &finished.text())?;
        let blkid = Invocation::new("blkid").args(["--probe", "--output", "export"]);
        let blkid = blkid.arg(device.node()).timeout(LIMIT);
        let finished = self.executor.run(&blkid).map_err(|e| e.to_string())?;
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

    fn surface(&self, device: &BlockDevice, hold: &Hold, seed: u64) -> Result<Surface, String> {
        let node = device.node();
        let file = hold.file().ok_or_else(|| format!("{} is not open", node.display()))?;
        let discards = device.attribute("queue/discard_max_bytes");
        let trims = discards.is_some_and(|bytes| bytes.trim() != "0");
        sample(file, device.size_bytes(), seed, trims)
            .map_err(|error| format!("{} cannot be read: {error}", node.display()))
    }

    fn open_exclusively(&self, device: &BlockDevice, write: bool) -> Result<Hold, OpenError> {
        let other = |what: String| OpenError::Other(what);
        let node = device.node();
        let shown = node.display();
        let flags = i32::try_from((OFlags::EXCL | OFlags::NOFOLLOW).bits()).unwrap_or_default();
        let open = || OpenOptions::new().read(true).write(write).custom_flags(flags).open(&node);
        let is_busy = |opened: &io::Result<File>| {
            opened.as_ref().is_err_and(|error| Errno::from_io_error(error) == Some(Errno::BUSY))
        };
        let mut file = open();
        for _ in 1..TRIES {
            if !is_busy(&file) {
                break;
            }
            std::thread::sleep(PAUSE);
            file = open();
        }
        let file = file.map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::BUSY) => OpenError::Busy,
            Some(Errno::ACCESS | Errno::PERM) => {
                other(format!("{shown} cannot be opened: that takes root"))
            }
            _ => other(format!("{shown} cannot be opened: {error}")),
        })?;
        let metadata = file.metadata().map_err(|error| other(format!("{shown}: {error}")))?;
        let number = (rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev()));
        if !metadata.file_type().is_block_device() || device.number() != Some(number) {
            return Err(other(format!("{shown} is not the node of {}", device.name())));
        }
        Ok(Hold(Some(file)))
    }
}
