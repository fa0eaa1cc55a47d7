//! What a disk is made of.

use std::path::PathBuf;

use disklab_drive::{Drive, DriveFile, IoScheduler, Kind};
use disklab_lab_guest::DiskTransport;

use super::disk_faults::DiskFaults;
use crate::block::{Configuration, SERIAL_BYTES};
use crate::{LabError, OptionsProblem};

/// A disk to be made.
pub struct DiskOptions {
    /// How long things take.
    pub drive: Box<dyn Drive>,
    /// Serial number: up to 20 ASCII characters.
    pub serial: String,
    /// What the guest sees it as. All disks of a lab are alike.
    pub transport: DiskTransport,
    /// After how many seconds the kernel gives up a command of a SCSI disk, if not after its own 30.
    pub command_timeout: Option<u64>,
    /// Logical sector size in bytes: 512 or 4096.
    pub logical_bytes: u32,
    /// Physical sector size in bytes: 512 or 4096, not below the logical one.
    pub physical_bytes: u32,
    /// Whether the guest may have zeros written without sending them.
    pub write_zeroes: bool,
    /// Whether the guest takes it for a drive that rotates. virtio says so of every
    /// disk; [`disklab_lab_guest::begin`] sets it right.
    pub rotates: bool,
    /// How many requests it is given at a time, where that is fewer than the ring
    /// holds. virtio has no word for it: see [`crate::LabOptions::disks`].
    pub queue_depth: Option<u64>,
    /// What the guest's kernel sorts its requests with, and how many wait there; `None` for what
    /// the kernel does by itself. virtio has no word for it: [`disklab_lab_guest::begin`] sets it.
    pub scheduler: Option<(IoScheduler, u64)>,
    /// Hardware queues that it has in a machine, each with flushes of its own. virtio has as many as
    /// the guest has processors, one: `kernel/patches/flushes.patch`.
    pub hardware_queues: u64,
    /// Whether the guest is told of a write cache when its drive has one. A drive whose cache
    /// outlasts a loss of power may say that it has none; then the guest sends no flushes.
    pub reports_write_cache: bool,
    /// What it says that requests had best be a multiple of, bytes: `optimal_io_size`; 0 for
    /// nothing.
    pub optimal_bytes: u32,
    /// What the guest discards at least, bytes; `None` if it may not discard, as with any
    /// conventional hard disk.
    pub discard_bytes: Option<u32>,
    /// Whether the guest can read what the drive writes to its medium
    /// ([`disklab_lab_guest::medium_file`]): worth it where that is more than it is given.
    pub tells_medium: bool,
    /// What its own link carries, bytes per second, where that is known: see
    /// [`crate::LabOptions::bus`].
    pub link_rate: Option<u64>,
    /// What goes wrong with it.
    pub faults: Option<DiskFaults>,
    /// The lab's directory, if the guest may say there that it was replaced
    /// ([`disklab_lab_guest::replace_drive`]).
    pub replaced_in: Option<PathBuf>,
}

impl std::fmt::Debug for DiskOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskOptions")
            .field("serial", &self.serial)
            .field("sectors", &self.drive.sectors())
            .finish_non_exhaustive()
    }
}

impl DiskOptions {
    /// A disk of 512-byte logical and 4096-byte physical sectors (512e) without
    /// discard, as most hard disks are.
    pub fn new(drive: Box<dyn Drive>, serial: impl Into<String>) -> Self {
        Self {
            drive,
            serial: serial.into(),
            transport: DiskTransport::Block,
            command_timeout: None,
            logical_bytes: 512,
            physical_bytes: 4096,
            write_zeroes: false,
            rotates: true,
            queue_depth: None,
            scheduler: None,
            hardware_queues: 1,
            reports_write_cache: true,
            optimal_bytes: 0,
            discard_bytes: None,
            tells_medium: false,
            link_rate: None,
            faults: None,
            replaced_in: None,
        }
    }

    /// A disk of this model, with its sectors and what it can do. Those with the same seed are alike to
    /// the last nanosecond.
    pub fn of(model: &DriveFile, seed: u64, serial: impl Into<String>) -> Self {
        let limits = model.queue_limits();
        // 512 or 4096; what is not is refused when the lab starts.
        let bytes = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        let disk = Self::new(model.build(seed), serial);
        Self {
            logical_bytes: bytes(limits.logical_bytes),
            physical_bytes: bytes(limits.physical_bytes),
            write_zeroes: model.takes_write_zeroes(),
            rotates: limits.rotational,
            queue_depth: Some(limits.depth),
            scheduler: Some((limits.scheduler, limits.requests)),
            hardware_queues: limits.hardware_queues,
            reports_write_cache: limits.write_back || !disk.drive.write_cache(),
            optimal_bytes: bytes(limits.optimal_bytes),
            discard_bytes: Some(limits.discard_granularity).filter(|size| *size > 0).map(bytes),
            tells_medium: matches!(model.kind, Kind::Ssd(_) | Kind::Smr(_)),
            link_rate: Some(model.link_rate()),
            ..disk
        }
    }

    /// What the guest is told.
    pub(crate) fn configuration(&self) -> Result<Configuration, LabError> {
        let bad = |problem: OptionsProblem| Err(problem.into());
        let name = &self.serial;
        if name.is_empty()
            || name.len() > SERIAL_BYTES
            || !name.bytes().all(|b| b.is_ascii_graphic())
        {
            return bad(OptionsProblem::Serial(name.clone()));
        }
        let sizes = [512, 4096];
        let (logical, physical) = (self.logical_bytes, self.physical_bytes);
        if !sizes.contains(&logical) || !sizes.contains(&physical) || physical < logical {
            return bad(OptionsProblem::Sectors { logical, physical });
        }
        let (optimal, discard) = (self.optimal_bytes, self.discard_bytes.unwrap_or(0));
        if !optimal.is_multiple_of(logical) || !discard.is_multiple_of(logical) {
            return bad(OptionsProblem::Granularity { optimal, discard, logical });
        }
        let sectors = self.drive.sectors();
        if sectors == 0 || !sectors.is_multiple_of(u64::from(logical / 512)) {
            return bad(OptionsProblem::Capacity(sectors));
        }
        // 2^54 sectors are 2^63 bytes, where Linux ends.
        if sectors > 1 << 54 {
            return bad(OptionsProblem::TooLarge(sectors));
        }
        let mut serial = [0; SERIAL_BYTES];
        serial[..name.len()].copy_from_slice(name.as_bytes());
        Ok(Configuration {
            sectors,
            logical_bytes: logical,
            physical_bytes: physical,
            optimal_bytes: self.optimal_bytes,
            discard: self.discard_bytes,
            write_zeroes: self.write_zeroes,
            rotates: self.rotates,
            serial,
        })
    }
}
