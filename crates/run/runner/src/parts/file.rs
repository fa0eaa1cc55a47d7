//! The file of a part: a line with what the run is, and then the plan of each cell, a line each.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use disklab_bench::BenchNeeds;
use disklab_cell::{Cell, CellPlan, MachinePlan};
use disklab_exec::open_regular;
use disklab_options::RunPart;
use disklab_store::RunInfo;
use disklab_study::MOST_CELLS;
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};

use super::PartProblem;
use crate::RunnerError;
use crate::one_cell::check_cell;

/// A cell's plan, with the files that its work names, is not as large; nor is a study.
const LONGEST_LINE: u64 = 64 << 20;

/// The first line of a part's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartHead {
    /// [`PartHead::FORMAT`].
    pub format: u32,
    /// The run that it is a part of; which part, is one of its options.
    pub info: RunInfo,
    /// A guest of the run in the ordinary case.
    pub machine: MachinePlan,
    /// Whether the run's kernels have OpenZFS, whatever this part needs.
    pub zfs: bool,
    /// The kernels of the lab that cells of the run name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub linux: BTreeSet<String>,
    /// How many cells follow.
    pub cells: usize,
    /// Real seconds that they take one after the other, as predicted.
    pub seconds: f64,
    /// The most memory of one of their guests.
    pub memory: Bytes,
}

impl PartHead {
    /// The version of the format.
    pub const FORMAT: u32 = 1;

    /// Reads what a part's file says of itself.
    ///
    /// # Errors
    /// [`PartProblem`] if it is not one.
    pub fn read(path: &Path) -> Result<Self, PartProblem> {
        let (_, head) = Lines::begin(path)?;
        Ok(head)
    }

    /// Which part it is.
    ///
    /// # Panics
    /// Never: it is one, as read.
    pub fn part(&self) -> RunPart {
        self.info.options.part.unwrap_or(RunPart { number: 1, of: 1 })
    }
}

/// A part of a run.
#[derive(Debug)]
pub struct PartPlan {
    /// What the run is.
    pub head: PartHead,
    /// The plans of its cells, in the order in which they begin.
    pub plans: Vec<CellPlan>,
}

impl PartPlan {
    /// Reads a part, which a stranger may have written, and refuses one that asks for what no
    /// study can.
    ///
    /// # Errors
    /// [`RunnerError::Part`], or as [`check_cell`].
    pub fn read(path: &Path) -> Result<Self, RunnerError> {
        let (mut lines, head) = Lines::begin(path)?;
        let mut plans: Vec<CellPlan> = Vec::new();
        for number in 1..=head.cells {
            let line = lines.next()?;
            let cell = |source| PartProblem::Cell { path: path.to_owned(), number, source };
            let plan = CellPlan::parse(&line).map_err(cell)?;
            check_cell(&plan)?;
            plans.push(plan);
        }
        lines.end()?;
        let Some(first) = plans.first() else {
            return Err(not_a_part(path, "it has no cells").into());
        };
        // The machine that no cell need have is checked as if the first had it.
        let mut ordinary = first.clone();
        ordinary.making.machine = head.machine.clone();
        let part = Self { head, plans };
        part.check().map_err(|why| not_a_part(path, why))?;
        check_cell(&ordinary)?;
        Ok(part)
    }

    /// Whether its cells can be those of one run.
    fn check(&self) -> Result<(), &'static str> {
        let (mut numbers, mut cells) = (BTreeSet::new(), BTreeSet::new());
        for plan in &self.plans {
            if !matches!(plan.making.machine, MachinePlan::Lab(_)) {
                return Err("a cell does not run in the lab");
            }
            if plan.needs.zfs && !self.head.zfs {
                return Err("a cell needs OpenZFS, and the run's kernel has none");
            }
            if !BenchNeeds::of_plan(plan).linux.is_subset(&self.head.linux) {
                return Err("a cell needs a kernel that the run does not have");
            }
            let Cell { number, block, levels, .. } = &plan.cell;
            if !numbers.insert(*number) || !cells.insert((*block, levels)) {
                return Err("it has a cell twice");
            }
        }
        Ok(())
    }

    /// In the order in which they begin.
    pub fn cells(&self) -> Vec<Cell> {
        self.plans.iter().map(|plan| plan.cell.clone()).collect()
    }
}

/// Memory of a guest; none elsewhere.
pub(super) fn memory_of(plan: &CellPlan) -> Bytes {
    match &plan.making.machine {
        MachinePlan::Lab(lab) => lab.memory,
        _ => Bytes::ZERO,
    }
}

fn not_a_part(path: &Path, why: impl ToString) -> PartProblem {
    PartProblem::NotAPart { path: path.to_owned(), why: why.to_string() }
}

/// The lines of a part's file.
struct Lines {
    path: PathBuf,
    file: BufReader<File>,
}

impl Lines {
    fn begin(path: &Path) -> Result<(Self, PartHead), PartProblem> {
        let failed =
            |source| PartProblem::Io { what: "cannot read", path: path.to_owned(), source };
        let file = open_regular(path).map_err(failed)?;
        let mut lines = Self { path: path.to_owned(), file: BufReader::new(file) };
        #[derive(Deserialize)]
        struct Format {
            format: u64,
        }
        let line = lines.next()?;
        let wrong = |why: serde_json::Error| not_a_part(path, why);
        let Format { format } = serde_json::from_str(&line).map_err(wrong)?;
        if format != u64::from(PartHead::FORMAT) {
            let known = PartHead::FORMAT;
            let why = format!("it has format {format}, and this disklab reads format {known}");
            return Err(not_a_part(path, why));
        }
        let head: PartHead = serde_json::from_str(&line).map_err(wrong)?;
        let is_lab = head.info.is_lab() && matches!(head.machine, MachinePlan::Lab(_));
        let known = is_lab && head.info.options.part.is_some();
        if !known || head.cells as u64 > MOST_CELLS || !head.seconds.is_finite() {
            return Err(not_a_part(path, "its first line has a value that no run has"));
        }
        Ok((lines, head))
    }

    fn next(&mut self) -> Result<String, PartProblem> {
        let mut line = String::new();
        let read = self.file.by_ref().take(LONGEST_LINE).read_line(&mut line);
        read.map_err(|source| {
            let (what, path) = ("cannot read", self.path.clone());
            PartProblem::Io { what, path, source }
        })?;
        if line.ends_with('\n') {
            return Ok(line);
        }
        Err(not_a_part(&self.path, "it was cut off; copy it again, or plan the run anew"))
    }

    /// Refuses what follows the last cell.
    fn end(&mut self) -> Result<(), PartProblem> {
        match self.file.fill_buf() {
            Ok([]) => Ok(()),
            _ => Err(not_a_part(&self.path, "it has more cells than it says")),
        }
    }
}

/// Writes a part's file, which must not be there, and is called `shown` in errors.
///
/// # Errors
/// [`RunnerError::Part`] if it cannot be written.
pub(super) fn write(
    path: &Path,
    shown: &Path,
    head: &PartHead,
    plans: impl Iterator<Item = Result<CellPlan, RunnerError>>,
) -> Result<(), RunnerError> {
    let failed = |source: Error| match (source.kind(), shown.parent()) {
        (ErrorKind::AlreadyExists, Some(directory)) => PartProblem::HasParts(directory.to_owned()),
        _ => PartProblem::Io { what: "cannot write", path: shown.to_owned(), source },
    };
    let mut file = BufWriter::new(File::create_new(path).map_err(failed)?);
    let mut line = |json: serde_json::Result<Vec<u8>>| -> Result<(), PartProblem> {
        file.write_all(&json.map_err(PartProblem::Json)?).map_err(failed)?;
        file.write_all(b"\n").map_err(failed)
    };
    line(serde_json::to_vec(head))?;
    for plan in plans {
        line(serde_json::to_vec(&plan?))?;
    }
    Ok(file.flush().map_err(failed)?)
}
