//! What a study's own first run says of its stacks, taken as claims, so that other runs can be
//! compared with it as against what was published.

use crate::{
    AcceptedBand, JudgedRow, MeasuredValue, Row, RowComparison, RowKind, RowStatus, RowTally,
    SAME_TOLERANCE,
};

/// One stack against another in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRatio {
    /// What it is known by in every run of the study.
    pub id: String,
    /// The stack.
    pub subject: String,
    /// What it is compared with.
    pub baseline: String,
    /// What was run, and which figure of it.
    pub workload: String,
    /// What was measured: `throughput`, `latency-p99`, …
    pub metric: String,
    /// Subject ÷ baseline.
    pub measured: MeasuredValue,
}

/// The claims of a run about its own study: each stack is above another, below it, or within
/// ±10 % equivalent to it.
pub fn own_claims(study: &str, ratios: &[OwnRatio]) -> RowComparison {
    let rows = ratios.iter().map(|ratio| {
        let sign = match ratio.measured.centre - 1.0 {
            by if by.abs() <= SAME_TOLERANCE => 0.0,
            by => by.signum(),
        };
        let row = Row {
            study: study.to_owned(),
            id: ratio.id.clone(),
            kind: RowKind::Order,
            subject: ratio.subject.clone(),
            baseline: Some(ratio.baseline.clone()),
            workload: ratio.workload.clone(),
            metric: ratio.metric.clone(),
            unit: String::new(),
            value: Some(sign),
            low: None,
            high: None,
            cpu_bound: false,
            note: String::new(),
        };
        judge(row, Some(ratio.measured))
    });
    comparison(study, rows.collect())
}

/// Another run of the study, compared with the claims of the first.
pub fn compared_with(claims: &RowComparison, ratios: &[OwnRatio]) -> RowComparison {
    let rows = claims.rows.iter().map(|claim| {
        let there = ratios.iter().find(|ratio| ratio.id == claim.row.id);
        judge(claim.row.clone(), there.map(|ratio| ratio.measured))
    });
    comparison(&claims.study, rows.collect())
}

fn judge(row: Row, measured: Option<MeasuredValue>) -> JudgedRow {
    let accepted = AcceptedBand::of(&row);
    let status = match measured {
        None => RowStatus::NotRun,
        Some(measured) if accepted.is_some_and(|band| band.holds(measured.centre)) => {
            RowStatus::Reproduced
        }
        Some(_) => RowStatus::NotReproduced,
    };
    JudgedRow {
        accepted,
        measured,
        quotient: measured.zip(row.divisor()).map(|(measured, by)| measured.centre / by),
        status,
        is_certain: None,
        counts: true,
        read_unit: String::new(),
        measured_note: None,
        finding: None,
        row,
    }
}

fn comparison(study: &str, rows: Vec<JudgedRow>) -> RowComparison {
    RowComparison {
        study: study.to_owned(),
        processor_charged: false,
        changed_drives: Vec::new(),
        scale: 1.0,
        tally: RowTally::of(&rows),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn;

    fn ratios(of: &[f64]) -> Vec<OwnRatio> {
        let one = |(index, centre): (usize, &f64)| OwnRatio {
            id: format!("r{index}"),
            subject: "raid5/ext4".to_owned(),
            baseline: "single/ext4".to_owned(),
            workload: "read".to_owned(),
            metric: "throughput".to_owned(),
            measured: MeasuredValue { centre: *centre, interval: None, n: 1 },
        };
        of.iter().enumerate().map(one).collect()
    }

    #[test]
    fn a_run_agrees_with_itself_and_others_may_not() {
        let first = own_claims("s", &ratios(&[1.5, 0.6, 1.05, 1.0]));
        let signs: Vec<Option<f64>> = first.rows.iter().map(|judged| judged.row.value).collect();
        assert_eq!(signs, [Some(1.0), Some(-1.0), Some(0.0), Some(0.0)]);
        assert!(
            first.rows.iter().all(|judged| judged.status == RowStatus::Reproduced),
            "{first:?}"
        );
        let other = compared_with(&first, &ratios(&[0.9, 0.7, 1.2, 1.0]));
        let found = drawn(&first, &[other]);
        let changed: Vec<bool> = found.rows.iter().map(|row| row.is_changed()).collect();
        assert_eq!(changed, [true, false, true, false]);
    }

    #[test]
    fn rows_missing_from_another_run_are_not_run() {
        let first = own_claims("s", &ratios(&[1.5, 0.6]));
        let other = compared_with(&first, &ratios(&[1.4]));
        assert_eq!(other.rows[1].status, RowStatus::NotRun);
        assert_eq!(drawn(&first, &[other]).rows.len(), 1);
    }
}
