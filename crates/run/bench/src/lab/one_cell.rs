//! One cell: a guest is booted, carries it out, and is gone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use disklab_cell::{CellPlan, MachinePlan};
use disklab_drive::{HostStatistics, Nanos};
use disklab_exec::{Interrupt, UntrustedDirectory};
use disklab_lab::{Lab, LabError, LabOptions, LabReport, ReadsFromMemory, console};
use disklab_lab_guest::GUEST;
use disklab_processor::Processor;
use disklab_sample::{MemoryReads, Sample, TraceEntry};

use super::CELL_JOB;
use super::drives::disks;
use super::job::{GuestAnswer, GuestJob, JOB, PROGRAMS, RAW, read_answer, write};
use super::processor::processor_of;
use super::workers::LabShared;
use crate::{BenchError, CellError, CellOutcome};

/// Real time after which a guest is stopped: a day.
const REAL_LIMIT: Duration = Duration::from_secs(86_400);

/// Of a longer console, the end is kept.
const LARGEST_CONSOLE: u64 = 64 << 20;

/// What a worker needs for a cell.
pub(super) struct OneCell {
    pub shared: Arc<LabShared>,
    pub plan: CellPlan,
    /// This lab's own folder, which exists and holds the job.
    pub folder: PathBuf,
    /// The directory of its raw outputs, and the path by which the guest knows it.
    pub raw: PathBuf,
    pub shown: PathBuf,
    pub core: usize,
    pub stop: Interrupt,
    /// Where the guest's clock is shown.
    pub clock: Arc<AtomicU64>,
}

/// How a cell ended; [`Interrupted`](FinishedCell::Interrupted) is no outcome.
pub(super) enum FinishedCell {
    Outcome(Box<CellOutcome>),
    Interrupted,
}

/// Keeps the console with the cell's outputs. The guest may write to both folders.
fn keep_console(folder: &Path, raw: &Path) -> std::io::Result<()> {
    let lab = UntrustedDirectory::open(folder)?;
    UntrustedDirectory::open(raw)?.copy_end(&lab, console::FILE, LARGEST_CONSOLE)
}

/// Leaves the job where the guest will find it.
pub(super) fn prepare(folder: &Path, job: &GuestJob) -> Result<(), BenchError> {
    std::fs::create_dir_all(folder).map_err(BenchError::io("cannot make", folder))?;
    write(folder, JOB, job).map_err(BenchError::io("cannot write the job into", folder))
}

impl OneCell {
    /// Boots the guest and waits for its end.
    pub fn run(self) -> FinishedCell {
        let began = Instant::now();
        let options = match self.options() {
            Ok(options) => options,
            Err(error) => return outcome(began, Err(CellError::Drives(error)), Vec::new()),
        };
        let result = Lab::start(options).and_then(Lab::run);
        // The kernel's messages, for the user.
        let _ = keep_console(&self.folder, &self.raw);
        if matches!(result, Err(LabError::Interrupted(_))) {
            return FinishedCell::Interrupted;
        }
        let (result, trace) = match self.answer(result) {
            Ok(GuestAnswer { result, trace }) => (result.map_err(CellError::Guest), trace),
            Err(error) => (Err(error), Vec::new()),
        };
        outcome(began, result, trace)
    }

    fn options(&self) -> Result<LabOptions, BenchError> {
        let LabShared { settings, kernel } = &*self.shared;
        let MachinePlan::Lab(machine) = &self.plan.machine else {
            return Err(BenchError::OtherBench);
        };
        let charges = processor_of(machine)?.as_ref().map(Processor::kernel_arguments);
        let mut options = LabOptions::new(&kernel.program, &self.folder, &settings.program);
        options.writable = vec![self.shown.clone()];
        options.shown = vec![(RAW, self.shown.clone())];
        options.shown.extend(kernel.programs.iter().map(|p| (PROGRAMS, p.clone())));
        options.init_arguments = vec![GUEST.to_owned(), CELL_JOB.to_owned()];
        options.kernel_arguments.clone_from(&kernel.arguments);
        options.kernel_arguments.extend(charges.unwrap_or_default());
        options.memory_bytes = machine.memory.0;
        options.disks = disks(&self.plan, machine)?;
        options.bus = machine.bus;
        options.content = settings.content.clone();
        options.seed = self.plan.cell.seed;
        options.core = Some(self.core);
        options.real_limit = Some(REAL_LIMIT);
        let limit = u64::try_from(machine.limit.as_nanos()).unwrap_or(u64::MAX);
        options.virtual_limit = Some(Nanos(limit));
        options.clock = Some(Arc::clone(&self.clock));
        options.interrupt = self.stop.clone();
        Ok(options)
    }

    fn answer(&self, result: Result<LabReport, LabError>) -> Result<GuestAnswer, CellError> {
        let report = result?;
        let answer = read_answer(&self.folder).map_err(CellError::GuestAnswer)?;
        let Some(mut answer) = answer else {
            let console = console::tail(&self.folder.join(console::FILE));
            return Err(CellError::NoGuestAnswer { console });
        };
        if let Ok(sample) = &mut answer.result {
            self.add_memory_reads(sample, &report);
            let seconds = report.virtual_time.0 as f64 / 1e9;
            let extra = &mut sample.environment.extra;
            let mut add = |name: &str, value: String| extra.insert(format!("lab.{name}"), value);
            add("virtual-seconds", format!("{seconds:.9}"));
            add("content-disk-bytes", report.content.disk_bytes.to_string());
            add("content-memory-bytes", report.content.memory_bytes.to_string());
            // What drives did behind the guest's back, from beginning to end.
            for (index, disk) in report.disks.iter().enumerate() {
                let Some(drive) = disk.as_ref().map(|disk| disk.drive) else { continue };
                let (shingled, host) = (drive.shingled, drive.host);
                if host != Default::default() {
                    for (name, count) in [
                        ("host-reads", host.reads),
                        ("host-hits", host.hits),
                        ("host-flushes", host.flushes),
                    ] {
                        add(&format!("disk{index}.{name}"), count.to_string());
                    }
                }
                if shingled == Default::default() {
                    continue;
                }
                for (name, count) in [
                    ("cached-bytes", shingled.cached_bytes),
                    ("bands-cleaned", shingled.bands_cleaned),
                    ("bands-streamed", shingled.bands_streamed),
                    ("map-flushes", shingled.map_flushes),
                ] {
                    add(&format!("disk{index}.{name}"), count.to_string());
                }
            }
        }
        Ok(answer)
    }

    /// Says of each step which reads the drives answered from their own memory. A host's memory
    /// answers before that of the drives below it.
    fn add_memory_reads(&self, sample: &mut Sample, report: &LabReport) {
        for step in &mut sample.steps {
            let Some(began) = step.began_ns else { continue };
            let (from, to) = (Nanos(began), Nanos(began.saturating_add(step.elapsed_ns)));
            for traffic in &mut step.drives {
                let place = self.plan.drives.iter().position(|drive| drive.name == traffic.drive);
                let disk = place.and_then(|at| report.disks.get(at)?.as_ref());
                let disk = disk.filter(|disk| disk.drive.host == HostStatistics::default());
                traffic.memory_reads = disk.map(|disk| {
                    let ReadsFromMemory { reads, bytes } = disk.read_log.between(from, to);
                    MemoryReads { reads, bytes }
                });
            }
        }
    }
}

fn outcome(
    began: Instant,
    result: Result<Sample, CellError>,
    trace: Vec<TraceEntry>,
) -> FinishedCell {
    let seconds = began.elapsed().as_secs_f64();
    FinishedCell::Outcome(Box::new(CellOutcome { result, trace, seconds }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_console_is_kept_without_following_links() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for name in ["lab", "raw", "user"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        std::fs::write(path("user/file"), "the user's").unwrap();
        // The copy's place is a link: its target stays as it is.
        std::fs::write(path("lab/console"), "console").unwrap();
        symlink(path("user/file"), path("raw/console")).unwrap();
        keep_console(&path("lab"), &path("raw")).unwrap();
        assert_eq!(std::fs::read_to_string(path("user/file")).unwrap(), "the user's");
        assert_eq!(std::fs::read_to_string(path("raw/console")).unwrap(), "console");
        // The console is a link: what it points to is not kept.
        std::fs::remove_file(path("lab/console")).unwrap();
        symlink(path("user/file"), path("lab/console")).unwrap();
        keep_console(&path("lab"), &path("raw")).expect_err("a link");
        assert_eq!(std::fs::read_to_string(path("raw/console")).unwrap(), "console");
    }
}
