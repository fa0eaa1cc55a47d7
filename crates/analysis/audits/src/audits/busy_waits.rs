//! In the lab, time that went by although nothing waited for a drive or a timer.

use disklab_units::per_cents;

use super::cpu_bound::busy;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "busy-waits",
    severity: Severity::Warning,
    detects: "steps in the lab that spent much of their time reading the clock or busy-waiting; at four fifths, the figure is the lab's ceiling",
    evidence: "CPU time compared with the step's duration, in a lab where CPU time is free",
    remedy: "read the clock less often, sleep instead of busy-waiting; give the guest more memory if its reclaim busy-waits",
    reproducer: Reproducer::Lab("a fio job that thinks by looking at the clock"),
    check,
};

/// Share of a step that may go by so unmentioned.
const SOME: f64 = 0.1;
/// Share from which a figure is within a fifth of what the lab can reach on any drive.
const CEILING: f64 = 0.8;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if !evidence.computes_in_no_time() {
        return Vec::new();
    }
    let computed = |index: usize, group: &Group| {
        let share = busy(&evidence.details[index], group)?.machine.min(1.0);
        (!group.profile().is_of_memory() && share > SOME).then_some(share)
    };
    let at_ceiling = |is: bool| {
        let found = move |index: usize, group: &Group| {
            computed(index, group).filter(|share| (*share >= CEILING) == is)
        };
        (evidence.suspects(found), is)
    };
    let found = [at_ceiling(true), at_ceiling(false)];
    let found = found.iter().flat_map(|(found, is)| found.iter().map(move |s| (s, *is)));
    let findings = found.map(|(suspects, at_ceiling)| Detection {
        severity: if at_ceiling { Severity::Warning } else { Severity::Note },
        text: format!(
            "{} with {}: {} of the time was spent on the CPU. In the lab that takes no time, except \
             reading the clock (16 ns, and 256 ns where nothing waits for long) and busy-waiting, \
             which the lab charges ticks for.{}",
            suspects.figure,
            suspects.stacks(),
            per_cents(suspects.range()),
            if at_ceiling { " This is what the lab reaches on any drive." } else { "" }
        ),
        advice: "The lab does not know how long this would take on a machine: read the figure as \
                 a coarse one. On drives that take some microseconds, the clock's share is of \
                 the order of real programs' overhead. If a program or the guest's reclaim \
                 busy-waits, more memory or fewer jobs end that."
            .to_owned(),
        groups: suspects.groups(),
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use crate::testing::{RunFixture, figure, on_drives, step};

    /// A step of one second, of which so many milliseconds were computing.
    fn found(bench: &str, processor: Option<&str>, computed_ms: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = bench.parse().unwrap();
        fixture.info.options.processor = processor.map(str::to_owned);
        let figures = vec![figure(Direction::Write, 1 << 20, 1.0)];
        let mut one = on_drives(step("s", figures), &[(0, 1 << 20)]);
        one.elapsed_ns = 1_000_000_000;
        one.cpu.machine_busy_ns = computed_ms * 1_000_000 * u64::from(one.cpu.processors);
        fixture.sample("single/ext4", "dd-4k", 0, vec![one]);
        let found = fixture.audited().findings.into_iter();
        let names = ["cpu-bound", "busy-waits"];
        found
            .filter(|f| names.contains(&f.audit))
            .map(|f| format!("{}: {}", f.audit, f.text))
            .collect()
    }

    #[test]
    fn busy_waits_are_reported_in_the_lab() {
        let texts = found("lab", None, 300);
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].starts_with("busy-waits") && texts[0].contains("30 %"), "{texts:?}");
        assert!(!texts[0].contains("on any drive"), "{texts:?}");
        let texts = found("lab", Some("none"), 1000);
        assert!(texts[0].starts_with("busy-waits"), "{texts:?}");
    }

    #[test]
    fn figure_near_the_labs_ceiling_is_a_warning() {
        for (computed_ms, is) in [(790, false), (800, true), (1000, true)] {
            let texts = found("lab", None, computed_ms);
            assert_eq!(texts.len(), 1, "{texts:?}");
            assert_eq!(texts[0].contains("on any drive"), is, "{computed_ms}: {texts:?}");
        }
    }

    #[test]
    fn charged_little_and_real_computing_are_none() {
        assert!(found("lab", None, 50).is_empty());
        assert!(found("lab", Some("atom-d2700"), 300).is_empty());
        assert!(found("loop", None, 300).is_empty());
        let texts = found("lab", Some("atom-d2700"), 1000);
        assert!(texts.len() == 1 && texts[0].starts_with("cpu-bound"), "{texts:?}");
    }
}
