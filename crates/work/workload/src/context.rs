//! Where a workload runs, and what is measured around its steps.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use disklab_cell::Caches;
use disklab_exec::{Executor, Finished};
use disklab_measure::{Meter, NamedDevice};
use disklab_sample::{
    Cpu, DrivePass, Figure, KeptData, Note, Steadiness, Step, StepEvent, StepProfile,
};
use disklab_units::Bytes;

use crate::WorkloadError;
use crate::caches::{self, Remounter};
use crate::data::ByteStream;
use crate::duration::nanoseconds;
use crate::events::{Caretaker, StepEvents, WorkEvent};
use crate::spread::{FileSpread, NotSpread};
use crate::steady::note;

/// How often the drives' counters are read during a step.
const SERIES_INTERVAL: Duration = Duration::from_secs(1);

/// What a step gave: its figures, and the CPU time of its programs.
#[derive(Debug, Clone, Default)]
pub struct StepOutcome {
    /// One for each kind of work.
    pub figures: Vec<Figure>,
    /// Figures of parts that ran at the same time and are looked at apart, by name.
    pub parts: Vec<(String, Vec<Figure>)>,
    /// How steady it was, where it counts interval by interval.
    pub steadiness: Option<Steadiness>,
    /// The figures of its steady part, where that is not the whole.
    pub steady: Vec<Figure>,
    /// Requests that each job had in flight on average, where its program tells.
    pub in_flight: Option<f64>,
    /// How fast a drive was rebuilt meanwhile.
    pub rebuild: Option<DrivePass>,
    /// How fast the drives were scrubbed meanwhile.
    pub scrub: Option<DrivePass>,
    /// What became of data that it read back.
    pub kept: Option<KeptData>,
    /// CPU time in user space, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
}

impl StepOutcome {
    /// Figures together with the CPU time of the program that gave them.
    pub fn of(finished: &Finished, figures: Vec<Figure>) -> Self {
        Self {
            figures,
            user_ns: nanoseconds(finished.user),
            system_ns: nanoseconds(finished.system),
            ..Self::default()
        }
    }
}

/// Where a workload runs.
#[derive(Debug)]
pub struct WorkContext<'a> {
    /// Runs the programs.
    pub executor: &'a Executor,
    /// The directory that the stack ends in.
    pub directory: &'a Path,
    /// The block device right below the file system, where there is exactly one.
    pub device: Option<PathBuf>,
    /// Whether that device is a drive that takes ATA commands, so that hdparm fits.
    pub device_is_ata: bool,
    /// The drives whose counters are read around each step.
    pub watched: Vec<NamedDevice>,
    /// Seed of everything random.
    pub seed: u64,
    /// When caches are emptied.
    pub caches: Caches,
    /// What unmounts the directory's file system and mounts it again, where that is the
    /// bench's to do.
    pub remount: Option<&'a dyn Remounter>,
    /// What an operator does to the stack, where there is one.
    pub caretaker: Option<&'a dyn Caretaker>,
    /// Whether caches have been emptied for the next step; see
    /// [`empty_caches`](Self::empty_caches).
    pub emptied: bool,
    /// How large files are laid out before they are written; as they come where absent.
    pub spread: Option<FileSpread>,
    /// Over how many bytes of the file system the most widely spread of them lies.
    pub spread_over: Option<Bytes>,
    /// What happens besides the work.
    pub events: &'a [WorkEvent],
    /// The steps so far.
    pub steps: Vec<Step>,
    /// By the name of a step, the files that it reads, where the workload knows them; see
    /// [`describe_steps`](Self::describe_steps).
    pub files_read: Vec<(String, Vec<PathBuf>)>,
    /// Notes for the sample.
    pub notes: Vec<Note>,
    /// Seconds spent on syncing and emptying caches so far.
    pub caches_seconds: f64,
    /// An estimate of the bytes that other work moved on this machine's drives
    /// during the steps so far; see [`Meter`].
    pub background_bytes: Option<u64>,
}

impl<'a> WorkContext<'a> {
    /// Empties caches as the study says, for the next step, which then does not do it
    /// again: for work that opens files, or starts a server, before its clock starts.
    /// None of the file system's files may be open.
    ///
    /// # Errors
    /// Where it cannot be synced, or is not mounted again.
    pub fn empty_caches(&mut self) -> Result<(), WorkloadError> {
        if self.caches == Caches::Keep || std::mem::replace(&mut self.emptied, true) {
            return Ok(());
        }
        let began = Instant::now();
        let remount = self.remount.filter(|_| self.caches == Caches::Cold);
        let notes = match self.caches {
            Caches::Cold => caches::make_cold(self.directory, remount, self.executor)?,
            Caches::Drop | Caches::Keep => caches::drop_once(self.directory, self.executor)?,
        };
        if self.executor.guest().is_some() {
            caches::empty_drives(&self.watched, self.executor)?;
            self.note_once(
                "caches",
                "the drives' own memories were emptied too, as after other work",
            );
        }
        self.caches_seconds += began.elapsed().as_secs_f64();
        for note in notes {
            self.note_once("caches", note);
        }
        Ok(())
    }

    /// Runs one step: empties caches as the study says, unless that was just done, reads
    /// the counters, does `work`, reads them again, and adds a [`Step`].
    ///
    /// # Errors
    /// Whatever `work` returns; the step is then not added.
    pub fn step(
        &mut self,
        name: &str,
        work: impl FnOnce(&Executor) -> Result<StepOutcome, WorkloadError>,
    ) -> Result<(), WorkloadError> {
        self.executor.interrupt.check()?;
        self.empty_caches()?;
        self.emptied = false;
        let place = (name, self.steps.is_empty());
        let hands = (self.remount, self.caretaker);
        let events = StepEvents::new(self.events, place, self.directory, hands, self.executor);
        events.before()?.into_iter().for_each(|text| self.note("events", text));
        let meter = Meter::start(&self.watched, SERIES_INTERVAL);
        let began = Instant::now();
        let (outcome, elapsed, happened) =
            work_with_events(&events, began, || work(self.executor))?;
        let measured = meter.stop();
        events.words(name, &happened).into_iter().for_each(|text| self.note("events", text));
        if let Some(bytes) = measured.background_bytes {
            self.background_bytes = Some(self.background_bytes.unwrap_or(0).saturating_add(bytes));
        }
        let steadiness = outcome.steadiness;
        if let Some(text) = steadiness.as_ref().and_then(|steady| note(name, steady)) {
            self.note("steady state", text);
        }
        self.steps.push(Step {
            name: name.to_owned(),
            figures: outcome.figures,
            began_ns: self.executor.guest().map(|guest| guest.clock.since_boot(began)),
            elapsed_ns: nanoseconds(elapsed),
            cpu: Cpu { user_ns: outcome.user_ns, system_ns: outcome.system_ns, ..measured.cpu },
            drives: measured.drives,
            series: measured.series,
            events: happened,
            steadiness,
            steady: outcome.steady,
            in_flight: outcome.in_flight,
            rebuild: outcome.rebuild,
            scrub: outcome.scrub,
            kept: outcome.kept,
            files_read: None,
            profile: None,
        });
        // Counters count the whole only.
        self.steps.extend(outcome.parts.into_iter().map(|(name, figures)| Step {
            name,
            figures,
            elapsed_ns: nanoseconds(elapsed),
            ..Step::default()
        }));
        Ok(())
    }

    /// Records with each step what it does, as the workload says, and what is in the files
    /// that it reads. To be called when all steps have ended: it touches the files.
    pub fn describe_steps(&mut self, profile: impl Fn(&str) -> Option<StepProfile>) {
        for step in &mut self.steps {
            step.profile = profile(&step.name);
        }
        for (name, files) in &self.files_read {
            let data = disklab_measure::file_data(files.iter().map(PathBuf::as_path));
            let steps = self.steps.iter_mut().filter(|step| step.name == *name);
            steps.for_each(|step| step.files_read = Some(data));
        }
    }

    /// Makes the file at `path` with `size` bytes of a stream; a large one is laid out first as the
    /// study says. With `durable`, returns once they are on the disk.
    ///
    /// # Errors
    /// Where the file cannot be written, or the user asked to stop.
    pub(crate) fn write_file(
        &mut self,
        stream: &mut ByteStream,
        path: &Path,
        size: Bytes,
        durable: bool,
    ) -> Result<(), WorkloadError> {
        let interrupt = &self.executor.interrupt;
        let laid_out = self.spread.as_ref().map(|spread| spread.lay_out(path, size, self.seed));
        match laid_out {
            Some(Ok(over)) => {
                stream.fill_file(path, size, durable, interrupt)?;
                self.spread_over = self.spread_over.max(Some(over));
                self.note_once(
                    "spread",
                    format!("large files lie over {over} of the file system, as on a drive in use"),
                );
                return Ok(());
            }
            None | Some(Err(NotSpread::Small)) => {}
            Some(Err(why)) => {
                self.note_once("spread", format!("large files lie in one place: {why}"));
            }
        }
        stream.write_file(path, size, durable, interrupt)
    }

    /// Adds a note to the sample.
    pub fn note(&mut self, about: &str, text: impl Into<String>) {
        self.notes.push(Note { about: about.to_owned(), text: text.into() });
    }

    /// Adds a note, unless it is there already.
    pub(crate) fn note_once(&mut self, about: &str, text: impl Into<String>) {
        let note = Note { about: about.to_owned(), text: text.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Does `work`, and says how long it took; events happen meanwhile.
fn work_with_events(
    events: &StepEvents<'_>,
    began: Instant,
    work: impl FnOnce() -> Result<StepOutcome, WorkloadError>,
) -> Result<(StepOutcome, Duration, Vec<StepEvent>), WorkloadError> {
    if !events.are_during() {
        let outcome = work()?;
        return Ok((outcome, began.elapsed(), Vec::new()));
    }
    std::thread::scope(|scope| {
        let (works, over) = channel();
        let happening = scope.spawn(move || events.during(began, &over));
        let outcome = work();
        let elapsed = began.elapsed();
        drop(works);
        let happened = happening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((outcome?, elapsed, happened?))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use disklab_exec::Interrupt;

    use super::*;
    use crate::testing::context;

    #[test]
    fn a_step_carries_what_its_work_gave() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut context =
            WorkContext { caches: Caches::Cold, ..context(&executor, directory.path(), None) };
        context
            .step("work", |_| {
                Ok(StepOutcome { user_ns: 3, system_ns: 4, ..StepOutcome::default() })
            })
            .expect("works");
        assert_eq!(context.steps.len(), 1);
        assert_eq!(context.steps[0].name, "work");
        assert_eq!((context.steps[0].cpu.user_ns, context.steps[0].cpu.system_ns), (3, 4));
        assert!(context.steps[0].cpu.processors > 0);
        assert!(context.caches_seconds > 0.0);
    }

    #[derive(Debug, Default)]
    struct Mounts(Mutex<Vec<&'static str>>, Option<&'static str>);

    impl Remounter for Mounts {
        fn unmount(&self, _: &Executor) -> Result<Option<String>, WorkloadError> {
            self.0.lock().expect("mounts").push("unmount");
            Ok(self.1.map(str::to_owned))
        }

        fn mount(&self, _: &Executor) -> Result<Vec<String>, WorkloadError> {
            self.0.lock().expect("mounts").push("mount");
            Ok(vec!["a note".to_owned()])
        }
    }

    #[test]
    fn cold_is_mounted_again_once_for_each_step() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mounts = Mounts::default();
        let mut context = WorkContext {
            caches: Caches::Cold,
            remount: Some(&mounts),
            ..context(&executor, directory.path(), None)
        };
        context.empty_caches().expect("emptied");
        for name in ["one", "two"] {
            context.step(name, |_| Ok(StepOutcome::default())).expect("works");
        }
        assert_eq!(*mounts.0.lock().expect("mounts"), ["unmount", "mount", "unmount", "mount"]);
        let reported = |what: &str| context.notes.iter().filter(|n| n.text.contains(what)).count();
        assert_eq!((reported("unmounted and mounted again"), reported("a note")), (1, 1));
        context.caches = Caches::Drop;
        context.step("three", |_| Ok(StepOutcome::default())).expect("works");
        assert_eq!(mounts.0.lock().expect("mounts").len(), 4);
    }

    #[test]
    fn a_failed_unmount_is_reported() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mounts = Mounts(Mutex::default(), Some("target is busy"));
        let mut context = WorkContext {
            caches: Caches::Cold,
            remount: Some(&mounts),
            ..context(&executor, directory.path(), None)
        };
        context.step("one", |_| Ok(StepOutcome::default())).expect("works");
        assert_eq!(*mounts.0.lock().expect("mounts"), ["unmount"]);
        assert!(
            context
                .notes
                .iter()
                .any(|n| n.text.contains("dropped") && n.text.contains("target is busy"))
        );
    }

    #[test]
    fn caches_are_kept_where_the_study_says_so() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut context = context(&executor, directory.path(), None);
        context.step("work", |_| Ok(StepOutcome::default())).expect("works");
        assert_eq!(context.caches_seconds, 0.0);
        assert!(executor.trace.take().is_empty());
    }

    #[test]
    fn a_failed_step_is_not_added() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut context = context(&executor, directory.path(), None);
        let failed = context.step("work", |_| Err(WorkloadError::NotPrepared));
        assert!(failed.is_err());
        executor.interrupt.raise();
        assert!(
            context.step("late", |_| Ok(StepOutcome::default())).is_err_and(|e| e.is_interrupt())
        );
        assert!(context.steps.is_empty());
    }

    #[test]
    fn a_note_can_be_made_once_only() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut context = context(&executor, directory.path(), None);
        context.note_once("caches", "a");
        context.note_once("caches", "a");
        context.note("caches", "a");
        assert_eq!(context.notes.len(), 2);
    }
}
