//! One cell: a guest is booted, carries it out, and is gone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use disklab_cell::{CellPlan, MachinePlan, MakingPlan};
use disklab_drive::{HostStatistics, Nanos, ShingledStatistics, Statistics};
use disklab_exec::{Interrupt, UntrustedDirectory};
use disklab_lab::{Lab, LabError, LabOptions, LabReport, ReadsFromMemory, console};
use disklab_lab_guest::GUEST;
use disklab_processor::Processor;
use disklab_sample::{
    HostWork, LabFacts, MemoryReads, Sample, ShingledWork, TraceEntry, UnseenWork,
};

use super::CELL_JOB;
use super::drives::disks;
use super::faults::{add_faults, fault_notes};
use super::job::{
    GuestAnswer, GuestJob, GuestTask, JOB, PHASES, PROGRAMS, RAW, read_answer, write,
};
use super::made_drives::MadeDrives;
use super::processor::processor_of;
use super::shared::{LabShared, PreparedKernel};
use crate::{BenchError, CellError, CellOutcome, Phase};

/// The directory of the guest that makes the stack, in the cell's.
const MAKING: &str = "making";

/// Real time after which a guest is stopped: a day.
const REAL_LIMIT: Duration = Duration::from_secs(86_400);

/// Of a longer console, the end is kept.
const LARGEST_CONSOLE: u64 = 64 << 20;

/// What a worker needs for a cell.
pub(super) struct OneCell {
    pub shared: Arc<LabShared>,
    pub plan: Box<CellPlan>,
    /// What `fio --version` says, where it is here.
    pub fio: Option<String>,
    /// This cell's own directory, which exists.
    pub directory: PathBuf,
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

/// Keeps the console with the cell's outputs. The guest may write to both directories.
fn keep_console(directory: &Path, raw: &Path) -> std::io::Result<()> {
    let lab = UntrustedDirectory::open(directory)?;
    UntrustedDirectory::open(raw)?.copy_end(&lab, console::FILE, LARGEST_CONSOLE)
}

impl OneCell {
    /// Has its stack made, unless drives with it are there, boots the guest that measures, and waits
    /// for its end.
    pub fn run(self) -> FinishedCell {
        let began = Instant::now();
        let finished = |result, trace| {
            let seconds = began.elapsed().as_secs_f64();
            FinishedCell::Outcome(Box::new(CellOutcome { result, trace, seconds }))
        };
        let failed = |error: CellError, trace| match error.is_interrupt() {
            true => FinishedCell::Interrupted,
            false => finished(Err(error), trace),
        };
        // A stack whose cell takes long is still there when its next one comes.
        let (name, kept) = (self.plan.making.digest(), self.shared.settings.at_once + 1);
        let made = match self.shared.made.get(&name, kept, || self.make()) {
            Ok(made) => made,
            Err(FailedGuest(error, trace)) => return failed(*error, trace),
        };
        match self.measure(&made) {
            Ok((mut sample, trace, report)) => {
                self.add_report(&mut sample, &report);
                made.add_to(&mut sample);
                finished(Ok(sample), made.with_trace(trace))
            }
            Err(FailedGuest(error, trace)) => failed(*error, made.with_trace(trace)),
        }
    }

    /// Has a guest make the stack, on new drives.
    fn make(&self) -> Result<MadeDrives, FailedGuest> {
        let directory = self.directory.join(MAKING);
        let shown = directory.join(RAW);
        std::fs::create_dir_all(&shown)
            .map_err(|e| CellError::Drives(BenchError::io("cannot make", &shown)(e)))?;
        let job = self.job(GuestTask::Make(self.plan.making.clone())).map_err(CellError::Drives)?;
        self.tell_making();
        let options = self.options(&job, &directory, &shown).map_err(CellError::Drives)?;
        let made = boot(&job, &directory, options, Lab::run_and_keep);
        if made.is_err() {
            let _ = keep_console(&directory, &self.raw);
        }
        let (sample, trace, (_, disks)) = made?;
        Ok(MadeDrives { disks, sample, trace })
    }

    /// Tells the progress that the stack is being made: the guest that does has a directory of its own.
    fn tell_making(&self) {
        let line = serde_json::to_string(&Phase::Make).unwrap_or_default();
        // Only for the user's eyes.
        let _ = std::fs::write(self.directory.join(PHASES), format!("{line}\n"));
    }

    /// Has a guest carry out the work, on drives with its stack.
    fn measure(
        &self,
        made: &MadeDrives,
    ) -> Result<(Sample, Vec<TraceEntry>, LabReport), FailedGuest> {
        let job = self.job(GuestTask::Work(self.plan.clone())).map_err(CellError::Drives)?;
        let mut options =
            self.options(&job, &self.directory, &self.shown).map_err(CellError::Drives)?;
        made.disks.begin(&mut options).map_err(CellError::Lab)?;
        add_faults(&self.plan, &self.directory, &mut options.disks).map_err(CellError::Drives)?;
        for disk in &mut options.disks {
            disk.replaced_in = Some(self.directory.clone());
        }
        let done = boot(&job, &self.directory, options, Lab::run);
        // The kernel's messages, for the user.
        let _ = keep_console(&self.directory, &self.raw);
        done
    }

    fn job(&self, task: GuestTask) -> Result<GuestJob, BenchError> {
        let kernel = self.kernel(task.making())?;
        let programs = kernel.kernel.programs.is_some();
        Ok(GuestJob { task, fio: self.fio.clone(), programs })
    }

    fn kernel(&self, making: &MakingPlan) -> Result<&PreparedKernel, BenchError> {
        let MachinePlan::Lab(machine) = &making.machine else { return Err(BenchError::OtherBench) };
        self.shared.kernel(machine)
    }

    fn options(
        &self,
        job: &GuestJob,
        directory: &Path,
        shown: &Path,
    ) -> Result<LabOptions, BenchError> {
        let (settings, making) = (&self.shared.settings, job.task.making());
        let kernel = &self.kernel(making)?.kernel;
        let MachinePlan::Lab(machine) = &making.machine else {
            return Err(BenchError::OtherBench);
        };
        let charges = processor_of(machine)?.as_ref().map(Processor::kernel_arguments);
        let mut options = LabOptions::new(&kernel.program, directory, &settings.program);
        options.writable = vec![shown.to_owned()];
        options.shown = vec![(RAW, shown.to_owned())];
        options.shown.extend(kernel.programs.iter().map(|p| (PROGRAMS, p.clone())));
        options.init_arguments = vec![GUEST.to_owned(), CELL_JOB.to_owned()];
        options.kernel_arguments.clone_from(&kernel.arguments);
        options.kernel_arguments.extend(charges.unwrap_or_default());
        options.memory_bytes = machine.memory.0;
        options.disks = disks(making, machine)?;
        options.bus = machine.bus;
        options.content = settings.content.clone();
        options.seed = match &job.task {
            GuestTask::Make(making) => making.seed,
            GuestTask::Work(plan) => plan.cell.seed,
        };
        options.core = Some(self.core);
        options.real_limit = Some(REAL_LIMIT);
        let limit = u64::try_from(machine.limit.as_nanos()).unwrap_or(u64::MAX);
        options.virtual_limit = Some(Nanos(limit));
        options.clock = Some(Arc::clone(&self.clock));
        options.interrupt = self.stop.clone();
        Ok(options)
    }

    /// Adds what only the host knows.
    fn add_report(&self, sample: &mut Sample, report: &LabReport) {
        self.add_memory_reads(sample, report);
        sample.notes.extend(fault_notes(&self.plan, report));
        // Where a run has several kernels, each cell says which it had.
        if let Ok(PreparedKernel { name: Some(_), environment, .. }) =
            self.kernel(&self.plan.making)
        {
            sample.environment.kernel.clone_from(&environment.kernel);
            sample.environment.lab_kernel.clone_from(&environment.lab_kernel);
        }
        sample.lab = Some(LabFacts {
            virtual_ns: report.virtual_time.0,
            content: report.content,
            drives: self.unseen_work(report),
        });
    }

    /// What drives did behind the guest's back, from beginning to end.
    fn unseen_work(&self, report: &LabReport) -> Vec<UnseenWork> {
        let drives = self.plan.making.drives.iter().zip(&report.disks);
        let of_drive = drives.filter_map(|(drive, disk)| {
            let Statistics { host, shingled, .. } = disk.as_ref()?.drive;
            let host = (host != HostStatistics::default()).then_some(HostWork {
                reads: host.reads,
                hits: host.hits,
                flushes: host.flushes,
            });
            let shingled = (shingled != ShingledStatistics::default()).then_some(ShingledWork {
                cached_bytes: shingled.cached_bytes,
                bands_cleaned: shingled.bands_cleaned,
                bands_streamed: shingled.bands_streamed,
                map_flushes: shingled.map_flushes,
            });
            let has_any = host.is_some() || shingled.is_some();
            has_any.then(|| UnseenWork { drive: drive.name.clone(), host, shingled })
        });
        of_drive.collect()
    }

    /// Says of each step which reads the drives answered from their own memory. A host's memory
    /// answers before that of the drives below it.
    fn add_memory_reads(&self, sample: &mut Sample, report: &LabReport) {
        for step in &mut sample.steps {
            let Some(began) = step.began_ns else { continue };
            let (from, to) = (Nanos(began), Nanos(began.saturating_add(step.elapsed_ns)));
            for traffic in &mut step.drives {
                let place =
                    self.plan.making.drives.iter().position(|drive| drive.name == traffic.drive);
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

/// Boots a guest that does this job in this directory, and has `run` wait for its end.
fn boot<T>(
    job: &GuestJob,
    directory: &Path,
    options: LabOptions,
    run: impl FnOnce(Lab) -> Result<T, LabError>,
) -> Result<(Sample, Vec<TraceEntry>, T), FailedGuest> {
    write(directory, JOB, job).map_err(|e| {
        CellError::Drives(BenchError::io("cannot write the job into", directory)(e))
    })?;
    let ended = Lab::start(options).and_then(run).map_err(CellError::Lab)?;
    let answer = read_answer(directory).map_err(CellError::GuestAnswer)?;
    let Some(GuestAnswer { result, trace }) = answer else {
        let console = console::tail(&directory.join(console::FILE));
        return Err(CellError::NoGuestAnswer { console }.into());
    };
    match result {
        Ok(sample) => Ok((sample, trace, ended)),
        Err(why) => Err(FailedGuest(Box::new(CellError::Guest(why)), trace)),
    }
}

/// Why a guest did not do its job, and the commands that ran.
struct FailedGuest(Box<CellError>, Vec<TraceEntry>);

impl From<CellError> for FailedGuest {
    fn from(error: CellError) -> Self {
        Self(Box::new(error), Vec::new())
    }
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
