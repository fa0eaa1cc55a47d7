//! A job file with all that it refers to filled in: included files, variables, properties of the
//! machine, and the content of files in patterns. What comes of it stands for itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

use crate::arithmetic::evaluate;
use crate::policy::Policy;
use crate::section::{JobOption, KEYWORDS, Section};
use crate::text::{code_of, included_name, sections_after};

/// Files may include others so deep; fio has no limit.
const DEEPEST: usize = 16;
/// No collection needs more; a hostile one gets no further.
const MOST_INCLUDES: usize = 500;
/// The joined text is no longer than any other text that people write.
const LONGEST: usize = 4 << 20;
/// What a job file may refer to besides itself. The caller decides what it may see; an error
/// says why it does not.
pub trait Surroundings {
    /// The value of `${name}`.
    ///
    /// # Errors
    /// If it has none here.
    fn variable(&self, name: &str) -> Result<String, String>;

    /// The value of `$name`, a property of the machine: `ncpus`, `pagesize` or `mb_memory`.
    ///
    /// # Errors
    /// If it is not taken from the machine here.
    fn machine(&self, name: &str) -> Result<String, String>;

    /// The file that `including` includes as `name`.
    ///
    /// # Errors
    /// If there is none, or it is not to be read.
    fn include(&self, name: &str, including: &Source) -> Result<Arc<Source>, String>;

    /// At most `most` bytes of the file that a pattern names.
    ///
    /// # Errors
    /// If there is none, or it is not to be read.
    fn content(&self, name: &str, most: usize) -> Result<Vec<u8>, String>;
}

/// A job file's text with what it refers to filled in.
#[derive(Debug, Default)]
pub struct JoinedText {
    /// The text: it refers to nothing else.
    pub text: String,
    /// The variables that were filled in, and their values.
    pub variables: BTreeMap<String, String>,
    /// The names of files that were included, in order.
    pub included: Vec<String>,
    lines: Vec<Line>,
}

/// A line of the joined text, and where it comes from.
#[derive(Debug)]
struct Line {
    at: usize,
    /// Where its source's line begins, and how long that is.
    from: Range<usize>,
    /// Whether it was taken over as it is.
    same: bool,
    /// The file, unless it is the one that all begins with.
    source: Option<Arc<Source>>,
}

/// Where a range of a text stands.
type Locate<'a> = &'a dyn Fn(Range<usize>) -> Location;

/// Fills in what a job file refers to. `locate` tells where a range of the text's bytes stands.
///
/// # Errors
/// With its place, what a line refers to and `around` does not give, and a file that includes
/// itself, nests too deep or has sections.
pub fn join(
    text: &str,
    locate: Locate<'_>,
    around: &dyn Surroundings,
) -> Result<JoinedText, SourceError> {
    let mut joiner = Joiner { around, done: JoinedText::default() };
    let name = locate(0..0).source.name.clone();
    joiner.read(text, locate, None, &mut vec![name])?;
    Ok(joiner.done)
}

struct Joiner<'a> {
    around: &'a dyn Surroundings,
    done: JoinedText,
}

impl Joiner<'_> {
    /// Takes over the lines of a text. `names` are the files that lead to it, itself the last.
    fn read(
        &mut self,
        text: &str,
        locate: Locate<'_>,
        source: Option<&Arc<Source>>,
        names: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        let (mut at, mut in_section) = (0, source.is_some());
        for line in text.split_inclusive('\n') {
            let from = at..at + line.len();
            at = from.end;
            let code = code_of(line);
            let start = from.start + (code.len() - code.trim_start().len());
            let code = code.trim();
            let place = || locate(start..start + code.len());
            if code.starts_with('[') {
                if source.is_some() {
                    return Err(place().error("an included file has no sections, as in fio"));
                }
                in_section = true;
            } else if let Some(name) = included_name(code).filter(|_| in_section) {
                self.include(name, &place(), names)?;
                continue;
            } else if code.contains(['$', '\'']) {
                let filled = self.filled(code, start, locate)?;
                if filled != code {
                    self.push(&format!("{filled}\n"), from, false, source, &place())?;
                    continue;
                }
            }
            self.push(line, from, true, source, &place())?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        line: &str,
        from: Range<usize>,
        same: bool,
        source: Option<&Arc<Source>>,
        place: &Location,
    ) -> Result<(), SourceError> {
        let done = &mut self.done;
        if !done.text.is_empty() && !done.text.ends_with('\n') {
            done.text.push('\n');
        }
        if done.text.len() + line.len() > LONGEST {
            let what =
                format!("with what it includes, this job file is longer than {LONGEST} bytes");
            return Err(place.error(what));
        }
        done.lines.push(Line { at: done.text.len(), from, same, source: source.cloned() });
        done.text.push_str(line);
        Ok(())
    }

    fn include(
        &mut self,
        name: &str,
        place: &Location,
        names: &mut Vec<String>,
    ) -> Result<(), SourceError> {
        if name.is_empty() {
            return Err(place.error("`include` needs the name of a file"));
        }
        let shown: String = name.chars().take(200).collect();
        let found = self.around.include(name, &place.source);
        let source =
            found.map_err(|why| place.error(format!("cannot include '{shown}': {why}")))?;
        if names.contains(&source.name) {
            return Err(place.error(format!("'{shown}' includes itself: {}", names.join(" → "))));
        }
        if names.len() > DEEPEST {
            return Err(place.error(format!("files include each other more than {DEEPEST} deep")));
        }
        if self.done.included.len() == MOST_INCLUDES {
            return Err(place.error(format!("more than {MOST_INCLUDES} files are included")));
        }
        self.done.included.push(source.name.clone());
        names.push(source.name.clone());
        let locate = |span| Location { source: Arc::clone(&source), span };
        self.read(&source.text, &locate, Some(&source), names)?;
        names.pop();
        Ok(())
    }

    /// A line without its comment that begins at `start`, with what it refers to filled in.
    fn filled(
        &mut self,
        code: &str,
        start: usize,
        locate: Locate<'_>,
    ) -> Result<String, SourceError> {
        let mut line = String::with_capacity(code.len());
        let (mut rest, mut computes) = (code, false);
        while let Some(at) = rest.find('$') {
            line.push_str(&rest[..at]);
            rest = &rest[at..];
            let from = start + (code.len() - rest.len());
            let braced = rest.strip_prefix("${").and_then(|rest| rest.split_once('}'));
            let (name, after, value) = if let Some((name, after)) = braced {
                (name, after, self.around.variable(name))
            } else if let Some(name) = KEYWORDS.iter().find(|word| rest.starts_with(**word)) {
                computes = true;
                let after = &rest[name.len()..];
                let name = &name[1..];
                (name, after, self.around.machine(name))
            } else {
                line.push('$');
                rest = &rest[1..];
                continue;
            };
            let place = || locate(from..from + (rest.len() - after.len()));
            let value = value.and_then(fits).map_err(|why| place().error(why))?;
            line.push_str(&value);
            self.done.variables.insert(name.to_owned(), value);
            rest = after;
        }
        line.push_str(rest);
        let place = || locate(start..start + code.len());
        if computes {
            line = computed(&line).map_err(|why| place().error(why))?;
        }
        with_contents(line, self.around).map_err(|why| place().error(why))
    }
}

/// A line of a job file in which a pattern's files, `buffer_pattern='FILE'`, are what they hold.
///
/// # Errors
/// If `around` does not give such a file.
pub fn with_contents(line: String, around: &dyn Surroundings) -> Result<String, String> {
    let Some((name, pattern)) = line.split_once('=') else { return Ok(line) };
    if !matches!(name.trim(), "buffer_pattern" | "verify_pattern") || !pattern.contains('\'') {
        return Ok(line);
    }
    let mut filled = format!("{name}=");
    let mut rest = pattern;
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, quoted) = rest.split_at(at);
        filled.push_str(before);
        let quote = &quoted[..1];
        let Some((inner, after)) = quoted[1..].split_once(quote) else { break };
        if quote == "'" {
            let bytes = around.content(inner, crate::bytes::LONGEST);
            let bytes = bytes.map_err(|why| format!("cannot read the file '{inner}': {why}"))?;
            if !bytes.is_empty() {
                filled.push_str("0x");
            }
            for byte in bytes {
                // Writing to a String cannot fail.
                let _ = write!(filled, "{byte:02x}");
            }
        } else {
            let _ = write!(filled, "\"{inner}\"");
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A value that means the same in a line as it would to fio, which has cut comments off by then.
fn fits(value: String) -> Result<String, String> {
    if value.contains([';', '#']) || value.chars().any(char::is_control) {
        return Err("its value has a ';', a '#' or a control character, which no line of a job \
                    file can hold"
            .to_owned());
    }
    Ok(value)
}

/// `NAME=TERM` with the term's value, where fio has it computed (bc_calc in options.c).
fn computed(line: &str) -> Result<String, String> {
    let Some((name, term)) = line.split_once('=') else { return Ok(line.to_owned()) };
    if !term.contains(['+', '-', '*', '/']) || line.contains('\'') {
        return Ok(line.to_owned());
    }
    let value = evaluate(term).ok_or_else(|| {
        format!("cannot compute '{}': expected integers, + - * / and parentheses", term.trim())
    })?;
    Ok(format!("{name}={value}"))
}

impl JoinedText {
    /// Where a range of the joined text stands. `locate` is that of the text that all began with.
    pub fn place(&self, range: Range<usize>, locate: Locate<'_>) -> Location {
        let number = self.lines.partition_point(|line| line.at <= range.start);
        let Some(line) = number.checked_sub(1).map(|number| &self.lines[number]) else {
            return locate(0..0);
        };
        let span = if line.same {
            let last = line.from.end;
            let at = |at: usize| (line.from.start + at.saturating_sub(line.at)).min(last);
            at(range.start)..at(range.end)
        } else {
            line.from.clone()
        };
        match &line.source {
            Some(source) => Location { source: Arc::clone(source), span: trimmed(source, span) },
            None => {
                let place = locate(span.clone());
                let source = Arc::clone(&place.source);
                // A study has its text somewhere else; there `locate` knows better.
                if place.span == span {
                    Location { span: trimmed(&source, span), source }
                } else {
                    place
                }
            }
        }
    }

    /// The sections, as [`sections`](crate::sections) finds them.
    ///
    /// # Errors
    /// As there.
    pub fn sections(
        &self,
        whole: &Location,
        locate: Locate<'_>,
        policy: Policy,
    ) -> Result<Vec<Section>, SourceError> {
        self.sections_after(Vec::new(), whole, locate, policy)
    }

    /// The same where options were given before the text that hold for all of its sections.
    ///
    /// # Errors
    /// As [`sections`](Self::sections).
    pub fn sections_after(
        &self,
        globals: Vec<JobOption>,
        whole: &Location,
        locate: Locate<'_>,
        policy: Policy,
    ) -> Result<Vec<Section>, SourceError> {
        sections_after(globals, &self.text, whole, &|range| self.place(range, locate), policy)
    }
}

/// A range without the blanks around what it holds.
fn trimmed(source: &Source, span: Range<usize>) -> Range<usize> {
    let Some(text) = source.text.get(span.clone()) else { return span };
    let start = span.start + (text.len() - text.trim_start().len());
    start..(start + text.trim().len())
}

#[cfg(test)]
#[path = "joined_tests.rs"]
mod tests;
