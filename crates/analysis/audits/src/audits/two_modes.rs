//! Figures that are sometimes one and sometimes another.

use std::collections::{BTreeMap, BTreeSet};

use disklab_stats::{Ask, Tails, TwoModes, blocks_needed};
use disklab_study::{ChartKind, Measure};
use disklab_units::{count, significant};

use crate::audit::{Audit, Detection, Reproducer};
use crate::describe::figure_id;
use crate::evidence::Evidence;
use crate::modes::modes_of;
use crate::{Group, Severity, measure_of};

/// Also the reason that a comparison of two runs gives.
pub const NAME: &str = "two-modes";

pub(super) const AUDIT: Audit = Audit {
    name: NAME,
    severity: Severity::Warning,
    detects: "repeats of a figure that fall into two modes, such as fast and slow; no comparison with it is called equivalent",
    evidence: "the repeats, from eight on, split in two (Engelman and Hartigan 1969)",
    remedy: "find what decides between the modes; until then, as many repeats as find 5 % in 90 % of runs",
    reproducer: Reproducer::MadeUp,
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut found: Vec<(usize, TwoModes)> = Vec::new();
    for (index, group) in evidence.groups.iter().enumerate() {
        let measure = measure_of(&[group], &ChartKind::Bars);
        if measure != Measure::Missed {
            found.extend(modes_of(group, measure).map(|modes| (index, modes)));
        }
    }
    let apart = |modes: &TwoModes| modes.high - modes.low;
    let Some((index, modes)) =
        found.iter().max_by(|a, b| apart(&a.1).total_cmp(&apart(&b.1))).copied()
    else {
        return Vec::new();
    };
    let key = &evidence.groups[index].key;
    let repeats = modes.in_low + modes.in_high;
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The repeats of {} fall into two modes: at worst, {} of {repeats} are {} times the \
             others, {} with {}.",
            count(found.len(), "figure"),
            modes.in_high,
            significant(apart(&modes).exp(), 3),
            figure_id(evidence.groups, key),
            key.levels.stack
        ),
        advice: format!(
            "A ratio depends on how often each mode came; nothing there is called equivalent. Find what \
             decides between them (placement on the drive, caches, other work){}.",
            remedy(evidence, &evidence.groups[index])
        ),
        groups: found.iter().map(|(index, _)| *index).collect(),
    }]
}

/// How many repeats make up for the modes, if so many can be run.
fn remedy(evidence: &Evidence<'_>, group: &Group) -> String {
    let measure = measure_of(&[group], &ChartKind::Bars);
    let same = |other: &&Group| {
        let key = |group: &Group| {
            let key = &group.key;
            (key.levels.workload.clone(), key.step.clone(), key.direction, key.part)
        };
        key(other) == key(group)
    };
    let groups: Vec<&Group> = evidence.groups.iter().filter(same).collect();
    let observations = || groups.iter().flat_map(|group| &group.observations);
    let blocks: BTreeSet<u32> = observations().map(|one| one.block).collect();
    let values: Vec<Vec<Option<f64>>> = groups
        .iter()
        .map(|group| {
            let by_block = values_by_block(group, measure);
            blocks.iter().map(|block| by_block.get(block).copied()).collect()
        })
        .collect();
    let tails = if evidence.is_lab() { Tails::Light } else { Tails::Heavy };
    let ask = Ask { tails, ..Ask::new(groups.len().saturating_sub(1)) };
    match blocks_needed(&values, &ask) {
        Ok(planned) if planned.blocks > blocks.len() => {
            format!(", or run with --repeats {}, which find 5 % in 90 % of runs", planned.blocks)
        }
        Ok(_) => String::new(),
        Err(_) => format!("; more than {} repeats would be needed to find 5 %", ask.most_blocks),
    }
}

/// The first value of each block. An import has hundreds of thousands of them.
fn values_by_block(group: &Group, measure: Measure) -> BTreeMap<u32, f64> {
    let mut values = BTreeMap::new();
    for one in &group.observations {
        if let Some(value) = one.value(measure) {
            values.entry(one.block).or_insert(value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use disklab_exec::thread_cpu_seconds;

    use super::*;
    use crate::testing::RunFixture;

    /// Each second or third repeat is slower by a tenth; apart from that, half a per cent.
    fn bimodal(fast: f64, slow: f64, every: usize) -> Vec<f64> {
        (0..14)
            .map(|n| if n % every == 0 { slow } else { fast } * (1.0 + 0.002 * (n % 3) as f64))
            .collect()
    }

    #[test]
    fn who_has_enough_repeats_is_asked_for_no_more() {
        let mut fixture = RunFixture::new("");
        for stack in ["single/ext4", "single/btrfs"] {
            let rates = [1e6, 1.03e6].repeat(6);
            fixture.repeats(stack, "dd-4k", &rates);
        }
        let advice = fixture.findings(AUDIT.name).remove(0).advice;
        assert!(advice.ends_with("(placement on the drive, caches, other work)."), "{advice}");
    }

    #[test]
    fn modes_are_reported_with_their_distance() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &bimodal(1e6, 0.8e6, 3));
        let found = fixture.texts(AUDIT.name);
        assert!(
            found[0].contains("9 of 14 are 1.25 times the others, dd-4k with single/ext4"),
            "{found:?}"
        );
    }

    /// Twice as many repeats, as it said before, found 5 % in a third of such runs.
    #[test]
    fn as_many_repeats_are_asked_for_as_find_5_per_cent() {
        let repeats = |shift: usize, every: usize| -> Vec<f64> {
            let mode = |n: usize| if (n + shift).is_multiple_of(every) { 0.88e6 } else { 1e6 };
            let noise = |n: usize| 1.0 + 0.01 * ((n * 5 + shift * 3) % 7) as f64 / 3.0;
            (0..14).map(|n| mode(n) * noise(n)).collect()
        };
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &repeats(0, 3));
        fixture.repeats("raid1/ext4", "dd-4k", &repeats(1, 4));
        fixture.repeats("raid1/xfs", "dd-4k", &repeats(2, 3));
        let advice = &fixture.findings(AUDIT.name)[0].advice;
        let asked = advice.split("--repeats ").nth(1).and_then(|rest| rest.split(',').next());
        let asked: u32 = asked.expect(advice).parse().expect(advice);
        assert!((60..=200).contains(&asked), "{advice}");
    }

    /// An import of 200,000 times took three minutes, most of them here.
    #[test]
    fn repeats_by_the_ten_thousand_are_read_in_linear_time() {
        let seconds = |repeats: usize| {
            let rates = bimodal(1e6, 0.8e6, 3).repeat(repeats / 14);
            let mut fixture = RunFixture::new("");
            fixture.repeats("single/ext4", "dd-4k", &rates);
            let auditor = fixture.auditor();
            let before = thread_cpu_seconds();
            let found = auditor.finish().findings;
            assert!(found.iter().any(|one| one.audit == AUDIT.name), "{}", found.len());
            thread_cpu_seconds() - before
        };
        let (some, many) = (seconds(7_000), seconds(70_000));
        assert!(many < 25.0 * some, "{some} s, and of ten times as many {many} s");
    }

    #[test]
    fn one_mode_one_outlier_few_repeats_and_near_modes_are_clean() {
        let one: Vec<f64> = (0..14).map(|n| 1e6 * (1.0 + 0.01 * f64::from(n * 5 % 7))).collect();
        let mut odd = one.clone();
        odd[3] = 3e6;
        let few = bimodal(1e6, 0.8e6, 2)[..7].to_vec();
        for rates in [one, odd, few, bimodal(1e6, 0.99e6, 2)] {
            let mut fixture = RunFixture::new("");
            fixture.repeats("single/ext4", "dd-4k", &rates);
            assert!(fixture.texts(AUDIT.name).is_empty(), "{rates:?}");
        }
    }
}
