//! What happens besides the work, at a time that the study says: one file for each kind, and one line
//! in [`EVENTS`].

mod drop_caches;
mod fail;
mod kind;
mod rebuild;
mod remount;
mod replace;
mod scrub;
mod sync;

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use disklab_cell::{Care, WorkloadPlan};
use disklab_config::{Fields, Node};
use disklab_exec::Executor;
use disklab_sample::{Step, StepEvent};
use disklab_source::{SourceError, did_you_mean, one_of};

use crate::duration::nanoseconds;
use crate::{Remounter, WorkloadError};
use kind::EventPlace;
pub use kind::{Caretaker, EventKind, PassInUse};

/// All kinds.
pub const EVENTS: [EventKind; 7] = [
    drop_caches::KIND,
    fail::KIND,
    rebuild::KIND,
    remount::KIND,
    replace::KIND,
    scrub::KIND,
    sync::KIND,
];

/// The most events of a workload.
const MOST: usize = 100;

/// Something that happens before a step, or while it runs.
#[derive(Debug, Clone)]
pub struct WorkEvent {
    kind: &'static EventKind,
    /// The step; the first one where the study does not say.
    step: Option<String>,
    /// How long after the step's beginning; before it if absent.
    at: Option<Duration>,
    /// The number of a drive in the stack, from 1.
    drive: Option<u32>,
}

impl WorkEvent {
    /// Those of a workload with these steps, in the order of the study.
    ///
    /// # Errors
    /// [`SourceError`] at the first that is none, or that is for a step which the workload does not
    /// have.
    pub fn read(plan: &WorkloadPlan, steps: &[String]) -> Result<Vec<Self>, SourceError> {
        let Some(list) = &plan.events else { return Ok(Vec::new()) };
        let items = list.items();
        if items.is_empty() || items.len() > MOST {
            return Err(list.error(format!(
                "`events`: expected a list of 1 to {MOST} tables, such as \
                 {{ do = 'drop-caches', at = '10 s' }}"
            )));
        }
        let read = |item| {
            let mut fields = Fields::new(item, "an event")?;
            let word = fields.require_text("do")?;
            let (step, at) = (fields.text("step")?, fields.duration("at")?);
            let drive = fields.integer("drive", 1..=4096)?;
            fields.finish()?;
            let kind = EVENTS.iter().find(|kind| kind.name == word).ok_or_else(|| {
                let known = || EVENTS.iter().map(|kind| kind.name);
                let hint = did_you_mean(&word, known());
                item.error(format!("`do`: expected {}, found '{word}'{hint}", one_of(known())))
            })?;
            if let (Some(why), Some(_)) = (kind.only_before, at) {
                return Err(item.error(format!("{word} has no `at`: {why}")));
            }
            if let Some(step) =
                step.as_ref().filter(|step| !steps.is_empty() && !steps.contains(step))
            {
                let known = || steps.iter().map(String::as_str);
                let hint = did_you_mean(step, known());
                let found = format!("found '{step}'{hint}");
                return Err(item.error(format!("`step`: expected {}, {found}", one_of(known()))));
            }
            let drive = drive_of(kind, drive.map(|drive| drive as u32), item)?;
            Ok(Self { kind, step, at, drive })
        };
        items.iter().map(read).collect()
    }

    /// What it does to the stack, and to which of its drives, from 1.
    pub fn care(&self) -> Option<(Care, Option<u32>)> {
        self.kind.care.map(|care| (care, self.drive))
    }

    /// Whether each had a step among these, which are all that there were.
    ///
    /// # Errors
    /// [`WorkloadError::NoStep`] with the first that had none: the work was not what the study asks.
    pub fn check_steps(events: &[Self], steps: &[Step]) -> Result<(), WorkloadError> {
        let has_none = |event: &&Self| !steps.iter().any(|step| event.is_of(&step.name, true));
        let Some(stray) = events.iter().find(has_none) else { return Ok(()) };
        let known: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        Err(WorkloadError::NoStep {
            event: stray.kind.name,
            step: stray.step.clone().unwrap_or_default(),
            known: known.join(" and "),
        })
    }

    /// What happened: its kind, its drive and what came of it.
    fn what(&self, result: Option<String>) -> String {
        let drive = self.drive.map(|drive| format!(" drive {drive}")).unwrap_or_default();
        let result = result.map(|result| format!(" ({result})")).unwrap_or_default();
        format!("{}{drive}{result}", self.kind.name)
    }

    /// Whether it is one of this step's, the first of the workload or a later one.
    fn is_of(&self, step: &str, is_first: bool) -> bool {
        self.step.as_ref().map_or(is_first, |own| own == step)
    }
}

/// The drive of an event, if its kind is done to one.
fn drive_of(kind: &EventKind, drive: Option<u32>, item: &Node) -> Result<Option<u32>, SourceError> {
    match (matches!(kind.care, Some(Care::Fail | Care::Replace)), drive) {
        (true, None) => Err(item.error(format!("{} needs `drive`, such as 2", kind.name))),
        (false, Some(_)) => Err(item.error(format!("{} has no `drive`", kind.name))),
        (_, drive) => Ok(drive),
    }
}

/// What is to happen around one step, and where.
pub(crate) struct StepEvents<'a> {
    place: EventPlace<'a>,
    before: Vec<&'a WorkEvent>,
    /// In the order of time.
    during: Vec<(Duration, &'a WorkEvent)>,
}

impl<'a> StepEvents<'a> {
    pub(crate) fn new(
        events: &'a [WorkEvent],
        (step, is_first): (&str, bool),
        directory: &'a Path,
        (remount, caretaker): (Option<&'a dyn Remounter>, Option<&'a dyn Caretaker>),
        executor: &'a Executor,
    ) -> Self {
        let own = || events.iter().filter(|event| event.is_of(step, is_first));
        let mut during: Vec<_> = own().filter_map(|event| Some((event.at?, event))).collect();
        during.sort_by_key(|(at, _)| *at);
        let before = own().filter(|event| event.at.is_none()).collect();
        Self { place: EventPlace { directory, remount, caretaker, executor }, before, during }
    }

    /// Whether something happens while the step runs.
    pub(crate) fn are_during(&self) -> bool {
        !self.during.is_empty()
    }

    /// Makes happen what is to happen before the step, and says what came of it.
    ///
    /// # Errors
    /// Of the first that fails.
    pub(crate) fn before(&self) -> Result<Vec<String>, WorkloadError> {
        let mut said = Vec::new();
        for event in &self.before {
            let began = Instant::now();
            let result = (event.kind.happen)(&self.place, event.drive)?;
            if event.kind.care.is_some() {
                let what = event.what(result);
                said.push(format!(
                    "{what}: before the step, for {:.3} s",
                    began.elapsed().as_secs_f64()
                ));
            }
        }
        Ok(said)
    }

    /// Makes happen, each at its time after `began`, what is to happen while the step runs, until
    /// the other end of `over` is gone. What is later than that never happens.
    ///
    /// # Errors
    /// Of the first that fails.
    pub(crate) fn during(
        &self,
        began: Instant,
        over: &Receiver<()>,
    ) -> Result<Vec<StepEvent>, WorkloadError> {
        let mut happened = Vec::new();
        for (at, event) in &self.during {
            let left = at.saturating_sub(began.elapsed());
            if over.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            let at_ns = nanoseconds(began.elapsed());
            let result = (event.kind.happen)(&self.place, event.drive)?;
            let took_ns = nanoseconds(began.elapsed()).saturating_sub(at_ns);
            happened.push(StepEvent { what: event.what(result), at_ns, took_ns });
        }
        Ok(happened)
    }

    /// What happened while the step ran, and what did not as it was over, in sentences.
    pub(crate) fn words(&self, step: &str, happened: &[StepEvent]) -> Vec<String> {
        let done = happened.iter().map(|event| {
            let [at, took] = [event.at_ns, event.took_ns].map(|ns| ns as f64 / 1e9);
            format!("{}: {at:.3} s after '{step}' began, for {took:.3} s", event.what)
        });
        let missed = self.during.iter().skip(happened.len()).map(|(at, event)| {
            let (what, at) = (event.kind.name, at.as_secs_f64());
            format!("{what}: did not happen, as '{step}' was over before {at} s")
        });
        done.chain(missed).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_cell::Caches;
    use disklab_exec::Interrupt;
    use disklab_source::Source;

    use super::*;
    use crate::testing::context;
    use crate::{Context, StepOutcome, read_workload};

    fn read(events: &str) -> Result<Vec<WorkEvent>, SourceError> {
        read_of("large-read", "{ size = '1M', write = true }", events)
    }

    fn read_of(kind: &str, body: &str, events: &str) -> Result<Vec<WorkEvent>, SourceError> {
        let text = format!("events = {events}\n{kind} = {body}");
        let source = Arc::new(Source { name: "test.toml".to_owned(), text });
        let root = Node::parse(&source)?;
        let mut fields = Fields::new(&root, "a workload")?;
        let plan = WorkloadPlan {
            id: "w".to_owned(),
            kind: kind.to_owned(),
            events: fields.take("events").cloned(),
            body: fields.require(kind)?.clone(),
            caches: Caches::Keep,
        };
        let workload = read_workload(&plan, &Context::new(1.0, "."))?;
        WorkEvent::read(&plan, &workload.steps())
    }

    #[test]
    fn events_are_read_or_refused_at_their_place() {
        let both = "[{ do = 'sync', at = '1 s' }, { do = 'remount', step = 'read' }]";
        assert_eq!(read(both).expect("two").len(), 2);
        for (events, expected) in [
            ("[]", "expected a list of 1 to 100 tables"),
            ("7", "expected an event as a table, found a number"),
            ("[{ at = '1 s' }]", "do"),
            ("[{ do = 'drop-cache' }]", "did you mean 'drop-caches'"),
            ("[{ do = 'remount', at = '1 s' }]", "remount has no `at`: while a step runs"),
            ("[{ do = 'sync', at = 'soon' }]", "soon"),
            ("[{ do = 'sync', when = '1 s' }]", "when"),
            ("[{ do = 'fail', at = '1 s' }]", "fail needs `drive`"),
            ("[{ do = 'fail', drive = 0 }]", "drive"),
            ("[{ do = 'scrub', drive = 1 }]", "scrub has no `drive`"),
        ] {
            let error = read(events).expect_err(events).to_string();
            assert!(error.contains(expected) && error.starts_with("test.toml:1"), "{error}");
        }
        // Of a workload that names its steps before it runs.
        let of_job = |step: &str| {
            let body = "{ rw = 'read', size = '1M' }";
            read_of("fio", body, &format!("[{{ do = 'sync', step = '{step}' }}]"))
        };
        assert_eq!(of_job("w").expect("its step").len(), 1);
        let error = of_job("v").expect_err("no step").to_string();
        assert!(error.contains("`step`: expected 'w', found 'v'"), "{error}");
    }

    #[test]
    fn events_happen_before_their_step_or_at_their_time() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let events = "[{ do = 'sync', at = '30 ms' }, { do = 'sync', at = '1 h' }, \
                      { do = 'sync', at = '10 ms' }, { do = 'sync', step = 'write' }, \
                      { do = 'sync', step = 'read', at = '0 s' }]";
        let events = read(events).expect("events");
        let mut place = context(&executor, directory.path(), None);
        place.events = &events;
        // Until what is earlier than an hour has happened, however slow the machine is.
        let work = |_: &Executor| {
            std::thread::sleep(Duration::from_secs(1));
            Ok(StepOutcome::default())
        };
        for step in ["write", "read"] {
            place.step(step, work).expect("works");
        }
        let times = |step: usize| -> Vec<u64> {
            place.steps[step].events.iter().map(|event| event.at_ns / 1_000_000).collect()
        };
        let [first, second] = times(0).try_into().expect("two of the first step");
        assert!(first >= 10 && second >= 30 && first <= second, "{first} {second}");
        assert_eq!(times(1).len(), 1);
        let missed = "sync: did not happen, as 'write' was over before 3600 s";
        assert!(place.notes.iter().any(|note| note.text == missed), "{:?}", place.notes);
        let stray = read("[{ do = 'sync', step = 'reed' }]").expect("known when it ran");
        assert!(WorkEvent::check_steps(&events, &place.steps).is_ok());
        let error = WorkEvent::check_steps(&stray, &place.steps).expect_err("no such step");
        assert!(error.to_string().contains("no step 'reed', but write and read"), "{error}");
        // What is to happen before a step fails where it cannot: nothing here can be unmounted.
        let events = read("[{ do = 'remount' }]").expect("events");
        let mut place = context(&executor, directory.path(), None);
        place.events = &events;
        let error = place.step("write", work).expect_err("not ours").to_string();
        assert!(error.contains("is not disklab's to unmount"), "{error}");
    }
}
