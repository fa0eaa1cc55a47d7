//! Predictions from what a run's cells really took.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use disklab_cell::{Cell, Levels};
use disklab_store::Run;
use disklab_study::load;
use disklab_units::Bytes;

use disklab_source::SourceError;
use disklab_store::StoreError;

use crate::estimate::RunEstimate;
use crate::plan::Plan;

/// What a begun or finished run says of cells that are still to run.
#[derive(Debug)]
pub struct Pilot {
    cells: HashMap<Levels, Seen>,
    /// Real seconds taken ÷ those predicted, for cells that the run has none of.
    correction: f64,
}

/// A run says nothing about another.
#[derive(Debug, thiserror::Error)]
pub enum PilotError {
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its study is not understood.
    #[error(transparent)]
    Study(#[from] SourceError),
    /// It is another one's.
    #[error(
        "--from {}: {what} there is {then}, and here {now}; what its cells took says nothing \
         about these",
        folder.display()
    )]
    Differs {
        /// The run.
        folder: PathBuf,
        /// In what.
        what: &'static str,
        /// There.
        then: String,
        /// Here.
        now: String,
    },
    /// It is of other drives.
    #[error(
        "--from {}: the bench there is {then}, and here {now}: other drives of other sizes, so \
         neither time nor bytes carry over; run one block here with --repeats 1, and take that run",
        folder.display()
    )]
    OtherBench {
        /// The run.
        folder: PathBuf,
        /// There.
        then: String,
        /// Here.
        now: String,
    },
    /// None of its cells has ended.
    #[error("--from {}: no cell of that run is done yet", folder.display())]
    NoCells {
        /// The run.
        folder: PathBuf,
    },
}

/// All cells of the same levels: sums.
#[derive(Debug, Default, Clone)]
struct Seen {
    cells: f64,
    /// Real seconds.
    seconds: f64,
    /// Seconds of the machine's own clock, which is virtual in the lab.
    clock: f64,
    /// Bytes written to each drive, by its name.
    written: HashMap<String, f64>,
    /// Cells that tell them.
    with_written: f64,
}

impl Pilot {
    /// From a run of the same study at the same scale on the same bench.
    ///
    /// # Errors
    /// [`PilotError`] if there is no run, if it is another study's, bench's or scale's, or has
    /// no cell.
    pub fn read(folder: &Path, plan: &Plan) -> Result<Self, PilotError> {
        let run = Run::open(folder)?;
        let info = run.info()?;
        let other = |what: &'static str, then: &str, now: &str| {
            let (folder, then, now) = (folder.to_owned(), then.to_owned(), now.to_owned());
            Err(PilotError::Differs { folder, what, then, now })
        };
        let study = load(&info.study_file, &info.study_text)?;
        if study.digest != plan.campaign.study.digest {
            return other("the study", &study.id, "another text");
        }
        if info.bench != plan.kind.clone().into() {
            return Err(PilotError::OtherBench {
                folder: folder.to_owned(),
                then: info.bench.to_string(),
                now: plan.bench.name.clone(),
            });
        }
        if plan.bench.is_simulated && info.bench_about != plan.bench.about {
            return other("the lab", &info.bench_about, &plan.bench.about);
        }
        if info.is_quick() != plan.is_quick() {
            let form = |quick| if quick { "the quick one" } else { "the whole one" };
            return other("the study's form", form(info.is_quick()), form(plan.is_quick()));
        }
        if info.scale != plan.campaign.scale {
            let (then, now) = (info.scale.to_string(), plan.campaign.scale.to_string());
            return other("the scale", &then, &now);
        }
        let formula = RunEstimate::new(plan);
        let mut cells: HashMap<Levels, Seen> = HashMap::new();
        let (mut taken, mut predicted) = (0.0, 0.0);
        run.for_each_sample(|record, sample| {
            let Some(seconds) = record.seconds else { return };
            taken += seconds;
            predicted += formula.seconds(&record.cell);
            let seen = cells.entry(record.cell.levels.clone()).or_default();
            seen.cells += 1.0;
            seen.seconds += seconds;
            let steps: u64 = sample.steps.iter().map(|step| step.elapsed_ns).sum();
            seen.clock += sample.overhead.total_seconds()
                + sample.overhead.prewrite_seconds
                + steps as f64 / 1e9;
            seen.with_written += f64::from(u8::from(!sample.whole.is_empty()));
            for drive in &sample.whole {
                *seen.written.entry(drive.drive.clone()).or_default() += drive.write_bytes as f64;
            }
        })?;
        if cells.is_empty() {
            return Err(PilotError::NoCells { folder: folder.to_owned() });
        }
        let correction = if predicted > 0.0 { taken / predicted } else { 1.0 };
        Ok(Self { cells, correction })
    }

    fn seen(&self, cell: &Cell) -> Option<&Seen> {
        self.cells.get(&cell.levels)
    }

    /// Real seconds of a cell that `formula` predicts these of.
    pub fn seconds(&self, cell: &Cell, formula: f64) -> f64 {
        self.seen(cell).map_or(formula * self.correction, |seen| seen.seconds / seen.cells)
    }

    /// Seconds of the machine's own clock for these cells, where all of them were seen.
    pub fn clock_seconds<'a>(&self, cells: impl IntoIterator<Item = &'a Cell>) -> Option<f64> {
        cells.into_iter().map(|cell| self.seen(cell).map(|s| s.clock / s.cells)).sum()
    }

    /// Puts what was seen of bytes written to the drives of these names in place of what is
    /// `predicted`. A cell that the run has not seen keeps its prediction, `formula`.
    pub fn written(
        &self,
        cells: &[&Cell],
        drives: &[String],
        formula: impl Fn(&Cell) -> Vec<Bytes>,
    ) -> Vec<Bytes> {
        let mut sums = vec![0.0; drives.len()];
        for cell in cells {
            let Some(seen) = self.seen(cell).filter(|seen| seen.with_written > 0.0) else {
                let predicted = formula(cell);
                sums.iter_mut().zip(predicted).for_each(|(sum, bytes)| *sum += bytes.0 as f64);
                continue;
            };
            for (sum, drive) in sums.iter_mut().zip(drives) {
                *sum += seen.written.get(drive).copied().unwrap_or(0.0) / seen.with_written;
            }
        }
        sums.into_iter().map(|sum| Bytes(sum as u64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(stack: &str) -> Cell {
        Cell { number: 0, block: 0, levels: Levels::new(stack, "w"), seed: 1 }
    }

    #[test]
    fn observed_costs_replace_predicted_ones() {
        let seen = Seen {
            cells: 2.0,
            seconds: 6.0,
            clock: 100.0,
            written: HashMap::from([("d-1".to_owned(), 500.0)]),
            with_written: 2.0,
        };
        let levels = Levels::new("a", "w");
        let pilot = Pilot { cells: HashMap::from([(levels, seen)]), correction: 1.5 };
        let (known, unknown) = (cell("a"), cell("b"));
        assert_eq!(pilot.seconds(&known, 10.0), 3.0);
        assert_eq!(pilot.seconds(&unknown, 10.0), 15.0);
        assert_eq!(pilot.clock_seconds([&known, &known]), Some(100.0));
        assert_eq!(pilot.clock_seconds([&known, &unknown]), None);
        let formula = |_: &Cell| vec![Bytes(7), Bytes(9)];
        let drives = ["d-1".to_owned(), "d-2".to_owned()];
        let written = pilot.written(&[&known, &unknown], &drives, formula);
        assert_eq!(written, [Bytes(257), Bytes(9)]);
    }
}
