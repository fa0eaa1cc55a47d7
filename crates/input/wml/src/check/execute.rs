//! Executes a script's commands as far as values go: `set`, `foreach`, `load`.
//!
//! WML has no conditions, so what a script does is known before it runs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError, did_you_mean};

use super::executed::{
    Bound, CompositeDefinition, Defined, Executed, ExecutionStep, FilesDefinition,
    ProcessDefinition, RandomDefinition,
};
use super::limits::MAX_NOTES;
use crate::parse::lex::{Spanned, short};
use crate::parse::syntax::{
    AttributeSyntax, Attributes, Entity, Expression, SetValue, SpannedExpression, Statement,
};
use crate::{OverrideProblem, Overrides, WmlError, parse};

/// Commands after all loops are unrolled.
const MAX_STEPS: usize = 10_000;
/// Variables of a script.
const MAX_VARIABLES: usize = 10_000;
/// How deep `load` may go.
const MAX_LOADS: usize = 4;

/// Executes statements, one after the other.
pub(super) struct ScriptExecutor {
    pub done: Executed,
    /// Values at this place of the script.
    pub now: HashMap<String, Bound>,
    set: HashSet<String>,
    began: bool,
    ran: bool,
    source: Arc<Source>,
    loads: usize,
    iterations: usize,
    pub texts: usize,
    ended: bool,
}

impl ScriptExecutor {
    pub(super) fn new(source: &Arc<Source>, overrides: &Overrides) -> Result<Self, WmlError> {
        let mut done = Executed::default();
        for (name, text) in &overrides.variables {
            let name = name.strip_prefix('$').unwrap_or(name).to_owned();
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(fits) {
                return Err(OverrideProblem::Name.of(short(&name)));
            }
            let value = match text.as_str() {
                "true" => Bound::Bool(true),
                "false" => Bound::Bool(false),
                text if text.starts_with(|c: char| c.is_ascii_digit()) => {
                    let number = parse::lex::number(text);
                    Bound::Number(number.map_err(|e| OverrideProblem::from(e).of(name.as_str()))?)
                }
                text => Bound::Text(text.to_owned()),
            };
            if done.given.insert(name.clone(), value).is_some() {
                return Err(OverrideProblem::Twice.of(name));
            }
        }
        Ok(Self {
            now: done.given.clone(),
            done,
            set: HashSet::new(),
            began: false,
            ran: false,
            source: source.clone(),
            loads: 0,
            iterations: 0,
            texts: 0,
            ended: false,
        })
    }

    /// Executes all statements.
    pub(super) fn all(&mut self, statements: &[Spanned<Statement>]) -> Result<(), SourceError> {
        for statement in statements {
            if self.ended {
                break;
            }
            self.one(statement)?;
        }
        Ok(())
    }

    /// Everything, once all was executed.
    pub(super) fn finish(mut self) -> Executed {
        if !self.ran {
            self.done.values = std::mem::take(&mut self.now);
        } else {
            // What is defined later may use what is set later.
            for (name, value) in self.now {
                self.done.values.entry(name).or_insert(value);
            }
        }
        self.done
    }

    pub(super) fn place(&self, span: &Range<usize>) -> Location {
        Location { source: self.source.clone(), span: span.clone() }
    }

    fn defined<T>(&self, span: &Range<usize>, value: T) -> Defined<T> {
        Defined { source: self.source.clone(), span: span.clone(), value }
    }

    fn step(&mut self, span: &Range<usize>, step: ExecutionStep) -> Result<(), SourceError> {
        if self.done.steps.len() >= MAX_STEPS {
            return Err(self
                .place(span)
                .error(format!("the script does more than {MAX_STEPS} things")));
        }
        let step = self.defined(span, step);
        self.done.steps.push(step);
        Ok(())
    }

    fn first_run(&mut self) {
        if !self.ran {
            self.done.values = self.now.clone();
        }
        self.ran = true;
        self.began = true;
    }

    fn not_after_run(&self, span: &Range<usize>, what: &str) -> Result<(), SourceError> {
        if self.ran {
            return Err(self
                .place(span)
                .error(format!("{what} must be defined before the first 'run'")));
        }
        Ok(())
    }

    fn one(&mut self, statement: &Spanned<Statement>) -> Result<(), SourceError> {
        let span = &statement.span;
        // A loaded personality gives its definitions; the loading script runs them.
        if self.loads > 0
            && matches!(
                statement.value,
                Statement::Run(_)
                    | Statement::PeriodicRun(..)
                    | Statement::Create(_)
                    | Statement::System(_)
                    | Statement::Quit
            )
        {
            return Ok(());
        }
        match &statement.value {
            Statement::Set(name, value) => self.set(name, value)?,
            Statement::SetParameter(name, parameter, value) => {
                self.set_parameter(name, parameter, value)?
            }
            Statement::SetQuit(quit) => self.done.quit = *quit,
            Statement::LatencyHistogram => self.done.latency_histogram = true,
            Statement::DefineFiles { .. }
            | Statement::DefineProcess { .. }
            | Statement::DefineComposite { .. } => self.define(span, &statement.value)?,
            Statement::DefineRandom(attributes) => self.define_random(span, attributes)?,
            Statement::DefinePosset(attributes) => self.define_posset(span, attributes)?,
            Statement::EventRate(attributes) => {
                self.step(span, ExecutionStep::EventRate(attributes.clone()))?
            }
            Statement::Create(Entity::Files) => {
                self.began = true;
                self.step(span, ExecutionStep::CreateFiles)?;
            }
            Statement::Create(Entity::Processes) => {
                self.first_run();
                self.step(span, ExecutionStep::CreateProcesses)?;
            }
            Statement::Shutdown(Entity::Files) => self.step(span, ExecutionStep::RemoveFiles)?,
            Statement::Shutdown(Entity::Processes) => {
                self.step(span, ExecutionStep::ShutdownProcesses)?
            }
            Statement::Run(_) | Statement::PeriodicRun(..) | Statement::Warmup(_) => {
                self.run(span, &statement.value)?;
            }
            Statement::Sleep(time) => {
                let time = self.value(time)?;
                self.step(span, ExecutionStep::Sleep(time))?;
            }
            Statement::Echo(pieces) => {
                let text = self.text(pieces, span)?;
                self.step(span, ExecutionStep::Echo(text))?;
            }
            Statement::System(pieces) => {
                let text = self.text(pieces, span)?;
                self.step(span, ExecutionStep::System(text))?;
            }
            Statement::Foreach(name, values, body) => {
                for value in values {
                    self.set(name, &SetValue::Plain(value.clone()))?;
                    self.all(body)?;
                    // An empty body does nothing, however often.
                    if self.done.steps.len() > MAX_STEPS || self.ended {
                        break;
                    }
                    self.iteration(&name.span)?;
                }
            }
            Statement::Load(name) => self.load(name)?,
            Statement::StatsClear => self.step(span, ExecutionStep::StatsClear)?,
            Statement::StatsSnap => self.step(span, ExecutionStep::StatsSnap)?,
            Statement::List(flowops) => self.step(span, ExecutionStep::List(*flowops))?,
            Statement::Quit => self.ended = true,
            Statement::Nothing(None) => {}
            Statement::Nothing(Some(note)) => {
                let note = self.place(span).error(*note);
                self.done.notes.push(note);
                self.done.notes.truncate(MAX_NOTES);
            }
        }
        Ok(())
    }

    /// Keeps a definition of files, a process or a composite flowop.
    fn define(&mut self, span: &Range<usize>, statement: &Statement) -> Result<(), SourceError> {
        match statement {
            Statement::DefineFiles { single, attributes } => {
                self.not_after_run(span, "filesets")?;
                let value = FilesDefinition { single: *single, attributes: attributes.clone() };
                let defined = self.defined(span, value);
                self.done.files.push(defined);
            }
            Statement::DefineProcess { attributes, threads } => {
                self.not_after_run(span, "processes")?;
                let value =
                    ProcessDefinition { attributes: attributes.clone(), threads: threads.clone() };
                let defined = self.defined(span, value);
                self.done.processes.push(defined);
            }
            Statement::DefineComposite { attributes, flowops } => {
                let value = CompositeDefinition {
                    attributes: attributes.clone(),
                    flowops: flowops.clone(),
                };
                let defined = self.defined(span, value);
                self.done.composites.push(defined);
            }
            _ => {}
        }
        Ok(())
    }

    /// Enters a run or a warm-up.
    fn run(&mut self, span: &Range<usize>, statement: &Statement) -> Result<(), SourceError> {
        let step = match statement {
            Statement::Run(time) => {
                ExecutionStep::Run(time.as_ref().map(|t| self.value(t)).transpose()?)
            }
            Statement::PeriodicRun(period, time) => {
                let (period, reset) = period.as_ref().map_or((0, false), |p| p.value);
                let time = time.as_ref().map(|t| self.value(t)).transpose()?;
                // PERIOD_DEFAULT of upstream is 10 s.
                let period = if period == 0 { 10 } else { period };
                ExecutionStep::PeriodicRun { period, reset, time }
            }
            Statement::Warmup(time) => ExecutionStep::Warmup(self.value(time)?),
            _ => return Ok(()),
        };
        self.first_run();
        self.step(span, step)
    }

    /// Counts the iterations of loops: nested ones multiply.
    fn iteration(&mut self, span: &Range<usize>) -> Result<(), SourceError> {
        self.iterations += 1;
        if self.iterations > MAX_STEPS {
            return Err(self
                .place(span)
                .error(format!("the loops have more than {MAX_STEPS} turns")));
        }
        Ok(())
    }

    fn load(&mut self, name: &Spanned<String>) -> Result<(), SourceError> {
        let place = self.place(&name.span);
        let bare = name.value.strip_suffix(".f").unwrap_or(&name.value);
        let Some(found) = crate::find_personality(bare) else {
            let near = did_you_mean(&short(bare), crate::PERSONALITIES.iter().map(|p| p.name));
            return Err(place.error(format!(
                "'{}' is none of disklab's personalities{near}; 'load' takes only those: put the whole script in one file",
                short(bare)
            )));
        };
        if self.loads >= MAX_LOADS {
            return Err(place.error(format!("'load' goes more than {MAX_LOADS} deep")));
        }
        let loaded = found.source();
        let script = parse::script(&loaded)?;
        let outer = std::mem::replace(&mut self.source, loaded);
        self.loads += 1;
        let result = self.all(&script.statements);
        self.loads -= 1;
        self.source = outer;
        result
    }

    fn set(&mut self, name: &Spanned<String>, value: &SetValue) -> Result<(), SourceError> {
        let given = self.done.given.get(&name.value).cloned();
        let bound = match (given, value) {
            // What was given from outside stands, whatever the script says.
            (Some(given), _) => {
                self.done.used.insert(name.value.clone());
                given
            }
            (None, SetValue::Plain(value)) => self.value(value)?,
            (None, SetValue::Calculated(left, sign, right)) => {
                self.calculated(left, sign, right)?
            }
            (None, SetValue::Random(attributes)) => self.random(name, false, attributes),
            (None, SetValue::Custom(attributes)) => self.random(name, true, attributes),
        };
        self.assign(name, bound)
    }

    fn assign(&mut self, name: &Spanned<String>, bound: Bound) -> Result<(), SourceError> {
        let place = self.place(&name.span);
        // A first value is no change: nothing can have been bound to it.
        let changed = self.now.get(&name.value).is_some_and(|old| *old != bound);
        if self.set.insert(name.value.clone()) {
            if self.done.order.len() >= MAX_VARIABLES {
                return Err(
                    place.error(format!("the script sets more than {MAX_VARIABLES} variables"))
                );
            }
            self.done.order.push(name.value.clone());
        }
        if self.began && changed {
            self.done.moving.entry(name.value.clone()).or_insert(place);
            self.step(&name.span, ExecutionStep::Set(name.value.clone(), bound.clone()))?;
        }
        self.now.insert(name.value.clone(), bound);
        Ok(())
    }

    fn random(&mut self, name: &Spanned<String>, custom: bool, attributes: &Attributes) -> Bound {
        let definition = RandomDefinition {
            source: self.source.clone(),
            name: name.clone(),
            custom,
            attributes: attributes.clone(),
        };
        self.done.randoms.push(definition);
        Bound::Random(self.done.randoms.len() - 1)
    }

    /// `define randvar name=$x,…` of the old dialect.
    fn define_random(
        &mut self,
        span: &Range<usize>,
        attributes: &Attributes,
    ) -> Result<(), SourceError> {
        let named =
            attributes.list.iter().find(|a| a.key.value == "name").and_then(|a| a.value.as_ref());
        let Some(Spanned { value: Expression::Variable(name), span: at }) = named else {
            return Err(self.place(span).error("'define randvar' needs 'name=$…'"));
        };
        let name = Spanned { value: name.clone(), span: at.clone() };
        let mut attributes = attributes.clone();
        attributes.list.retain(|a| a.key.value != "name");
        self.set(&name, &SetValue::Random(attributes))
    }

    fn define_posset(
        &mut self,
        span: &Range<usize>,
        attributes: &Attributes,
    ) -> Result<(), SourceError> {
        let named =
            attributes.list.iter().find(|a| a.key.value == "name").and_then(|a| a.value.as_ref());
        let Some(Spanned { value: Expression::Text(pieces), span: at }) = named else {
            return Err(self.place(span).error("'define posset' needs 'name='"));
        };
        let name = self.text(pieces, at)?;
        let defined = self.defined(span, attributes.clone());
        self.done.possets.insert(name, defined);
        Ok(())
    }

    fn set_parameter(
        &mut self,
        name: &Spanned<String>,
        parameter: &Spanned<String>,
        value: &SpannedExpression,
    ) -> Result<(), SourceError> {
        let place = self.place(&name.span);
        let Some(Bound::Random(index)) = self.now.get(&name.value) else {
            return Err(place.error(format!("'${}' is not a random variable", short(&name.value))));
        };
        if self.ran {
            return Err(place.error("a random variable cannot change after the first 'run'"));
        }
        let attribute = AttributeSyntax {
            key: parameter.clone(),
            value: Some(value.clone()),
            table: Vec::new(),
        };
        // In range: `Bound::Random` is only made by `random`, after a push.
        let list = &mut self.done.randoms[*index].attributes.list;
        list.retain(|a| a.key.value != parameter.value);
        list.push(attribute);
        Ok(())
    }
}
