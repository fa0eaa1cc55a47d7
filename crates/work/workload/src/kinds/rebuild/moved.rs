//! A rebuild of a layer that moves what is used: all of it, on a drive that may stand for a larger one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disklab_exec::Executor;
use disklab_measure::{SystemRoot, Totals, Watched};
use disklab_sample::{DriveTraffic, RebuildWindow};
use disklab_units::Bytes;

use super::patient::Patient;
use crate::data::{ByteStream, FileContent};
use crate::duration::nanoseconds;
use crate::{WorkContext, WorkloadError};

/// What is there to be rebuilt.
pub(super) const FILE: &str = "disklab-rebuild";

/// How often the drives' counters are read.
const POLL: Duration = Duration::from_millis(50);

/// What is written first and last is not measured: commands and the last commit take as long on a drive of
/// any size, and the drive's memory takes the first of it faster than its medium.
const ENDS: f64 = 0.02;

/// After so many bytes the content repeats, so that a store that keeps content keeps little.
const REPEATS: usize = 1 << 20;

/// How much there is to move.
#[derive(Debug)]
pub(super) struct MovedData {
    /// Which share of the file system holds data.
    pub fill: f64,
    /// How large drives may be, for which smaller ones do not stand.
    pub small: Bytes,
}

/// What the drives did until a time of a rebuild.
type Progress = (Duration, Vec<DriveTraffic>);

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

    /// Has the new drive get what the failed one held, and waits until all is on it. With other work, which
    /// lasts so long, what it gets meanwhile is measured.
    pub fn measure(
        patient: &Patient<'_>,
        load: Option<Duration>,
        watched: &[Watched],
        executor: &Executor,
    ) -> Result<RebuildWindow, WorkloadError> {
        let drives = Totals::start(&SystemRoot::here(), watched);
        let (began, is_over) = (Instant::now(), AtomicBool::new(false));
        let progress = std::thread::scope(|scope| {
            let counted = scope.spawn(|| {
                let mut progress: Vec<Progress> = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    progress.push((began.elapsed(), drives.so_far()));
                    std::thread::sleep(POLL);
                }
                progress.push((began.elapsed(), drives.so_far()));
                progress
            });
            let rebuilt = patient.rebuild_whole(executor);
            is_over.store(true, Ordering::Relaxed);
            let counted = counted.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            rebuilt.map(|()| counted)
        })?;
        let window = window(&progress, patient.name.as_deref(), load);
        let window = window.ok_or(WorkloadError::NotRebuilt(Bytes::ZERO))?;
        let stands_for = (window.stands_for as f64 * patient.times) as u64;
        let limit = patient.caretaker.limit(executor)?.map(|limit| limit.0 as f64);
        Ok(RebuildWindow { stands_for, limit, ..window })
    }
}

/// The middle of what a drive got, or all of them, and how long that took; it stands for all that the drive
/// got.
fn window(
    progress: &[Progress],
    new: Option<&str>,
    load: Option<Duration>,
) -> Option<RebuildWindow> {
    let is_new = |drive: &&DriveTraffic| new.is_none_or(|new| drive.drive == new);
    let written = |drives: &[DriveTraffic]| -> u64 {
        drives.iter().filter(is_new).map(|drive| drive.write_bytes).sum()
    };
    let (_, last) = progress.last()?;
    let all = written(last);
    let reached = |share: f64| {
        progress.iter().find(|(_, drives)| written(drives) as f64 >= all as f64 * share)
    };
    let (from, before) = reached(ENDS)?;
    let in_time = load.and_then(|load| progress.iter().rev().find(|(at, _)| *at <= load));
    let last = reached(1.0 - ENDS)?;
    let (to, after) = in_time.filter(|(at, _)| *at < last.0).unwrap_or(last);
    let bytes = written(after).checked_sub(written(before)).filter(|bytes| *bytes > 0)?;
    let elapsed_ns = nanoseconds(to.saturating_sub(*from));
    let busy = |drive: &DriveTraffic| {
        let own = before.iter().find(|before| before.drive == drive.drive);
        let busy_ns = drive.busy_ns.saturating_sub(own.map_or(0, |own| own.busy_ns));
        (busy_ns as f64 / elapsed_ns.max(1) as f64).min(1.0)
    };
    let busy = after.iter().map(busy).collect();
    Some(RebuildWindow { stands_for: all, at: 0, bytes, elapsed_ns, limit: None, busy })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive that gets so many bytes each 50 ms.
    fn progress(each: &[u64]) -> Vec<Progress> {
        let mut written = 0;
        let mut at = |(number, bytes): (usize, &u64)| {
            written += bytes;
            let drive = DriveTraffic {
                drive: "new".to_owned(),
                write_bytes: written,
                busy_ns: number as u64 * 25_000_000,
                ..DriveTraffic::default()
            };
            (POLL * number as u32, vec![drive])
        };
        each.iter().enumerate().map(&mut at).collect()
    }

    #[test]
    fn what_takes_as_long_on_any_drive_is_left_out() {
        let steady = [1000; 100];
        let idle = [0; 50];
        let alone = window(&progress(&steady), Some("new"), None).expect("a window");
        let between = window(&progress(&[&idle[..], &steady, &idle].concat()), Some("new"), None);
        let between = between.expect("a window");
        assert_eq!((alone.stands_for, between.stands_for), (100_000, 100_000));
        let rate = |window: &RebuildWindow| window.bytes as f64 * 1e9 / window.elapsed_ns as f64;
        assert_eq!((rate(&alone), rate(&between)), (20_000.0, 20_000.0));
        assert_eq!(alone.busy, [0.5]);
        let all = window(&progress(&steady), None, None).expect("a window");
        assert_eq!(all, alone, "of one drive");
    }

    #[test]
    fn with_other_work_the_time_of_that_counts() {
        let slow_then_fast = progress(&[&[100; 200][..], &[1000; 80]].concat());
        let load = Some(POLL * 190);
        let window = window(&slow_then_fast, Some("new"), load).expect("a window");
        assert_eq!(window.bytes * 1_000_000_000 / window.elapsed_ns, 2000);
        assert_eq!(window.stands_for, 100_000);
    }

    #[test]
    fn a_drive_that_got_nothing_has_no_window() {
        assert_eq!(window(&progress(&[0; 9]), Some("new"), None), None);
        assert_eq!(window(&progress(&[5; 9]), Some("other"), None), None);
        assert_eq!(window(&[], Some("new"), None), None);
    }
}
