//! fio: a job file, or fio's options as they are.

mod cost;
mod figures;
mod job;
mod layout;
mod options;
mod output;
pub(crate) mod run;
mod steps;
mod text;
mod value;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disklab_study::{Fields, Node, Place, Source, StudyError, Value, WorkloadSpec};

use self::job::{Section, Setting};
use self::layout::Prewrite;
use self::steps::{Step, steps};
use self::work::{MOST_FILES, Work};
use crate::{Context, Cost, WorkSite, Workload, WorkloadError, WorkloadKind};

pub(super) const FIO: WorkloadKind = WorkloadKind {
    name: "fio",
    summary: "a fio job: a job file, or fio's options as they are",
    fields: &[
        ("job", "the text of a job file"),
        ("job-file", "its name, relative to the study"),
        ("(any option of fio)", "instead of both: one job, named after the workload"),
        ("prewrite", "what its files hold before it reads: 'random' (default), 'zeros', 'none'"),
        ("steps", "'sections': one fio for each section with `stonewall` (default); 'whole'"),
    ],
    read,
};

/// A fio workload.
#[derive(Debug)]
struct Fio {
    /// The jobs, scaled, each with what it will do.
    sections: Vec<(Section, Work)>,
    steps: Vec<Step>,
    prewrite: Prewrite,
    /// What scaling changed.
    scaled: Vec<String>,
    /// Whether fio has been asked whether it understands the jobs.
    checked: AtomicBool,
}

fn read(spec: &WorkloadSpec, context: &Context) -> Result<Box<dyn Workload>, StudyError> {
    let mut fields = Fields::new(&spec.body, "the fio workload")?;
    let job = fields.take("job");
    let job_file = fields.take("job-file");
    let prewrite = fields.choice("prewrite", &Prewrite::WORDS)?.unwrap_or_default();
    let steps_node = fields.take("steps");
    let rest = fields.rest();
    let place = &spec.body.place;
    let sections = match (job, job_file) {
        (None, None) => vec![direct(&spec.id, place, &rest)?],
        (Some(_), Some(node)) => return Err(node.error("give `job` or `job-file`, not both")),
        (Some(node), None) | (None, Some(node)) => {
            if let Some((name, place, _)) = rest.first() {
                return Err(place.error(format!(
                    "'{name}' stands beside a whole job; put fio's options into the job itself"
                )));
            }
            if job.is_some() { from_text(node)? } else { from_file(node, context)? }
        }
    };
    let mut scaled = Vec::new();
    let mut files = 0;
    let mut understood = Vec::with_capacity(sections.len());
    for mut section in sections {
        if context.scale != 1.0 {
            let changes = section.scale(context.scale)?;
            if !changes.is_empty() {
                scaled.push(format!("{}: {}", section.name, changes.join(", ")));
            }
        }
        let work = Work::of(&section)?;
        files += work.files.len();
        if files > MOST_FILES {
            return Err(section.place.error(format!("this job has more than {MOST_FILES} files")));
        }
        understood.push((section, work));
    }
    let steps = steps(&understood, steps_node)?;
    Ok(Box::new(Fio {
        sections: understood,
        steps,
        prewrite,
        scaled,
        checked: AtomicBool::new(false),
    }))
}

/// One job from the workload's own fields.
fn direct(
    id: &str,
    place: &Place,
    fields: &[(&str, &Place, &Node)],
) -> Result<Section, StudyError> {
    let settings = fields
        .iter()
        .map(|(name, place, node)| {
            let value = match node.value {
                Value::Boolean(on) => u8::from(on).to_string(),
                _ => node.as_text()?,
            };
            Setting::new(name, Some(value), place)
        })
        .collect::<Result<_, _>>()?;
    let mut section = Section { name: id.to_owned(), place: place.clone(), settings };
    section.adopt_name();
    Ok(section)
}

fn from_text(node: &Node) -> Result<Vec<Section>, StudyError> {
    let text = node.as_text()?;
    text::parse(&text, &node.place, &text::locator(node, &text))
}

fn from_file(node: &Node, context: &Context) -> Result<Vec<Section>, StudyError> {
    let name = node.as_text()?;
    let path = context.folder.join(&name);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| node.error(format!("cannot read {}: {e}", path.display())))?;
    let source = Arc::new(Source { name, text });
    let whole = Place { source: Arc::clone(&source), span: 0..0 };
    let locate = |span| Place { source: Arc::clone(&source), span };
    text::parse(&source.text, &whole, &locate)
}

impl Workload for Fio {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("fio", "fio")]
    }

    fn cost(&self) -> Cost {
        cost::cost(&self.sections, &self.steps, self.prewrite)
    }

    fn prepare(&self, site: &mut WorkSite<'_>) -> Result<(), WorkloadError> {
        // Before hours of writing: fio may know less than disklab. Once is enough.
        if !site.simulated && !self.checked.load(Ordering::Relaxed) {
            run::check(self, site)?;
            self.checked.store(true, Ordering::Relaxed);
        }
        if !self.scaled.is_empty() {
            site.note("fio", format!("sizes scaled: {}", self.scaled.join("; ")));
        }
        let named = |fits: &dyn Fn(&Section, &Work) -> bool| {
            let fitting = self.sections.iter().filter(|(section, work)| fits(section, work));
            fitting.map(|(section, _)| section.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let same_buffer = named(&|_, work| work.same_buffer);
        if !same_buffer.is_empty() {
            site.note(
                "fio",
                format!(
                    "one random buffer is written again and again, slightly altered, as fio does \
                     without `refill_buffers`; a file system that compresses may gain from it: \
                     {same_buffer}"
                ),
            );
        }
        let seeded =
            named(&|section, _| section.get("randseed").is_some() || section.flag("allrandrepeat"));
        if !seeded.is_empty() {
            site.note(
                "fio",
                format!(
                    "the job has a seed of its own, so repeats go to the same places: {seeded}"
                ),
            );
        }
        layout::prewrite(&self.sections, self.prewrite, site)
    }

    fn run(&self, site: &mut WorkSite<'_>) -> Result<(), WorkloadError> {
        run::run(self, site)
    }
}

#[cfg(test)]
mod tests;
