//! The text of a job file: sections, options, comments.

use std::ops::Range;

use disklab_source::{Location, SourceError};

use crate::policy::Policy;
use crate::section::{JobOption, Section};

/// fio reads no more of a section's name (init.c).
const LONGEST_NAME: usize = 255;
/// No study needs more; a hostile text gets no further.
const MOST_SECTIONS: usize = 200;
/// The same for options.
const MOST_OPTIONS: usize = 5000;
/// And for those of all sections together, where each has the global ones, too.
const MOST_SETTINGS: usize = 50_000;

/// The sections of a job file. `locate` tells where a range of the text's bytes
/// stands, and `whole` where the text does, since it may stand inside of another.
///
/// Every section comes back with all that holds for it: what the `[global]`
/// sections before it set, then its own options.
///
/// # Errors
/// Where a line is neither, or an option is not allowed; the error shows the line.
pub fn sections(
    text: &str,
    whole: &Location,
    locate: &dyn Fn(Range<usize>) -> Location,
    policy: Policy,
) -> Result<Vec<Section>, SourceError> {
    sections_after(Vec::new(), text, whole, locate, policy)
}

/// The same where options were given before the text that hold for all of its sections.
///
/// # Errors
/// As [`sections`].
pub fn sections_after(
    globals: Vec<JobOption>,
    text: &str,
    whole: &Location,
    locate: &dyn Fn(Range<usize>) -> Location,
    policy: Policy,
) -> Result<Vec<Section>, SourceError> {
    let (_, sections) = read(globals, text, code_of, locate, policy)?;
    if sections.is_empty() {
        return Err(whole.error("this job file has no section; expected [NAME] with options below"));
    }
    Ok(sections)
}

/// The sections of a text in which each line is a section or an option as it stands: a command
/// line has no comments. Before them, the options that hold for all sections after them.
///
/// # Errors
/// As [`sections`]; there may be no section.
pub fn verbatim_sections(
    text: &str,
    locate: &dyn Fn(Range<usize>) -> Location,
    policy: Policy,
) -> Result<(Vec<JobOption>, Vec<Section>), SourceError> {
    read(Vec::new(), text, |line| line, locate, policy)
}

/// The global options at the end of a text, and its sections. `code` is a line without what is
/// a comment.
fn read(
    mut globals: Vec<JobOption>,
    text: &str,
    code: fn(&str) -> &str,
    locate: &dyn Fn(Range<usize>) -> Location,
    policy: Policy,
) -> Result<(Vec<JobOption>, Vec<Section>), SourceError> {
    let mut sections: Vec<Section> = Vec::new();
    // Nothing before the first header; then whether it is a [global] one.
    let mut in_global: Option<bool> = None;
    let (mut at, mut options, mut inherited) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let code = code(line);
        let content = code.trim();
        if content.is_empty() {
            continue;
        }
        let start = start + (code.len() - code.trim_start().len());
        let place = || locate(start..start + content.len());
        if let Some(rest) = content.strip_prefix('[') {
            let place = place();
            let name = section_name(rest, &place)?;
            // fio compares no more than these six letters (init.c).
            in_global = Some(name.starts_with("global"));
            if in_global == Some(false) {
                inherited += globals.len();
                check_counts(&place, sections.len(), inherited)?;
                sections.push(Section::new(name, place, globals.clone(), policy));
            }
            continue;
        }
        options += 1;
        if options > MOST_OPTIONS {
            return Err(place().error(format!("more than {MOST_OPTIONS} options")));
        }
        let setting = setting(content, start, locate, in_global == Some(true), policy)?;
        match (in_global, sections.last_mut()) {
            (Some(true), _) => globals.push(setting),
            (Some(false), Some(section)) => section.push(setting),
            _ => {
                return Err(place().error(
                    "this option stands before the first section; expected [global] or [NAME] \
                     above it",
                ));
            }
        }
    }
    Ok((globals, sections))
}

/// A line without its comment. As in fio, that begins at ';' or '#', wherever it stands
/// (strip_blank_end in parse.c).
pub(crate) fn code_of(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default()
}

/// The file that a line includes. fio looks at no more than the word's letters, and takes what
/// stands from the second one behind them on (init.c).
pub(crate) fn included_name(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("include")?;
    let blank = rest.starts_with(|c: char| c.is_whitespace() || c == '=');
    (blank || rest.is_empty()).then(|| rest.get(1..).unwrap_or_default().trim())
}

/// Whether one more section may follow `sections`, with which all have `inherited` global options.
fn check_counts(place: &Location, sections: usize, inherited: usize) -> Result<(), SourceError> {
    if sections == MOST_SECTIONS {
        return Err(place.error(format!("more than {MOST_SECTIONS} sections")));
    }
    if inherited > MOST_SETTINGS {
        return Err(place.error(format!(
            "the sections so far have more than {MOST_SETTINGS} global options together"
        )));
    }
    Ok(())
}

/// The option of a line, `NAME` or `NAME=VALUE`, that begins at `start`.
fn setting(
    content: &str,
    start: usize,
    locate: &dyn Fn(Range<usize>) -> Location,
    global: bool,
    policy: Policy,
) -> Result<JobOption, SourceError> {
    let place = || locate(start..start + content.len());
    if included_name(content).is_some() {
        return Err(place().error("`include` has no effect outside of a section of a job file"));
    }
    let Some((name, value)) = content.split_once('=') else {
        return JobOption::new(content, None, &place(), &place(), global, policy);
    };
    let name = name.trim_end();
    let value = value.trim_start();
    let from = start + content.len() - value.len();
    let named = locate(start..start + name.len().max(1));
    let valued = if value.is_empty() { place() } else { locate(from..from + value.len()) };
    JobOption::new(name, Some(value.to_owned()), &named, &valued, global, policy)
}

/// The name of a section from what follows its '['.
fn section_name(rest: &str, place: &Location) -> Result<String, SourceError> {
    let name = rest.strip_suffix(']').map(str::trim).unwrap_or_default();
    if name.is_empty() {
        return Err(place.error("expected a section such as [NAME]"));
    }
    if name.len() > LONGEST_NAME {
        return Err(place.error(format!(
            "this section's name is longer than the {LONGEST_NAME} bytes that fio reads"
        )));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
