//! Imported figures that all end at the same rate.

use disklab_units::{BytesPerSecond, list};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::median;
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "common-limit",
    severity: Severity::Warning,
    detects: "imported figures of different work, or on different stacks, that all end at the same highest rate",
    evidence: "the figures' throughput",
    remedy: "find what caps them (a network, a link, a controller, a virtual disk), and measure past it",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Within this share of the highest rate figures are taken for capped.
const WITHIN: f64 = 0.01;
/// So many show a limit.
const FIGURES: usize = 3;
/// Slower ones are those of drives.
const SLOWEST: f64 = 50e6;

fn rate(group: &Group) -> Option<f64> {
    let rates: Vec<f64> = group.observations.iter().filter_map(|o| o.throughput).collect();
    median(rates).filter(|rate| *rate >= SLOWEST)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if !evidence.is_import() {
        return Vec::new();
    }
    let rates: Vec<(usize, &Group, f64)> = evidence
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| !group.profile().is_of_memory())
        .filter_map(|(index, group)| Some((index, group, rate(group)?)))
        .collect();
    let most = rates.iter().map(|(.., rate)| *rate).fold(0.0, f64::max);
    let (capped, others): (Vec<_>, Vec<_>) =
        rates.into_iter().partition(|(.., rate)| *rate >= most * (1.0 - WITHIN));
    let names: Vec<String> = capped
        .iter()
        .map(|(_, group, _)| {
            format!(
                "{}:{} with {}",
                group.key.levels.workload, group.key.step, group.key.levels.stack
            )
        })
        .collect();
    // All of the same rate may be what one drive gives; with slower ones next to them, the
    // highest few of a set differ.
    if capped.len() < FIGURES || others.is_empty() {
        return Vec::new();
    }
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "{} figures end at the same rate, {}, and none is above: {}. Something that they share \
             sets them, and not the stacks.",
            capped.len(),
            BytesPerSecond(most).si(),
            list(names.iter().map(String::as_str), 4)
        ),
        advice: "Do not compare these figures with each other. See what they have in common: a \
                 network, a link, a controller, a virtual disk, a limit of the program."
            .to_owned(),
        groups: capped.iter().map(|(index, ..)| *index).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use crate::testing::RunFixture;

    fn found(bench: &str, rates: &[f64]) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = bench.parse().unwrap();
        let works = ["dd-4k", "dd-64k", "dd-1M", "buffered", "fio"];
        for (work, rate) in works.iter().zip(rates) {
            fixture.measured("single/ext4", work, 0, rate * 1_048_576.0);
        }
        fixture.texts(super::AUDIT.name)
    }

    #[test]
    fn a_cap_of_an_imported_set_is_found() {
        let texts = found("import", &[120.0, 439.0, 438.2, 439.4, 437.0]);
        assert!(texts[0].starts_with("4 figures end at the same rate, 461 MB/s"), "{texts:?}");
    }

    #[test]
    fn figures_that_differ_and_measured_ones_are_clean() {
        assert!(found("import", &[120.0, 439.0, 400.0, 350.0, 437.0]).is_empty());
        assert!(found("import", &[0.5, 10.0, 10.0, 10.0, 10.0]).is_empty());
        assert!(found("dir:/x", &[120.0, 439.0, 438.2, 439.4, 437.0]).is_empty());
    }
}
