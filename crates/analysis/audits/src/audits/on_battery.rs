//! A machine that ran on its battery.

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "on-battery",
    severity: Severity::Warning,
    detects: "a machine that ran on its battery, where processors, links and drives save power",
    evidence: "power supplies in sysfs when the cell ended",
    remedy: "plug it in",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let on_battery = |on: Option<bool>| on.unwrap_or(false).then_some(1.0);
    let Some(cells) = afflicted(evidence, |cell| on_battery(cell.conditions().power.on_battery))
    else {
        return Vec::new();
    };
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The machine ran on its battery in {}: processors, links and drives save power then, \
             and are slower to wake.",
            cells.words()
        ),
        advice: "Plug the machine in, and measure again.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, Power};

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn a_battery_in_use_is_reported_and_a_full_one_is_not() {
        for (on_battery, expected) in [(Some(true), 1), (Some(false), 0), (None, 0)] {
            let mut fixture = RunFixture::new("");
            let power = Power { throttled: None, on_battery };
            fixture.under("single/ext4", "dd-4k", 0, Conditions { power, ..Conditions::default() });
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{on_battery:?}");
        }
    }
}
