//! A rebuild of a layer that moves what is used: all of it, on a drive that may stand for a larger one.

use std::time::Instant;

use disklab_cell::Care;
use disklab_exec::Executor;
use disklab_measure::{SystemRoot, Totals, Watched};
use disklab_sample::RebuildWindow;
use disklab_units::Bytes;

use crate::data::{ByteStream, FileContent};
use crate::duration::nanoseconds;
use crate::events::Caretaker;
use crate::{WorkContext, WorkloadError};

/// What is there to be rebuilt.
pub(super) const FILE: &str = "disklab-rebuild";

/// After so many bytes the content repeats, so that a store that keeps content keeps little.
const REPEATS: usize = 1 << 20;

/// How much there is to move.
#[derive(Debug)]
pub(super) struct MovedData {
    /// Which share of the file system holds data.
    pub fill: f64,
    /// The size of the drive for which the drive stands; its own if absent.
    pub of: Option<Bytes>,
}

impl MovedData {
    /// Fills the file system.
    pub fn fill(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        use std::io::Write;
        let path = context.directory.join(FILE);
        let failed = || WorkloadError::io("cannot fill", &path);
        let space = rustix::fs::statvfs(context.directory).map_err(|e| failed()(e.into()))?;
        let size = (space.f_blocks as f64 * space.f_frsize as f64 * self.fill) as u64;
        let mut block = Vec::with_capacity(REPEATS);
        let mut stream = ByteStream::new(FileContent::Random, context.seed);
        stream.give(Bytes(REPEATS as u64), |bytes| {
            block.extend_from_slice(bytes);
            Ok::<_, WorkloadError>(())
        })?;
        let mut file = std::fs::File::create_new(&path).map_err(failed())?;
        for _ in 0..size / REPEATS as u64 {
            context.executor.interrupt.check()?;
            file.write_all(&block).map_err(failed())?;
        }
        file.sync_all().map_err(failed())
    }

    /// Puts a blank drive in the place of the one that failed, and waits until all is on it.
    pub fn measure(
        &self,
        caretaker: &dyn Caretaker,
        drive: u32,
        watched: &[Watched],
        executor: &Executor,
    ) -> Result<RebuildWindow, WorkloadError> {
        let (drives, began) = (Totals::start(&SystemRoot::here(), watched), Instant::now());
        caretaker.care(Care::Replace, Some(drive), executor)?;
        caretaker.care(Care::Rebuild, None, executor)?;
        let elapsed_ns = nanoseconds(began.elapsed());
        let done = drives.so_far();
        let written = done.get(drive as usize - 1).map_or(0, |drive| drive.write_bytes);
        if written == 0 {
            return Err(WorkloadError::NotRebuilt(Bytes::ZERO));
        }
        let own = watched.get(drive as usize - 1).and_then(|drive| size_of(&drive.device));
        let scale = self.of.zip(own).map_or(1.0, |(of, own)| of.0 as f64 / own.max(1) as f64);
        let share = |busy_ns: u64| (busy_ns as f64 / elapsed_ns.max(1) as f64).min(1.0);
        Ok(RebuildWindow {
            stands_for: (written as f64 * scale) as u64,
            at: 0,
            bytes: written,
            elapsed_ns,
            limit: None,
            busy: done.iter().map(|drive| share(drive.busy_ns)).collect(),
        })
    }
}

/// The bytes of a block device.
fn size_of(device: &std::path::Path) -> Option<u64> {
    let device = disklab_measure::BlockDevice::at(&SystemRoot::here(), device)?;
    let sectors: u64 = device.attribute("size")?.trim().parse().ok()?;
    sectors.checked_mul(512)
}
