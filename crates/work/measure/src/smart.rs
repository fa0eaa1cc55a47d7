//! What a drive says of its own health, through `smartctl --json`.

use std::path::Path;
use std::time::Duration;

use disklab_exec::{Executor, Invocation};
use serde_json::{Map, Value};

/// A drive that has to spin up first takes its time, but not this long.
const LIMIT: Duration = Duration::from_secs(60);

/// The bits of smartctl's exit status (man page smartctl(8), EXIT STATUS) and
/// what each means. With one of the first two there is nothing to read.
const STATUS_BITS: [(u8, &str); 8] = [
    (0, "the command line was not understood"),
    (1, "the device could not be opened or identified"),
    (2, "a SMART or other command to the drive failed"),
    (3, "SMART says that the drive is failing"),
    (4, "attributes that predict failure are at or below their threshold"),
    (5, "attributes were at or below their threshold in the past"),
    (6, "the drive's error log contains errors"),
    (7, "the drive's self-test log contains errors"),
];
const NOTHING_READ: u64 = 0b11;

/// Names of what is kept, and where it is in smartctl's JSON (json.8 of
/// smartmontools; the first that exists counts).
const KEPT: &[(&str, &[&str])] = &[
    ("model", &["/model_name", "/scsi_model_name"]),
    ("family", &["/model_family"]),
    ("serial", &["/serial_number"]),
    ("firmware", &["/firmware_version", "/scsi_revision"]),
    ("protocol", &["/device/protocol"]),
    ("rotation_per_minute", &["/rotation_rate"]),
    ("form_factor", &["/form_factor/name"]),
    ("link_speed", &["/interface_speed/current/string"]),
    ("link_speed_max", &["/interface_speed/max/string"]),
    ("passed", &["/smart_status/passed"]),
    ("temperature_celsius", &["/temperature/current"]),
    ("power_on_hours", &["/power_on_time/hours"]),
    ("power_cycles", &["/power_cycle_count"]),
    (
        "wear_percent",
        &[
            "/nvme_smart_health_information_log/percentage_used",
            "/scsi_percentage_used_endurance_indicator",
            "/endurance_used/current_percent",
        ],
    ),
    ("spare_percent", &["/nvme_smart_health_information_log/available_spare"]),
    ("media_errors", &["/nvme_smart_health_information_log/media_errors"]),
    ("unsafe_shutdowns", &["/nvme_smart_health_information_log/unsafe_shutdowns"]),
    ("reallocated_sectors", &["/scsi_grown_defect_list"]),
    ("read_errors_uncorrected", &["/scsi_error_counter_log/read/total_uncorrected_errors"]),
    ("write_errors_uncorrected", &["/scsi_error_counter_log/write/total_uncorrected_errors"]),
    (
        "errors_logged",
        &[
            "/ata_smart_error_log/extended/count",
            "/ata_smart_error_log/summary/count",
            "/nvme_smart_health_information_log/num_err_log_entries",
        ],
    ),
];

/// ATA attributes whose raw value counts something, by number. The numbers are
/// no standard, but all makers of hard disks use these (smartmontools
/// drivedb.h, DEFAULT entry).
const RAW_ATTRIBUTES: [(u64, &str); 5] = [
    (5, "reallocated_sectors"),
    (187, "uncorrectable_errors"),
    (197, "pending_sectors"),
    (198, "offline_uncorrectable_sectors"),
    (199, "link_crc_errors"),
];

/// ATA attributes of SSDs whose normalised value is the life that is left in
/// per cent, by smartctl's name: the numbers differ between makers.
const LIFE_LEFT: [&str; 5] = [
    "SSD_Life_Left",
    "Media_Wearout_Indicator",
    "Percent_Lifetime_Remain",
    "Remaining_Lifetime_Perc",
    "Wear_Leveling_Count",
];

/// What SMART says of a drive, cut to what matters, as a JSON object: identity,
/// `passed`, temperature, age, reallocated and pending sectors, wear, errors,
/// and `notes`, the exit status in words. `None` where smartctl is not
/// installed, may not open the device, or the drive knows no SMART, as loop
/// devices and most virtual disks.
pub fn smart(executor: &Executor, device: &Path) -> Option<Value> {
    let asked = Invocation::new("smartctl").arg("--json").arg("-a").arg(device).timeout(LIMIT);
    let finished = executor.run(&asked).ok()?;
    cut(&serde_json::from_slice(&finished.stdout).ok()?)
}

fn cut(all: &Value) -> Option<Value> {
    let status = all.pointer("/smartctl/exit_status").and_then(Value::as_u64).unwrap_or(0);
    if status & NOTHING_READ != 0 {
        return None;
    }
    if all.pointer("/smart_support/available") == Some(&Value::Bool(false)) {
        return None;
    }
    let mut kept = Map::new();
    for (name, pointers) in KEPT {
        let found = pointers.iter().find_map(|pointer| all.pointer(pointer));
        // Only plain values: a text, a number, a yes or no.
        if let Some(value) = found.filter(|v| v.is_string() || v.is_number() || v.is_boolean()) {
            kept.insert((*name).to_owned(), value.clone());
        }
    }
    attributes(all, &mut kept);
    if kept.is_empty() {
        return None;
    }
    let notes = notes(status);
    if !notes.is_empty() {
        kept.insert("notes".to_owned(), notes.into());
    }
    Some(Value::Object(kept))
}

fn attributes(all: &Value, kept: &mut Map<String, Value>) {
    let table = all.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    for attribute in table.into_iter().flatten() {
        let id = attribute.get("id").and_then(Value::as_u64);
        let named = RAW_ATTRIBUTES.iter().find(|(number, _)| Some(*number) == id);
        let raw = attribute.pointer("/raw/value").and_then(Value::as_u64);
        if let (Some((_, name)), Some(raw)) = (named, raw) {
            kept.insert((*name).to_owned(), raw.into());
        }
        let name = attribute.get("name").and_then(Value::as_str).unwrap_or_default();
        let left = attribute.get("value").and_then(Value::as_u64);
        if let (true, Some(left @ 0..=100)) = (LIFE_LEFT.contains(&name), left) {
            kept.entry("wear_percent").or_insert_with(|| (100 - left).into());
        }
    }
}

/// The bits of an exit status in words.
fn notes(status: u64) -> Vec<String> {
    let set = STATUS_BITS.iter().filter(|(bit, _)| status & (1 << bit) != 0);
    set.map(|(_, words)| (*words).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn attribute(id: u64, name: &str, value: u64, raw: u64) -> Value {
        json!({"id": id, "name": name, "value": value, "raw": {"value": raw, "string": "x"}})
    }

    #[test]
    fn a_worn_hard_disk_is_described() {
        let all = json!({
            "smartctl": {"exit_status": 0b0101_0000},
            "device": {"protocol": "ATA"},
            "model_name": "WDC WD10EZEX-00BN5A0", "serial_number": "WD-1", "rotation_rate": 7200,
            "interface_speed": {"current": {"string": "6.0 Gb/s"}},
            "smart_support": {"available": true, "enabled": true},
            "smart_status": {"passed": true},
            "temperature": {"current": 36}, "power_on_time": {"hours": 36055, "minutes": 3},
            "ata_smart_attributes": {"table": [
                attribute(5, "Reallocated_Sector_Ct", 100, 8),
                attribute(9, "Power_On_Hours", 59, 36055),
                attribute(197, "Current_Pending_Sector", 100, 2),
            ]},
            "ata_smart_error_log": {"summary": {"count": 3}},
        });
        let kept = cut(&all).expect("described");
        assert_eq!(kept["model"], "WDC WD10EZEX-00BN5A0");
        assert_eq!(kept["link_speed"], "6.0 Gb/s");
        assert_eq!(kept["power_on_hours"], 36055);
        assert_eq!(
            (&kept["reallocated_sectors"], &kept["pending_sectors"]),
            (&json!(8), &json!(2))
        );
        assert_eq!(kept["errors_logged"], 3);
        let notes = kept["notes"].as_array().expect("list");
        assert_eq!(notes.len(), 2);
        assert!(notes[1].as_str().expect("text").contains("error log"));
    }

    #[test]
    fn wear_is_reported_for_nvme_and_sata() {
        let log = json!({"percentage_used": 7, "available_spare": 100, "media_errors": 0});
        let nvme = cut(&json!({"nvme_smart_health_information_log": log})).expect("nvme");
        assert_eq!((&nvme["wear_percent"], &nvme["spare_percent"]), (&json!(7), &json!(100)));
        let table = [attribute(231, "SSD_Life_Left", 88, 88)];
        let sata = cut(&json!({"ata_smart_attributes": {"table": table}})).expect("sata");
        assert_eq!(sata["wear_percent"], 12);
    }

    #[test]
    fn nothing_read_is_none() {
        assert_eq!(cut(&json!({"smartctl": {"exit_status": 1}, "model_name": "x"})), None);
        assert_eq!(cut(&json!({"smartctl": {"exit_status": 2}})), None);
        assert_eq!(cut(&json!({"smart_support": {"available": false}, "model_name": "x"})), None);
        assert_eq!(cut(&json!({})), None);
        let executor = Executor::new(Interrupt::new());
        assert_eq!(smart(&executor, Path::new("/dev/null")), None);
    }

    /// Any JSON, made of the keys that are looked for.
    fn hostile() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let keys = prop::sample::select(vec![
                "smartctl",
                "exit_status",
                "ata_smart_attributes",
                "table",
                "raw",
                "value",
                "id",
                "name",
                "model_name",
                "temperature",
                "current",
                "smart_status",
                "passed",
                "nvme_smart_health_information_log",
                "percentage_used",
                "smart_support",
            ]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(keys, inner, 0..6).prop_map(|map| {
                    Value::Object(map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn hostile_json_gives_plain_values_or_none(all in hostile()) {
            if let Some(Value::Object(kept)) = cut(&all) {
                prop_assert!(!kept.is_empty());
                for (name, value) in &kept {
                    prop_assert!(!value.is_object() && (name == "notes" || !value.is_array()));
                }
            }
        }
    }
}
