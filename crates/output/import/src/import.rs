//! From files to the cells of a run.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disklab_cell::{Cell, Levels};
use disklab_options::RunSettings;
use disklab_sample::{Direction, DriveState};
use disklab_source::{Location, Source, SourceError};
use disklab_study::{LeftOut, Study};
use disklab_units::{count, list};
use indexmap::{IndexMap, IndexSet};

use crate::breadth::Breadth;
use crate::files::{Seen, source};
use crate::format::ImportFormat;
use crate::formats::{FORMATS, detect};
use crate::mapping::{MappingTable, TABLE};
use crate::naming::{direction_in, stack_of};
use crate::near::near;
use crate::prefixes::without_front;
use crate::reading::{Repeat, one_line, stack_id_of};
use crate::sample::{ImportedSample, sample};
use crate::study_text::{Outline, study};

use crate::{FileFault, ImportError, ImportedDrives, ImportedWork, Mapping, Reading};

/// What is wanted.
#[derive(Debug, Default)]
pub struct ImportRequest {
    /// The files, in the order of their repeats.
    pub files: Vec<PathBuf>,
    /// Their format; found out from each where absent.
    pub format: Option<&'static ImportFormat>,
    /// The stack of all files that no rule is about.
    pub stack: Option<String>,
    /// Rules, before those of the tables next to the files.
    pub mappings: Vec<Mapping>,
    /// The drives beneath, if given; else those of the tables next to the files.
    pub drives: Option<ImportedDrives>,
    /// What the figures become part of.
    pub target: ImportTarget,
}

/// What the figures become part of.
#[derive(Debug, Clone)]
pub enum ImportTarget {
    /// A study of their own with this id.
    Made(String),
    /// A study that exists: stacks and workloads must be its own.
    Existing(Box<Study>),
}

impl Default for ImportTarget {
    fn default() -> Self {
        Self::Made("imported".to_owned())
    }
}

/// What will be a run.
#[derive(Debug)]
pub struct Import {
    /// The one that the cells belong to: given, or made of what was read.
    pub study: Study,
    /// The cells, block by block.
    pub cells: Vec<ImportedCell>,
    /// What was published or planned, and has no figure.
    pub left_out: Vec<LeftOut>,
    /// Where the figures come from, in a sentence's end: '3 files (fio-json)'.
    pub about: String,
    /// What it says of itself: its files, the study that published them, the drives that were named.
    pub options: RunSettings,
}

/// A cell, and what a file reports of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedCell {
    /// Stack, workload and repeat that the file's figures belong to.
    pub cell: Cell,
    /// What was measured, or why it failed.
    pub result: Result<ImportedSample, ReportedError>,
    /// The file, and the part of its text.
    pub origin: Option<Location>,
}

/// What an output reports of a run that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReportedError(pub String);

/// A reading, and where it belongs.
struct Assigned {
    reading: Reading,
    stack: String,
    workload: String,
    file: String,
    format: &'static str,
}

impl Import {
    /// Reads all files. Writes nothing.
    ///
    /// # Errors
    /// Where a file cannot be read or understood, where it is not told to which stack it
    /// belongs, or where repeats did not do the same work.
    pub fn read(request: &ImportRequest) -> Result<Self, ImportError> {
        if request.files.is_empty() {
            return Err(ImportError::NoFiles);
        }
        let tables = tables(&request.files)?;
        let mut placed = Vec::new();
        let mut seen = Seen::default();
        for path in &request.files {
            let source = source(path)?;
            seen.add(&source)?;
            read_file(path, &source, request, &tables, &mut placed)?;
        }
        if let ImportTarget::Made(_) = request.target {
            keep_drives_apart(&mut placed);
        }
        let mut breadth = Breadth::default();
        for one in &placed {
            for step in &one.reading.steps {
                breadth.add(&one.stack, &one.workload, &step.name)?;
            }
        }
        drop(breadth);
        let table = tables.values().flatten().next().cloned().unwrap_or_default();
        let study = match &request.target {
            ImportTarget::Existing(study) => {
                placed.iter().try_for_each(|p| belongs(study, p))?;
                (**study).clone()
            }
            ImportTarget::Made(id) => made(id, &table, &placed)?,
        };
        let formats = placed.iter().map(|p| p.format).collect::<indexmap::IndexSet<_>>();
        let formats = formats.into_iter().collect::<Vec<_>>().join(", ");
        let files = request.files.len();
        let about = format!("{} ({formats})", count(files, "file"));
        let drives = request.drives.clone().or(table.drives);
        let named = drives.as_ref().map(|drives| drives.text.clone());
        let options = RunSettings { files: Some(files), drives: named, ..RunSettings::default() };
        let drives = drives.map_or_else(Vec::new, |drives| drives.states());
        let cells = cells(&study, placed, &drives);
        Ok(Self { cells, study, left_out: Vec::new(), about, options })
    }

    /// How often each pair of stack and workload was measured, in the study's order.
    pub fn counts(&self) -> Vec<(String, String, usize)> {
        let mut counts: IndexMap<(String, String), usize> = IndexMap::new();
        for cell in &self.cells {
            *counts
                .entry((cell.cell.levels.stack.clone(), cell.cell.levels.workload.clone()))
                .or_default() += 1;
        }
        counts.into_iter().map(|((stack, workload), n)| (stack, workload, n)).collect()
    }
}

/// The tables next to the files, by directory.
fn tables(files: &[PathBuf]) -> Result<IndexMap<PathBuf, Option<MappingTable>>, ImportError> {
    let mut tables = IndexMap::new();
    for path in files {
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        if tables.contains_key(&directory) {
            continue;
        }
        let path = directory.join(TABLE);
        let table = if path.is_file() { Some(MappingTable::read(&source(&path)?)?) } else { None };
        tables.insert(directory, table);
    }
    Ok(tables)
}

fn read_file(
    path: &Path,
    source: &Arc<Source>,
    request: &ImportRequest,
    tables: &IndexMap<PathBuf, Option<MappingTable>>,
    placed: &mut Vec<Assigned>,
) -> Result<(), ImportError> {
    let readings = readings(path, source, request.format)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let given = path.to_string_lossy();
    let table = path.parent().and_then(|directory| tables.get(directory)).and_then(Option::as_ref);
    let of_table = table.map_or(&[][..], |t| &t.mappings);
    let rules: Vec<&Mapping> =
        request.mappings.iter().chain(of_table).filter(|m| m.is_about(&given, &name)).collect();
    let stack = rules.iter().find_map(|m| m.stack.clone()).or_else(|| request.stack.clone());
    let workload = rules.iter().find_map(|m| m.workload.clone());
    for (format, mut reading) in readings {
        let workload = workload.clone().unwrap_or_else(|| reading.work.id.clone());
        let by_output = || reading.stack.as_deref().map(stack_id_of);
        let by_name = || stack_of(path, &reading.work.id, tables.len() > 1);
        let stack = stack.clone().or_else(by_output).or_else(by_name).ok_or_else(|| {
            ImportError::NoStack { path: path.to_owned(), name: name.clone(), table: TABLE }
        })?;
        if reading.direction_is_open {
            open_direction(&mut reading, &workload, &name);
        }
        placed.push(Assigned {
            reading,
            stack,
            workload,
            file: source.name.clone(),
            format: format.name,
        });
    }
    Ok(())
}

/// Gives each drive a stack of its own where one stack is named for several: `x/sda`, `x/sdb`.
fn keep_drives_apart(placed: &mut [Assigned]) {
    let mut drives: IndexMap<String, IndexSet<String>> = IndexMap::new();
    for Assigned { reading, stack, .. } in placed.iter() {
        let of_stack = drives.entry(stack.clone()).or_default();
        of_stack.extend(reading.drive.clone());
    }
    for Assigned { reading, stack, .. } in placed {
        if let Some(drive) = reading.drive.as_deref()
            && drives.get(stack.as_str()).is_some_and(|of_stack| of_stack.len() > 1)
        {
            *stack = format!("{stack}/{}", stack_id_of(drive));
        }
    }
}

/// A reading, and the format it was read by.
type FormatReading = (&'static ImportFormat, Reading);

/// What a file says: as it is, or without what a log put in front of each line.
fn readings(
    path: &Path,
    source: &Arc<Source>,
    format: Option<&'static ImportFormat>,
) -> Result<Vec<FormatReading>, ImportError> {
    let of = |source: &Arc<Source>| match format {
        Some(format) => Some(format.read_joined(source).map(|all| with_format(format, all))),
        None => detect(&source.text).map(|first| read_all(first, source)),
    };
    let whole = || match of(source) {
        Some(readings) => Ok(readings?),
        None => Err(match near(&source.text) {
            Some(what) => ImportError::file(path, FileFault::OtherForm(what)),
            None => {
                let known = FORMATS.iter().map(|f| f.name).collect();
                ImportError::file(path, FileFault::Unrecognised { known })
            }
        }),
    };
    let Some((text, front)) = without_front(&source.text) else { return whole() };
    // Blanks in front of all lines are most programs' own.
    if front.trim().is_empty()
        && let Ok(found) = whole()
    {
        return Ok(found);
    }
    let bare = Arc::new(Source { name: source.name.clone(), text });
    let Some(Ok(mut readings)) = of(&bare) else { return whole() };
    if !front.trim().is_empty() {
        let front = one_line(&front);
        let note = format!("The front of its lines, such as '{front}', was left out.");
        readings.iter_mut().for_each(|(_, reading)| reading.notes.push(note.clone()));
    }
    Ok(readings)
}

fn with_format(format: &'static ImportFormat, readings: Vec<Reading>) -> Vec<FormatReading> {
    readings.into_iter().map(|reading| (format, reading)).collect()
}

/// Reads a text by the format that it looks like first, and what other programs printed before or
/// behind that. What looks like such an output and cannot be read is in a note.
fn read_all(
    first: &'static ImportFormat,
    source: &Arc<Source>,
) -> Result<Vec<FormatReading>, SourceError> {
    let mut all = with_format(first, first.read_joined(source)?);
    let mut unread = Vec::new();
    for other in FORMATS.iter().filter(|other| other.may_stand_next_to(first)) {
        if !(other.looks_like)(&source.text) {
            continue;
        }
        let apart = |span: &Range<usize>| {
            let meets = |known: &Range<usize>| known.start < span.end && span.start < known.end;
            !all.iter().any(|(_, reading)| meets(&reading.place.span))
        };
        match other.read_joined(source) {
            Ok(mut found) => {
                found.retain(|reading| apart(&reading.place.span));
                all.extend(with_format(other, found));
            }
            Err(error) if apart(&line(&source.text, error.line)) => unread.push(format!(
                "What looks like the output of another program ({}) was not read: line {}: {}",
                other.name,
                error.line,
                one_line(&error.message)
            )),
            Err(_) => {}
        }
    }
    if let Some((_, reading)) = all.first_mut() {
        reading.notes.extend(unread);
    }
    Ok(all)
}

/// The bytes of a line that is counted from 1.
fn line(text: &str, number: usize) -> Range<usize> {
    let before = text.split_inclusive('\n').take(number.saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    start..start + text[start..].split_inclusive('\n').next().map_or(0, str::len)
}

/// What the output leaves open, a name may tell.
fn open_direction(reading: &mut Reading, workload: &str, file: &str) {
    match direction_in(workload).or_else(|| direction_in(file)) {
        Some(direction) => {
            let figures = reading.steps.iter_mut().flat_map(|step| &mut step.figures);
            figures.for_each(|figure| figure.direction = direction);
        }
        None if reading
            .steps
            .iter()
            .flat_map(|s| &s.figures)
            .any(|f| f.direction == Direction::Copy) =>
        {
            reading.notes.push(
                "The output does not tell whether data were read or written; a workload's name with \
                 'read' or 'write' in it would (--map)."
                    .to_owned(),
            );
        }
        None => {}
    }
}

/// Whether a study has the stack and the workload.
fn belongs(study: &Study, placed: &Assigned) -> Result<(), ImportError> {
    let Assigned { stack, workload, file, .. } = placed;
    let lacks = |what, id: &str, known: Vec<&str>| ImportError::NotInStudy {
        file: file.clone(),
        study: study.id.to_string(),
        what,
        id: id.to_owned(),
        known: known.into_iter().map(str::to_owned).collect(),
    };
    if study.stack_index(stack).is_none() {
        let known = study.stacks.iter().map(|s| s.id.as_str()).collect();
        return Err(lacks("stack", stack, known));
    }
    if study.workload_index(workload).is_none() {
        let known = study.workloads.iter().map(|w| w.id.as_str()).collect();
        return Err(lacks("workload", workload, known));
    }
    Ok(())
}

/// Stacks that a title names.
const NAMED: usize = 6;

/// A study of the figures' own.
fn made(id: &str, table: &MappingTable, placed: &[Assigned]) -> Result<Study, ImportError> {
    let mut stacks: Vec<String> = Vec::new();
    let mut works: IndexMap<String, ImportedWork> = IndexMap::new();
    let mut first: BTreeMap<&str, &Assigned> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for one in placed {
        if !stacks.contains(&one.stack) {
            stacks.push(one.stack.clone());
        }
        // A run that failed did less than it was to do.
        let failed = one.reading.failure.is_some();
        match first.get(one.workload.as_str()) {
            _ if failed => {
                let work = || one.reading.work.clone();
                works.entry(one.workload.clone()).or_insert_with(work);
            }
            Some(other) => same_work(other, one)?,
            None => {
                first.insert(&one.workload, one);
                works.insert(one.workload.clone(), one.reading.work.clone());
            }
        }
        *counts.entry((&one.stack, &one.workload)).or_default() += one.runs();
    }
    let title = table
        .title
        .clone()
        .unwrap_or_else(|| format!("Imported: {}", list(stacks.iter().map(String::as_str), NAMED)));
    let outline = Outline {
        id,
        title: &one_line(&title),
        about: "What other programs measured, imported from their outputs. How the stacks were made, \
                in which order they were measured, and what else the machine did is not known.",
        repeats: counts.values().copied().max().unwrap_or(1),
        baseline: table.baseline.as_deref(),
        stacks: &stacks,
        works: &works,
    };
    study(&outline)
}

/// Whether two readings of one workload did the same work, as far as they tell.
fn same_work(a: &Assigned, b: &Assigned) -> Result<(), ImportError> {
    let (one, other) = (&a.reading.work, &b.reading.work);
    if one.kind == other.kind && one.fields == other.fields {
        return Ok(());
    }
    let lines = |work: &ImportedWork| -> Vec<String> {
        let fields = work.fields.iter().flat_map(|(name, value)| {
            let single = !value.contains('\n');
            let whole = single.then(|| format!("{name}={value}"));
            let lines = value.lines().filter(move |_| !single).map(str::to_owned);
            whole.into_iter().chain(lines).collect::<Vec<_>>()
        });
        fields.collect()
    };
    let (own, others) = (lines(one), lines(other));
    let only = |these: &[String], those: &[String]| {
        let mut left: Vec<String> =
            these.iter().filter(|line| !those.contains(line)).take(4).cloned().collect();
        if left.is_empty() {
            left.push("nothing of that".to_owned());
        }
        one_line(&left.join(", "))
    };
    Err(ImportError::DifferentWork {
        first: a.file.clone(),
        second: b.file.clone(),
        workload: a.workload.clone(),
        own: only(&own, &others),
        other: only(&others, &own),
    })
}

/// The cells: of each stack and workload, the first reading is of block 0, the second of
/// block 1, and so on.
fn cells(study: &Study, placed: Vec<Assigned>, drives: &[DriveState]) -> Vec<ImportedCell> {
    let mut blocks: BTreeMap<Levels, u32> = BTreeMap::new();
    let mut cells: Vec<ImportedCell> =
        Vec::with_capacity(placed.iter().map(|one| one.runs() as usize).sum());
    for one in placed {
        let levels = Levels::new(&one.stack, &one.workload);
        let next = blocks.entry(levels.clone()).or_default();
        let mut cell = Cell { number: 0, block: *next, levels, seed: 0 };
        *next += one.runs();
        for (result, origin) in one.results(drives) {
            cells.push(ImportedCell { cell: cell.clone(), result, origin: Some(origin) });
            cell.block += 1;
        }
    }
    let at = |id: &str| study.stack_index(id);
    cells.sort_by_cached_key(|c| {
        (c.cell.block, at(&c.cell.levels.stack), study.workload_index(&c.cell.levels.workload))
    });
    number(&mut cells);
    cells
}

impl Assigned {
    /// How many runs it reports.
    fn runs(&self) -> u32 {
        u32::try_from(self.reading.repeats.len().max(1)).unwrap_or(u32::MAX)
    }

    /// What each of them gave, and the part of the text that says so.
    fn results(
        mut self,
        drives: &[DriveState],
    ) -> impl Iterator<Item = (Result<ImportedSample, ReportedError>, Location)> {
        let place = self.reading.place.clone();
        let mut repeats: Vec<(Option<u64>, Option<String>, Location)> =
            std::mem::take(&mut self.reading.repeats)
                .into_iter()
                .map(|Repeat { elapsed_ns, failure, place }| (Some(elapsed_ns), failure, place))
                .collect();
        if repeats.is_empty() {
            repeats.push((None, self.reading.failure.take(), place));
        }
        let mut shared = sample(self.reading, &self.file, self.format);
        shared.environment.drives = drives.to_vec();
        let shared = Arc::new(shared);
        repeats.into_iter().map(move |(elapsed_ns, failure, place)| {
            let sample = || ImportedSample::new(Arc::clone(&shared), elapsed_ns);
            (failure.map_or_else(|| Ok(sample()), |text| Err(ReportedError(text))), place)
        })
    }
}

/// Numbers cells in their order.
pub(crate) fn number(cells: &mut [ImportedCell]) {
    for (number, cell) in cells.iter_mut().enumerate() {
        cell.cell.number = u32::try_from(number).unwrap_or(u32::MAX);
    }
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
