//! Other programs used the disks meanwhile.

use disklab_options::BenchKind;
use disklab_units::{Bytes, count, list};

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
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

fn disturbance(cell: &CellFacts) -> Option<f64> {
    let background = cell.background_bytes?;
    let disturbs = background > IDLE && background as f64 > SHARE * cell.own_bytes as f64;
    disturbs.then_some(background as f64)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let Some(disturbed) = afflicted(evidence, disturbance) else { return Vec::new() };
    let (worst, most) = disturbed.worst();
    let workloads = disturbed.each(|cell| [cell.levels.workload.as_str()]);
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "Something else used the machine's disks during {} (of {}): at most {} in one, \
             which itself moved {} ({} with {}).{}",
            count(disturbed.cells.len(), "cell"),
            list(workloads, 4),
            Bytes(most as u64).si(),
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
        groups: disturbed.groups,
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
        assert_eq!(fixture(Some(100_000_000), 1_000_000_000).findings("background-io"), []);
    }

    #[test]
    fn the_cell_with_most_of_it_is_named_and_its_figures_are_suspect() {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = "loop".parse().unwrap();
        for (stack, workload, background) in [
            ("single/ext4", "dd-1M", 20_000_000),
            ("single/btrfs", "dd-1M", 1_000_000),
            ("single/btrfs", "fio", 50_000_000),
            ("raid1/ext4", "dd-1M", 30_000_000),
        ] {
            let write = vec![figure(Direction::Write, 1 << 20, 1.0)];
            let steps = vec![on_drives(step("s", write), &[(0, 1 << 20)])];
            let environment =
                Environment { background_bytes: Some(background), ..Environment::default() };
            let sample = Sample { steps, environment, ..Sample::default() };
            fixture.full_sample(stack, workload, 0, sample);
        }
        let found = fixture.findings("background-io").remove(0);
        let expected = "during 3 cells (of dd-1M and fio): at most 50 MB in one, which itself moved \
                        1.05 MB (fio with single/btrfs). This is an estimate";
        assert!(found.text.contains(expected), "{}", found.text);
        let groups = fixture.audited().groups;
        let suspect = found.groups.iter().map(|g| &groups[*g].key.levels);
        let suspect: Vec<_> = suspect.map(|l| (&*l.stack, &*l.workload)).collect();
        assert_eq!(
            suspect,
            [("single/ext4", "dd-1M"), ("single/btrfs", "fio"), ("raid1/ext4", "dd-1M")]
        );
    }
}
