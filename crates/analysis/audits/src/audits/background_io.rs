//! Other programs used the disks meanwhile.

use disklab_options::BenchKind;
use disklab_units::{Bytes, count, list};

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "background-io",
    severity: Severity::Warning,
    detects: "input and output outside the stack while a cell ran",
    evidence: "counters of all block devices less those of the stack's drives",
    remedy: "stop other programs, or add repeats",
    reproducer: Reproducer::Directory("a program that writes to another disk meanwhile"),
    check,
};

/// Logs and timers of an idle machine write less than this during a cell.
const IDLE: u64 = 8 << 20;
/// Up to this share of the cell's own traffic, others hardly matter.
const SHARE: f64 = 0.1;

fn disturbance(cell: &CellFacts) -> Option<u64> {
    let background = cell.background_bytes?;
    (background > IDLE && background as f64 > SHARE * cell.own_bytes as f64).then_some(background)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let disturbed: Vec<(&CellFacts, u64)> =
        evidence.cells.iter().filter_map(|cell| Some((cell, disturbance(cell)?))).collect();
    let Some((worst, most)) = disturbed.iter().max_by_key(|(_, background)| *background) else {
        return Vec::new();
    };
    let groups: Vec<usize> = evidence
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| {
            let is_of = |cell: &CellFacts| {
                cell.levels.stack == group.key.levels.stack
                    && cell.levels.workload == group.key.levels.workload
            };
            disturbed.iter().any(|(cell, _)| is_of(cell))
        })
        .map(|(index, _)| index)
        .collect();
    let mut workloads: Vec<&str> =
        disturbed.iter().map(|(cell, _)| cell.levels.workload.as_str()).collect();
    workloads.sort_unstable();
    workloads.dedup();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Something else used the machine's disks during {} (of {}): at most {} in one, \
             which itself moved {} ({} with {}).{}",
            count(disturbed.len(), "cell"),
            list(workloads, 4),
            Bytes(*most).si(),
            Bytes(worst.own_bytes).si(),
            worst.levels.workload,
            worst.levels.stack,
            if evidence.info.bench == BenchKind::Loop.into() {
                " This is an estimate: on loop devices, delayed writes to the files behind them \
                 count too."
            } else {
                ""
            }
        ),
        advice: "Stop other programs (backups, updates, indexing), or add repeats so that the \
                 disturbance hits all stacks alike."
            .to_owned(),
        groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Direction, Environment, Sample};

    use crate::testing::{RunFixture, figure, on_drives, step};

    fn fixture(background: Option<u64>, own: u64) -> RunFixture {
        let mut fixture = RunFixture::new("");
        let steps =
            vec![on_drives(step("s", vec![figure(Direction::Write, own, 1.0)]), &[(0, own)])];
        let environment = Environment { background_bytes: background, ..Environment::default() };
        let sample = Sample { steps, environment, ..Sample::default() };
        fixture.full_sample("single/ext4", "dd-1M", 0, sample);
        fixture
    }

    #[test]
    fn large_background_io_is_reported() {
        let found = fixture(Some(100_000_000), 200_000_000).findings("background-io");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].text.contains("at most 100 MB in one, which itself moved 200 MB"),
            "{}",
            found[0].text
        );
        assert_eq!(found[0].groups, [0]);
    }

    #[test]
    fn an_idle_machine_is_clean() {
        assert_eq!(fixture(None, 1 << 20).findings("background-io"), []);
        assert_eq!(fixture(Some(1 << 20), 1 << 20).findings("background-io"), []);
        assert_eq!(fixture(Some(100_000_000), 2_000_000_000).findings("background-io"), []);
    }
}
