//! Other programs used the measured drives during a step.

use disklab_options::{BenchKind, RunOrigin};
use disklab_sample::Direction;
use disklab_units::Bytes;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;
use crate::{Group, Observation, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "other-load",
    severity: Severity::Severe,
    detects: "input and output on the measured drives during a step that is not the step's own",
    evidence: "the drives' counters during the step against what the step asked for, where it reads only, or writes large blocks only",
    remedy: "stop what else uses these drives (backups, indexing, downloads), and measure again",
    reproducer: Reproducer::Directory("a program that writes to the same disk meanwhile"),
    check,
};

/// Less is the file systems' own: access times, journals, counters.
const OWN: u64 = 8 << 20;
/// Up to this share of what a step moves, others hardly matter.
const SHARE: f64 = 0.1;
/// From this share on the figure is as much theirs as the step's.
const MUCH: f64 = 0.5;
/// By this factor metadata, journals and blocks of a device may exceed what is written in
/// large pieces.
const ROOM: f64 = 1.5;
/// From this size on a written block is large.
const LARGE: u64 = 64 << 10;

/// Whether all of a step's figures are of one direction.
fn is_all(evidence: &Evidence<'_>, group: &Group) -> bool {
    let key = &group.key;
    evidence.groups.iter().all(|other| {
        let k = &other.key;
        (&k.levels.stack, &k.levels.workload, &k.step)
            != (&key.levels.stack, &key.levels.workload, &key.step)
            || k.direction == key.direction
    })
}

/// Whether a step writes large blocks, each once.
fn writes_large(group: &Group) -> bool {
    group.profile().writes.is_some_and(|writes| writes.smallest >= LARGE)
}

/// Copies of what is written that the stack makes at most, parity included: one that
/// survives two lost drives writes three times as much at most.
fn copies(evidence: &Evidence<'_>, group: &Group, drives: usize) -> f64 {
    let stack = evidence.info.stacks.iter().find(|stack| stack.id == group.key.levels.stack);
    match stack {
        Some(stack) if !matches!(evidence.info.bench, RunOrigin::Bench(BenchKind::Dir(_))) => {
            // What goes through a log or a journal is written there, too.
            let passes = if stack.data_drives().count() < stack.drives.len() { 2.0 } else { 1.0 };
            passes * (f64::from(stack.tolerates) + 1.0)
        }
        // What lies below a directory is not known.
        _ => drives.max(1) as f64,
    }
}

/// Bytes that others moved during a step, and those that the step moved.
fn others(evidence: &Evidence<'_>, group: &Group, o: &Observation) -> Option<(u64, u64)> {
    if o.drives.is_empty() {
        return None;
    }
    let (extra, own) = match group.key.direction {
        Direction::Read => (o.drive_write, o.drive_read),
        _ => {
            let own = o.bytes as f64 * copies(evidence, group, o.drives.len());
            (o.drive_write.saturating_sub((own * ROOM) as u64), own as u64)
        }
    };
    (extra > OWN && extra as f64 > SHARE * own as f64).then_some((extra, own))
}

/// Whether what the drives moved beyond the step's own says something.
fn is_judged(evidence: &Evidence<'_>, group: &Group) -> bool {
    let Some(workload) = evidence.workload(group) else { return false };
    let known = match group.key.direction {
        Direction::Read => group.profile().read_share == Some(1.0),
        Direction::Write => writes_large(group),
        _ => false,
    };
    // In the lab there is nobody else, and with kept caches a step may write what the one
    // before has left in memory.
    let kept = workload.caches == disklab_cell::Caches::Keep;
    known && !kept && !evidence.is_lab() && !evidence.is_import() && is_all(evidence, group)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let worst = |group: &Group| {
        let all = group.observations.iter().filter_map(|o| others(evidence, group, o));
        all.max_by_key(|(extra, _)| *extra)
    };
    let suspects = evidence.suspects(|_, group| {
        let (extra, own) = is_judged(evidence, group).then(|| worst(group)).flatten()?;
        Some(extra as f64 / own.max(1) as f64)
    });
    let found = suspects.iter().filter_map(|suspects| {
        let (_, group, _) = suspects.found.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
        let (extra, own) = worst(group)?;
        let much = suspects.range().1 >= MUCH;
        let verb = if group.key.direction == Direction::Read { "read" } else { "wrote" };
        Some(Detection {
            severity: if much { Severity::Severe } else { Severity::Warning },
            text: format!(
                "{} with {}: the drives wrote {} during the step that are not its own; it {verb} {}. \
                 Other programs used the same drives.",
                suspects.figure,
                suspects.stacks(),
                Bytes(extra).si(),
                Bytes(own).si()
            ),
            advice: "Stop what else uses these drives (backups, indexing, downloads, a resync), \
                     and measure again: the figure is what they left."
                .to_owned(),
            groups: suspects.groups(),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    const MIB: u64 = 1 << 20;

    fn found(
        bench: &str,
        workload: &str,
        of: Direction,
        asked: u64,
        moved: (u64, u64),
    ) -> Vec<Detection> {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = bench.parse().unwrap();
        let one = step("s", vec![figure(of, asked, 1.0)]);
        fixture.sample("single/ext4", workload, 0, vec![on_drives(one, &[moved])]);
        let found = fixture.findings(AUDIT.name).into_iter();
        found
            .map(|f| Detection {
                severity: f.severity,
                text: f.text,
                advice: f.advice,
                groups: f.groups,
            })
            .collect()
    }

    #[test]
    fn writes_during_a_step_that_reads_are_found() {
        let found = found("dir:/x", "fio", Direction::Read, MIB, (MIB, 505 * MIB));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Severe);
        let text = &found[0].text;
        assert!(text.contains("the drives wrote 530 MB during the step"), "{text}");
        assert!(text.contains("it read 1.05 MB"), "{text}");
    }

    #[test]
    fn writes_beyond_a_steps_own_are_found() {
        for (written, expected) in
            [(761, Some(Severity::Severe)), (470, Some(Severity::Warning)), (300, None)]
        {
            let found =
                found("dir:/x", "buffered", Direction::Write, 256 * MIB, (0, written * MIB));
            assert_eq!(found.first().map(|f| f.severity), expected, "{written}: {found:?}");
        }
    }

    /// Bytes that a stack writes by itself are not others': parity, and what goes through a log.
    #[test]
    fn copies_logs_and_unknown_directories_are_a_steps_own() {
        let found = |bench: &str, tolerates: u32, drives: &[&str], layers: &str, written: u64| {
            let mut fixture = RunFixture::new("");
            fixture.info.bench = bench.parse().expect("a bench");
            fixture.info.stacks.push(disklab_study::PlannedStack {
                id: "single/ext4".to_owned(),
                layers: disklab_cell::PlannedLayer::parse_notation(layers).expect("layers"),
                drives: drives.iter().map(|drive| (*drive).to_owned()).collect(),
                capacity: 1,
                tolerates,
                loss: None,
                copies: false,
            });
            let one = step("s", vec![figure(Direction::Write, 256 * MIB, 1.0)]);
            let traffic = vec![(0, written * MIB / 2); 2];
            fixture.sample("single/ext4", "buffered", 0, vec![on_drives(one, &traffic)]);
            fixture.findings(AUDIT.name).len()
        };
        let two = ["a", "b"];
        assert_eq!(found("disks:/dev/x", 0, &two, "ext4", 470), 1);
        assert_eq!(found("disks:/dev/x", 1, &two, "ext4", 470), 0, "two copies");
        assert_eq!(found("disks:/dev/x", 1, &two, "ext4", 1300), 1);
        let journal = "md-raid5{journal=3}/ext4";
        assert_eq!(found("disks:/dev/x", 1, &["a", "b", "c"], journal, 1000), 0, "and a journal");
        assert_eq!(found("dir:/x", 0, &two, "ext4", 470), 0, "two drives lie below it");
    }

    #[test]
    fn a_steps_own_work_is_clean() {
        let none = |bench, workload, of, asked, moved| {
            let found = found(bench, workload, of, asked, moved);
            assert!(found.is_empty(), "{found:?}");
        };
        // Access times and a journal; little next to much; small writes that cost more.
        none("dir:/x", "fio", Direction::Read, MIB, (MIB, 4 * MIB));
        none("dir:/x", "fio", Direction::Read, 900 * MIB, (900 * MIB, 20 * MIB));
        none("dir:/x", "fio", Direction::Read, 1000 * MIB, (1000 * MIB, 100 * MIB));
        none("dir:/x", "dd-4k", Direction::Write, MIB, (0, 40 * MIB));
        none("lab", "fio", Direction::Read, MIB, (MIB, 505 * MIB));
        none("dir:/x", "kept", Direction::Read, MIB, (MIB, 505 * MIB));
        none("dir:/x", "copy", Direction::Copy, MIB, (MIB, 505 * MIB));
    }
}
