//! The counts.

use serde::Serialize;

use crate::{Judged, Standing};

/// How many rows stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All rows.
    pub rows: usize,
    /// Those that are counted: published, and not bound by the processor. They are
    /// met, missed or not run.
    pub countable: usize,
    /// Countable and met.
    pub met: usize,
    /// Countable and missed.
    pub missed: usize,
    /// Countable, without a figure of ours.
    pub not_run: usize,
    /// Countable rows whose interval reaches over the border of what is accepted.
    pub uncertain: usize,
    /// Missed, and nobody knows why yet.
    pub unexplained: usize,
    /// Rows that the processor probably set.
    pub cpu_bound: usize,
    /// Those of them that are met.
    pub cpu_bound_met: usize,
    /// Those of them that are missed.
    pub cpu_bound_missed: usize,
    /// Rows without a published value.
    pub without_value: usize,
}

impl Tally {
    /// The counts of some rows.
    pub fn of(rows: &[Judged]) -> Self {
        let mut tally = Self { rows: rows.len(), ..Self::default() };
        for judged in rows {
            if judged.row.value.is_none() {
                tally.without_value += 1;
            } else if judged.row.cpu_bound {
                tally.cpu_bound += 1;
                tally.cpu_bound_met += usize::from(judged.standing == Standing::Met);
                tally.cpu_bound_missed += usize::from(judged.standing == Standing::Missed);
            } else {
                tally.count(judged);
            }
        }
        tally
    }

    fn count(&mut self, judged: &Judged) {
        self.countable += 1;
        match judged.standing {
            Standing::Met => self.met += 1,
            Standing::Missed => self.missed += 1,
            Standing::NotRun | Standing::NothingPublished => self.not_run += 1,
        }
        self.uncertain += usize::from(judged.is_certain == Some(false));
        let is_missed = judged.standing == Standing::Missed;
        self.unexplained += usize::from(is_missed && judged.finding.is_none());
    }

    /// The counts of several studies together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            countable: self.countable + other.countable,
            met: self.met + other.met,
            missed: self.missed + other.missed,
            not_run: self.not_run + other.not_run,
            uncertain: self.uncertain + other.uncertain,
            unexplained: self.unexplained + other.unexplained,
            cpu_bound: self.cpu_bound + other.cpu_bound,
            cpu_bound_met: self.cpu_bound_met + other.cpu_bound_met,
            cpu_bound_missed: self.cpu_bound_missed + other.cpu_bound_missed,
            without_value: self.without_value + other.without_value,
        }
    }

    /// The share of the countable rows that are met, from 0 to 1; none where there
    /// are none. Rows that have not run count as not met.
    pub fn share_met(&self) -> Option<f64> {
        (self.countable > 0).then(|| self.met as f64 / self.countable as f64)
    }
}
