//! Work that a drive's own memory can take.

use disklab_sample::{Direction, Order};
use disklab_units::{Bytes, list};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::drive_memory_reads::LARGEST_SHARE;
use crate::audits::support::{median, on_hard_disks};
use crate::evidence::{CellFacts, Detail, Evidence};
use crate::{Group, Observation, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "fits-drive-cache",
    severity: Severity::Warning,
    detects: "writes without a flush that fit into the drives' own memory, and random reads faster than arms can move",
    evidence: "bytes written to and requests read from each drive, the size of its memory, whether it rotates",
    remedy: "write much more than the drives' memory, or end with a flush; read a larger file",
    reproducer: Reproducer::Lab("direct writes of less than the drive's memory"),
    check,
};

/// From this share on, memory hardly sets the figure any more: half of it was written on to
/// the medium meanwhile, as drives begin at once.
const SHARE: f64 = 1.0;
/// Random reads per second of one arm: with a deep queue over a small part of the disk, the
/// fastest reach some 400 (SNIA's and makers' data for 15,000 turns per minute).
pub(super) const READS_OF_ONE_ARM: f64 = 600.0;
/// Shorter steps are not judged.
const SHORTEST_SECONDS: f64 = 0.2;

fn caches(cell: &CellFacts) -> bool {
    let mut drives = cell.environment.drives.iter().peekable();
    drives.peek().is_some() && drives.all(|d| d.write_cache.as_deref() == Some("write back"))
}

/// The drives' memory, where it could take all that was written and nobody asked for a flush.
fn kept(evidence: &Evidence<'_>, index: usize, group: &Group) -> Option<u64> {
    let profile = group.profile();
    if group.key.direction != Direction::Write || profile.is_durable() || !profile.is_direct() {
        return None;
    }
    let cells = evidence.cells_of(group);
    let memory = cells.iter().filter(|c| caches(c)).filter_map(|c| c.smallest_memory()).min()?;
    let flushed = evidence.details[index].iter().any(|d| d.flushes > 0);
    let written = group.observations.iter().flat_map(|o| &o.drives).map(|d| d.written).max()?;
    (!flushed && written > 0 && (written as f64) < SHARE * memory as f64).then_some(memory)
}

/// Whether the drives' own counts say that their memory answered hardly any read.
fn is_from_media(group: &Group) -> bool {
    let shares = group.observations.iter().filter_map(|o| Some(o.memory_reads?.of_reads));
    median(shares.collect()).is_some_and(|share| share < LARGEST_SHARE)
}

/// Random reads per second of the busiest rotating drive, where no arm can do so many.
fn too_many(evidence: &Evidence<'_>, index: usize, group: &Group) -> Option<f64> {
    let profile = group.profile();
    let random =
        profile.writes.is_none() && profile.reads.is_some_and(|reads| reads.order == Order::Random);
    if !random || !on_hard_disks(evidence, group) || is_from_media(group) {
        return None;
    }
    // An array cuts a large read into pieces that lie side by side on each drive: the arm
    // goes there once.
    let places = |(detail, observation): (&Detail, &Observation)| {
        let reads = observation.operations.map_or(detail.most_reads, |n| n.min(detail.most_reads));
        (detail.step_seconds >= SHORTEST_SECONDS).then(|| reads as f64 / detail.step_seconds)
    };
    let rates = evidence.details[index].iter().zip(&group.observations).filter_map(places);
    let rates = rates.collect();
    median(rates).filter(|rate| *rate > READS_OF_ONE_ARM)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    let writes = evidence.suspects(|index, group| kept(evidence, index, group).map(|m| m as f64));
    if !writes.is_empty() {
        let listed: Vec<String> =
            writes.iter().map(|s| format!("{} with {}", s.figure, s.stacks())).collect();
        let memory = writes.iter().map(|s| s.range().0).fold(f64::INFINITY, f64::min);
        all.push(Detection {
            severity: Severity::Warning,
            text: format!(
                "Fewer bytes were written to each drive than its own memory of {} takes, and \
                 nothing asked for a flush: {}. The figures are in part those of that memory.",
                Bytes(memory as u64).iec(),
                list(listed.iter().map(String::as_str), 6)
            ),
            advice: "Write many times the drives' memory, or let the clock run until it is on the \
                     medium (end_fsync = 1)."
                .to_owned(),
            groups: writes.iter().flat_map(|s| s.groups()).collect(),
        });
    }
    let reads = evidence.suspects(|index, group| too_many(evidence, index, group));
    all.extend(reads.iter().map(|suspects| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: a hard disk answered {:.0} random reads per second, more than its arm can \
             move: they came from its own memory, or from that of a machine below it.",
            suspects.figure,
            suspects.stacks(),
            suspects.range().1
        ),
        advice: "Read from a file many times the drives' memory, each block once.".to_owned(),
        groups: suspects.groups(),
    }));
    all
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, DriveConditions, DriveState, Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn sample(direction: Direction, bytes: u64, reads: u64, flushes: u64) -> Sample {
        let traffic = if direction == Direction::Write { (0, bytes) } else { (bytes, 0) };
        let mut one = on_drives(step("s", vec![figure(direction, bytes, 1.0)]), &[traffic]);
        one.drives[0].reads = reads;
        one.drives[0].flushes = flushes;
        let drive = DriveState {
            write_cache: Some("write back".into()),
            rotational: Some(true),
            ..DriveState::default()
        };
        let own = DriveConditions { cache_bytes: Some(64 << 20), ..DriveConditions::default() };
        let conditions = Some(Conditions { drives: vec![own], ..Conditions::default() });
        let environment = Environment { drives: vec![drive], conditions, ..Environment::default() };
        Sample { steps: vec![one], environment, ..Sample::default() }
    }

    fn found(workload: &str, sample: Sample) -> usize {
        let mut fixture = RunFixture::new(
            "[[workloads]]\nid = \"direct\"\nfio = { size = \"1G\", rw = \"write\", bs = \"1M\", direct = 1 }",
        );
        fixture.full_sample("single/ext4", workload, 0, sample);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn small_writes_and_impossible_reads_are_reported() {
        assert_eq!(found("direct", sample(Direction::Write, 16 << 20, 0, 0)), 1);
        assert_eq!(found("fio", sample(Direction::Read, 8 << 20, 2000, 0)), 1);
    }

    #[test]
    fn large_and_flushed_writes_and_possible_reads_are_clean() {
        assert_eq!(found("direct", sample(Direction::Write, 640 << 20, 0, 0)), 0);
        assert_eq!(found("direct", sample(Direction::Write, 16 << 20, 0, 1)), 0);
        assert_eq!(found("buffered", sample(Direction::Write, 16 << 20, 0, 0)), 0);
        let mut through = sample(Direction::Write, 16 << 20, 0, 0);
        through.environment.drives[0].write_cache = Some("write through".into());
        assert_eq!(found("direct", through), 0);
        assert_eq!(found("fio", sample(Direction::Read, 1 << 20, 250, 0)), 0);
        // 250 reads that an array cut into 2,000.
        let mut cut = sample(Direction::Read, 250 << 20, 2000, 0);
        cut.steps[0].figures[0].operations = Some(250);
        assert_eq!(found("fio", cut), 0);
    }

    fn texts(workload: &str, mut sample: Sample, seconds: f64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        sample.steps[0].elapsed_ns = (seconds * 1e9) as u64;
        fixture.full_sample("single/ext4", workload, 0, sample);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn an_arms_reads_are_those_of_a_second() {
        let reads = |count: u64| sample(Direction::Read, 8 << 20, count, 0);
        let many = texts("fio", reads(2000), 2.0);
        assert!(many[0].contains("a hard disk answered 1000 random reads"), "{many:?}");
        assert_eq!(texts("fio", reads(2000), 4.0), [""; 0]);
        assert_eq!(texts("fio", reads(150), 0.15), [""; 0], "too short to say");
        let mut flash = reads(2000);
        flash.environment.drives[0].rotational = Some(false);
        assert_eq!(texts("fio", flash, 1.0), [""; 0]);
        assert_eq!(texts("buffered", reads(2000), 1.0), [""; 0], "it writes");
    }

    #[test]
    fn a_drive_that_counts_its_own_hits_is_believed() {
        let found = |hits: u64| {
            let mut reads = sample(Direction::Read, 8 << 20, 2000, 0);
            reads.steps[0].drives[0].memory_reads =
                Some(disklab_sample::MemoryReads { reads: hits, bytes: hits << 12 });
            texts("fio", reads, 1.0).len()
        };
        assert_eq!([found(0), found(1000)], [0, 1]);
    }

    #[test]
    fn the_smallest_memory_counts_if_each_is_known() {
        let memory = |sizes: &[Option<u64>]| {
            let mut fixture = RunFixture::new(
                "[[workloads]]\nid = \"direct\"\nfio = { size = \"1G\", rw = \"write\", bs = \"1M\", direct = 1 }",
            );
            let mut sample = sample(Direction::Write, 16 << 20, 0, 0);
            let own = |size: &Option<u64>| DriveConditions {
                cache_bytes: *size,
                ..DriveConditions::default()
            };
            let drives = sizes.iter().map(own).collect();
            sample.environment.conditions = Some(Conditions { drives, ..Conditions::default() });
            fixture.full_sample("single/ext4", "direct", 0, sample);
            fixture.texts(AUDIT.name)
        };
        let found = memory(&[Some(64 << 20), Some(32 << 20)]);
        assert!(found[0].contains("its own memory of 32 MiB takes"), "{found:?}");
        assert_eq!(memory(&[Some(64 << 20), Some(16 << 20)]), [""; 0]);
        assert_eq!(memory(&[Some(64 << 20), None]), [""; 0]);
        assert_eq!(memory(&[Some(0)]), [""; 0]);
    }
}
