//! What happens besides the work, at a time that the study says: one file for each kind, and one line
//! in [`EVENTS`].

mod drop_caches;
mod remount;
mod sync;

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Executor;
use disklab_sample::StepEvent;
use disklab_source::{SourceError, did_you_mean, one_of};

use crate::duration::nanoseconds;
use crate::{Remounter, Workload, WorkloadError};

/// A kind of event: one line of the table.
#[derive(Debug)]
pub struct EventKind {
    /// Its word in a study, such as `drop-caches`.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Why it cannot happen while a step runs, if so.
    pub only_before: Option<&'static str>,
    /// Makes it happen.
    happen: fn(&EventPlace<'_>) -> Result<(), WorkloadError>,
}

/// All kinds.
pub const EVENTS: [EventKind; 3] = [drop_caches::KIND, remount::KIND, sync::KIND];

/// The most events of a workload.
const MOST: usize = 100;

/// Something that happens before a step, or while it runs.
#[derive(Debug, Clone)]
pub struct Event {
    kind: &'static EventKind,
    /// The step; the first one where the study does not say.
    step: Option<String>,
    /// How long after the step's beginning; before it if absent.
    at: Option<Duration>,
}

/// Where an event happens.
struct EventPlace<'a> {
    directory: &'a Path,
    remount: Option<&'a dyn Remounter>,
    executor: &'a Executor,
}

impl Event {
    /// Those of a workload, in the order of the study.
    ///
    /// # Errors
    /// [`SourceError`] at the first that is none, or that is for a step which the workload does not
    /// have.
    pub fn read(plan: &WorkloadPlan, workload: &dyn Workload) -> Result<Vec<Self>, SourceError> {
        let Some(list) = &plan.events else { return Ok(Vec::new()) };
        let items = list.items();
        if items.is_empty() || items.len() > MOST {
            return Err(list.error(format!(
                "`events`: expected a list of 1 to {MOST} tables, such as \
                 {{ do = 'drop-caches', at = '10 s' }}"
            )));
        }
        let steps = workload.steps();
        let read = |item| {
            let mut fields = Fields::new(item, "an event")?;
            let word = fields.require_text("do")?;
            let (step, at) = (fields.text("step")?, fields.duration("at")?);
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
            Ok(Self { kind, step, at })
        };
        items.iter().map(read).collect()
    }

    /// Whether it is one of this step's, the first of the workload or a later one.
    fn is_of(&self, step: &str, is_first: bool) -> bool {
        self.step.as_ref().map_or(is_first, |own| own == step)
    }
}

/// The events of one step.
pub(crate) struct StepEvents<'a> {
    place: EventPlace<'a>,
    before: Vec<&'a Event>,
    /// In the order of time.
    during: Vec<(Duration, &'a Event)>,
}

impl<'a> StepEvents<'a> {
    pub(crate) fn new(
        events: &'a [Event],
        (step, is_first): (&str, bool),
        directory: &'a Path,
        remount: Option<&'a dyn Remounter>,
        executor: &'a Executor,
    ) -> Self {
        let own = || events.iter().filter(|event| event.is_of(step, is_first));
        let mut during: Vec<_> = own().filter_map(|event| Some((event.at?, event))).collect();
        during.sort_by_key(|(at, _)| *at);
        let before = own().filter(|event| event.at.is_none()).collect();
        Self { place: EventPlace { directory, remount, executor }, before, during }
    }

    /// Whether something happens while the step runs.
    pub(crate) fn are_during(&self) -> bool {
        !self.during.is_empty()
    }

    /// Makes happen what is to happen before the step.
    ///
    /// # Errors
    /// Of the first that fails.
    pub(crate) fn before(&self) -> Result<(), WorkloadError> {
        self.before.iter().try_for_each(|event| (event.kind.happen)(&self.place))
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
            (event.kind.happen)(&self.place)?;
            let took_ns = nanoseconds(began.elapsed()).saturating_sub(at_ns);
            happened.push(StepEvent { what: event.kind.name.to_owned(), at_ns, took_ns });
        }
        Ok(happened)
    }

    /// What did not happen, as the step was over: of those during it, all but the first so many.
    pub(crate) fn missed(&self, happened: usize) -> Vec<String> {
        let missed = self.during.iter().skip(happened);
        let words = |(at, event): &(Duration, &Event)| {
            format!(
                "{} at {} s did not happen: the step was over",
                event.kind.name,
                at.as_secs_f64()
            )
        };
        missed.map(words).collect()
    }
}
