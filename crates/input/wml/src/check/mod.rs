//! Syntax tree to personality: names resolved, values bound, everything checked.

mod bind;
mod composites;
mod evaluate;
mod execute;
mod executed;
mod fields;
mod filesets;
mod flowop_reader;
mod flowops;
mod kinds;
mod limits;
mod processes;
mod randoms;
mod targets;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

use bind::{Binder, Scope};
use composites::Composites;
use execute::ScriptExecutor;
use executed::{Bound, Defined, ExecutionStep, show};
use fields::AttributeFields;
pub use processes::MAX_THREADS;

use crate::{
    Assignment, Attribute, Dialect, Overrides, Personality, RunTime, ScriptCommand, SystemStep,
    WmlError, parse,
};

impl Personality {
    /// Reads and checks a script. Nothing outside is looked at.
    ///
    /// # Errors
    /// What is wrong in the script, with its place, or with an override, with its
    /// name.
    pub fn read(source: &Arc<Source>, overrides: &Overrides) -> Result<Self, WmlError> {
        let script = parse::script(source)?;
        let mut executor = ScriptExecutor::new(source, overrides)?;
        executor.all(&script.statements)?;
        let done = executor.finish();
        let dialect = if script.old.is_some() { Dialect::V149 } else { Dialect::V15 };
        let mut binder =
            Binder { done, randoms: Vec::new(), moving: HashMap::new(), notes: Vec::new() };
        binder.bind_randoms()?;
        let filesets = binder.filesets(dialect)?;
        let composites = std::mem::take(&mut binder.done.composites);
        let composites = Composites::new(composites, &mut binder)?;
        let processes = binder.processes(&filesets, &composites, dialect)?;
        if processes.list.is_empty() {
            let place = Location { source: source.clone(), span: 0..0 };
            return Err(place.error("the script defines no process: nothing would run").into());
        }
        let steps = std::mem::take(&mut binder.done.steps);
        let length = source.text.trim_end().len();
        let end = Location { source: source.clone(), span: length..length };
        let commands = binder.commands(steps, overrides, &end)?;
        // Last: everything that asks for a variable has asked.
        if let Some(unused) = binder.done.unused(&source.name) {
            return Err(unused);
        }
        let variables = settings(&binder);
        let Binder { done, moving, notes, .. } = binder;
        Ok(Self {
            name: source.name.clone(),
            dialect,
            variables,
            quit: done.quit,
            latency_histogram: done.latency_histogram,
            filesets,
            processes: processes.list,
            rows: processes.rows,
            flowop_count: processes.flowops,
            commands,
            notes: done.notes.into_iter().chain(notes).collect(),
            moving: moving.into_values().collect(),
        })
    }
}

/// The variables as the run records them.
fn settings(binder: &Binder) -> Vec<Assignment> {
    let done = &binder.done;
    let mut names: Vec<&String> = done.order.iter().collect();
    let set: HashSet<&String> = done.order.iter().collect();
    let mut rest: Vec<&String> = done.given.keys().filter(|name| !set.contains(name)).collect();
    rest.sort();
    names.extend(rest);
    let value = |name: &String| match done.values.get(name) {
        Some(Bound::Random(index)) => {
            binder.randoms.get(*index).map_or_else(String::new, |v| v.show())
        }
        Some(bound) => show(bound),
        None => String::new(),
    };
    names
        .into_iter()
        .map(|name| Assignment {
            name: name.clone(),
            value: value(name),
            given: done.given.contains_key(name),
        })
        .collect()
}

impl Binder {
    fn commands(
        &mut self,
        steps: Vec<Defined<ExecutionStep>>,
        overrides: &Overrides,
        end: &Location,
    ) -> Result<Vec<ScriptCommand>, SourceError> {
        let mut commands = Vec::with_capacity(steps.len() + 2);
        let (mut created, mut runs) = (false, false);
        for step in steps {
            match step.value {
                ExecutionStep::Run(_)
                | ExecutionStep::PeriodicRun { .. }
                | ExecutionStep::Warmup(_) => {
                    runs |= !matches!(step.value, ExecutionStep::Warmup(_));
                    if !created {
                        commands.push(ScriptCommand::CreateFiles);
                    }
                    created = true;
                }
                ExecutionStep::CreateFiles => created = true,
                ExecutionStep::RemoveFiles => created = false,
                _ => {}
            }
            commands.extend(self.command(step, overrides)?);
        }
        if !runs {
            if !created {
                commands.push(ScriptCommand::CreateFiles);
            }
            commands.push(ScriptCommand::Run(self.time_of_no_run(overrides, end)));
        }
        Ok(commands)
    }

    /// The command of a step; `None` if nothing that runs depends on it.
    fn command(
        &mut self,
        step: Defined<ExecutionStep>,
        overrides: &Overrides,
    ) -> Result<Option<ScriptCommand>, SourceError> {
        let place = bind::at(&step.source, &step.span);
        Ok(Some(match step.value {
            ExecutionStep::CreateFiles => ScriptCommand::CreateFiles,
            ExecutionStep::RemoveFiles => ScriptCommand::RemoveFiles,
            ExecutionStep::CreateProcesses => ScriptCommand::CreateProcesses,
            ExecutionStep::ShutdownProcesses => ScriptCommand::ShutdownProcesses,
            ExecutionStep::EventRate(attributes) => {
                let what = "'eventgen'";
                let fields =
                    AttributeFields::new(&step.source, what, &step.span, &attributes, &["rate"])?;
                fields.require("rate")?;
                ScriptCommand::EventRate(self.number_of(&fields, "rate", &Scope::new(), 0)?)
            }
            ExecutionStep::Run(time) => ScriptCommand::Run(self.run_time(time, &place, overrides)?),
            ExecutionStep::PeriodicRun { period, reset, time } => {
                let time = self.run_time(time, &place, overrides)?;
                ScriptCommand::PeriodicRun { period, reset, time }
            }
            ExecutionStep::Warmup(time) => ScriptCommand::Warmup(self.seconds(time, &place)?),
            ExecutionStep::Sleep(time) => ScriptCommand::Sleep(self.seconds(time, &place)?),
            ExecutionStep::Echo(text) => ScriptCommand::Echo(text),
            ExecutionStep::System(text) => self.system(text, place),
            ExecutionStep::Set(name, bound) => match (self.moving.get(&name), bound) {
                (Some(variable), Bound::Number(n)) => ScriptCommand::Set(variable.clone(), n),
                (Some(_), _) => {
                    return Err(place.error(format!(
                        "'${}' was a number and must stay one",
                        parse::lex::short(&name)
                    )));
                }
                (None, _) => return Ok(None),
            },
            ExecutionStep::StatsClear => ScriptCommand::StatsClear,
            ExecutionStep::StatsSnap => ScriptCommand::StatsSnap,
            ExecutionStep::List(true) => ScriptCommand::ListFlowops,
            ExecutionStep::List(false) => ScriptCommand::ListFilesets,
        }))
    }

    /// A shell line: what of it disklab does itself, and a note of the rest.
    fn system(&mut self, text: String, place: Location) -> ScriptCommand {
        let steps = SystemStep::classify(&text);
        for step in &steps {
            if let SystemStep::Unknown(part) = step {
                let part = parse::lex::short(part);
                self.note(&place, format!("'{part}' is not executed: no shell line is"));
            }
        }
        ScriptCommand::System { text, steps, place }
    }

    /// How long a script without a `run` runs, with a note if nobody says so.
    fn time_of_no_run(&mut self, overrides: &Overrides, end: &Location) -> RunTime {
        let time = overrides.run_time.map_or(RunTime::Unsaid, RunTime::Exactly);
        if matches!(time, RunTime::Unsaid) {
            let long = match time.limit(self.done.quit) {
                Some(limit) => format!("for {} seconds", limit.as_secs()),
                None => "until its threads are done".to_owned(),
            };
            self.note(
                end,
                format!(
                    "the script has no 'run' (Filebench 1.5 does nothing then): it runs {long}; \
                     --run, or 'runtime' in a study, says otherwise"
                ),
            );
        }
        time
    }

    fn run_time(
        &self,
        time: Option<Bound>,
        place: &Location,
        overrides: &Overrides,
    ) -> Result<RunTime, SourceError> {
        if let Some(time) = overrides.run_time {
            return Ok(RunTime::Exactly(time));
        }
        time.map_or(Ok(RunTime::Unsaid), |time| self.seconds(time, place).map(RunTime::Seconds))
    }

    fn seconds(&self, time: Bound, place: &Location) -> Result<Attribute, SourceError> {
        match time {
            Bound::Number(n) => Ok(Attribute::Constant(n)),
            Bound::Random(index) => match self.randoms.get(index) {
                Some(random) => Ok(Attribute::Random(random.clone())),
                None => Err(place.error("expected a number of seconds")),
            },
            other => {
                let found = parse::lex::short(&show(&other));
                Err(place.error(format!("expected a number of seconds, found '{found}'")))
            }
        }
    }
}
