//! From the words of a command line to the sections of all jobs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use disklab_jobfile::{JobOption, Policy, Runner, Section, join, verbatim_sections};
use disklab_source::{Location, Source, did_you_mean};
use serde_json::{Value, json};

use super::surroundings::UserSurroundings;
use super::words::{FioWords, job_file};
use crate::exit::Failure;

/// A job's directory and files may be any.
const POLICY: Policy = Policy { runner: Runner::Native, directory: true };

/// The sections of all jobs, and what their texts referred to.
#[derive(Default)]
pub struct JobTexts {
    /// The jobs of the command line, then those of the files.
    pub sections: Vec<Section>,
    /// The variables that were filled in.
    pub variables: BTreeMap<String, String>,
    /// The files' texts with all that they refer to, by name, if they refer to anything.
    joined: BTreeMap<String, String>,
}

impl JobTexts {
    /// Reads what the words name, as fio does: the command line's own jobs come first, its
    /// options before them hold for the first file, too, and each file but the first begins
    /// behind a stone wall (parse_options in init.c).
    ///
    /// # Errors
    /// A usage error with the place.
    pub fn read(words: &FioWords) -> Result<Self, Failure> {
        let mut all = Self::default();
        let source = words.command_line();
        let locate = |span| Location { source: Arc::clone(&source), span };
        let read =
            verbatim_sections(&source.text, &locate, POLICY).map_err(Failure::usage_error)?;
        let (globals, sections) = read;
        all.sections = sections;
        if words.files.is_empty() && all.sections.is_empty() {
            let what = "these options hold for no job: give --name=NAME, or a job file";
            return Err(Failure::usage_error(what));
        }
        let mut names = Vec::new();
        for (number, path) in words.files.iter().enumerate() {
            let globals = if number == 0 { globals.clone() } else { Vec::new() };
            let mut sections = all.sections_of(path, globals)?;
            names.extend(sections.iter().map(|section| section.header().to_owned()));
            let wanted = &words.own.section;
            sections.retain(|section| {
                wanted.is_empty() || wanted.iter().any(|name| name == section.header())
            });
            if number > 0
                && let Some(first) = sections.first_mut()
            {
                let place = first.place().clone();
                let stonewall = JobOption::new("stonewall", None, &place, &place, false, POLICY);
                first.push(stonewall.map_err(Failure::usage_error)?);
            }
            all.sections.extend(sections);
        }
        match words.own.section.iter().find(|section| !names.contains(section)) {
            None => Ok(all),
            Some(missing) => Err(Failure::usage_error(format!(
                "--section: there is no section '{missing}'{}",
                did_you_mean(missing, names.iter().map(String::as_str))
            ))),
        }
    }

    fn sections_of(
        &mut self,
        path: &Path,
        globals: Vec<JobOption>,
    ) -> Result<Vec<Section>, Failure> {
        let source: Arc<Source> = job_file(path)?;
        let locate = |span| Location { source: Arc::clone(&source), span };
        let joined =
            join(&source.text, &locate, &UserSurroundings).map_err(Failure::usage_error)?;
        let sections = joined.sections_after(globals, &locate(0..0), &locate, POLICY);
        let sections = sections.map_err(Failure::usage_error)?;
        if joined.text != source.text {
            self.joined.insert(source.name.clone(), joined.text);
        }
        self.variables.extend(joined.variables);
        Ok(sections)
    }

    /// Adds to a report what the files referred to, so that its jobs can be repeated without
    /// that: their whole texts, and the variables' values.
    pub fn record(&self, report: &mut Value) {
        if !self.joined.is_empty() {
            report["job files"] = json!(self.joined);
        }
        if !self.variables.is_empty() {
            report["variables"] = json!(self.variables);
        }
    }
}
