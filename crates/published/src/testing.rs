//! Made-up rows.

use crate::{Kind, Row};

/// A row of this kind and value, about `raid5/ext4`.
pub(crate) fn row(kind: Kind, value: f64) -> Row {
    Row {
        study: "s".to_owned(),
        id: "a".to_owned(),
        kind,
        subject: "raid5/ext4".to_owned(),
        baseline: (kind != Kind::Value).then(|| "single/ext4".to_owned()),
        workload: "read".to_owned(),
        metric: "throughput".to_owned(),
        unit: if kind == Kind::Value { "MB/s".to_owned() } else { String::new() },
        value: Some(value),
        low: None,
        high: None,
        cpu_bound: false,
        note: String::new(),
    }
}
