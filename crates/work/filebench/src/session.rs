//! A personality's script, command by command.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disklab_wml::random::Rng;
use disklab_wml::{Fileset, Personality, RunTime, ScriptCommand, SystemStep};
use rustix::fs::{CWD, Mode, OFlags};

use crate::clock::{RunClock, nanoseconds};
use crate::fileset::{EntryKind, MadeFileset, Maker, Set, check_room};
use crate::filler::{Filler, retry};
use crate::pace::PacedEvents;
use crate::run_control::StopCause;
use crate::{FilebenchError, FilebenchReport, Options, SessionContext};

/// Numbers of the random streams of the filesets: far from those of threads.
const FILESET_STREAM: u64 = 1 << 60;
/// A look at what the threads have done is told once in so many nanoseconds where
/// the script says nothing: a minute.
pub(crate) const MINUTE_NS: u64 = 60_000_000_000;

/// A personality while its script runs.
#[derive(Debug)]
pub struct FilebenchSession {
    pub(crate) personality: Arc<Personality>,
    pub(crate) context: SessionContext,
    pub(crate) options: Options,
    pub(crate) sets: Vec<Set>,
    pub(crate) filler: Option<Filler>,
    pub(crate) events: PacedEvents,
    pub(crate) clock: RunClock,
    /// Events per second in force.
    pub(crate) rate: f64,
    /// Seconds of 1.4.9's `warmup` that the next run owes.
    pub(crate) warm_up: Duration,
    /// Numbers of random streams that are used up.
    pub(crate) streams: u64,
    pub(crate) rng: Rng,
    pub(crate) report: FilebenchReport,
    next: usize,
    made: bool,
}

/// Runs a personality from its first command to its last.
///
/// # Errors
/// Where a fileset cannot be made, a flowop fails, or the run ends before its time:
/// see [`FilebenchError::Early`], which keeps what was measured.
pub fn run(
    personality: &Personality,
    context: &SessionContext,
    options: &Options,
) -> Result<FilebenchReport, FilebenchError> {
    let personality = Arc::new(personality.clone());
    let mut session = FilebenchSession::new(personality, context.clone(), options.clone())?;
    session.prepare()?;
    session.measure()
}

impl FilebenchSession {
    /// Draws the filesets. Nothing is touched.
    ///
    /// # Errors
    /// [`FilebenchError::Fileset`] if a fileset is drawn that has more files than fit.
    pub fn new(
        personality: Arc<Personality>,
        context: SessionContext,
        options: Options,
    ) -> Result<Self, FilebenchError> {
        personality.rewind();
        let rng = match options.compat_rng {
            true => Rng::compat(),
            false => Rng::stream(context.seed, FILESET_STREAM - 1),
        };
        let sets = draw_sets(&personality, &context, &options, &rng)?;
        let notes = personality.notes.iter().map(ToString::to_string).collect();
        Ok(Self {
            personality,
            context,
            options,
            sets,
            filler: None,
            events: PacedEvents::default(),
            clock: RunClock::start(),
            rate: 0.0,
            warm_up: Duration::ZERO,
            streams: 0,
            rng,
            report: FilebenchReport { notes, ..FilebenchReport::default() },
            next: 0,
            made: false,
        })
    }

    /// Number of files, existing or not, and bytes of all of them as drawn.
    pub fn extent(&self) -> (u64, u64) {
        let counts = self.sets.iter().map(|set| (set.count(EntryKind::File) as u64, set.bytes()));
        counts.fold((0, 0), |(n, bytes), (m, more)| (n + m, bytes.saturating_add(more)))
    }

    /// Removes the files and directories that were made.
    ///
    /// # Errors
    /// [`FilebenchError::Io`] with what cannot be removed.
    pub fn remove(&mut self) -> Result<(), FilebenchError> {
        if std::mem::take(&mut self.made) {
            for set in &mut self.sets {
                set.remove()?;
            }
            // What a later `create` makes is as new.
            self.sets = draw_sets(&self.personality, &self.context, &self.options, &self.rng)?;
        }
        Ok(())
    }

    /// Makes the files, and carries out all commands before the first run.
    ///
    /// # Errors
    /// [`FilebenchError::Io`] with what cannot be made, [`FilebenchError::NoRoom`],
    /// [`FilebenchError::Exists`] for a directory that is not to be reused, and
    /// [`FilebenchError::Interrupted`].
    pub fn prepare(&mut self) -> Result<(), FilebenchError> {
        let personality = Arc::clone(&self.personality);
        while let Some(command) = personality.commands.get(self.next) {
            if matches!(command, ScriptCommand::Run(_) | ScriptCommand::PeriodicRun { .. }) {
                break;
            }
            self.next += 1;
            self.carry_out(command)?;
        }
        self.make()
    }

    /// Carries out the rest: the runs, and what is between and after them.
    ///
    /// # Errors
    /// Where a flowop fails, or a run ends before its time; what was measured is in
    /// [`FilebenchError::Early`] or [`FilebenchError::CutShort`].
    pub fn measure(&mut self) -> Result<FilebenchReport, FilebenchError> {
        let personality = Arc::clone(&self.personality);
        self.make()?;
        while let Some(command) = personality.commands.get(self.next) {
            self.next += 1;
            self.carry_out(command)?;
        }
        Ok(std::mem::take(&mut self.report))
    }

    fn carry_out(&mut self, command: &ScriptCommand) -> Result<(), FilebenchError> {
        self.context.interrupt.check()?;
        match command {
            ScriptCommand::CreateFiles => self.make()?,
            ScriptCommand::RemoveFiles => self.remove()?,
            ScriptCommand::EventRate(rate) => self.rate = rate.draw_exactly(&mut self.rng),
            ScriptCommand::Run(time) => self.run(time, MINUTE_NS)?,
            ScriptCommand::PeriodicRun { period, time, .. } => {
                self.run(time, nanoseconds(Duration::from_secs(*period)))?;
            }
            ScriptCommand::Warmup(seconds) => {
                let seconds = Duration::from_secs(seconds.draw(&mut self.rng));
                self.warm_up = self.warm_up.saturating_add(seconds);
            }
            ScriptCommand::Sleep(seconds) => {
                let seconds = seconds.draw(&mut self.rng);
                self.context.interrupt.sleep(Duration::from_secs(seconds.min(MOST_SECONDS)))?;
            }
            ScriptCommand::Echo(text) => self.context.progress.tell(text),
            ScriptCommand::System { text, steps, .. } => self.system(text, steps)?,
            ScriptCommand::Set(variable, value) => variable.set(*value),
            ScriptCommand::ListFilesets => {
                for set in &self.sets {
                    let files = set.count(EntryKind::File);
                    self.context.progress.tell(&format!("{}: {files} files", set.name));
                }
            }
            ScriptCommand::ListFlowops => {
                for row in &self.personality.rows {
                    self.context.progress.tell(row);
                }
            }
            // A run starts its processes itself, they end with it, and each run's
            // figures are its own.
            ScriptCommand::CreateProcesses
            | ScriptCommand::ShutdownProcesses
            | ScriptCommand::StatsClear
            | ScriptCommand::StatsSnap => {}
        }
        Ok(())
    }

    fn system(&mut self, text: &str, steps: &[SystemStep]) -> Result<(), FilebenchError> {
        for step in steps {
            match step {
                SystemStep::Sync => self.sync()?,
                SystemStep::Sleep(seconds) => {
                    let seconds = Duration::from_secs((*seconds).min(MOST_SECONDS));
                    self.context.interrupt.sleep(seconds)?;
                }
                SystemStep::DropCaches(_) => self.note(format!(
                    "`{text}` was not executed: whether caches are dropped is for the bench to \
                     decide"
                )),
                // The script's reader has noted it.
                SystemStep::Nothing(_) | SystemStep::Unknown(_) => {}
            }
        }
        Ok(())
    }

    fn note(&mut self, text: String) {
        if !self.report.notes.contains(&text) {
            self.report.notes.push(text);
        }
    }

    /// Makes the filesets, once.
    fn make(&mut self) -> Result<(), FilebenchError> {
        if self.made {
            return Ok(());
        }
        let bytes = self.sets.iter().map(Set::bytes_to_make).fold(0, u64::saturating_add);
        check_room(&self.context.directory, bytes, self.options.content)?;
        let filler = Filler::new(self.options.content, self.context.seed);
        let maker = Maker {
            filler: &filler,
            interrupt: &self.context.interrupt,
            one_by_one: self.options.strict,
            sets: self.sets.len(),
        };
        let mut made = MadeFileset::default();
        for set in &mut self.sets {
            let more = set.make(&maker)?;
            made = MadeFileset { files: made.files + more.files, bytes: made.bytes + more.bytes };
        }
        self.made = true;
        self.filler = Some(filler);
        let MadeFileset { files, bytes } = made;
        self.context.progress.tell(&format!("made {files} files with {bytes} bytes"));
        Ok(())
    }

    /// Writes everything back, so that what was written before a run does not burden
    /// it. Only the file system under test is synced.
    pub(crate) fn sync(&self) -> Result<(), FilebenchError> {
        let directory = &self.context.directory;
        sync(directory).map_err(FilebenchError::io("cannot sync the file system of", directory))
    }

    /// Runs the threads until the time is over.
    fn run(&mut self, time: &RunTime, period_ns: u64) -> Result<(), FilebenchError> {
        // Otherwise what was written beforehand is written back during the run.
        if !self.options.strict {
            self.sync()?;
        }
        let limit = time.limit(self.personality.quit).map(nanoseconds);
        let (mut measured, cause) = self.run_threads(limit, period_ns)?;
        let interrupted = self.context.interrupt.is_raised();
        let reason = match cause {
            _ if interrupted => None,
            Some(StopCause::Early(reason)) => Some(reason),
            Some(StopCause::Finished) | None => None,
        };
        measured.stopped_early = match &reason {
            _ if interrupted => Some("it was interrupted".to_owned()),
            reason => reason.as_ref().map(ToString::to_string),
        };
        self.report.runs.push(measured);
        if reason.is_none() && !interrupted {
            return Ok(());
        }
        let report = Box::new(std::mem::take(&mut self.report));
        Err(match reason {
            None => FilebenchError::CutShort(report),
            Some(reason) => FilebenchError::Early { reason, report },
        })
    }
}

/// Draws all filesets.
fn draw_sets(
    personality: &Personality,
    context: &SessionContext,
    options: &Options,
    rng: &Rng,
) -> Result<Vec<Set>, FilebenchError> {
    let draw = |(number, fileset): (usize, &Fileset)| {
        let stream = FILESET_STREAM + number as u64;
        // A clone of Filebench's generator shares its state.
        let mut own =
            if options.compat_rng { rng.clone() } else { Rng::stream(context.seed, stream) };
        Set::draw(fileset, &context.directory, options.strict, &mut own)
            .map_err(|why| FilebenchError::Fileset(fileset.place.error(why.to_string())))
    };
    personality.filesets.iter().enumerate().map(draw).collect()
}

/// No sleep of a script is longer: 10 days.
const MOST_SECONDS: u64 = 864_000;

fn sync(directory: &Path) -> std::io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = retry(|| rustix::fs::openat(CWD, directory, flags, Mode::empty()))?;
    retry(|| rustix::fs::syncfs(opened.as_fd()))
}
