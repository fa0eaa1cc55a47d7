//! A virtual machine, whose host may cache and share.

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "virtual-machine",
    severity: Severity::Note,
    detects: "a virtual machine, whose host may keep reads and writes in its memory",
    evidence: "what firmware and CPU report about a hypervisor",
    remedy: "measure on the host, or with its cache off (cache=none)",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let Some(hypervisor) = evidence.info.environment.virtual_machine.as_deref() else {
        return Vec::new();
    };
    // The lab's drives are its own, wherever it runs.
    if evidence.is_lab() {
        return Vec::new();
    }
    vec![Detection {
        severity: Severity::Note,
        text: format!(
            "This is a virtual machine ({hypervisor}): its host may answer from its own memory, \
             limit or share the drives, and neither shows here."
        ),
        advice: "Measure on the host, or pass drives through with the host's cache off \
                 (cache=none, directsync); on rented machines expect limits that depend on size."
            .to_owned(),
        groups: Vec::new(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn a_virtual_machine_is_reported_except_in_the_lab() {
        for (bench, machine, expected) in
            [("loop", Some("KVM"), 1), ("loop", None, 0), ("lab", Some("KVM"), 0)]
        {
            let mut fixture = RunFixture::new("");
            fixture.info.bench = bench.parse().unwrap();
            fixture.info.environment.virtual_machine = machine.map(str::to_owned);
            fixture.measured("single/ext4", "dd-4k", 0, 1e6);
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{bench}");
        }
    }
}
