//! Random reads that hard disks answered from their own memory.

use disklab_sample::{Direction, Order};

use crate::audits::support::{median, on_hard_disks};
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::{Evidence, drive_share};
use crate::words::per_cents;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "drive-memory-reads",
    severity: Severity::Severe,
    detects: "random reads on hard disks of which more than half took less than half a revolution",
    evidence: "the median latency of random reads, and whether the drives rotate",
    remedy: "read at random from a file many times as large as what the drives keep and read ahead",
    reproducer: Reproducer::Lab(
        "4 KiB read at random from 64 MiB on Btrfs RAID 10: 592 a second, where 512 MiB give 231",
    ),
    check,
};

/// A read at a random place waits for half a revolution on average; no disk turns faster
/// than 15,000 times a minute (data sheets of Ultrastar 15K and Savvio 15K), which is 4 ms.
const HALF_TURN_NS: f64 = 2e6;
/// Reads up to this size are small: their time is that of finding the place.
const SMALL: u64 = 128 << 10;
/// Where the drives delivered less, the machine's memory answered, which another audit says.
const DELIVERED: f64 = 0.5;

/// The share of half a revolution that the median took, if it took less.
fn too_soon(evidence: &Evidence<'_>, group: &Group) -> Option<f64> {
    let reads = group.profile().reads?;
    let random = reads.order == Order::Random && reads.largest <= SMALL;
    if !random || group.key.direction != Direction::Read || evidence.is_import() {
        return None;
    }
    let delivered = drive_share(group, |o| o.drive_read)?;
    if delivered < DELIVERED || !on_hard_disks(evidence, group) {
        return None;
    }
    let medians = group.observations.iter().filter_map(|o| Some(o.latency?.p50_ns));
    let share = median(medians.collect())? / HALF_TURN_NS;
    (share < 1.0).then_some(share)
}

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let suspects = evidence.suspects(|_, group| too_soon(evidence, group));
    let reported = suspects.iter().map(|suspects| Found {
        severity: Severity::Severe,
        text: format!(
            "{} with {}: half of the random reads took less than {} of half a revolution of the \
             fastest hard disks. They came from the drives' own memory, mostly read ahead, or from \
             that of a machine below: the figure says nothing of reads at random.",
            suspects.figure,
            suspects.stacks(),
            per_cents(suspects.range()),
        ),
        advice: "Read from a larger file: some gigabytes on each drive, and never less than their \
                 memory."
            .to_owned(),
        groups: suspects.groups(),
    });
    reported.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{DriveState, Environment, Latency, LatencyHistogram, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn found(workload: &str, median_ns: u64, rotational: bool, delivered: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
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
    fn a_median_below_half_a_turn_is_reported() {
        let texts = found("fio", 158_000, true, 1 << 20);
        assert!(texts[0].contains("took less than 7.9 % of half a revolution"), "{texts:?}");
    }

    #[test]
    fn arms_ssds_streams_and_the_machines_memory_are_clean() {
        assert!(found("fio", 3_000_000, true, 1 << 20).is_empty());
        assert!(found("fio", 158_000, false, 1 << 20).is_empty());
        assert!(found("kept", 158_000, true, 1 << 20).is_empty(), "in order");
        assert!(found("fio", 158_000, true, 1 << 18).is_empty(), "read-from-cache says it");
    }
}
