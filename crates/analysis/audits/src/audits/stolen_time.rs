//! CPU time that a hypervisor gave to others.

use disklab_units::per_cents;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "stolen-time",
    severity: Severity::Warning,
    detects: "CPU time that a hypervisor gave to other machines during a step",
    evidence: "steal of /proc/stat around the step",
    remedy: "measure on a machine of its own, or when its neighbours are quiet",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Share of one CPU's time. A program waits for a processor so long, and its
/// drives wait for it.
const SHARE: f64 = 0.02;
/// Shorter steps are not judged: the kernel counts in ticks of 10 ms.
const SHORTEST_SECONDS: f64 = 0.5;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|index, _| {
        let details = &evidence.details[index];
        let steps: f64 = details.iter().map(|d| d.step_seconds).sum();
        let stolen: f64 = details.iter().map(|d| d.stolen_seconds).sum();
        let long = steps >= SHORTEST_SECONDS * details.len() as f64 && steps > 0.0;
        long.then(|| stolen / steps).filter(|share| *share > SHARE)
    });
    let listed = |suspects: &crate::evidence::Suspects<'_>| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: the hypervisor gave {} of a CPU to other machines.",
            suspects.figure,
            suspects.stacks(),
            per_cents(suspects.range())
        ),
        advice: "Measure on a machine of its own, or when its neighbours are quiet; more repeats \
                 show how much it matters."
            .to_owned(),
        groups: suspects.groups(),
    };
    suspects.iter().map(listed).collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn texts(stolen_ms: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let mut one = step("s", vec![figure(Direction::Write, 1 << 20, 1.0)]);
        one.cpu.machine_steal_ns = stolen_ms * 1_000_000;
        fixture.sample("single/ext4", "dd-4k", 0, vec![one]);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn stolen_time_is_reported_and_a_tick_is_not() {
        assert!(texts(250)[0].contains("gave 25 % of a CPU"), "{:?}", texts(250));
        assert!(texts(10).is_empty());
    }

    #[test]
    fn the_share_is_that_of_all_repeats() {
        let found = |seconds: f64, stolen_ms: [u64; 2]| {
            let mut fixture = RunFixture::new("");
            for (block, stolen) in (0..).zip(stolen_ms) {
                let mut one = step("s", vec![figure(Direction::Write, 1 << 20, 1.0)]);
                one.elapsed_ns = (seconds * 1e9) as u64;
                one.cpu.machine_steal_ns = stolen * 1_000_000;
                fixture.sample("single/ext4", "dd-4k", block, vec![one]);
            }
            fixture.texts(AUDIT.name)
        };
        let half = found(2.0, [0, 1000]);
        assert!(half[0].contains("gave 25 % of a CPU"), "{half:?}");
        assert_eq!(found(2.0, [40, 40]), [""; 0], "2 % are little");
        assert_eq!(found(0.4, [100, 100]), [""; 0], "too short to say");
        assert_eq!(found(0.5, [100, 100]).len(), 1);
    }
}
