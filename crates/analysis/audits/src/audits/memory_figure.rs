//! A figure of the memory among those of the drives.

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "memory-figure",
    severity: Severity::Note,
    detects: "hdparm -T, which measures the memory, next to figures of drives",
    evidence: "the workload's step",
    remedy: "do not read it as a drive's figure",
    reproducer: Reproducer::Lab("hdparm with cached = true"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| group.profile().is_of_memory().then_some(0.0));
    let findings = suspects.iter().map(|suspects| Detection {
        severity: Severity::Note,
        text: format!(
            "{} (hdparm -T) is the speed of this machine's memory and processor: no drive takes \
             part in it.",
            suspects.figure
        ),
        advice: "Leave it out of comparisons of drives and stacks; hdparm -t reads the drive."
            .to_owned(),
        groups: suspects.groups(),
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    #[test]
    fn cached_reads_are_reported_and_those_of_the_device_are_not() {
        for (name, expected) in [("cached", 1), ("device", 0)] {
            let mut fixture = RunFixture::new("");
            let one = step(name, vec![figure(Direction::Read, 1 << 30, 1.0)]);
            fixture.sample("single/ext4", "hdparm", 0, vec![one]);
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{name}");
        }
    }
}
