//! A pass over what is used: all of it, on drives that may stand for larger ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disklab_exec::{Executor, Trace};
use disklab_measure::{NamedDevice, SystemRoot, Totals};
use disklab_sample::{DriveTraffic, PassWindow};
use disklab_units::Bytes;

use super::stack_pass::StackPass;
use crate::data::{ByteStream, FileContent};
use crate::duration::nanoseconds;
use crate::{WorkContext, WorkloadError};

/// What is there to be passed.
pub(super) const FILE: &str = "disklab-filling";

/// How often the drives' counters are read; more rarely where a program says how far a scrub is.
const POLL: Duration = Duration::from_millis(50);
const SCRUB_POLL: Duration = Duration::from_millis(500);

/// What is done first and last is not measured: commands and the last commit take as long on a drive of
/// any size, and the drive's memory takes the first of it faster than its medium.
const ENDS: f64 = 0.02;

/// After so many bytes the content repeats, so that a store that keeps content keeps little.
const REPEATS: usize = 1 << 20;

/// How much there is to pass.
#[derive(Debug)]
pub(super) struct MovedData {
    /// Which share of the file system holds data.
    pub fill: f64,
    /// How large drives may be, for which smaller ones do not stand.
    pub small: Bytes,
}

/// How far a pass is, and what the drives did until then.
struct Progress {
    at: Duration,
    done: u64,
    drives: Vec<DriveTraffic>,
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

    /// Has the pass done as a whole. With other work, which lasts so long, what is done meanwhile is measured.
    pub fn measure(
        pass: &StackPass<'_>,
        load: Option<Duration>,
        watched: &[NamedDevice],
        executor: &Executor,
    ) -> Result<PassWindow, WorkloadError> {
        let drives = Totals::start(&SystemRoot::here(), watched);
        let (began, is_over) = (Instant::now(), AtomicBool::new(false));
        // Programs that are asked again and again are none that the work runs.
        let silent = pass.fails.is_none().then(|| {
            let mut silent = executor.clone();
            silent.trace = Trace::default();
            silent
        });
        let poll = if silent.is_some() { SCRUB_POLL } else { POLL };
        let progress = std::thread::scope(|scope| {
            let counted = scope.spawn(|| -> Result<Vec<Progress>, WorkloadError> {
                let (mut progress, mut all) = (Vec::new(), 0);
                loop {
                    let is_last = is_over.load(Ordering::Relaxed);
                    let (at, drives) = (began.elapsed(), drives.so_far());
                    let said = pass.done(&drives, silent.as_ref().unwrap_or(executor))?;
                    all = said.map_or(all, |(_, of)| of);
                    let done = if is_last { Some(all) } else { said.map(|(done, _)| done) };
                    progress.extend(done.map(|done| Progress { at, done, drives }));
                    if is_last {
                        return Ok(progress);
                    }
                    std::thread::sleep(poll);
                }
            });
            let whole = pass.whole(executor);
            is_over.store(true, Ordering::Relaxed);
            let counted = counted.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            whole.and(counted)
        })?;
        let window = window(&progress, load).ok_or(WorkloadError::PassStalled(Bytes::ZERO))?;
        let stands_for = (window.stands_for as f64 * pass.times) as u64;
        let limit = pass.caretaker.limit(executor)?.map(|limit| limit.0 as f64);
        Ok(PassWindow { stands_for, limit, ..window })
    }
}

/// The middle of a pass, and how long that took; it stands for all of it.
fn window(progress: &[Progress], load: Option<Duration>) -> Option<PassWindow> {
    let all = progress.last()?.done;
    let reached = |share: f64| progress.iter().find(|p| p.done as f64 >= all as f64 * share);
    let before = reached(ENDS)?;
    let in_time = load.and_then(|load| progress.iter().rev().find(|p| p.at <= load));
    let last = reached(1.0 - ENDS)?;
    let after = in_time.filter(|p| p.at < last.at).unwrap_or(last);
    let bytes = after.done.checked_sub(before.done).filter(|bytes| *bytes > 0)?;
    let elapsed_ns = nanoseconds(after.at.saturating_sub(before.at));
    let busy = |drive: &DriveTraffic| {
        let own = before.drives.iter().find(|before| before.drive == drive.drive);
        let busy_ns = drive.busy_ns.saturating_sub(own.map_or(0, |own| own.busy_ns));
        (busy_ns as f64 / elapsed_ns.max(1) as f64).min(1.0)
    };
    let busy = after.drives.iter().map(busy).collect();
    Some(PassWindow { stands_for: all, at: 0, bytes, elapsed_ns, limit: None, busy })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass that does so many bytes each 50 ms.
    fn progress(each: &[u64]) -> Vec<Progress> {
        let mut done = 0;
        let mut at = |(number, bytes): (usize, &u64)| {
            done += bytes;
            let drive = DriveTraffic {
                drive: "new".to_owned(),
                busy_ns: number as u64 * 25_000_000,
                ..DriveTraffic::default()
            };
            Progress { at: POLL * number as u32, done, drives: vec![drive] }
        };
        each.iter().enumerate().map(&mut at).collect()
    }

    #[test]
    fn what_takes_as_long_on_any_drive_is_left_out() {
        let steady = [1000; 100];
        let idle = [0; 50];
        let alone = window(&progress(&steady), None).expect("a window");
        let between = window(&progress(&[&idle[..], &steady, &idle].concat()), None);
        let between = between.expect("a window");
        assert_eq!((alone.stands_for, between.stands_for), (100_000, 100_000));
        let rate = |window: &PassWindow| window.bytes as f64 * 1e9 / window.elapsed_ns as f64;
        assert_eq!((rate(&alone), rate(&between)), (20_000.0, 20_000.0));
        assert_eq!(alone.busy, [0.5]);
    }

    #[test]
    fn with_other_work_the_time_of_that_counts() {
        let slow_then_fast = progress(&[&[100; 200][..], &[1000; 80]].concat());
        let load = Some(POLL * 190);
        let window = window(&slow_then_fast, load).expect("a window");
        assert_eq!(window.bytes * 1_000_000_000 / window.elapsed_ns, 2000);
        assert_eq!(window.stands_for, 100_000);
    }

    /// Another user may have put a link in the place of the file.
    #[test]
    fn no_link_is_followed() {
        let directory = tempfile::tempdir().expect("temp");
        let theirs = directory.path().join("theirs");
        std::fs::write(&theirs, "theirs").expect("written");
        std::os::unix::fs::symlink(&theirs, directory.path().join(FILE)).expect("linked");
        let executor = Executor::new(disklab_exec::Interrupt::new());
        let mut context = crate::testing::context(&executor, directory.path(), None);
        let all = MovedData { fill: 0.9, small: Bytes(1) };
        let error = all.fill(&mut context).expect_err("a link").to_string();
        assert!(error.contains("cannot fill"), "{error}");
        assert_eq!(std::fs::read_to_string(theirs).expect("there"), "theirs");
    }

    #[test]
    fn what_did_not_move_has_no_window() {
        assert_eq!(window(&progress(&[0; 9]), None), None);
        assert_eq!(window(&[], None), None);
    }
}
