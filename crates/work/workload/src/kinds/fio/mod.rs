//! fio: a job file, or fio's options as they are, run by the native engine or by
//! real fio.

mod cost;
mod figures;
mod layout;
mod locate;
pub(super) mod native;
mod output;
mod part;
mod profile;
pub(crate) mod real;
mod steps;
mod surroundings;
mod work;
mod workload;

pub use output::jobs_in_report;
pub(super) use workload::Fio;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disklab_cell::WorkloadPlan;
use disklab_config::{Fields, Node, Value};
use disklab_jobfile::{JobOption, Policy, Section, jobs, join};
use disklab_sample::StepProfile;
use disklab_source::{Location, SourceError, did_you_mean, one_of};

use self::layout::Prewrite;
use self::part::FioPart;
use self::steps::steps;
use self::surroundings::StudySurroundings;
use self::work::{FioWork, MOST_FILES};
use self::workload::FioEngine;
use crate::variables::variables;
use crate::{Context, Cost, WorkContext, Workload, WorkloadError, WorkloadKind};

pub(super) const FIO: WorkloadKind = WorkloadKind {
    name: "fio",
    summary: "a fio job: a job file, or fio's options as they are",
    fields: &[
        ("job", "the text of a job file"),
        ("job-file", "its name, relative to the study"),
        ("variables", "values of `${NAME}` in the job, and of `$ncpus` and the like, as a table"),
        ("(any option of fio)", "instead of both: one job, named after the workload"),
        ("prewrite", "what its files hold before it reads: 'random' (default), 'zeros', 'none'"),
        ("steps", "'sections': one run for each section with `stonewall` (default); 'whole'"),
        ("engine", "'native' (default): disklab's own engine; 'fio': the installed fio"),
    ],
    read,
};

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    Ok(Box::new(read_fio(spec, context, &[])?))
}

/// Jobs of which one step runs, by the native engine, for `seconds`; and which step that is.
pub(super) fn read_load(
    spec: &WorkloadPlan,
    context: &Context,
    (step, seconds): (Option<&Node>, f64),
) -> Result<(Fio, usize), SourceError> {
    let end = [("time_based", "1".to_owned()), ("runtime", format!("{seconds}s"))];
    let fio = read_fio(spec, context, &end)?;
    if fio.engine != FioEngine::Native {
        return Err(spec.body.error("a load is run by the native engine; remove `engine`"));
    }
    let names = || fio.steps.iter().map(|step| step.name.as_str());
    let number = match step {
        Some(node) => {
            let name = node.as_text()?;
            let hint = did_you_mean(&name, names());
            let wrong =
                || node.error(format!("expected {}, found '{name}'{hint}", one_of(names())));
            names().position(|known| known == name).ok_or_else(wrong)?
        }
        None if fio.steps.len() == 1 => 0,
        None => {
            let steps = one_of(names());
            return Err(spec.body.error(format!("this has several steps; give `step`: {steps}")));
        }
    };
    Ok((fio, number))
}

/// `more` are options that each job has besides.
fn read_fio(
    spec: &WorkloadPlan,
    context: &Context,
    more: &[(&str, String)],
) -> Result<Fio, SourceError> {
    let mut fields = Fields::new(&spec.body, "the fio workload")?;
    let job = fields.take("job");
    let job_file = fields.take("job-file");
    let prewrite = fields.choice("prewrite", &Prewrite::WORDS)?.unwrap_or_default();
    let steps_node = fields.take("steps");
    let engine = fields.choice("engine", &FioEngine::WORDS)?.unwrap_or_default();
    let set = variables(fields.take("variables"))?;
    let policy = engine.policy();
    let rest = fields.rest();
    let place = &spec.body.place;
    let mut sections = match (job, job_file) {
        (None, None) => vec![direct(&spec.id, place, &rest, policy)?],
        (Some(_), Some(node)) => return Err(node.error("give `job` or `job-file`, not both")),
        (Some(node), None) | (None, Some(node)) => {
            if let Some((name, place, _)) = rest.first() {
                return Err(place.error(format!(
                    "'{name}' cannot be combined with a whole job; put fio's options into the job itself"
                )));
            }
            match job {
                Some(_) => from_text(node, &set, context, policy)?,
                None => from_file(node, &set, context, policy)?,
            }
        }
    };
    add(more, &mut sections, place, policy)?;
    let mut scaled = Vec::new();
    if context.scale != 1.0 {
        for section in &mut sections {
            let changes = section.scale(context.scale)?;
            if !changes.is_empty() {
                scaled.push(format!("{}: {}", section.name(), changes.join(", ")));
            }
        }
    }
    let mut files = 0;
    let mut parts = Vec::with_capacity(sections.len());
    for (job, section) in jobs(&sections)?.into_iter().zip(sections) {
        let work = FioWork::of(&section, &job)?;
        files += work.files.len() as u64;
        if files > MOST_FILES {
            return Err(section
                .place()
                .error(format!("this job has more than {MOST_FILES} files")));
        }
        parts.push(FioPart { section, job, work });
    }
    let steps = steps(&parts, steps_node)?;
    let checked = AtomicBool::new(false);
    Ok(Fio { engine, parts, steps, prewrite, scaled, checked })
}

/// Adds these options to each section.
fn add(
    more: &[(&str, String)],
    sections: &mut [Section],
    place: &Location,
    policy: Policy,
) -> Result<(), SourceError> {
    for section in sections {
        for (name, value) in more {
            let option = JobOption::new(name, Some(value.clone()), place, place, false, policy)?;
            section.push(option);
        }
    }
    Ok(())
}

/// One job from the workload's own fields.
fn direct(
    id: &str,
    place: &Location,
    fields: &[(&str, &Location, &Node)],
    policy: Policy,
) -> Result<Section, SourceError> {
    let settings = fields
        .iter()
        .map(|(name, place, node)| {
            let value = match node.value {
                Value::Boolean(on) => u8::from(on).to_string(),
                _ => node.as_text()?,
            };
            JobOption::new(name, Some(value), place, &node.place, false, policy)
        })
        .collect::<Result<_, _>>()?;
    Ok(Section::new(id.to_owned(), place.clone(), settings, policy))
}

fn from_text(
    node: &Node,
    variables: &[(String, String)],
    context: &Context,
    policy: Policy,
) -> Result<Vec<Section>, SourceError> {
    let text = node.as_text()?;
    let locate = locate::locator(node, &text);
    let root = node.place.source.name.as_str();
    let around = StudySurroundings { variables, files: &context.files, root, job_file: "" };
    join(&text, &locate, &around)?.sections(&node.place, &locate, policy)
}

fn from_file(
    node: &Node,
    variables: &[(String, String)],
    context: &Context,
    policy: Policy,
) -> Result<Vec<Section>, SourceError> {
    let name = node.as_text()?;
    let source = context.files.named(&name, &node.place)?;
    let locate = |span| Location { source: Arc::clone(&source), span };
    let around =
        StudySurroundings { variables, files: &context.files, root: &name, job_file: &name };
    join(&source.text, &locate, &around)?.sections(&locate(0..0), &locate, policy)
}

impl Workload for Fio {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        match self.engine {
            FioEngine::Native => Vec::new(),
            FioEngine::Fio => vec![("fio", "fio")],
        }
    }

    fn cost(&self) -> Cost {
        let start = match self.engine {
            FioEngine::Native => 0.0,
            FioEngine::Fio => cost::FIO_START_SECONDS,
        };
        cost::cost(&self.parts, &self.steps, self.prewrite, start)
    }

    fn names(&self) -> Vec<String> {
        let files = layout::files(self.parts.iter().map(|part| &part.work));
        let first = |name: &str| name.split('/').find(|part| !part.is_empty()).map(str::to_owned);
        let names: BTreeSet<String> = files.keys().filter_map(|name| first(name)).collect();
        names.into_iter().collect()
    }

    fn steps(&self) -> Vec<String> {
        self.steps.iter().map(|step| step.name.clone()).collect()
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        Some(profile::profile(&self.parts, &self.steps, step))
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        layout::make_directories(&self.parts, context)?;
        layout::keep_off(&self.parts, context)?;
        // Before hours of writing: fio may know less than disklab. Once is enough.
        if self.engine == FioEngine::Fio
            && context.executor.guest().is_none()
            && !self.checked.load(Ordering::Relaxed)
        {
            real::check(self, context)?;
            self.checked.store(true, Ordering::Relaxed);
        }
        if !self.scaled.is_empty() {
            context.note("fio", format!("sizes scaled: {}", self.scaled.join("; ")));
        }
        let same_buffer = self.named(|part| part.work.same_buffer);
        if !same_buffer.is_empty() {
            context.note(
                "fio",
                format!(
                    "one random buffer is written again and again, slightly altered, as fio does \
                     without `refill_buffers`; a file system that compresses may gain from it: \
                     {same_buffer}"
                ),
            );
        }
        let seeded = self.named(|part| {
            let repeats = self.engine == FioEngine::Fio && part.section.flag("randrepeat");
            repeats || part.job.pattern.seed.is_some() || part.job.pattern.all_repeatable
        });
        if !seeded.is_empty() {
            context.note(
                "fio",
                format!(
                    "the job has a seed of its own, so repeats go to the same places: {seeded}"
                ),
            );
        }
        for warning in self.parts.iter().flat_map(|part| &part.job.warnings) {
            context.note_once("fio", format!("line {}: {}", warning.line, warning.message));
        }
        layout::prewrite(&self.parts, self.prewrite, context)
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let files_read =
            self.steps.iter().filter_map(|step| self.files_read(step, context.directory));
        context.files_read.extend(files_read);
        match self.engine {
            FioEngine::Native => native::run(self, context),
            FioEngine::Fio => real::run(self, context),
        }
    }
}

#[cfg(test)]
mod tests;
