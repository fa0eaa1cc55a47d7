//! The few things of SMART that tell whether a drive is to be trusted.

use serde_json::Value;

/// ATA attributes whose raw value should be zero: ids 5, 197, 198 and 199 after
/// ACS-4 and the vendors' common use.
const SHOULD_BE_ZERO: [(u64, &str); 4] = [
    (5, "reallocated sectors"),
    (197, "pending sectors"),
    (198, "uncorrectable sectors"),
    (199, "interface CRC errors"),
];

/// What `smartctl --json` said, in short phrases.
pub(crate) fn smart_lines(smart: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    match smart.pointer("/smart_status/passed").and_then(Value::as_bool) {
        Some(true) => lines.push("passed".to_owned()),
        Some(false) => lines.push("FAILED".to_owned()),
        None => {}
    }
    if let Some(celsius) = smart.pointer("/temperature/current").and_then(Value::as_i64) {
        lines.push(format!("{celsius} °C"));
    }
    if let Some(hours) = smart.pointer("/power_on_time/hours").and_then(Value::as_u64) {
        lines.push(format!("{hours} h on"));
    }
    let attributes = smart.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    for attribute in attributes.into_iter().flatten() {
        let id = attribute.get("id").and_then(Value::as_u64);
        let raw = attribute.pointer("/raw/value").and_then(Value::as_u64).unwrap_or_default();
        let named = SHOULD_BE_ZERO.iter().find(|(n, _)| Some(*n) == id);
        lines.extend(named.filter(|_| raw > 0).map(|(_, name)| format!("{raw} {name}")));
    }
    let health = "/nvme_smart_health_information_log";
    if let Some(used) = smart.pointer(&format!("{health}/percentage_used")).and_then(Value::as_u64)
    {
        lines.push(format!("{used} % of its rated life used"));
    }
    let errors = smart.pointer(&format!("{health}/media_errors")).and_then(Value::as_u64);
    lines.extend(errors.filter(|n| *n > 0).map(|n| format!("{n} media errors")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relevant_attributes_are_reported() {
        let smart = serde_json::json!({
            "smart_status": { "passed": true },
            "temperature": { "current": 31 },
            "power_on_time": { "hours": 1234 },
            "ata_smart_attributes": { "table": [
                { "id": 5, "raw": { "value": 8 } },
                { "id": 197, "raw": { "value": 0 } },
                { "id": 9, "raw": { "value": 1234 } },
            ] },
        });
        assert_eq!(smart_lines(&smart), ["passed", "31 °C", "1234 h on", "8 reallocated sectors"]);
    }

    #[test]
    fn other_shapes_are_no_trouble() {
        for text in
            ["null", "[]", "3", r#"{"smart_status":3}"#, r#"{"ata_smart_attributes":{"table":{}}}"#]
        {
            let value: Value = serde_json::from_str(text).expect("json");
            assert!(smart_lines(&value).is_empty(), "{text}");
        }
    }
}
