//! Limits of the container or service that disklab runs in.

use std::collections::BTreeSet;

use disklab_units::list;

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "control-group-limits",
    severity: Severity::Warning,
    detects: "limits on I/O, processors or memory that a container or service puts on disklab",
    evidence: "io.max, cpu.max, memory.max and memory.high of its control group and those above",
    remedy: "run it outside of the container, or without the limits",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let limited =
        |cell: &crate::evidence::CellFacts| (!cell.conditions().limits.is_empty()).then_some(1.0);
    let Some(cells) = afflicted(evidence, limited) else { return Vec::new() };
    let limits: BTreeSet<&str> =
        cells.cells.iter().flat_map(|(c, _)| &c.conditions().limits).map(String::as_str).collect();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "A control group limited disklab and its programs in {}: {}. The figures may be those \
             of the limit.",
            cells.words(),
            list(limits, 4)
        ),
        advice: "Run disklab outside of the container or service, or raise its limits.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Conditions;

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn limits_are_reported_and_their_absence_is_not() {
        let mut fixture = RunFixture::new("");
        fixture.under("single/ext4", "dd-4k", 0, Conditions::default());
        assert_eq!(fixture.findings(AUDIT.name), []);
        let limits = vec!["io.max 8:0 rbps=1048576".to_owned()];
        fixture.under("raid1/ext4", "dd-4k", 0, Conditions { limits, ..Conditions::default() });
        let texts = fixture.texts(AUDIT.name);
        assert!(texts[0].contains("1 of 2 cells (dd-4k with raid1/ext4): io.max 8:0"), "{texts:?}");
    }
}
