//! A real drive under test: requests with `O_DIRECT`, and whether others use it meanwhile.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use disklab_drive::Operation;
use disklab_engine::{RequestKind, TimedFile};
use disklab_exec::Interrupt;
use disklab_measure::{BlockDevice, Counters, SECTOR_BYTES};
use disklab_probe::{Disturbance, DriveAccess, ProbeError, TimedAccess, TimedDrive};
use disklab_units::Bytes;

/// Requests that are in flight at most, and of how many bytes.
#[derive(Debug, Clone, Copy)]
pub struct Slots {
    pub count: u32,
    pub bytes: u64,
}

impl Default for Slots {
    /// The deepest queue and the largest request of a probe that reads.
    fn default() -> Self {
        Self { count: 64, bytes: 1 << 20 }
    }
}
/// Time during which a drive must be idle before it is probed.
const QUIET: Duration = Duration::from_secs(2);
/// Bytes of others that are forgiven: a look at the partition table, SMART.
const FORGIVEN: u64 = 1 << 20;
/// Their share of the probe's own that is forgiven.
const FORGIVEN_SHARE: f64 = 0.002;
/// A sleep that is interrupted by nothing but its end.
const NAP: Duration = Duration::from_millis(200);

/// A device on which requests are timed.
pub struct RealDrive {
    file: TimedFile,
    bytes: u64,
    depth: Option<u64>,
    interrupt: Interrupt,
    moved: Rc<Cell<u64>>,
}

impl RealDrive {
    /// Opens a device for reading.
    pub fn open(
        path: &Path,
        bytes: u64,
        depth: Option<u64>,
        interrupt: &Interrupt,
    ) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(direct()).open(path)?;
        Ok(Self { depth, ..Self::new(file, bytes, Slots::default(), interrupt)? })
    }

    /// Takes an open file.
    pub fn new(file: File, bytes: u64, slots: Slots, interrupt: &Interrupt) -> io::Result<Self> {
        Ok(Self {
            file: TimedFile::new(file, slots.count, slots.bytes)?,
            bytes,
            depth: None,
            interrupt: interrupt.clone(),
            moved: Rc::default(),
        })
    }

    /// Counts what it moves with another's.
    pub fn counting_with(mut self, moved: Rc<Cell<u64>>) -> Self {
        self.moved = moved;
        self
    }

    /// Bytes that were read and written so far.
    pub fn moved(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.moved)
    }

    fn check(&self) -> Result<(), ProbeError> {
        self.interrupt.check().map_err(|_| ProbeError::Interrupted)
    }
}

/// `O_DIRECT` for `custom_flags`.
fn direct() -> i32 {
    i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap_or_default()
}

fn failed(what: &'static str, offset: u64) -> impl Fn(io::Error) -> ProbeError {
    move |source| ProbeError::Failed { what, offset, source }
}

fn kind(operation: Operation) -> RequestKind {
    match operation {
        Operation::Read => RequestKind::Read,
        // What a file keeps of its times is no part of the drive.
        Operation::Flush => RequestKind::DataSync,
        _ => RequestKind::Write,
    }
}

impl TimedDrive for RealDrive {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn now(&self) -> u64 {
        self.file.now()
    }

    fn submit(&mut self, access: DriveAccess) -> Result<(), ProbeError> {
        self.check()?;
        let DriveAccess { operation, offset, bytes } = access;
        self.moved.set(self.moved.get() + bytes);
        self.file.submit(kind(operation), offset, bytes).map_err(failed("a request", offset))
    }

    fn complete(&mut self) -> Result<TimedAccess, ProbeError> {
        let end = self.file.complete().map_err(failed("a request", 0))?;
        let operation = match end.kind {
            RequestKind::Read => Operation::Read,
            RequestKind::Write => Operation::Write,
            _ => Operation::Flush,
        };
        let access = DriveAccess { operation, offset: end.offset, bytes: end.bytes };
        Ok(TimedAccess { access, submitted: end.submitted, completed: end.completed })
    }

    fn idle(&mut self, time: u64) -> Result<(), ProbeError> {
        let end = Instant::now() + Duration::from_nanos(time);
        loop {
            self.check()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    fn queue_depth(&self) -> Option<u64> {
        self.depth
    }

    fn has_data(&mut self, offset: u64, bytes: u64) -> Result<bool, ProbeError> {
        self.moved.set(self.moved.get() + bytes);
        self.file.has_data(offset, bytes).map_err(failed("a read", offset))
    }
}

/// Notices when others use the drive.
pub struct OtherLoad {
    device: BlockDevice,
    moved: Rc<Cell<u64>>,
    before: Option<Counters>,
    own_before: u64,
}

impl OtherLoad {
    /// Looks at an idle drive for a while.
    ///
    /// # Errors
    /// [`ProbeError::Disturbed`] if others used the drive meanwhile.
    pub fn watch(device: &BlockDevice, moved: Rc<Cell<u64>>) -> Result<Self, ProbeError> {
        let mut load =
            Self { device: device.clone(), own_before: moved.get(), moved, before: None };
        load.before = load.device.counters();
        std::thread::sleep(QUIET);
        let now = load.device.counters();
        if let (Some(before), Some(now)) = (&load.before, &now) {
            let since = now.since(before);
            if since.requests() > 2 || now.in_flight > 0 {
                let requests = since.requests();
                return Err(Disturbance::Busy { requests, within: QUIET }.into());
            }
        }
        load.before = now;
        Ok(load)
    }

    /// Checks that all that the drive moved since the last check was the probe's own.
    ///
    /// # Errors
    /// [`ProbeError::Disturbed`] if others used the drive since the last check.
    pub fn check(&mut self) -> Result<(), ProbeError> {
        let Some(now) = self.device.counters() else { return Ok(()) };
        let (own, total) = (self.moved.get(), now);
        if let Some(before) = self.before.replace(total) {
            let since = now.since(&before);
            let own = own - std::mem::replace(&mut self.own_before, own);
            let all = (since.read_sectors + since.write_sectors) * SECTOR_BYTES;
            let others = all.saturating_sub(own);
            if others > FORGIVEN + (own as f64 * FORGIVEN_SHARE) as u64 {
                return Err(Disturbance::Moved(Bytes(others)).into());
            }
        }
        Ok(())
    }
}
