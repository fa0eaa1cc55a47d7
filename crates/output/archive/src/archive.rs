//! The archive: runs are added, listed, and asked for.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use disklab_store::now;
use disklab_study::{Measure, matches};
use jiff::Timestamp;

use crate::database::{ColumnValue, Database};
use crate::run::time;
use crate::series::{FigureSeries, SeriesKey, SeriesPoint};
use crate::{ArchiveError, ArchivedRun};

/// An archive, open.
#[derive(Debug)]
pub struct RunArchive(Database);

/// What became of a run that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedRun {
    /// It was not there.
    New,
    /// It was there with other cells or figures, and is there as it is now.
    Renewed,
    /// All of it was there.
    Known,
}

/// A run of the archive.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// What tells it from others.
    pub id: String,
    /// Where it lay when it was added.
    pub path: PathBuf,
    /// The study's id.
    pub study: String,
    /// SHA-256 of the study's text.
    pub study_digest: String,
    /// What runs of one series have in common: bench, scale, options, of a real machine the processor.
    pub setting: String,
    /// disklab's version.
    pub disklab: String,
    /// The kernels that its cells ran on.
    pub kernel: String,
    /// The drives of each stack.
    pub drives: BTreeMap<String, String>,
    /// When it began.
    pub began: Timestamp,
    /// All cells, and those that are done.
    pub cells: [i64; 2],
}

/// Which figures are asked for.
#[derive(Debug, Clone)]
pub struct SeriesFilter {
    /// STACK:WORKLOAD, STACK or WORKLOAD, with `*` for any characters; all if empty.
    pub patterns: Vec<String>,
    /// The study's id, or a pattern.
    pub study: Option<String>,
    /// What was measured.
    pub measure: Measure,
    /// Runs that began at this time or later.
    pub since: Option<Timestamp>,
    /// Runs that began before it.
    pub until: Option<Timestamp>,
}

impl RunArchive {
    /// Opens an archive to add to it: a SQLite file, which is made if it is not there, or a
    /// PostgreSQL database, where its tables are.
    ///
    /// # Errors
    /// [`ArchiveError`] if it is of something else, or cannot be reached or made.
    pub fn open(name: &str) -> Result<Self, ArchiveError> {
        Self::at(name, true)
    }

    /// Opens an archive to ask it.
    ///
    /// # Errors
    /// As for [`RunArchive::open`], and [`ArchiveError::None`] if there is no such file.
    pub fn open_existing(name: &str) -> Result<Self, ArchiveError> {
        Self::at(name, false)
    }

    fn at(name: &str, new: bool) -> Result<Self, ArchiveError> {
        let is_server = ["postgres://", "postgresql://"].iter().any(|s| name.starts_with(s));
        if is_server { Database::server(name) } else { Database::file(Path::new(name), new) }
            .map(Self)
    }

    /// Adds these runs: all of them, or none. What became of each.
    ///
    /// # Errors
    /// [`ArchiveError::Database`] if the database refuses.
    pub fn add(&mut self, runs: &[ArchivedRun]) -> Result<Vec<AddedRun>, ArchiveError> {
        self.0.begin()?;
        let added = runs.iter().map(|run| self.add_one(run)).collect::<Result<_, _>>()?;
        self.0.commit()?;
        Ok(added)
    }

    fn add_one(&mut self, run: &ArchivedRun) -> Result<AddedRun, ArchiveError> {
        let id = [ColumnValue::from(run.id.as_str())];
        let known = self.0.query("SELECT content FROM run WHERE id = $1", &id)?;
        let was = match known.first().map(|row| row.as_slice()) {
            None => AddedRun::New,
            Some([ColumnValue::Text(content)]) if *content == run.content => {
                return Ok(AddedRun::Known);
            }
            Some(_) => AddedRun::Renewed,
        };
        let id = id.to_vec();
        for table in ["figure WHERE run", "stack WHERE run", "run WHERE id"] {
            self.0.execute(&format!("DELETE FROM {table} = $1"), [&id])?;
        }
        let [study, digest, setting, disklab, kernel, began, cells, done] = run.row.as_slice()
        else {
            return Err(ArchiveError::Row { table: "run" });
        };
        let row = [
            &id[0],
            &run.content.as_str().into(),
            &run.path.to_string_lossy().as_ref().into(),
            study,
            digest,
            setting,
            disklab,
            kernel,
            began,
            &time(now()).into(),
            cells,
            done,
        ];
        self.0.execute(
            "INSERT INTO run (id, content, path, study, study_digest, setting, disklab, kernel,
                began, added, cells, done)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            [&row.map(ColumnValue::clone).to_vec()],
        )?;
        self.0
            .execute("INSERT INTO stack (run, stack, drives) VALUES ($1, $2, $3)", &run.stacks)?;
        self.0.execute(
            "INSERT INTO figure (run, stack, workload, levels, step, direction, part, measure,
                operation, value, low, high, repeats, suspect)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            &run.figures,
        )?;
        Ok(was)
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    /// [`ArchiveError::Database`], or [`ArchiveError::Row`] if a row is none of disklab's.
    pub fn runs(&mut self) -> Result<Vec<ListedRun>, ArchiveError> {
        let rows = self.0.query(
            "SELECT id, path, study, study_digest, setting, disklab, kernel, began, cells, done
             FROM run",
            &[],
        )?;
        let mut runs = rows.into_iter().map(listed).collect::<Result<Vec<_>, _>>()?;
        let mut stacks: HashMap<String, BTreeMap<String, String>> = HashMap::new();
        for row in self.0.query("SELECT run, stack, drives FROM stack", &[])? {
            let [ColumnValue::Text(run), ColumnValue::Text(stack), ColumnValue::Text(drives)] =
                row.as_slice()
            else {
                return Err(ArchiveError::Row { table: "stack" });
            };
            stacks.entry(run.clone()).or_default().insert(stack.clone(), drives.clone());
        }
        for run in &mut runs {
            run.drives = stacks.remove(&run.id).unwrap_or_default();
        }
        runs.sort_by(|a, b| (a.began, &a.id).cmp(&(b.began, &b.id)));
        Ok(runs)
    }

    /// What became of the figures that the filter asks for, in the order of study, setting, stack
    /// and work.
    ///
    /// # Errors
    /// As for [`RunArchive::runs`].
    pub fn series(&mut self, filter: &SeriesFilter) -> Result<Vec<FigureSeries>, ArchiveError> {
        let runs = self.runs()?;
        let wanted = |run: &&ListedRun| {
            filter.study.as_ref().is_none_or(|pattern| matches(pattern, &run.study))
                && filter.since.is_none_or(|since| run.began >= since)
                && filter.until.is_none_or(|until| run.began < until)
        };
        let runs: HashMap<&str, &ListedRun> =
            runs.iter().filter(wanted).map(|run| (run.id.as_str(), run)).collect();
        let word = Measure::WORDS.iter().find(|(_, measure)| *measure == filter.measure);
        let rows = self.0.query(
            "SELECT run, stack, workload, levels, step, direction, part, operation, value, low,
                high, repeats, suspect
             FROM figure WHERE measure = $1",
            &[ColumnValue::from(word.map_or("", |(word, _)| word))],
        )?;
        let mut all: BTreeMap<SeriesKey, Vec<SeriesPoint>> = BTreeMap::new();
        for row in rows {
            let (run, figure) = figure(row)?;
            let Some(run) = runs.get(run.as_str()) else { continue };
            if !filter.has(&figure.stack, &figure.workload) {
                continue;
            }
            let (key, point) = figure.of(run);
            all.entry(key).or_default().push(point);
        }
        Ok(all
            .into_iter()
            .map(|(key, points)| FigureSeries::new(key, filter.measure, points))
            .collect())
    }
}

impl SeriesFilter {
    /// Whether a figure is one of those, as `--only` of `disklab run` has it.
    fn has(&self, stack: &str, workload: &str) -> bool {
        let fits = |pattern: &String| match pattern.split_once(':') {
            Some((left, right)) => matches(left, stack) && matches(right, workload),
            None => matches(pattern, stack) || matches(pattern, workload),
        };
        self.patterns.is_empty() || self.patterns.iter().any(fits)
    }
}

fn listed(row: Vec<ColumnValue>) -> Result<ListedRun, ArchiveError> {
    use ColumnValue::{Count, Text};
    let wrong = ArchiveError::Row { table: "run" };
    let row: Result<[ColumnValue; 10], _> = row.try_into();
    let Ok(
        [
            Text(id),
            Text(path),
            Text(study),
            Text(study_digest),
            Text(setting),
            Text(disklab),
            Text(kernel),
            Text(began),
            Count(cells),
            Count(done),
        ],
    ) = row
    else {
        return Err(wrong);
    };
    let Ok(began) = began.parse() else { return Err(wrong) };
    Ok(ListedRun {
        id,
        path: path.into(),
        study,
        study_digest,
        setting,
        disklab,
        kernel,
        drives: BTreeMap::new(),
        began,
        cells: [cells, done],
    })
}

/// A row of `figure`, of one measure.
struct FigureRow {
    stack: String,
    workload: String,
    levels: String,
    step: String,
    direction: String,
    part: String,
    operation: String,
    value: f64,
    ends: Option<(f64, f64)>,
    repeats: i64,
    suspect: String,
}

impl FigureRow {
    fn of(self, run: &ListedRun) -> (SeriesKey, SeriesPoint) {
        let key = SeriesKey {
            study: run.study.clone(),
            setting: run.setting.clone(),
            stack: self.stack,
            workload: self.workload,
            levels: self.levels,
            step: self.step,
            direction: self.direction,
            part: self.part,
            operation: self.operation,
        };
        let point = SeriesPoint {
            run: run.id.clone(),
            path: run.path.clone(),
            began: run.began,
            disklab: run.disklab.clone(),
            kernel: run.kernel.clone(),
            study_digest: run.study_digest.clone(),
            drives: run.drives.get(&key.stack).cloned().unwrap_or_default(),
            value: self.value,
            ends: self.ends,
            repeats: self.repeats,
            suspect: self.suspect,
        };
        (key, point)
    }
}

/// The run of a row, and the row.
fn figure(row: Vec<ColumnValue>) -> Result<(String, FigureRow), ArchiveError> {
    use ColumnValue::{Count, Number, Text};
    let row: Result<[ColumnValue; 13], _> = row.try_into();
    let Ok(
        [
            Text(run),
            Text(stack),
            Text(workload),
            Text(levels),
            Text(step),
            Text(direction),
            Text(part),
            Text(operation),
            Number(Some(value)),
            Number(low),
            Number(high),
            Count(repeats),
            Text(suspect),
        ],
    ) = row
    else {
        return Err(ArchiveError::Row { table: "figure" });
    };
    let ends = low.zip(high);
    let row = FigureRow {
        stack,
        workload,
        levels,
        step,
        direction,
        part,
        operation,
        value,
        ends,
        repeats,
        suspect,
    };
    Ok((run, row))
}
