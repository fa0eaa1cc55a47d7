//! Random reads that drives answered from their own memory.

use disklab_sample::{Direction, Order};
use disklab_units::per_cents;

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::{decides_answer, median, on_hard_disks};
use crate::evidence::{Evidence, drive_share};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "drive-memory-reads",
    severity: Severity::Severe,
    detects: "random reads of which drives answered a fifth or more from their own memory",
    evidence: "the drives' own counts in the lab; elsewhere the median latency, on hard disks, against half a revolution",
    remedy: "read at random from a file many times as large as what the drives keep and read ahead",
    reproducer: Reproducer::Lab(
        "4 KiB read at random from 64 MiB on Btrfs RAID 10: 592 a second, where 512 MiB give 231",
    ),
    check,
};

/// A read at a random offset waits for half a revolution on average; no disk spins faster
/// than 15,000 times a minute (data sheets of Ultrastar 15K and Savvio 15K), which is 4 ms.
const HALF_TURN_NS: f64 = 2e6;
/// Where the drives delivered less, the machine's memory answered, which another audit says.
const DELIVERED: f64 = 0.5;
/// Reads from memory cost next to nothing: with this share of them, a rate is a quarter higher
/// than that of the drives' media, which is what quick and whole studies may differ by.
pub(super) const LARGEST_SHARE: f64 = 0.2;

/// Whether it is a figure of small random reads that the drives delivered.
fn is_of_random_reads(evidence: &Evidence<'_>, group: &Group) -> bool {
    let reads = group.profile().reads;
    let random = reads.is_some_and(|r| r.order == Order::Random && r.are_small());
    random
        && group.key.direction == Direction::Read
        && !evidence.is_import()
        && drive_share(group, |o| o.drive_read).is_some_and(|share| share >= DELIVERED)
}

/// The share of reads that the drives answered from memory, by their own counts: the median of
/// the repeats. Of a step that writes too, some reads are a layout's own: RAID 5 reads again what
/// it has just written.
fn counted(group: &Group) -> Option<f64> {
    if group.profile().writes.is_some() {
        return None;
    }
    median(group.observations.iter().filter_map(|o| Some(o.memory_reads?.of_reads)).collect())
}

/// The share of half a revolution that the median took, if it took less and nothing was
/// counted.
fn too_soon(evidence: &Evidence<'_>, group: &Group) -> Option<f64> {
    if !is_of_random_reads(evidence, group)
        || counted(group).is_some()
        || !on_hard_disks(evidence, group)
    {
        return None;
    }
    let medians = group.observations.iter().filter_map(|o| Some(o.latency?.p50_ns));
    let share = median(medians.collect())? / HALF_TURN_NS;
    (share < 1.0).then_some(share)
}

const ADVICE: &str = "Read from a larger file: some gigabytes on each drive, and never less than \
                      their memory.";

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = by_counts(evidence);
    all.extend(by_latency(evidence));
    all
}

/// Severe where another stack has the figure too and a question asks for it: what a drive
/// answers from memory then differs from stack to stack.
fn by_counts(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| {
        let share = counted(group).filter(|share| *share >= LARGEST_SHARE)?;
        is_of_random_reads(evidence, group).then_some(share)
    });
    let reported = suspects.iter().map(|suspects| {
        let decides = suspects.found.iter().any(|(_, group, _)| decides_answer(evidence, group));
        Detection {
            severity: if decides { Severity::Severe } else { Severity::Warning },
            text: format!(
                "{} with {}: the drives answered {} of the reads from their own memory, which \
                 they had read ahead or were given. The figure is that of their memory as much \
                 as that of reads at random.",
                suspects.figure,
                suspects.stacks(),
                per_cents(suspects.range()),
            ),
            advice: ADVICE.to_owned(),
            groups: suspects.groups(),
        }
    });
    reported.collect()
}

fn by_latency(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| too_soon(evidence, group));
    let reported = suspects.iter().map(|suspects| Detection {
        severity: Severity::Severe,
        text: format!(
            "{} with {}: half of the random reads took at most {} of half a revolution of the \
             fastest hard disks. They came from the drives' own memory, mostly read ahead, or from \
             that of a machine below: the figure says nothing of reads at random.",
            suspects.figure,
            suspects.stacks(),
            per_cents(suspects.range()),
        ),
        advice: ADVICE.to_owned(),
        groups: suspects.groups(),
    });
    reported.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveState, Environment, Latency, LatencyHistogram, MemoryReads, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    /// Small requests in order, and large ones at random.
    const OTHERS: &str = "[[workloads]]\nid = \"small\"\n\
        fio = { size = \"1G\", rw = \"read\", bs = \"4k\", direct = 1 }\n\
        [[workloads]]\nid = \"wide\"\n\
        fio = { size = \"1G\", rw = \"randread\", bs = \"1M\", direct = 1 }\n";

    fn found(workload: &str, median_ns: u64, rotational: bool, delivered: u64) -> Vec<String> {
        let mut fixture = RunFixture::new(OTHERS);
        let mut histogram = LatencyHistogram::new();
        histogram.record(median_ns, 60);
        histogram.record(8_000_000, 40);
        let mut read = figure(Direction::Read, 1 << 20, 1.0);
        read.latency = Some(Latency::from_histogram(histogram));
        let drive = DriveState { rotational: Some(rotational), ..DriveState::default() };
        let environment = Environment { drives: vec![drive], ..Environment::default() };
        let steps = vec![on_drives(step("s", vec![read]), &[(delivered, 0)])];
        let sample = Sample { steps, environment, ..Sample::default() };
        fixture.full_sample("single/ext4", workload, 0, sample);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn a_median_below_half_a_revolution_is_reported() {
        let texts = found("fio", 158_000, true, 1 << 20);
        assert!(texts[0].contains("took at most 7.9 % of half a revolution"), "{texts:?}");
    }

    #[test]
    fn drive_counters_take_precedence_over_latencies() {
        let found = |hits: u64, stacks: &[&str]| {
            let mut fixture = RunFixture::new("");
            for stack in stacks {
                let mut read = figure(Direction::Read, 1 << 20, 1.0);
                read.operations = Some(100);
                let mut one = on_drives(step("s", vec![read]), &[(1 << 20, 0)]);
                one.drives[0].reads = 100;
                one.drives[0].memory_reads = Some(MemoryReads { reads: hits, bytes: hits << 12 });
                fixture.sample(stack, "fio", 0, vec![one]);
            }
            let found = fixture.findings(AUDIT.name);
            found.into_iter().map(|f| (f.severity, f.text)).collect::<Vec<_>>()
        };
        let two = found(30, &["single/ext4", "raid1/btrfs"]);
        assert_eq!((two.len(), two[0].0), (1, Severity::Severe));
        assert!(two[0].1.contains("answered 30 % of the reads"), "{two:?}");
        assert_eq!(found(30, &["single/ext4"])[0].0, Severity::Warning);
        assert!(found(10, &["single/ext4", "raid1/btrfs"]).is_empty());
    }

    #[test]
    fn arms_ssds_streams_and_the_machines_memory_are_clean() {
        assert!(found("fio", 3_000_000, true, 1 << 20).is_empty());
        assert!(found("fio", 158_000, false, 1 << 20).is_empty());
        assert!(found("kept", 158_000, true, 1 << 20).is_empty(), "in order");
        assert!(found("small", 158_000, true, 1 << 20).is_empty(), "in order, and small");
        assert!(found("wide", 158_000, true, 1 << 20).is_empty(), "no small requests");
        assert!(found("fio", 158_000, true, 1 << 18).is_empty(), "read-from-cache says it");
    }
}
