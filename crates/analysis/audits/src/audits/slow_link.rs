//! A drive on a link that is slower than it must be, or that the workload fills.

use disklab_sample::Direction;
use disklab_units::{BytesPerSecond, per_cents};

use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::{afflicted, median};
use crate::evidence::{CellFacts, Evidence, Suspects, drive_share};
use crate::{Group, Observation, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "slow-link",
    severity: Severity::Warning,
    detects: "a link slower than drive and port allow, or one, or the lab's bus, that the workload fills",
    evidence: "the link's speed in sysfs and SMART, the lab's --bus; bytes that drives moved in a step",
    remedy: "another cable, port or slot; the figure is that of the link",
    reproducer: Reproducer::Lab("a drive linked at 1.5 Gb/s, and RAID 0 on a bus of 200 MB/s"),
    check,
};

/// Share of what a link carries from which it, not the drive, sets the pace: commands
/// take the rest (SATA: some 550 of 600 MB/s are available).
const FILLED: f64 = 0.88;
/// More than this share a link does not carry, the error of clocks included. PCI Express
/// carries as much in the other direction at the same time.
const WHOLE: f64 = 1.02;
/// Where less than this share of what was written had reached the drives, they did not set
/// the pace.
const ON_DRIVES: f64 = 0.9;
/// Shorter steps are not judged.
const SHORTEST_SECONDS: f64 = 0.1;

/// `6.0 Gb/s` in Gbit/s.
fn gigabits(text: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    (words.next()?.starts_with("Gb") && number > 0.0).then_some(number)
}

/// The name of a drive whose link is slower than both ends allow, with what it is and
/// what it could be.
fn slow(cell: &CellFacts) -> Option<(String, String)> {
    let by_smart = cell.environment.drives.iter().find_map(|drive| {
        let most = drive.smart.as_ref()?.get("link_speed_max")?.as_str()?;
        let now = drive.link_speed.as_deref()?;
        (gigabits(now)? < gigabits(most)? * 0.9)
            .then(|| (drive.drive.clone(), format!("{now}, where the drive itself can do {most}")))
    });
    by_smart.or_else(|| {
        cell.conditions().drives.iter().find_map(|drive| {
            let link = drive.link.as_ref()?;
            let most = link.most_bytes_per_second?;
            // A SATA port may be faster than its drive, which SMART tells.
            let narrow = link.kind == "PCIe" && (link.bytes_per_second as f64) < 0.9 * most as f64;
            narrow.then(|| {
                let most = BytesPerSecond(most as f64).si();
                (
                    drive.drive.clone(),
                    format!("{} {}, where the drive itself can do {most}", link.kind, link.speed),
                )
            })
        })
    })
}

/// Whether much of what was written was still in memory when the clock stopped: then
/// whatever a link carried meanwhile did not set the figure.
fn is_in_memory(group: &Group) -> bool {
    matches!(group.key.direction, Direction::Write | Direction::Copy)
        && drive_share(group, |o| o.drive_write).is_some_and(|share| share < ON_DRIVES)
}

/// The share of its link that the busiest drive filled; with `beyond`, only where that is
/// more than the link carries, else only where it is not.
fn filled(evidence: &Evidence<'_>, index: usize, group: &Group, beyond: bool) -> Option<f64> {
    if is_in_memory(group) {
        return None;
    }
    let slowest = evidence
        .cells_of(group)
        .iter()
        .flat_map(|cell| &cell.conditions().drives)
        .filter_map(|drive| drive.link.as_ref().filter(|link| link.bytes_per_second > 0))
        .min_by_key(|link| link.bytes_per_second)?;
    let details = &evidence.details[index];
    let long = details.iter().filter(|d| d.step_seconds >= SHORTEST_SECONDS);
    let rate = slowest.bytes_per_second as f64;
    let whole = if slowest.kind == "PCIe" { 2.0 * WHOLE } else { WHOLE };
    let shares = long.map(|d| d.most_moved as f64 / d.step_seconds / rate);
    median(shares.collect()).filter(|share| *share >= FILLED && (*share > whole) == beyond)
}

/// The share of the bus that all drives filled together, where the lab has one.
fn bus_filled(evidence: &Evidence<'_>, index: usize, group: &Group) -> Option<f64> {
    if is_in_memory(group) {
        return None;
    }
    let bus: BytesPerSecond = match evidence.info.options.bus {
        Some(bus) => bus.0?,
        None => evidence.study.lab_bus.filter(|_| evidence.is_lab())?,
    };
    let moved =
        |o: &Observation| o.drives.iter().map(|d| d.read as f64 + d.written as f64).sum::<f64>();
    let both = evidence.details[index].iter().zip(&group.observations);
    let long = both.filter(|(detail, _)| detail.step_seconds >= SHORTEST_SECONDS);
    let shares = long.map(|(detail, o)| moved(o) / detail.step_seconds / bus.0);
    median(shares.collect()).filter(|share| *share >= FILLED)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let mut all = Vec::new();
    if let Some(cells) = afflicted(evidence, |cell| slow(cell).map(|_| 1.0))
        && let Some((drive, link)) = slow(cells.worst().0)
    {
        all.push(Detection {
            severity: Severity::Warning,
            text: format!("The link of {drive} runs at {link}, in {}.", cells.words()),
            advice: "Try another cable, port or slot; a link that is slower than it was is an \
                     early sign of a bad one."
                .to_owned(),
            groups: cells.groups,
        });
    }
    let over_link = evidence.suspects(|index, group| filled(evidence, index, group, false));
    all.extend(warnings(
        &over_link,
        |share| {
            format!(
                "a drive filled {share} of what its link carries. The figure is that of the link, \
                 and faster drives would not be faster here."
            )
        },
        "Compare with drives on faster links (PCIe instead of SATA or USB), or read the figure as \
         the link's.",
    ));
    let before_link = evidence.suspects(|index, group| filled(evidence, index, group, true));
    all.extend(warnings(
        &before_link,
        |share| {
            format!(
                "a drive moved {share} of what its link carries. Something before the link \
                 answered: the memory of a host, or of a controller."
            )
        },
        "Read more than that memory holds, or have the host pass requests on (QEMU's cache=none).",
    ));
    let over_bus = evidence.suspects(|index, group| bus_filled(evidence, index, group));
    all.extend(warnings(
        &over_bus,
        |share| {
            format!(
                "the drives together filled {share} of the bus that they share. The figure is that \
                 of the bus, and more or faster drives would not be faster here."
            )
        },
        "Compare with --bus none, which gives each drive its own.",
    ));
    all
}

/// A warning for each figure; `what` says it with the share that was measured.
fn warnings(
    suspects: &[Suspects<'_>],
    what: impl Fn(&str) -> String,
    advice: &str,
) -> Vec<Detection> {
    let warning = |suspects: &Suspects<'_>| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: {}",
            suspects.figure,
            suspects.stacks(),
            what(&per_cents(suspects.range()))
        ),
        advice: advice.to_owned(),
        groups: suspects.groups(),
    };
    suspects.iter().map(warning).collect()
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, DriveConditions, DriveState, Environment, Link, Sample};
    use serde_json::json;

    use super::*;
    use crate::testing::{RunFixture, figure, on_drives, step};

    fn link(kind: &str, rate: u64, most: Option<u64>) -> Conditions {
        let link = Link {
            kind: kind.into(),
            speed: "x2".into(),
            bytes_per_second: rate,
            most_bytes_per_second: most,
        };
        let drive =
            DriveConditions { drive: "d-1".into(), link: Some(link), ..DriveConditions::default() };
        Conditions { drives: vec![drive], ..Conditions::default() }
    }

    #[test]
    fn a_negotiated_speed_below_the_drives_own_is_reported() {
        for (now, expected) in [("3.0 Gb/s", 1), ("6.0 Gb/s", 0)] {
            let mut fixture = RunFixture::new("");
            let drive = DriveState {
                drive: "d-1".into(),
                link_speed: Some(now.into()),
                smart: Some(json!({"link_speed_max": "6.0 Gb/s"})),
                ..DriveState::default()
            };
            fixture.around(
                "single/ext4",
                "dd-4k",
                0,
                Environment { drives: vec![drive], ..Environment::default() },
            );
            let texts = fixture.texts(AUDIT.name);
            assert_eq!(texts.len(), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_narrow_slot_is_reported_and_a_fast_port_is_not() {
        for (conditions, expected) in [
            (link("PCIe", 2_000_000_000, Some(4_000_000_000)), 1),
            (link("PCIe", 4_000_000_000, Some(4_000_000_000)), 0),
            (link("SATA", 300_000_000, Some(600_000_000)), 0),
        ] {
            let mut fixture = RunFixture::new("");
            fixture.under("single/ext4", "dd-4k", 0, conditions);
            assert_eq!(fixture.findings(AUDIT.name).len(), expected);
        }
    }

    #[test]
    fn a_filled_link_is_reported() {
        for (moved, expected) in [
            (560_000_000, Some("a drive filled 93 %")),
            (400_000_000, None),
            (640_000_000, Some("a drive moved 107 % of what its link carries. Something before")),
        ] {
            let mut fixture = RunFixture::new("");
            let read = figure(Direction::Read, moved, 1.0);
            let steps = vec![on_drives(step("s", vec![read]), &[(moved, 0)])];
            let conditions = Some(link("SATA", 600_000_000, None));
            let environment = Environment { conditions, ..Environment::default() };
            fixture.full_sample(
                "single/ext4",
                "fio",
                0,
                Sample { steps, environment, ..Sample::default() },
            );
            let texts = fixture.texts(AUDIT.name);
            assert_eq!(texts.len(), usize::from(expected.is_some()), "{texts:?}");
            assert!(expected.is_none_or(|words| texts[0].contains(words)), "{texts:?}");
        }
    }

    #[test]
    fn an_unsynced_write_does_not_fill_a_link() {
        // 1.16 GB/s by the page cache, of which the drive took what its link carries.
        for (asked, expected) in [(1_160_000_000, 0), (560_000_000, 1)] {
            let mut fixture = RunFixture::new("");
            let write = figure(Direction::Write, asked, 1.0);
            let steps = vec![on_drives(step("s", vec![write]), &[(0, 560_000_000)])];
            let conditions = Some(link("SATA", 600_000_000, None));
            let environment = Environment { conditions, ..Environment::default() };
            let sample = Sample { steps, environment, ..Sample::default() };
            fixture.full_sample("single/ext4", "buffered", 0, sample);
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{asked}");
        }
    }

    #[test]
    fn a_bus_that_all_drives_fill_together_is_reported() {
        let study = "[lab]\nbus = \"200 MB/s\"";
        for (more, option, expected) in [
            ("", Some("200 MB/s"), 1),
            (study, None, 1),
            (study, Some("none"), 0),
            ("", Some("415 MB/s"), 0),
            ("", None, 0),
        ] {
            let mut fixture = RunFixture::new(more);
            fixture.info.options.bus = option.map(|bus| bus.parse().unwrap());
            let read = figure(Direction::Read, 190_000_000, 1.0);
            let halves = [(95_000_000, 0), (95_000_000, 0)];
            fixture.sample("raid1/ext4", "fio", 0, vec![on_drives(step("s", vec![read]), &halves)]);
            let texts = fixture.texts(AUDIT.name);
            assert_eq!(texts.len(), expected, "{more}, {option:?}: {texts:?}");
            assert!(texts.iter().all(|t| t.contains("filled 95 % of the bus")), "{texts:?}");
        }
    }

    #[test]
    fn a_rate_is_that_of_a_step_that_is_long_enough() {
        for (kind, seconds, moved, expected) in [
            ("SATA", 2.0, 1_120_000_000, 1),
            ("SATA", 2.0, 560_000_000, 0),
            ("SATA", 0.05, 28_000_000, 0),
            ("SATA", 0.1, 56_000_000, 1),
            // It carries as much in the other direction at the same time.
            ("PCIe", 2.0, 2_400_000_000, 1),
        ] {
            let mut fixture = RunFixture::new("");
            fixture.info.options.bus = Some("600 MB/s".parse().unwrap());
            let read = figure(Direction::Read, moved, seconds);
            let mut one = on_drives(step("s", vec![read]), &[(moved, 0)]);
            one.elapsed_ns = (seconds * 1e9) as u64;
            let conditions = Some(link(kind, 600_000_000, None));
            let environment = Environment { conditions, ..Environment::default() };
            let sample = Sample { steps: vec![one], environment, ..Sample::default() };
            fixture.full_sample("single/ext4", "fio", 0, sample);
            let texts = fixture.texts(AUDIT.name);
            let of = |what: &str| texts.iter().filter(|text| text.contains(what)).count();
            let found = (of("of what its link carries. The figure is"), of("of the bus"));
            assert_eq!(found, (expected, expected), "{kind} {seconds} {moved}: {texts:?}");
        }
    }
}
