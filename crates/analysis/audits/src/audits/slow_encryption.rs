//! Encryption on a processor without instructions for it.

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "slow-encryption",
    severity: Severity::Warning,
    detects: "encryption on a processor without instructions for AES",
    evidence: "dm-crypt beneath the directory, or a crypt layer, and the flags in /proc/cpuinfo",
    remedy: "read the figures as this processor's; Adiantum is made for such ones",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let encrypted = |cell: &CellFacts| {
        let stack = evidence.study.stacks.iter().find(|stack| stack.id == cell.levels.stack);
        let layer = stack.is_some_and(|stack| stack.layers.iter().any(|l| l.name == "crypt"));
        layer || cell.conditions().beneath.iter().any(|what| what == "encryption")
    };
    // A modelled processor has what its file says.
    if evidence.is_lab() {
        return Vec::new();
    }
    let slow =
        |cell: &CellFacts| (encrypted(cell) && cell.conditions().aes == Some(false)).then_some(1.0);
    let Some(cells) = afflicted(evidence, slow) else { return Vec::new() };
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The drives of {} are encrypted, and the processor has no instructions for AES: it \
             encrypts some ten to a hundred MB/s per core, less than a disk's stream.",
            cells.words()
        ),
        advice: "Read these figures as this processor's. With such a one, Adiantum \
                 (cryptsetup --cipher xchacha20,aes-adiantum-plain64) is several times as fast."
            .to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Conditions;

    use super::*;
    use crate::testing::RunFixture;

    fn found(beneath: &[&str], aes: Option<bool>) -> usize {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = "dir:/x".parse().unwrap();
        let beneath = beneath.iter().map(|what| (*what).to_owned()).collect();
        fixture.under(
            "single/ext4",
            "dd-4k",
            0,
            Conditions { beneath, aes, ..Conditions::default() },
        );
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn encryption_without_aes_is_reported() {
        assert_eq!(found(&["encryption"], Some(false)), 1);
        assert_eq!(found(&["encryption"], Some(true)), 0);
        assert_eq!(found(&["snapshot"], Some(false)), 0);
        assert_eq!(found(&["encryption"], None), 0);
    }
}
