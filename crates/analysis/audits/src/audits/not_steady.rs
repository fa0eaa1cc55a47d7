//! Work that did not become steady, or whose figures mix two states.

use disklab_sample::{Direction, Durability, Trend};
use disklab_study::Part;
use disklab_units::{list, per_cents};

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{Detail, Evidence};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "not-steady",
    severity: Severity::Warning,
    detects: "steps that did not become steady, or of which a warm-up or a filling cache is a part",
    evidence: "the workload's own counts and the drives' series, by change points",
    remedy: "longer steps, ramp_time, or part = \"steady\" in the question",
    reproducer: Reproducer::Lab("writes without a flush that fill a drive's cache"),
    check,
};

/// A start of less than this share hardly changes the whole's figure.
const PART: f64 = 0.1;
/// Rates before and after that differ by less hardly change it either.
const MARGIN: f64 = 0.1;

/// What became of a step.
#[derive(Clone, Copy, PartialEq)]
enum Unsteadiness {
    Never,
    Mixed,
}

/// What became of one step: by the workload's own count, or else by the drives'.
fn unsteadiness(detail: &Detail, same_work: bool) -> Option<Unsteadiness> {
    if let Some(steady) = detail.steadiness {
        return match steady.trend {
            Trend::Flat => None,
            Trend::NotSteady => Some(Unsteadiness::Never),
            Trend::Warmup | Trend::Slowdown => {
                let whole = f64::from(steady.intervals) * steady.interval_ns as f64;
                // Where the figures are those of the steady part, all is well.
                let later = steady.steady_from_ns.saturating_sub(steady.used_from_ns) as f64;
                (whole > 0.0 && later > PART * whole).then_some(Unsteadiness::Mixed)
            }
        };
    }
    // Copying a tree is not the same work all along.
    let change = detail.drives_trend.filter(|_| same_work)?;
    let (before, after) = change.rates;
    let within = (before - after).abs() <= MARGIN * before.max(after);
    if change.from >= 1.0 {
        Some(Unsteadiness::Never)
    } else {
        (change.from > PART && !within).then_some(Unsteadiness::Mixed)
    }
}

/// Whether the clock stops only when all that was written is on the drives, by one flush
/// at the end.
fn safe_at_end(group: &Group) -> bool {
    group.key.direction == Direction::Write
        && matches!(group.profile().durability, Some(Durability::AtEnd(_)))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let asks_steady = evidence.study.questions.iter().any(|q| q.part == Part::Steady);
    let found = |wanted: Unsteadiness| {
        evidence.suspects(|index, group: &Group| {
            let same_work = group.requests().is_some();
            // What a cache took first is paid for at the end, in the same figure.
            if wanted == Unsteadiness::Mixed && safe_at_end(group) {
                return None;
            }
            let details = &evidence.details[index];
            let many = details.iter().filter(|d| unsteadiness(d, same_work) == Some(wanted)).count()
                as f64;
            // One of many may have met something else.
            (many * 2.0 > details.len() as f64).then(|| many / details.len() as f64)
        })
    };
    let mut all = Vec::new();
    for (wanted, words, advice) in [
        (
            Unsteadiness::Never,
            "did not become steady: rates kept changing until the end",
            "Let it run longer, until the change points find a steady part; what a drive does \
             after minutes is what it does for good.",
        ),
        (
            Unsteadiness::Mixed,
            "had a start that was faster or slower than the rest, and the figure is of both",
            "Ask for the steady part (part = \"steady\" in the question), let a ramp_time pass, \
             or let it run much longer than its start.",
        ),
    ] {
        if wanted == Unsteadiness::Mixed && asks_steady {
            continue;
        }
        let suspects = found(wanted);
        if suspects.is_empty() {
            continue;
        }
        let listed: Vec<String> = suspects
            .iter()
            .map(|s| {
                let share = if s.range().0 < 1.0 {
                    format!(" ({} of the repeats)", per_cents(s.range()))
                } else {
                    String::new()
                };
                format!("{} with {}{share}", s.figure, s.stacks())
            })
            .collect();
        all.push(Detection {
            severity: Severity::Warning,
            text: format!("Some work {words}: {}.", list(listed.iter().map(String::as_str), 6)),
            advice: advice.to_owned(),
            groups: suspects.iter().flat_map(|s| s.groups()).collect(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveSeries, Series, Steadiness};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn steadiness(trend: Trend, steady_from: u64, used_from: u64) -> Steadiness {
        Steadiness {
            interval_ns: 1_000_000_000,
            intervals: 60,
            trend,
            steady_from_ns: steady_from * 1_000_000_000,
            snia_from_ns: None,
            used_from_ns: used_from * 1_000_000_000,
        }
    }

    fn texts(more: &str, steady: Steadiness) -> Vec<String> {
        let mut fixture = RunFixture::new(more);
        let mut one = step("fio", vec![figure(Direction::Write, 1 << 20, 1.0)]);
        one.steadiness = Some(steady);
        fixture.sample("single/ext4", "fio", 0, vec![one]);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn unsteady_and_mixed_steps_are_reported() {
        let never = texts("", steadiness(Trend::NotSteady, 0, 0));
        assert!(never[0].contains("did not become steady"), "{never:?}");
        let mixed = texts("", steadiness(Trend::Slowdown, 20, 0));
        assert!(mixed[0].ends_with("is of both: fio with single/ext4."), "{mixed:?}");
    }

    #[test]
    fn steady_work_short_starts_and_steady_figures_are_clean() {
        assert!(texts("", steadiness(Trend::Flat, 0, 0)).is_empty());
        assert!(texts("", steadiness(Trend::Warmup, 4, 0)).is_empty());
        assert!(texts("", steadiness(Trend::Slowdown, 20, 20)).is_empty());
        let asks = "[[questions]]\nask = \"?\"\nworkloads = \"fio\"\npart = \"steady\"";
        assert!(texts(asks, steadiness(Trend::Slowdown, 20, 0)).is_empty());
    }

    #[test]
    fn one_of_several_repeats_may_have_met_something_else() {
        let found = |repeats: &[Trend]| {
            let mut fixture = RunFixture::new("");
            for (block, trend) in (0..).zip(repeats) {
                let mut one = step("fio", vec![figure(Direction::Write, 1 << 20, 1.0)]);
                one.steadiness = Some(steadiness(*trend, 0, 0));
                fixture.sample("single/ext4", "fio", block, vec![one]);
            }
            fixture.texts(AUDIT.name)
        };
        let (flat, never) = (Trend::Flat, Trend::NotSteady);
        assert_eq!(found(&[flat, never]), [""; 0]);
        let most = found(&[never, flat, never]);
        assert!(most[0].ends_with("fio with single/ext4 (67 % of the repeats)."), "{most:?}");
        assert!(found(&[never, never])[0].ends_with("fio with single/ext4."));
    }

    #[test]
    fn a_cache_that_is_flushed_before_the_clock_stops_is_clean() {
        for (end, expected) in [("end_fsync = 1", 0), ("end_fsync = 0", 1)] {
            let more = format!(
                "[[workloads]]\nid = \"w\"\nfio = {{ size = \"1G\", rw = \"write\", {end} }}"
            );
            let mut fixture = RunFixture::new(&more);
            let mut one = step("w", vec![figure(Direction::Write, 1 << 20, 1.0)]);
            one.steadiness = Some(steadiness(Trend::Slowdown, 20, 0));
            fixture.sample("single/ext4", "w", 0, vec![one]);
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{end}");
        }
    }

    fn by_drives(workload: &str, before: u64, after: u64) -> usize {
        changing(workload, (20, 61), before, after)
    }

    /// Findings of a step whose drives change their rate at one of so many seconds.
    fn changing(workload: &str, (second, all): (u64, u64), before: u64, after: u64) -> usize {
        let mut fixture = RunFixture::new("");
        let mut one = step("s", vec![figure(Direction::Write, 1 << 30, 60.0)]);
        let rate = |i: u64| (if i < second { before } else { after }) * (1000 + i % 7);
        let write_bytes: Vec<u64> = (0..all).map(rate).collect();
        let read_bytes = vec![0; write_bytes.len()];
        one.series = Series {
            interval_ns: 1_000_000_000,
            drives: vec![DriveSeries { write_bytes, read_bytes, ..DriveSeries::default() }],
        };
        fixture.sample("single/ext4", workload, 0, vec![one]);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn a_change_midway_is_seen_by_the_drives_too() {
        assert_eq!(by_drives("dd-4k", 200, 100), 1);
        assert_eq!(by_drives("dd-4k", 105, 100), 0);
        assert_eq!(changing("dd-4k", (60, 301), 200, 100), 1);
        assert_eq!(by_drives("copy", 200, 100), 0);
        assert_eq!(changing("dd-4k", (20, 301), 200, 100), 0, "so short a start hardly counts");
    }
}
