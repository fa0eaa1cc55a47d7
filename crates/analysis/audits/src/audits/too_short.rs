//! Steps dominated by their start, or too short to say anything.

use disklab_study::Measure;
use disklab_units::list;

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::median;
use crate::evidence::Evidence;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "too-short",
    severity: Severity::Warning,
    detects: "figures of less than a tenth of a second (a quarter if they are of work on files: two of these are not compared), or of fewer than eight operations",
    evidence: "the time and the operations of each figure",
    remedy: "more data or a longer runtime",
    reproducer: Reproducer::Lab("dd of three blocks"),
    check,
};

/// Starting a program, the first access to metadata and the spin-up of caches take
/// milliseconds; less than this is dominated by them.
const SECONDS: f64 = 0.1;
/// Fewer operations are mostly the first ones.
const OPERATIONS: u64 = 8;
/// Seconds of an operation from which on its own start is negligible: blocks of a
/// gigabyte, as dd takes them.
const LONG: f64 = 1.0;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let short = |group: &Group| {
        // What is measured in memory is fast on purpose.
        if group.profile().is_of_memory() {
            return None;
        }
        // Imported figures may be rates without times.
        let times = group.values(Measure::Elapsed).collect();
        let seconds = median(times)?;
        let operations = group.observations.iter().filter_map(|o| o.operations).max();
        let few = operations.is_some_and(|n| n < OPERATIONS && seconds < n as f64 * LONG);
        let least = group.least(Measure::Elapsed).unwrap_or(SECONDS);
        (seconds < least || few).then_some(seconds)
    };
    let suspects = evidence.suspects(|_, group| short(group));
    if suspects.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> = suspects
        .iter()
        .map(|s| {
            let operations = s.found.iter().flat_map(|(_, g, _)| &g.observations);
            let operations = operations.filter_map(|o| o.operations).min();
            let operations =
                operations.map(|n| format!(", {}", disklab_units::count(n as usize, "operation")));
            let seconds = disklab_units::show_nanoseconds(s.range().0 * 1e9);
            format!("{} ({seconds}{})", s.figure, operations.unwrap_or_default())
        })
        .collect();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Some figures come from so little work that its start sets them: {}.",
            list(listed.iter().map(String::as_str), 6)
        ),
        advice:
            "Use more data or a longer runtime: seconds on an SSD, a minute on a disk, so that \
                 what drives do when idle and what they do under load both show."
                .to_owned(),
        groups: suspects.iter().flat_map(|s| s.groups()).collect(),
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, StepProfile, Task};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(workload: &str, name: &str, seconds: f64, operations: Option<u64>) -> usize {
        let mut fixture = RunFixture::new("");
        let mut one = figure(Direction::Read, 1 << 20, seconds);
        one.operations = operations;
        fixture.sample("single/ext4", workload, 0, vec![step(name, vec![one])]);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn work_on_files_needs_a_quarter_of_a_second() {
        let reported = |seconds: f64| {
            let mut fixture = RunFixture::new("");
            let mut rm = step("rm", vec![figure(Direction::Remove, 0, seconds)]);
            rm.profile = Some(StepProfile { task: Some(Task::Delete), ..Default::default() });
            fixture.sample("single/ext4", "copy", 0, vec![rm]);
            fixture.findings(AUDIT.name).len()
        };
        assert_eq!((reported(0.15), reported(0.3)), (1, 0));
    }

    #[test]
    fn little_work_is_reported_and_enough_is_not() {
        assert_eq!(found("fio", "fio", 0.03, Some(500)), 1);
        assert_eq!(found("fio", "fio", 2.0, Some(3)), 1);
        assert_eq!(found("fio", "fio", 0.2, Some(16)), 0);
        assert_eq!(found("copy", "cp", 0.2, None), 0);
        // Three blocks of a gigabyte are no little work.
        assert_eq!(found("fio", "fio", 4.0, Some(2)), 0);
        assert_eq!(found("hdparm", "cached", 0.01, None), 0);
        // Nobody knows how long it took.
        assert_eq!(found("fio", "fio", 0.0, None), 0);
    }

    #[test]
    fn the_shortest_and_the_fewest_of_a_figure_are_named() {
        let mut fixture = RunFixture::new("");
        for (stack, seconds, operations) in
            [("single/ext4", 0.05, 500), ("raid1/ext4", 0.03, 400), ("single/btrfs", 0.1, 8)]
        {
            let mut one = figure(Direction::Read, 1 << 20, seconds);
            one.operations = Some(operations);
            fixture.sample(stack, "fio", 0, vec![step("fio", vec![one])]);
        }
        let found = fixture.findings(AUDIT.name).remove(0);
        assert!(
            found.text.ends_with("sets them: fio (30.0 ms, 400 operations)."),
            "{}",
            found.text
        );
        assert_eq!(found.groups.len(), 2, "eight operations in a tenth of a second are enough");
    }
}
