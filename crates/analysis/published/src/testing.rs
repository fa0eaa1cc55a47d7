//! Made-up rows.

use crate::{
    AcceptedBand, JudgedRow, MeasuredValue, Row, RowComparison, RowKind, RowStatus, RowTally,
};

/// A row of this kind and value, about `raid5/ext4`.
pub(crate) fn row(kind: RowKind, value: f64) -> Row {
    Row {
        study: "s".to_owned(),
        id: "a".to_owned(),
        kind,
        subject: "raid5/ext4".to_owned(),
        baseline: (kind != RowKind::Value).then(|| "single/ext4".to_owned()),
        workload: "read".to_owned(),
        metric: "throughput".to_owned(),
        unit: if kind == RowKind::Value { "MB/s".to_owned() } else { String::new() },
        value: Some(value),
        low: None,
        high: None,
        cpu_bound: false,
        note: String::new(),
    }
}

/// A run's figures with rows, which get the ids `r0`, `r1` and so on.
pub(crate) fn comparison(rows: &[(Row, f64)]) -> RowComparison {
    let rows = rows
        .iter()
        .enumerate()
        .map(|(index, (row, centre))| {
            let row = Row { id: format!("r{index}"), ..row.clone() };
            let accepted = AcceptedBand::of(&row);
            let holds = accepted.is_some_and(|band| band.holds(*centre));
            JudgedRow {
                accepted,
                measured: Some(MeasuredValue { centre: *centre, interval: None, n: 1 }),
                quotient: None,
                status: if holds { RowStatus::Reproduced } else { RowStatus::NotReproduced },
                is_certain: None,
                counts: true,
                read_unit: row.unit.clone(),
                measured_note: None,
                finding: None,
                row,
            }
        })
        .collect();
    RowComparison {
        study: "s".to_owned(),
        processor_charged: false,
        changed_drives: Vec::new(),
        scale: 1.0,
        tally: RowTally::default(),
        rows,
    }
}
