//! What executing a script gives: definitions, values, and the steps of its run.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError, did_you_mean};

use crate::parse::lex::{Spanned, short};
use crate::parse::syntax::{Attributes, FlowopSyntax, ThreadSyntax};
use crate::{OverrideProblem, Quit, WmlError};

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    Number(u64),
    Bool(bool),
    Text(String),
    /// Number of a random variable.
    Random(usize),
}

/// A random variable as defined; its parameters are bound with everything else.
#[derive(Debug, Clone)]
pub(super) struct RandomDefinition {
    pub source: Arc<Source>,
    pub name: Spanned<String>,
    pub custom: bool,
    pub attributes: Attributes,
}

/// Something defined, with the script that it is in.
#[derive(Debug, Clone)]
pub(super) struct Defined<T> {
    pub source: Arc<Source>,
    pub span: Range<usize>,
    pub value: T,
}

#[derive(Debug, Clone)]
pub(super) struct FilesDefinition {
    pub single: bool,
    pub attributes: Attributes,
}

#[derive(Debug, Clone)]
pub(super) struct ProcessDefinition {
    pub attributes: Attributes,
    pub threads: Vec<ThreadSyntax>,
}

#[derive(Debug, Clone)]
pub(super) struct CompositeDefinition {
    pub attributes: Attributes,
    pub flowops: Vec<FlowopSyntax>,
}

/// A command that is carried out when the script runs.
#[derive(Debug, Clone)]
pub(super) enum ExecutionStep {
    CreateFiles,
    RemoveFiles,
    CreateProcesses,
    ShutdownProcesses,
    EventRate(Attributes),
    Run(Option<Bound>),
    PeriodicRun { period: u64, reset: bool, time: Option<Bound> },
    Warmup(Bound),
    Sleep(Bound),
    Echo(String),
    System(String),
    Set(String, Bound),
    StatsClear,
    StatsSnap,
    List(bool),
}

/// Everything that a script defines and does.
#[derive(Debug, Default)]
pub(super) struct Executed {
    /// Values at the first run, or at the end where there is none.
    pub values: HashMap<String, Bound>,
    /// Names in the order of their first `set`.
    pub order: Vec<String>,
    /// Values from outside, and those of them that something asked for.
    pub given: HashMap<String, Bound>,
    pub used: HashSet<String>,
    /// Variables that change after files were made or the run began, and where.
    pub moving: HashMap<String, Location>,
    pub randoms: Vec<RandomDefinition>,
    pub possets: HashMap<String, Defined<Attributes>>,
    pub files: Vec<Defined<FilesDefinition>>,
    pub processes: Vec<Defined<ProcessDefinition>>,
    pub composites: Vec<Defined<CompositeDefinition>>,
    pub steps: Vec<Defined<ExecutionStep>>,
    pub quit: Quit,
    pub latency_histogram: bool,
    pub notes: Vec<SourceError>,
}

impl Executed {
    /// An override that no `set` and no `$name` of the script asks for.
    pub(super) fn unused(&self, script: &str) -> Option<WmlError> {
        let unused = self.given.keys().filter(|name| !self.used.contains(*name)).min()?;
        let near = did_you_mean(&short(unused), self.order.iter().map(String::as_str));
        let hint =
            if near.is_empty() { format!("; it sets {}", self.order.join(", ")) } else { near };
        let script = script.to_owned();
        Some(OverrideProblem::Unused { script, hint }.of(unused.as_str()))
    }
}

/// A value as a script would write it.
pub(super) fn show(bound: &Bound) -> String {
    match bound {
        Bound::Number(n) => n.to_string(),
        Bound::Bool(b) => b.to_string(),
        Bound::Text(text) => text.clone(),
        Bound::Random(_) => "random".to_owned(),
    }
}

/// 'The variable is not set'.
pub(super) fn not_set<'a>(
    place: &Location,
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> SourceError {
    let near = did_you_mean(&short(name), known.map(String::as_str));
    place.error(format!("the variable '${}' is not set{near}", short(name)))
}
