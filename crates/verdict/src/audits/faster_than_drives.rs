//! Figures that no such drives can give.

use disklab_measure::{Direction, DriveState};
use disklab_study::WorkloadSpec;
use disklab_units::{Bytes, BytesPerSecond, significant};

use crate::audits::drive_cache::READS_OF_ONE_ARM;
use crate::audits::{Audit, Found, Reproducer};
use crate::evidence::Evidence;
use crate::nature::{field, fio_option};
use crate::{Group, Severity};

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

/// The fastest hard disks with one arm stream 300 MB/s on their outermost tracks, those
/// with two arms 550 MB/s (data sheets of Exos X24 and 2X18).
const DISK: f64 = 550e6;
/// What four lanes of PCI Express 5.0 carry.
const ANY: f64 = 15.75e9;
/// Commits per second on a disk: each waits for a turn at least, and 15,000 turns per minute
/// are the most that were made. A log in one place gets one in a turn.
const COMMITS: f64 = 2.0 * 15_000.0 / 60.0;

fn is_disk(drive: &DriveState) -> bool {
    // Hypervisors call their disks rotating whatever they are on.
    drive.rotational == Some(true) && drive.model.is_some() && drive.backing_file.is_none()
}

/// Whether a workload reads at random, alone or among writes: fio's by its options, an imported one by what its
/// program called it, such as 'Random Read', 'rndrd' or `random` = 1.
fn is_random(workload: &WorkloadSpec, step: &str) -> bool {
    match workload.kind.as_str() {
        "fio" => fio_option(&workload.body, step, "rw").is_some_and(|rw| rw.starts_with("randr")),
        "imported" => {
            let fields = workload.body.entries().unwrap_or_default();
            fields.iter().any(|(key, node)| {
                let value = node.as_text().unwrap_or_default().to_lowercase();
                match key.name.as_str() {
                    "random" => value == "1",
                    // A command may name anything.
                    "command" => false,
                    _ => value.contains("rand") || value.contains("rndrd"),
                }
            })
        }
        _ => false,
    }
}

/// Random reads per second, unless counters of a run's own drives tell more: then other
/// audits say where they came from. What another program counted says nothing of the drives
/// that somebody named for it.
fn random_reads(evidence: &Evidence<'_>, group: &Group, workload: &WorkloadSpec) -> Option<f64> {
    let counted = group.observations.iter().any(|o| !o.drives.is_empty());
    if counted && !evidence.info.is_import() {
        return None;
    }
    let size = fio_option(&workload.body, &group.key.step, "bs");
    let size = size.and_then(|size| size.parse::<Bytes>().ok()).filter(|size| size.0 > 0);
    let rates = group.observations.iter().filter_map(|o| {
        let told = o.iops.filter(|rate| *rate > 0.0);
        told.or_else(|| Some(o.throughput? / size?.0 as f64)).filter(|rate| *rate > 0.0)
    });
    crate::audits::support::median(rates.collect())
}

/// By how much a figure is beyond its drives, with the sentence about it.
fn beyond(evidence: &Evidence<'_>, group: &Group) -> Option<(f64, String)> {
    let cells = evidence.cells_of(group);
    let drives = &cells.first()?.environment.drives;
    if drives.is_empty() || evidence.measures_memory(group) || evidence.is_lab() {
        return None;
    }
    let virtualised = evidence.info.environment.virtual_machine.is_some();
    let disks = drives.iter().all(is_disk) && !virtualised;
    let each = if disks { DISK } else { ANY };
    let most = each * drives.len() as f64;
    let rates: Vec<f64> = group.observations.iter().filter_map(|o| o.throughput).collect();
    let rate = crate::audits::support::median(rates)?;
    let moves = matches!(group.key.direction, Direction::Read | Direction::Write);
    if moves && rate > most {
        let text = format!(
            "{} from {} that can give {} at most",
            BytesPerSecond(rate).si(),
            crate::words::count(drives.len(), if disks { "hard disk" } else { "drive" }),
            BytesPerSecond(most).si()
        );
        return Some((rate / most, text));
    }
    // Each write of one thread waits for the one before.
    let workload = evidence.workload(group)?;
    if disks && group.key.direction == Direction::Read && is_random(workload, &group.key.step) {
        let reads = random_reads(evidence, group, workload)?;
        let most = READS_OF_ONE_ARM * drives.len() as f64;
        if reads > most {
            let text = format!(
                "{} random reads per second from {} that can give {} at most",
                significant(reads, 3),
                crate::words::count(drives.len(), "hard disk"),
                significant(most, 3)
            );
            return Some((reads / most, text));
        }
    }
    let one_by_one = match workload.kind.as_str() {
        "dd" => field(&workload.body, "flags").is_some_and(|f| f.contains("sync")),
        "fio" => {
            let option = |name: &str| fio_option(&workload.body, &group.key.step, name);
            let one = |name: &str| option(name).is_none_or(|n| n == "1");
            one("numjobs")
                && one("iodepth")
                && ["sync", "fsync", "fdatasync"]
                    .iter()
                    .any(|o| option(o).is_some_and(|v| ["1", "sync", "dsync"].contains(&&*v)))
        }
        _ => false,
    };
    // A controller's logical drive has no write cache of its own that is known, and may have
    // a battery. Of drives that somebody named, nothing is known but that they rotate.
    let bare = evidence.info.is_import() || drives.iter().all(|d| d.write_cache.is_some());
    if disks && bare && one_by_one && group.key.direction == Direction::Write {
        let rates: Vec<f64> = group.observations.iter().filter_map(|o| o.iops).collect();
        let rate = crate::audits::support::median(rates)?;
        if rate > COMMITS {
            let text = format!(
                "{} safe writes per second on hard disks, where each waits for the platter to turn",
                significant(rate, 3)
            );
            return Some((rate / COMMITS, text));
        }
    }
    None
}

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let suspects = evidence.suspects(|_, group| beyond(evidence, group).map(|(ratio, _)| ratio));
    let told = suspects.iter().filter_map(|suspects| {
        let worst = suspects.found.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
        let (_, text) = beyond(evidence, worst.1)?;
        Some(Found {
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
    told.collect()
}

#[cfg(test)]
mod tests {
    use disklab_measure::{Environment, Sample};

    use super::*;
    use crate::testing::{Bed, figure, step};

    fn found(
        workload: &str,
        direction: Direction,
        drives: usize,
        rotating: bool,
        rate: f64,
        operations: u64,
    ) -> Vec<String> {
        let mut bed = Bed::new("");
        bed.info.bench = "imported".to_owned();
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
        bed.full_sample(
            "single/ext4",
            workload,
            0,
            Sample { steps, environment, ..Sample::default() },
        );
        bed.texts(AUDIT.name)
    }

    #[test]
    fn four_disks_that_read_11_7_gb_per_second_are_told() {
        // Phoronix Test Suite, issue 417.
        let found = found("fio", Direction::Read, 4, true, 11.7e9, 1000);
        assert!(
            found[0].contains("11.7 GB/s from 4 hard disks that can give 2.20 GB/s at most"),
            "{found:?}"
        );
    }

    #[test]
    fn random_reads_of_a_memory_are_told() {
        // xpenology-2023: 439 MiB/s in blocks of 4 KiB from two disks of 3 TB. The bed's job
        // `fio` reads at random, `kept` in order.
        let rate = 439.0 * 1048576.0;
        let told = found("fio", Direction::Read, 2, true, rate, 0);
        assert!(
            told[0].contains("112384 random reads per second from 2 hard disks that can give 1200"),
            "{told:?}"
        );
        assert!(found("fio", Direction::Read, 2, false, rate, 0).is_empty(), "SSDs");
        assert!(found("kept", Direction::Read, 2, true, rate, 0).is_empty(), "in order");
        assert!(found("fio", Direction::Read, 2, true, 4096.0 * 1000.0, 0).is_empty());
    }

    #[test]
    fn imported_names_tell_what_reads_at_random() {
        for (fields, expected) in [
            ("pattern = \"rand-read-4k-q32-t1\"", true),
            ("about = \"Type: Random Read - Block Size: 4KB\"", true),
            ("mode = \"rndrd\"", true),
            ("random = \"1\"", true),
            ("random = \"0\"", false),
            ("pattern = \"seq-read-1m-q8-t1\"", false),
            ("command = \"cp randfile x\"", false),
        ] {
            let text = format!(
                "id = \"x\"\ntitle = \"x\"\n[stacks]\na = \"ext4\"\n[[workloads]]\nid = \"w\"\n\
                 imported = {{ {fields} }}\n"
            );
            let study = disklab_study::load("x", &text).expect(fields);
            assert_eq!(is_random(&study.workloads[0], "s"), expected, "{fields}");
        }
    }

    #[test]
    fn commits_without_turns_are_told() {
        let found = found("dd-4k", Direction::Write, 1, true, 20e6, 5000);
        assert!(found[0].contains("5000 safe writes per second on hard disks"), "{found:?}");
    }

    #[test]
    fn what_drives_can_do_is_clean() {
        assert!(found("fio", Direction::Read, 4, true, 1.1e9, 1000).is_empty());
        assert!(found("fio", Direction::Read, 1, false, 7e9, 1000).is_empty());
        assert!(found("dd-4k", Direction::Write, 1, true, 1e6, 120).is_empty());
        assert!(found("dd-4k", Direction::Write, 1, false, 20e6, 5000).is_empty());
        assert!(found("buffered", Direction::Write, 1, true, 100e6, 9000).is_empty());
    }
}
