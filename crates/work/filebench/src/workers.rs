//! The threads of a run: who they are, and what they counted together.

use std::collections::HashMap;
use std::thread;

use disklab_wml::MAX_THREADS;
use disklab_wml::random::Rng;
use disklab_wml::{Action, Flowop, Personality, Thread};

use crate::aio::Aio;
use crate::report::{FilebenchFigures, ReportRow, per_second};
use crate::run_control::{RunControl, Signal, StopCause};
use crate::series;
use crate::session::FilebenchSession;
use crate::tally::Counted;
use crate::worker::{ProcessCount, Shared, ThreadContext, Worker};
use crate::{FilebenchError, priority, usage};

/// A thread's stack: flowops need little, and thousands of threads much.
const STACK_BYTES: usize = 256 << 10;

/// A thread that will run.
struct Member<'a> {
    thread: &'a Thread,
    /// Number of its process.
    process: usize,
    rng: Rng,
    nice: u64,
    io_priority: Option<u64>,
    signals: Vec<Option<usize>>,
}

/// All threads that will run, and what they share.
struct Workers<'a> {
    members: Vec<Member<'a>>,
    /// One for each process that counts.
    counts: Vec<Option<ProcessCount>>,
    signals: Vec<Vec<Signal>>,
}

/// Whether a flowop looks at what its whole process did.
fn counts_process(flowop: &Flowop) -> bool {
    match &flowop.action {
        Action::FinishOnCount(finish) | Action::FinishOnBytes(finish) => finish.target.is_none(),
        Action::IopsLimit(target) | Action::OpsLimit(target) | Action::BandwidthLimit(target) => {
            target.is_none()
        }
        Action::Composite(inner) => inner.iter().any(counts_process),
        _ => false,
    }
}

/// Rows that the summary counts: those of operations on files and directories.
fn io_rows(personality: &Personality) -> Vec<Kind> {
    let mut rows = vec![Kind::Other; personality.rows.len()];
    for flowop in personality.flowops() {
        rows[flowop.row] = match &flowop.action {
            action if action.is_read() => Kind::Read,
            action if action.is_write() => Kind::Write,
            action if action.is_io() => Kind::Name,
            _ => continue,
        };
    }
    rows
}

/// What a row counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Name,
    Other,
}

impl FilebenchSession {
    fn workers<'a>(&mut self, personality: &'a Personality) -> Result<Workers<'a>, FilebenchError> {
        let mut workers = Workers {
            members: Vec::new(),
            counts: Vec::new(),
            signals: personality.rows.iter().map(|_| Vec::new()).collect(),
        };
        for process in &personality.processes {
            let counting =
                process.threads.iter().flat_map(|thread| &thread.flowops).any(counts_process);
            for _ in 0..process.instances.draw(&mut self.rng) {
                let number = workers.counts.len();
                workers.counts.push(counting.then(ProcessCount::default));
                let compat = self.options.compat_rng.then(Rng::compat);
                for thread in &process.threads {
                    for _ in 0..thread.instances.draw(&mut self.rng) {
                        // Where their number is drawn, only now it is known.
                        if workers.members.len() as u64 >= MAX_THREADS {
                            return Err(FilebenchError::TooManyThreads {
                                personality: personality.name.clone(),
                                most: MAX_THREADS,
                            });
                        }
                        self.streams += 1;
                        let own = || Rng::stream(self.context.seed, self.streams);
                        let mut rng = compat.clone().unwrap_or_else(own);
                        let signals = workers.signals_of(thread, &mut rng);
                        workers.members.push(Member {
                            thread,
                            process: number,
                            nice: process.nice.draw(&mut self.rng),
                            io_priority: thread.io_priority.as_ref().map(|p| p.draw(&mut rng)),
                            signals,
                            rng,
                        });
                    }
                }
            }
        }
        Ok(workers)
    }

    /// Runs the threads until `limit` is over or they end; tells each `period_ns`
    /// what they did.
    pub(crate) fn run_threads(
        &mut self,
        limit: Option<u64>,
        period_ns: u64,
    ) -> Result<(FilebenchFigures, Option<StopCause>), FilebenchError> {
        let personality = std::sync::Arc::clone(&self.personality);
        let workers = self.workers(&personality)?;
        let Some(filler) = &self.filler else {
            return Err(FilebenchError::NoFilesets);
        };
        let kinds = io_rows(&personality);
        let warm_up = self.options.warm_up.saturating_add(std::mem::take(&mut self.warm_up));
        let warm_up_ns = crate::clock::nanoseconds(warm_up);
        let shared = Shared {
            options: &self.options,
            quit: personality.quit,
            control: RunControl::new(self.clock),
            events: &self.events,
            sets: &self.sets,
            filler,
            aio: Aio::default(),
            signals: workers.signals,
            io_rows: kinds.iter().map(|kind| *kind != Kind::Other).collect(),
            flowops: personality.flowop_count,
            series: series::SharedSeries::new(limit),
            progress: &self.context.progress,
        };
        let counts = &workers.counts;
        let members = workers.members;
        let threads = members.len();
        let interrupt = &self.context.interrupt;
        let rate = self.rate;
        let (rows, used, ended) = thread::scope(|scope| {
            let shared = &shared;
            let (handles, failed) = spawn(scope, shared, members, counts);
            let control = &shared.control;
            let stop = || failed.is_some() || interrupt.is_raised();
            if control.start(
                handles.len(),
                warm_up_ns,
                limit,
                |now| shared.events.set(rate, now),
                stop,
            ) {
                let reporter = ProgressReporter::new(shared, period_ns);
                control.finish(threads, || {
                    reporter.look();
                    interrupt.is_raised()
                });
            }
            let ended = control.close();
            for signal in shared.signals.iter().flatten() {
                signal.shake();
            }
            let joined = join(handles, kinds.len());
            shared.aio.close();
            let (rows, used) = joined?;
            failed.map_or(Ok((rows, used, ended)), Err)
        })?;
        let elapsed_ns = ended.saturating_sub(shared.control.begin());
        let (series, windows) = shared.series.take(elapsed_ns);
        let measured = FilebenchFigures {
            dialect: personality.dialect,
            summary: sum(&rows, &kinds, |kind| kind != Kind::Other),
            reads: sum(&rows, &kinds, |kind| kind == Kind::Read),
            writes: sum(&rows, &kinds, |kind| kind == Kind::Write),
            rows: report_rows(&rows, &kinds, &personality.rows),
            elapsed_ns,
            warm_up_ns,
            threads,
            stopped_early: None,
            user_ns: used.0,
            system_ns: used.1,
            series,
            windows,
        };
        Ok((measured, shared.control.take_cause()))
    }
}

/// What a thread counted by row, and its CPU time in user and kernel mode.
type ThreadReport = (Vec<Counted>, (u64, u64));

/// Starts the threads, up to one that cannot be started.
fn spawn<'scope, 'env>(
    scope: &'scope thread::Scope<'scope, 'env>,
    shared: &'env Shared<'env>,
    members: Vec<Member<'env>>,
    counts: &'env [Option<ProcessCount>],
) -> (Vec<thread::ScopedJoinHandle<'scope, ThreadReport>>, Option<FilebenchError>) {
    let threads = members.len();
    let mut handles = Vec::with_capacity(threads);
    for (number, member) in members.into_iter().enumerate() {
        let (nice, io_priority) = (member.nice, member.io_priority);
        let place = ThreadContext {
            thread: member.thread,
            process: counts[member.process].as_ref(),
            rng: member.rng,
            number,
            signals: member.signals,
        };
        let builder = thread::Builder::new().name(format!("wml-{number}")).stack_size(STACK_BYTES);
        let spawned = builder.spawn_scoped(scope, move || {
            priority::set(nice, io_priority);
            (Worker::new(shared, scope, place).run(), usage::of_thread())
        });
        match spawned {
            Ok(handle) => handles.push(handle),
            Err(source) => {
                let number = number + 1;
                return (handles, Some(FilebenchError::Thread { number, threads, source }));
            }
        }
    }
    (handles, None)
}

/// Waits for the threads and adds up what they counted in so many rows.
fn join(
    handles: Vec<thread::ScopedJoinHandle<'_, ThreadReport>>,
    rows: usize,
) -> Result<ThreadReport, FilebenchError> {
    let mut all = vec![Counted::default(); rows];
    let mut used = (0_u64, 0_u64);
    let mut panicked = false;
    for handle in handles {
        match handle.join() {
            Ok((own, (user, system))) => {
                all.iter_mut().zip(&own).for_each(|(row, own)| row.merge(own));
                used = (used.0 + user, used.1 + system);
            }
            Err(_) => panicked = true,
        }
    }
    if panicked { Err(FilebenchError::Panicked) } else { Ok((all, used)) }
}

/// The rows of these kinds together.
fn sum(rows: &[Counted], kinds: &[Kind], wanted: impl Fn(Kind) -> bool) -> Counted {
    let mut sum = Counted::default();
    let fitting = rows.iter().zip(kinds).filter(|(_, kind)| wanted(**kind));
    fitting.for_each(|(row, _)| sum.merge(row));
    sum
}

fn report_rows(rows: &[Counted], kinds: &[Kind], names: &[String]) -> Vec<ReportRow> {
    let named = rows.iter().zip(kinds).zip(names);
    named
        .map(|((counted, kind), name)| ReportRow {
            name: name.clone(),
            io: *kind != Kind::Other,
            counted: counted.clone(),
        })
        .collect()
}

impl Workers<'_> {
    /// Gives a thread signals of its own for the flowops in which it waits.
    fn signals_of(&mut self, thread: &Thread, rng: &mut Rng) -> Vec<Option<usize>> {
        let mut found: HashMap<usize, u64> = HashMap::new();
        for flowop in &thread.flowops {
            flowop.walk(&mut |flowop| match &flowop.action {
                Action::Block => {
                    found.insert(flowop.row, 0);
                }
                Action::SemBlock { highwater, .. } => {
                    found.insert(flowop.row, highwater.draw(rng));
                }
                _ => {}
            });
        }
        let mut own = Vec::new();
        for (row, highwater) in found {
            if own.len() <= row {
                own.resize(row + 1, None);
            }
            own[row] = Some(self.signals[row].len());
            self.signals[row].push(Signal::new(highwater));
        }
        own
    }
}

/// Tells now and then what was done.
struct ProgressReporter<'a> {
    shared: &'a Shared<'a>,
    period_ns: u64,
    next: std::cell::Cell<u64>,
    last: std::cell::Cell<(u64, u64)>,
}

impl<'a> ProgressReporter<'a> {
    fn new(shared: &'a Shared<'a>, period_ns: u64) -> Self {
        let next = shared.control.begin().saturating_add(period_ns).into();
        Self { shared, period_ns: period_ns.max(1), next, last: (0, 0).into() }
    }

    fn look(&self) {
        let now = self.shared.control.now();
        if now < self.next.get() {
            return;
        }
        let passed = (now - self.next.get()) / self.period_ns + 1;
        let span = passed.saturating_mul(self.period_ns);
        self.next.set(self.next.get().saturating_add(span));
        let (operations, bytes) = self.shared.series.sum();
        let (operations_then, bytes_then) = self.last.replace((operations, bytes));
        let seconds = now.saturating_sub(self.shared.control.begin()) / 1_000_000_000;
        let rate = per_second(operations.saturating_sub(operations_then), span);
        let mebibytes = per_second(bytes.saturating_sub(bytes_then), span) / f64::from(1 << 20);
        self.shared
            .progress
            .tell(&format!("{seconds} s: {rate:.0} operations/s, {mebibytes:.1} MiB/s"));
    }
}
