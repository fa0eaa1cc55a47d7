//! Figures that no such drives can give.

use disklab_cell::Caches;
use disklab_sample::{Direction, DriveState, Durability, Order, Requests};
use disklab_units::{BytesPerSecond, significant};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::drive_cache::READS_OF_ONE_ARM;
use crate::audits::support::median;
use crate::evidence::Evidence;
use crate::{Group, Observation, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "faster-than-drives",
    severity: Severity::Severe,
    detects: "throughput, random reads or commits per second beyond what drives of this kind can do",
    evidence: "the figures, the number of drives, and whether they rotate",
    remedy: "see where the data were: in memory, in a controller's cache, or nowhere",
    reproducer: Reproducer::Import(
        "11.7 GB/s by Phoronix from four disks (issue 417); 112,384 random reads per second from two (xpenology-2023)",
    ),
    check,
};

/// The fastest hard disks with one arm stream less than 300 MB/s on their outermost tracks,
/// those with two arms 550 MB/s (data sheets of Exos X24 and 2X18).
const DISK: f64 = 300e6;
const DISK_OF_TWO_ARMS: f64 = 550e6;
/// Parts of the model numbers of disks with two arms that show themselves as one: Exos
/// 2X14 and 2X18, Ultrastar HS760 (their data sheets).
const TWO_ARMS: [&str; 6] =
    ["2X14", "2X18", "ST14000NM0001", "ST18000NM0092", "ST18000NM0272", "HS760"];
/// What four lanes of PCI Express 5.0 carry.
const ANY: f64 = 15.75e9;
/// Commits per second on a disk: each waits for a turn at least, and 15,000 turns per minute
/// are the most that were made. A log in one place gets one per revolution.
const COMMITS: f64 = 2.0 * 15_000.0 / 60.0;
/// Random reads per second of a disk that has one request at a time: each waits for half a
/// revolution on average, of 15,000 per minute at most.
const READS_IN_TURN: f64 = 2.0 * 15_000.0 / 60.0;
/// The same of any drive, and its durable writes: the fastest one, Optane, takes 5 to 6 µs from a
/// request to its end (Intel's product brief of the SSD DC P5800X).
const ANY_IN_TURN: f64 = 200_000.0;
/// A model has what files get through its link; the wire carries a tenth more (SATA: 600 MB/s of
/// 6 Gb/s, and 550 of them).
const WIRE: f64 = 1.1;

fn is_disk(evidence: &Evidence<'_>, drive: &DriveState) -> bool {
    // Hypervisors call their disks rotating whatever they are on; the lab knows.
    let known = drive.model.is_some() || evidence.is_lab();
    drive.rotational == Some(true) && known && drive.backing_file.is_none()
}

/// What a drive moves at most, in bytes per second.
fn most_of(drive: &DriveState, disks: bool) -> f64 {
    let model = drive.model.as_deref().unwrap_or_default();
    let kind = match disks {
        true if TWO_ARMS.iter().any(|name| model.contains(name)) => DISK_OF_TWO_ARMS,
        true => DISK,
        false => ANY,
    };
    drive.link_bytes_per_second.map_or(kind, |link| kind.min(link * WIRE))
}

/// Whether a step reads at random, alone or among writes.
fn is_random(group: &Group) -> bool {
    group.profile().reads.is_some_and(|reads| reads.order == Order::Random)
}

/// Random reads per second, unless counters of a run's own drives show more: then other
/// audits say where they came from. What another program counted says nothing of the drives
/// that somebody named for it.
fn random_reads(group: &Group, imported: bool) -> Option<f64> {
    if !imported && group.observations.iter().any(|o| !o.drives.is_empty()) {
        return None;
    }
    let size = group.requests().and_then(Requests::size).filter(|size| *size > 0);
    let rates = group.observations.iter().filter_map(|o| {
        let measured = o.iops.filter(|rate| *rate > 0.0);
        measured.or_else(|| Some(o.throughput? / size? as f64)).filter(|rate| *rate > 0.0)
    });
    median(rates.collect())
}

/// The drives of a figure, whether all of them are hard disks, and whether another program
/// measured on them.
struct Below<'a> {
    drives: &'a [DriveState],
    disks: bool,
    imported: bool,
}

impl Below<'_> {
    fn count(&self) -> String {
        disklab_units::count(self.drives.len(), if self.disks { "hard disk" } else { "drive" })
    }

    /// Bytes per second beyond what the drives move.
    fn rate(&self, group: &Group) -> Option<(f64, String)> {
        let most: f64 = self.drives.iter().map(|drive| most_of(drive, self.disks)).sum();
        let rates: Vec<f64> = group.observations.iter().filter_map(|o| o.throughput).collect();
        let rate = median(rates)?;
        // What deduplication, compression or memory kept from the drives is not beyond them.
        let rate = self.moved(group).map_or(rate, |moved| rate.min(moved));
        let moves = matches!(group.key.direction, Direction::Read | Direction::Write);
        (moves && rate > most).then(|| {
            let (shown, most_shown) = (BytesPerSecond(rate).si(), BytesPerSecond(most).si());
            let text = format!("{shown} from {} that can give {most_shown} at most", self.count());
            (rate / most, text)
        })
    }

    /// Bytes per second that the drives moved by their own counters; none if they were not read.
    fn moved(&self, group: &Group) -> Option<f64> {
        let counted = group.observations.iter().filter(|o| !o.drives.is_empty() && o.elapsed > 0.0);
        let rate = |o: &Observation| (o.drive_read + o.drive_write) as f64 / o.elapsed;
        if self.imported { None } else { median(counted.map(rate).collect()) }
    }

    /// Random reads per second beyond what arms do, or what requests take that wait for each
    /// other.
    fn reads(&self, group: &Group) -> Option<(f64, String)> {
        let random = group.key.direction == Direction::Read && is_random(group);
        let reads = random_reads(group, self.imported).filter(|_| random)?;
        let arms = READS_OF_ONE_ARM * self.drives.len() as f64;
        let all = if self.disks { arms } else { f64::INFINITY };
        let in_turn = if self.disks { READS_IN_TURN } else { ANY_IN_TURN };
        let in_flight = in_flight(group);
        let waiting = in_flight.map_or(f64::INFINITY, |n| f64::from(n) * in_turn);
        let most = all.min(waiting);
        (reads > most).then(|| {
            let with = match in_flight.filter(|_| waiting < all) {
                Some(n) => format!(" with {n} in flight"),
                None => String::new(),
            };
            let text = format!(
                "{} random reads per second from {} that can give {} at most{with}",
                significant(reads, 3),
                self.count(),
                significant(most, 3)
            );
            (reads / most, text)
        })
    }

    /// Commits per second beyond the revolutions of a platter.
    fn commits(&self, group: &Group) -> Option<(f64, String)> {
        // A controller's logical drive has no write cache of its own that is known, and may
        // have a battery. Of drives that somebody named, nothing is known but that they rotate.
        let bare = self.imported || self.drives.iter().all(|drive| drive.write_cache.is_some());
        let writes = group.key.direction == Direction::Write;
        let judged = writes && (bare || !self.disks);
        let every = writes_per_commit(group).filter(|_| judged)?;
        let rates: Vec<f64> = group.observations.iter().filter_map(|o| o.iops).collect();
        let rate = median(rates)? / every as f64;
        let (most, why) = match self.disks {
            true => (COMMITS, "on hard disks, where each waits for the platter"),
            false => {
                (ANY_IN_TURN, "one after another, where no drive takes less than 5 µs for one")
            }
        };
        (rate > most).then(|| {
            let rate_shown = significant(rate, 3);
            let what = match every {
                1 => format!("{rate_shown} durable writes per second"),
                n => format!("{rate_shown} syncs per second, one for every {n} writes,"),
            };
            (rate / most, format!("{what} {why}"))
        })
    }
}

/// Requests that are in flight together at most, if that is known.
fn in_flight(group: &Group) -> Option<u32> {
    let profile = group.profile();
    profile.jobs?.checked_mul(profile.depth?).filter(|n| *n > 0)
}

/// Writes from one commit to the next, if each commit waits for the one before.
fn writes_per_commit(group: &Group) -> Option<u64> {
    let profile = group.profile();
    profile.writes?;
    let one_by_one = (profile.jobs, profile.depth) == (Some(1), Some(1));
    match profile.durability.filter(|_| one_by_one)? {
        Durability::EachWrite(_) => Some(1),
        Durability::Every { writes, .. } => Some(writes.max(1)),
        Durability::AtEnd(_) | Durability::Nothing => None,
    }
}

/// By how much a figure is beyond its drives, with the sentence about it.
fn beyond(evidence: &Evidence<'_>, group: &Group) -> Option<(f64, String)> {
    let workload = evidence.workload(group);
    // In the lab, memory answers in no time; that a study keeps it is said by another audit.
    let kept = evidence.is_lab()
        && workload.is_some_and(|w| w.caches == Caches::Keep)
        && group.key.direction == Direction::Read;
    let drives = &evidence.cells_of(group).first()?.environment.drives;
    if drives.is_empty() || group.profile().is_of_memory() || kept {
        return None;
    }
    // The lab is a virtual machine whose drives are known.
    let virtualised = evidence.info.environment.virtual_machine.is_some() && !evidence.is_lab();
    let disks = drives.iter().all(|drive| is_disk(evidence, drive)) && !virtualised;
    let below = Below { drives, disks, imported: evidence.info.is_import() };
    below.rate(group).or_else(|| below.reads(group)).or_else(|| below.commits(group))
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let suspects = evidence.suspects(|_, group| beyond(evidence, group).map(|(ratio, _)| ratio));
    let findings = suspects.iter().filter_map(|suspects| {
        let worst = suspects.found.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
        let (_, text) = beyond(evidence, worst.1)?;
        Some(Detection {
            severity: Severity::Severe,
            text: format!(
                "{} with {}: {text}. Something else gave this figure.",
                suspects.figure,
                suspects.stacks()
            ),
            advice: "Memory answers reads of small files; a drive or controller that calls writes \
                     safe before they are answers commits: only one whose cache outlasts a loss \
                     of power may."
                .to_owned(),
            groups: suspects.groups(),
        })
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Environment, Sample};

    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn found(
        workload: &str,
        direction: Direction,
        drives: usize,
        rotating: bool,
        rate: f64,
        operations: u64,
    ) -> Vec<String> {
        let mut fixture = RunFixture::new(
            "[[workloads]]\nid = \"deep\"\nfio = { size = \"1G\", rw = \"randread\", bs = \"4k\", direct = 1, \
             ioengine = \"libaio\", iodepth = 32 }\n",
        );
        fixture.info.bench = "import".parse().unwrap();
        let mut one = figure(direction, (rate * 10.0) as u64, 10.0);
        one.operations = Some(operations * 10);
        let drive = DriveState {
            model: Some("WDC WD40EFRX".into()),
            rotational: Some(rotating),
            write_cache: Some("write back".into()),
            ..DriveState::default()
        };
        let environment = Environment { drives: vec![drive; drives], ..Environment::default() };
        let steps = vec![step("s", vec![one])];
        fixture.full_sample(
            "single/ext4",
            workload,
            0,
            Sample { steps, environment, ..Sample::default() },
        );
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn four_disks_that_read_11_7_gb_per_second_are_reported() {
        // Phoronix Test Suite, issue 417.
        let found = found("fio", Direction::Read, 4, true, 11.7e9, 1000);
        assert!(
            found[0].contains("11.7 GB/s from 4 hard disks that can give 1.20 GB/s at most"),
            "{found:?}"
        );
    }

    #[test]
    fn rates_beyond_one_actuator_are_reported() {
        let texts = found("buffered", Direction::Write, 1, true, 404e6, 1000);
        assert!(
            texts[0].contains("404 MB/s from 1 hard disk that can give 300 MB/s at most"),
            "{texts:?}"
        );
        assert!(found("buffered", Direction::Write, 1, true, 285e6, 1000).is_empty());
        let two_arms =
            DriveState { model: Some("ST18000NM0092-3CX103".into()), ..DriveState::default() };
        assert_eq!(
            (most_of(&two_arms, true), most_of(&DriveState::default(), true)),
            (550e6, 300e6)
        );
    }

    #[test]
    fn the_lab_is_judged_too() {
        // A buffered write in virtual time takes none.
        for (rate, expected) in [(4.05e12, 1), (180e6, 0)] {
            let mut fixture = RunFixture::new("");
            let write = figure(Direction::Write, 1 << 30, (1_u64 << 30) as f64 / rate);
            let drive = DriveState { rotational: Some(true), ..DriveState::default() };
            let environment = Environment { drives: vec![drive], ..Environment::default() };
            let steps = vec![step("s", vec![write])];
            let sample = Sample { steps, environment, ..Sample::default() };
            fixture.full_sample("single/ext4", "buffered", 0, sample);
            let found = fixture.findings(AUDIT.name);
            assert_eq!(found.len(), expected, "{found:?}");
            assert!(found.iter().all(|f| f.severity == Severity::Severe), "{found:?}");
        }
    }

    /// By how many times, not by how much.
    #[test]
    fn what_is_farthest_beyond_its_drives_is_named() {
        let mut fixture = RunFixture::new("");
        for (stack, disks, rate) in [("single/ext4", 1, 404e6), ("raid1/ext4", 4, 1.3e9)] {
            let write = figure(Direction::Write, 1 << 30, (1_u64 << 30) as f64 / rate);
            let drive = DriveState { rotational: Some(true), ..DriveState::default() };
            let environment = Environment { drives: vec![drive; disks], ..Environment::default() };
            let steps = vec![step("s", vec![write])];
            let sample = Sample { steps, environment, ..Sample::default() };
            fixture.full_sample(stack, "buffered", 0, sample);
        }
        let texts = fixture.texts(AUDIT.name);
        assert!(texts[0].contains("404 MB/s from 1 hard disk that can"), "{texts:?}");
    }

    #[test]
    fn random_reads_of_a_memory_are_reported() {
        // xpenology-2023: 439 MiB/s in blocks of 4 KiB from two disks of 3 TB. The fixture's job
        // `deep` reads at random, `kept` in order.
        let rate = 439.0 * 1048576.0;
        let texts = found("deep", Direction::Read, 2, true, rate, 0);
        assert!(
            texts[0]
                .contains("112384 random reads per second from 2 hard disks that can give 1200"),
            "{texts:?}"
        );
        assert!(found("deep", Direction::Read, 2, false, rate, 0).is_empty(), "SSDs");
        assert!(found("kept", Direction::Read, 2, true, rate, 0).is_empty(), "in order");
        assert!(found("deep", Direction::Read, 2, true, 4096.0 * 1000.0, 0).is_empty());
    }

    /// What is found of an import with this job of fio on these drives.
    fn imported(job: &str, direction: Direction, drives: &[DriveState], rate: u64) -> Vec<String> {
        let mut fixture = RunFixture::new(&format!(
            "[[workloads]]\nid = \"job\"\nfio = {{ size = \"8G\", direct = 1, {job} }}\n"
        ));
        fixture.info.bench = "import".parse().unwrap();
        let mut one = figure(direction, rate * 4096, 1.0);
        one.operations = Some(rate);
        let environment = Environment { drives: drives.to_vec(), ..Environment::default() };
        let steps = vec![step("job", vec![one])];
        let sample = Sample { steps, environment, ..Sample::default() };
        fixture.full_sample("single/ext4", "job", 0, sample);
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn requests_that_wait_for_each_other_take_their_time() {
        let kind = |rotates| DriveState { rotational: Some(rotates), ..DriveState::default() };
        let disks =
            [true; 4].map(|rotates| DriveState { model: Some("ST".into()), ..kind(rotates) });
        let reads = |more: &str, drives: &[DriveState], rate| {
            let job = format!("rw = \"randread\", bs = \"4k\", ioengine = \"libaio\", {more}");
            imported(&job, Direction::Read, drives, rate)
        };
        // Four arms do not help a thread that reads one block at a time.
        let texts = reads("iodepth = 1", &disks, 1000);
        assert!(texts[0].contains("that can give 500 at most with 1 in flight"), "{texts:?}");
        assert!(reads("iodepth = 4", &disks, 1000).is_empty());
        let texts = reads("iodepth = 1", &[kind(false)], 2_000_000);
        assert!(texts[0].contains("from 1 drive that can give 200000 at most"), "{texts:?}");
        assert!(reads("iodepth = 1", &[kind(false)], 15_000).is_empty());
        assert!(reads("iodepth = 32", &[kind(false)], 1_000_000).is_empty());
        let job = "rw = \"randwrite\", bs = \"4k\", fsync = 1";
        let texts = imported(job, Direction::Write, &[kind(false)], 900_000);
        assert!(texts[0].contains("900000 durable writes per second one after"), "{texts:?}");
        assert!(imported(job, Direction::Write, &[kind(false)], 60_000).is_empty());
    }

    #[test]
    fn a_link_that_is_known_carries_no_more() {
        let sata = DriveState {
            rotational: Some(false),
            link_bytes_per_second: Some(550e6),
            ..DriveState::default()
        };
        let job = "rw = \"read\", bs = \"4k\"";
        let texts = imported(job, Direction::Read, &[sata.clone(), sata.clone()], 700_000);
        assert!(texts[0].contains("2.87 GB/s from 2 drives that can give 1.21 GB/s"), "{texts:?}");
        assert!(imported(job, Direction::Read, &[sata.clone(), sata], 270_000).is_empty());
    }

    #[test]
    fn commits_faster_than_revolutions_are_reported() {
        let found = found("dd-4k", Direction::Write, 1, true, 20e6, 5000);
        assert!(found[0].contains("5000 durable writes per second on hard disks"), "{found:?}");
    }

    /// What is said of syncs after every fourth write of each stack.
    fn syncs(writes: &[(&str, u64)]) -> Vec<String> {
        let mut fixture = RunFixture::new(
            "[[workloads]]\nid = \"log\"\nfio = { rw = \"randwrite\", bs = \"4k\", size = \"1G\", \
             fdatasync = 4 }\n",
        );
        fixture.info.bench = "import".parse().unwrap();
        let drive = DriveState { model: Some("ST4000".into()), ..DriveState::default() };
        let drive = DriveState { rotational: Some(true), ..drive };
        let environment = Environment { drives: vec![drive; 4], ..Environment::default() };
        for (stack, writes) in writes {
            let mut one = figure(Direction::Write, writes * 4096, 1.0);
            one.operations = Some(*writes);
            let environment = environment.clone();
            let sample =
                Sample { steps: vec![step("log", vec![one])], environment, ..Sample::default() };
            fixture.full_sample(stack, "log", 0, sample);
        }
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn syncs_after_several_writes_wait_for_the_platter_too() {
        let texts = syncs(&[("single/ext4", 2312), ("single/xfs", 1900)]);
        assert_eq!(texts.len(), 1, "{texts:?}");
        let expected =
            "log with single/ext4: 578 syncs per second, one for every 4 writes, on hard";
        assert!(texts[0].starts_with(expected), "{texts:?}");
        // What is farthest beyond the drives is said of all.
        let texts = syncs(&[("single/ext4", 2312), ("raid1/ext4", 4080)]);
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains(": 1020 syncs per second"), "{texts:?}");
    }

    #[test]
    fn rates_within_the_drives_are_clean() {
        assert!(found("deep", Direction::Read, 4, true, 1.1e9, 1000).is_empty());
        assert!(found("deep", Direction::Read, 1, false, 7e9, 1000).is_empty());
        assert!(found("dd-4k", Direction::Write, 1, true, 1e6, 120).is_empty());
        assert!(found("dd-4k", Direction::Write, 1, false, 20e6, 5000).is_empty());
        assert!(found("buffered", Direction::Write, 1, true, 100e6, 9000).is_empty());
    }
}
