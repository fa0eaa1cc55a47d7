//! Processors that were slowed down for their heat.

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "throttled",
    severity: Severity::Warning,
    detects: "processors that were slowed down for their heat while a cell ran",
    evidence: "thermal_throttle/core_throttle_count of all processors around the cell",
    remedy: "cool the machine, and measure again",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let throttled = afflicted(evidence, |cell| {
        cell.conditions().power.throttled.filter(|times| *times > 0).map(|times| times as f64)
    });
    let Some(cells) = throttled else { return Vec::new() };
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Processors were slowed down for their heat in {}: {:.0} times in the worst. \
             Checksums, parity, compression and encryption were slower than they need be.",
            cells.words(),
            cells.worst().1
        ),
        advice: "Cool the machine (dust, fans, the power limit), and measure again.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Power};

    use super::*;
    use crate::testing::RunFixture;

    fn texts(throttled: Option<u64>) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let power = Power { throttled, on_battery: None };
        fixture.under("single/ext4", "dd-4k", 0, Conditions { power, ..Conditions::default() });
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn throttling_is_reported_and_its_absence_is_not() {
        assert!(texts(Some(12))[0].contains("12 times in the worst"));
        assert!(texts(Some(0)).is_empty());
        assert!(texts(None).is_empty());
    }
}
