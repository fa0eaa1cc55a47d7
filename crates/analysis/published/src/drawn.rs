//! Which claims hold, whatever the values are that are not certain.

use serde::Serialize;

use crate::sensitivity::direction;
use crate::{JudgedRow, RowComparison, RowStatus};

/// A claim as shipped, and with drives whose uncertain parameters were drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DrawnRow {
    /// The row as shipped: it is counted and has a figure.
    pub shipped: JudgedRow,
    /// The figures with the drives that were drawn, in their order; those that have one.
    pub figures: Vec<f64>,
    /// With how many of these the claim is reproduced.
    pub reproduced: usize,
    /// With how many of these it points elsewhere than as shipped: above, below, or level.
    pub turned: usize,
}

impl DrawnRow {
    /// Whether it reverses with any, or is reproduced with some and not with others (as shipped
    /// is one of them).
    pub fn is_changed(&self) -> bool {
        let is_met = self.shipped.status == RowStatus::Reproduced;
        self.turned > 0 || self.reproduced != if is_met { self.figures.len() } else { 0 }
    }
}

/// The claims about a study, with drives that were drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DrawnDrives {
    /// The study's id.
    pub study: String,
    /// How many drives were drawn.
    pub n: usize,
    /// The claims that have figures, in the order in which they were published.
    pub rows: Vec<DrawnRow>,
}

/// With what share of such drives a claim may fail at the most that held with all of `n` that
/// were drawn independently, at a confidence of 95 %: Clopper and Pearson's upper limit for
/// none of `n` (Biometrika 26, 1934), 1 − 0.05^(1/n).
pub fn may_fail(n: usize) -> f64 {
    if n == 0 { 1.0 } else { 1.0 - 0.05_f64.powf(1.0 / n as f64) }
}

/// Holds runs with drives that were drawn against the run as shipped.
pub fn drawn(shipped: &RowComparison, runs: &[RowComparison]) -> DrawnDrives {
    let counted = shipped.rows.iter().filter(|judged| judged.counts);
    let rows = counted.filter_map(|judged| {
        let measured = judged.measured?.centre;
        let there: Vec<&JudgedRow> = runs
            .iter()
            .filter_map(|run| run.rows.iter().find(|other| other.row.id == judged.row.id))
            .filter(|other| other.measured.is_some())
            .collect();
        let figures: Vec<f64> = there
            .iter()
            .filter_map(|other| other.measured)
            .map(|measured| measured.centre)
            .collect();
        let points = direction(&judged.row, measured);
        let turned = figures.iter().filter(|f| direction(&judged.row, **f) != points).count();
        let reproduced = there.iter().filter(|other| other.status == RowStatus::Reproduced).count();
        (!figures.is_empty()).then(|| DrawnRow {
            shipped: judged.clone(),
            figures,
            reproduced,
            turned,
        })
    });
    DrawnDrives { study: shipped.study.clone(), n: runs.len(), rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowKind;
    use crate::testing::{comparison, row};

    #[test]
    fn claims_that_depend_on_the_draw_are_distinguished() {
        let run = |order, value| {
            comparison(&[(row(RowKind::Order, 1.0), order), (row(RowKind::Value, 100.0), value)])
        };
        let found = drawn(&run(1.2, 100.0), &[run(1.1, 110.0), run(0.9, 101.0), run(1.4, 90.0)]);
        assert_eq!(found.n, 3);
        let [order, value] = found.rows.as_slice() else { panic!("{found:?}") };
        assert_eq!((order.reproduced, order.turned, order.is_changed()), (2, 1, true));
        assert_eq!(order.figures, [1.1, 0.9, 1.4]);
        assert_eq!((value.reproduced, value.turned, value.is_changed()), (3, 0, false));
        // Not reproduced as shipped, reproduced with one.
        let found = drawn(&run(1.2, 200.0), &[run(1.2, 300.0), run(1.2, 100.0)]);
        assert_eq!((found.rows[1].reproduced, found.rows[1].is_changed()), (1, true));
        let found = drawn(&run(1.2, 200.0), &[run(1.2, 300.0)]);
        assert!(!found.rows[1].is_changed(), "missed throughout");
    }

    #[test]
    fn a_run_without_a_figure_is_no_drive() {
        let of = |value| comparison(&[(row(RowKind::Value, 100.0), value)]);
        let mut failed = of(100.0);
        failed.rows[0].measured = None;
        let found = drawn(&of(100.0), &[failed.clone(), of(101.0)]);
        assert_eq!(found.rows[0].figures, [101.0]);
        assert!(drawn(&of(100.0), &[failed]).rows.is_empty());
    }

    #[test]
    fn the_limit_is_clopper_and_pearsons() {
        // Their tables for 0 of 10 and 0 of 30, one-sided at 95 %.
        assert!((may_fail(10) - 0.2589).abs() < 5e-5);
        assert!((may_fail(30) - 0.0950).abs() < 5e-5);
        assert_eq!(may_fail(0), 1.0);
        // The rule of three.
        assert!((may_fail(1000) - 0.003).abs() < 1e-5);
    }
}
