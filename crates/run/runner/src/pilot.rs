//! Predictions from what a run's cells really took.

use std::collections::HashMap;

use disklab_cell::{Cell, Levels};
use disklab_units::Bytes;

/// What a begun or finished run says of cells that are still to run.
#[derive(Debug)]
pub struct Pilot {
    pub(crate) cells: HashMap<Levels, ObservedCells>,
    /// Real seconds taken ÷ those predicted, for cells that the run has none of.
    pub(crate) correction: f64,
}

/// All cells of the same levels: sums.
#[derive(Debug, Default, Clone)]
pub(crate) struct ObservedCells {
    pub cells: f64,
    /// Real seconds.
    pub seconds: f64,
    /// Seconds of the machine's own clock, which is virtual in the lab.
    pub clock: f64,
    /// Bytes written to each drive, by its name.
    pub written: HashMap<String, f64>,
    /// Cells that tell them.
    pub with_written: f64,
}

impl Pilot {
    fn seen(&self, cell: &Cell) -> Option<&ObservedCells> {
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
        let seen = ObservedCells {
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
