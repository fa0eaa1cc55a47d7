//! Quantiles of latency from too few operations.

use disklab_study::{ChartKind, Measure, matches};
use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "few-operations",
    severity: Severity::Warning,
    detects: "questions about a latency quantile that rests on too few operations",
    evidence: "operations of each step, and the quantile that is asked for",
    remedy: "more operations: ten beyond the quantile, 1,000 for the 99th percentile",
    reproducer: Reproducer::Lab("the 99th percentile of 64 reads"),
    check,
};

/// So many operations must lie beyond a quantile: then a distribution-free interval for it
/// is within about a factor of two of it in rank (order statistics are binomial).
const BEYOND: f64 = 10.0;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let few = |group: &Group| {
        let asked = evidence.study.questions.iter().filter(|question| {
            let step = format!("{}:{}", group.key.levels.workload, group.key.step);
            question
                .workloads
                .iter()
                .any(|p| matches(p, &group.key.levels.workload) || matches(p, &step))
        });
        let quantile = asked.filter_map(|question| match (question.measure, &question.chart) {
            (Some(Measure::Latency(percentile)), ChartKind::Bars | ChartKind::LinesOver(_)) => {
                Some(percentile)
            }
            _ => None,
        });
        let rarest = quantile.max()?.above();
        let most = group.observations.iter().filter_map(|o| o.operations).max()?;
        (most as f64 * rarest < BEYOND).then_some(most as f64)
    };
    let suspects = evidence.suspects(|_, group| few(group));
    if suspects.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> =
        suspects.iter().map(|s| format!("{} ({:.0})", s.figure, s.range().0)).collect();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The quantile of latency that is asked for rests on fewer than ten operations beyond \
             it; operations in a step: {}.",
            list(listed.iter().map(String::as_str), 6)
        ),
        advice: "Let the steps do more operations: 1,000 for the 99th percentile, 10,000 for the \
                 99.9th; or ask for the median."
            .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(measure: &str, operations: u64) -> usize {
        let asks =
            format!("[[questions]]\nask = \"?\"\nworkloads = \"fio\"\nmeasure = \"{measure}\"");
        let mut fixture = RunFixture::new(&asks);
        let mut one = figure(Direction::Read, 1 << 20, 1.0);
        one.operations = Some(operations);
        fixture.sample("single/ext4", "fio", 0, vec![step("fio", vec![one])]);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn quantiles_of_few_are_reported_and_of_many_are_not() {
        assert_eq!(found("latency-p99", 64), 1);
        assert_eq!(found("latency-p99", 1001), 0);
        assert_eq!(found("latency-p999", 1001), 1);
        assert_eq!(found("latency-p50", 64), 0);
        assert_eq!(found("iops", 64), 0);
    }

    #[test]
    fn the_rarest_quantile_that_is_asked_of_a_step_counts() {
        let found = |workloads: &str, measure: &str, repeats: &[u64]| {
            let ask = |measure: &str| {
                format!(
                    "[[questions]]\nask = \"?\"\nworkloads = \"{workloads}\"\nmeasure = \"{measure}\"\n"
                )
            };
            let mut fixture = RunFixture::new(&(ask("latency-p50") + &ask(measure)));
            for (block, operations) in (0..).zip(repeats) {
                let mut one = figure(Direction::Read, 1 << 20, 1.0);
                one.operations = Some(*operations);
                fixture.sample("single/ext4", "fio", block, vec![step("fio", vec![one])]);
            }
            fixture.texts(AUDIT.name)
        };
        let few = found("fio:fio", "latency-p99", &[64, 999]);
        assert!(few[0].ends_with("operations in a step: fio (999)."), "{few:?}");
        assert_eq!(found("fio:fio", "latency-p99", &[64, 1000]), [""; 0]);
        assert_eq!(found("fio:other", "latency-p99", &[64]), [""; 0]);
    }
}
