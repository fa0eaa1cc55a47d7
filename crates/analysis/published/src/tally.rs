//! The counts.

use serde::Serialize;

use crate::{JudgedRow, RowStatus};

/// How many rows stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RowTally {
    /// All rows.
    pub rows: usize,
    /// Those that are counted: published, and not bound by the processor. They are
    /// met, missed or not run.
    pub countable: usize,
    /// Countable and met.
    pub reproduced: usize,
    /// Countable and missed.
    pub not_reproduced: usize,
    /// Countable, without a measured figure.
    pub not_run: usize,
    /// Countable rows whose interval reaches over the border of what is accepted.
    pub uncertain: usize,
    /// Missed, and nobody knows why yet.
    pub unexplained: usize,
    /// Rows that the processor probably set.
    pub cpu_bound: usize,
    /// Those of them that are reproduced.
    pub cpu_bound_reproduced: usize,
    /// Those of them that are missed.
    pub cpu_bound_not_reproduced: usize,
    /// Rows without a published value.
    pub without_value: usize,
}

impl RowTally {
    /// The counts of some rows.
    pub fn of(rows: &[JudgedRow]) -> Self {
        let mut tally = Self { rows: rows.len(), ..Self::default() };
        for judged in rows {
            if judged.row.value.is_none() {
                tally.without_value += 1;
            } else if judged.row.cpu_bound {
                tally.cpu_bound += 1;
                tally.cpu_bound_reproduced += usize::from(judged.status == RowStatus::Reproduced);
                tally.cpu_bound_not_reproduced +=
                    usize::from(judged.status == RowStatus::NotReproduced);
            } else {
                tally.count(judged);
            }
        }
        tally
    }

    fn count(&mut self, judged: &JudgedRow) {
        self.countable += 1;
        match judged.status {
            RowStatus::Reproduced => self.reproduced += 1,
            RowStatus::NotReproduced => self.not_reproduced += 1,
            RowStatus::NotRun | RowStatus::NothingPublished => self.not_run += 1,
        }
        self.uncertain += usize::from(judged.is_certain == Some(false));
        let is_missed = judged.status == RowStatus::NotReproduced;
        self.unexplained += usize::from(is_missed && judged.finding.is_none());
    }

    /// The counts of several studies together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            countable: self.countable + other.countable,
            reproduced: self.reproduced + other.reproduced,
            not_reproduced: self.not_reproduced + other.not_reproduced,
            not_run: self.not_run + other.not_run,
            uncertain: self.uncertain + other.uncertain,
            unexplained: self.unexplained + other.unexplained,
            cpu_bound: self.cpu_bound + other.cpu_bound,
            cpu_bound_reproduced: self.cpu_bound_reproduced + other.cpu_bound_reproduced,
            cpu_bound_not_reproduced: self.cpu_bound_not_reproduced
                + other.cpu_bound_not_reproduced,
            without_value: self.without_value + other.without_value,
        }
    }

    /// The share of the countable rows that are reproduced, from 0 to 1; none where there
    /// are none. Rows that have not run count as not met.
    pub fn share_met(&self) -> Option<f64> {
        (self.countable > 0).then(|| self.reproduced as f64 / self.countable as f64)
    }
}
