//! Drives that are failing, worn, hot or badly cabled.

use disklab_sample::DriveState;
use disklab_units::{count, list};
use serde_json::Value;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::audits::support::afflicted;
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "smart-trouble",
    severity: Severity::Severe,
    detects: "drives that SMART says are failing, lose sectors, have link errors, are worn or hot",
    evidence: "what smartctl says of each drive",
    remedy: "replace the drive or its cable, cool it, and measure again",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Counters that are 0 on a sound drive, with what they count. A retry after each takes
/// seconds on a disk. Reallocated sectors alone are some on many old drives.
const COUNTS: [(&str, u64, &str); 6] = [
    ("pending_sectors", 1, "unreadable sector"),
    ("offline_uncorrectable_sectors", 1, "uncorrectable sector"),
    ("uncorrectable_errors", 1, "uncorrectable error"),
    ("media_errors", 1, "medium error"),
    ("reallocated_sectors", 10, "reallocated sector"),
    ("link_crc_errors", 10, "link error"),
];
/// Disks are specified up to 60 °C (data sheets of NAS drives: 65 °C at most).
const HOT_DISK: u64 = 60;
/// NVMe drives slow down at 70 to 85 °C (data sheets; NVMe's warning temperature).
const HOT_FLASH: u64 = 70;
/// From here on an SSD has used what its maker promises.
const WORN: u64 = 100;

fn number(smart: &Value, name: &str) -> Option<u64> {
    smart.get(name).and_then(Value::as_u64)
}

/// Whether it is failing, and what is wrong with it.
fn trouble(drive: &DriveState) -> Option<(bool, String)> {
    let smart = drive.smart.as_ref()?;
    let failing = smart.get("passed") == Some(&Value::Bool(false));
    let mut words = Vec::new();
    if failing {
        words.push("SMART says that it is failing".to_owned());
    }
    for (name, least, what) in COUNTS {
        let found = number(smart, name).filter(|found| *found >= least);
        words.extend(found.map(|found| count(found as usize, what)));
    }
    let limit = if drive.rotational == Some(true) { HOT_DISK } else { HOT_FLASH };
    let hot = number(smart, "temperature_celsius").filter(|celsius| (limit..200).contains(celsius));
    words.extend(hot.map(|celsius| format!("{celsius} °C")));
    let worn = number(smart, "wear_percent").filter(|worn| *worn >= WORN);
    words.extend(worn.map(|worn| format!("{worn} % of its life used")));
    let text = list(words.iter().map(String::as_str), 4);
    (!words.is_empty()).then_some((failing, text))
}

fn worst(cell: &CellFacts) -> Option<(bool, String)> {
    let all = cell.environment.drives.iter().filter_map(|drive| {
        let (failing, words) = trouble(drive)?;
        let model = drive.model.as_deref().unwrap_or("no model");
        Some((failing, format!("{} ({model}): {words}", drive.drive)))
    });
    all.max_by_key(|(failing, _)| *failing)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let found = afflicted(evidence, |cell| Some(if worst(cell)?.0 { 2.0 } else { 1.0 }));
    let Some(cells) = found else { return Vec::new() };
    let Some((failing, words)) = worst(cells.worst().0) else { return Vec::new() };
    vec![Detection {
        severity: if failing { Severity::Severe } else { Severity::Warning },
        text: format!("A drive is in trouble in {}: {words}.", cells.words()),
        advice: "Link errors mean a bad cable, others a drive to replace: one that retries, or throttles because it is hot, slows down a whole array."
            .to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::Environment;
    use serde_json::json;

    use super::*;
    use crate::testing::RunFixture;

    fn found(smart: Value, rotational: bool) -> Vec<(Severity, String)> {
        let mut fixture = RunFixture::new("");
        let drive = DriveState {
            drive: "d-1".into(),
            rotational: Some(rotational),
            smart: Some(smart),
            ..DriveState::default()
        };
        fixture.around(
            "single/ext4",
            "dd-4k",
            0,
            Environment { drives: vec![drive], ..Environment::default() },
        );
        fixture.findings(AUDIT.name).into_iter().map(|f| (f.severity, f.text)).collect()
    }

    #[test]
    fn failing_and_sick_drives_are_reported() {
        let failing = found(json!({"passed": false, "pending_sectors": 8}), true);
        assert_eq!(failing[0].0, Severity::Severe);
        assert!(failing[0].1.contains("is failing and 8 unreadable sectors"), "{failing:?}");
        assert_eq!(found(json!({"link_crc_errors": 120}), true)[0].0, Severity::Warning);
        assert!(found(json!({"temperature_celsius": 74}), false)[0].1.contains("74 °C"));
    }

    #[test]
    fn sound_drives_are_clean() {
        let sound = json!({"passed": true, "pending_sectors": 0, "reallocated_sectors": 3,
                           "link_crc_errors": 2, "temperature_celsius": 45, "wear_percent": 7});
        assert!(found(sound, true).is_empty());
        assert!(found(json!({"temperature_celsius": 62}), false).is_empty());
    }

    #[test]
    fn each_counter_has_its_limit() {
        for (name, sound, sick, rotational, words) in [
            ("pending_sectors", 0, 1, true, "1 unreadable sector"),
            ("media_errors", 0, 1, false, "1 medium error"),
            ("reallocated_sectors", 9, 10, true, "10 reallocated sectors"),
            ("temperature_celsius", 59, 60, true, "60 °C"),
            ("temperature_celsius", 69, 70, false, "70 °C"),
            // No drive is as hot as that.
            ("temperature_celsius", 200, 199, true, "199 °C"),
            ("wear_percent", 99, 100, false, "100 % of its life used"),
        ] {
            assert_eq!(found(json!({ name: sound }), rotational), [], "{name}");
            let found = found(json!({ name: sick }), rotational);
            let expected = format!("in the only cell: d-1 (no model): {words}.");
            assert!(found[0].1.ends_with(&expected), "{found:?}");
        }
    }

    #[test]
    fn a_drive_that_fails_comes_before_others() {
        let mut fixture = RunFixture::new("");
        let drive = |name: &str, smart| DriveState {
            drive: name.into(),
            model: Some("Red".into()),
            smart: Some(smart),
            ..DriveState::default()
        };
        let failing = drive("d-1", json!({"passed": false}));
        let sick = drive("d-2", json!({"pending_sectors": 8}));
        for (block, drives) in [(0, vec![sick.clone()]), (1, vec![failing, sick])] {
            let environment = Environment { drives, ..Environment::default() };
            fixture.around("single/ext4", "dd-4k", block, environment);
        }
        let found = fixture.findings(AUDIT.name).remove(0);
        let expected = "in all 2 cells: d-1 (Red): SMART says that it is failing.";
        assert!(found.text.ends_with(expected), "{}", found.text);
        assert_eq!(found.severity, Severity::Severe);
    }
}
