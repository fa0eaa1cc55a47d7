//! What is written on a device: file systems, RAID members, partition tables.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::InspectionError;

/// What disklab's own volumes, arrays and pools are called at the front.
const OWN_PREFIX: &str = "disklab";

/// Something on a device that a program left there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signature {
    /// Where it was found: a kernel name such as `sda1`.
    pub device: String,
    /// What it is, as libblkid calls it: `ext4`, `gpt`, `linux_raid_member`.
    pub kind: String,
    /// Its label, or the name of the array, volume group or pool.
    pub label: Option<String>,
}

impl Signature {
    /// Whether it looks like one that disklab left behind. It is no less another's
    /// for that.
    pub fn is_leftover(&self) -> bool {
        // mdadm writes HOST:NAME.
        let label = self.label.as_deref().unwrap_or_default();
        label.split(':').any(|part| part.starts_with(OWN_PREFIX))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.kind, self.device)?;
        match &self.label {
            // A label is somebody's text: control characters stay out of terminals.
            Some(label) => write!(f, " ('{}')", label.escape_debug()),
            None => Ok(()),
        }
    }
}

/// Reads what `wipefs --no-act --json` prints for `device`: nothing at all, or
/// an object with a list of signatures.
///
/// # Errors
/// [`InspectionError`] if it is anything else: then the drive counts as not blank.
pub(crate) fn parse_wipefs(device: &str, text: &str) -> Result<Vec<Signature>, InspectionError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let all: Value = serde_json::from_str(text)?;
    let list = all.get("signatures").and_then(Value::as_array);
    let list = list.ok_or(InspectionError::NoSignatures)?;
    let text = |value: &Value, key: &str| {
        let text = value.get(key).and_then(Value::as_str).unwrap_or_default().trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let mut found: Vec<Signature> = list
        .iter()
        .map(|value| Signature {
            device: device.to_owned(),
            kind: text(value, "type").unwrap_or_else(|| "something unknown".to_owned()),
            label: text(value, "label"),
        })
        .collect();
    found.sort();
    // A table has copies at both ends, an ext4 many.
    found.dedup();
    Ok(found)
}

/// Reads what `blkid --probe --output export` prints for `device` at exit code
/// `code` (man page blkid(8), EXIT CODE): 0 found, 2 nothing found, 8 more than
/// one thing found.
///
/// # Errors
/// [`InspectionError::Blkid`] at any other code.
pub(crate) fn parse_blkid(
    device: &str,
    code: i32,
    text: &str,
) -> Result<Vec<Signature>, InspectionError> {
    match code {
        0 => {}
        2 if text.trim().is_empty() => return Ok(Vec::new()),
        8 => {
            let kind = "more than one file system or table".to_owned();
            return Ok(vec![Signature { device: device.to_owned(), kind, label: None }]);
        }
        code => return Err(InspectionError::Blkid(code)),
    }
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix('=')?.trim();
            (!value.is_empty()).then(|| value.to_owned())
        })
    };
    let label = value("LABEL").or_else(|| value("PTLABEL"));
    let kinds = [value("TYPE"), value("PTTYPE")];
    let found = kinds.into_iter().flatten();
    Ok(found
        .map(|kind| Signature { device: device.to_owned(), kind, label: label.clone() })
        .collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_programs_are_understood() {
        let wipefs = r#"{"signatures": [
            {"device":"sda","offset":"0x438","type":"ext4","uuid":"x","label":"disklab-7"},
            {"device":"sda","offset":"0x1fe","type":"PMBR","uuid":null,"label":null},
            {"device":"sda","offset":"0x5fe","type":"PMBR","uuid":null,"label":null}]}"#;
        let found = parse_wipefs("sda", wipefs).expect("understood");
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].to_string(), "ext4 on sda ('disklab-7')");
        assert!(found[1].is_leftover() && !found[0].is_leftover());
        assert_eq!(parse_wipefs("sda", "\n").expect("nothing"), []);
        assert_eq!(parse_wipefs("sda", r#"{"signatures": []}"#).expect("nothing"), []);
        let blkid = "DEVNAME=/dev/sda\nLABEL=host:disklab1\nTYPE=linux_raid_member\n";
        let found = parse_blkid("sda", 0, blkid).expect("understood");
        assert_eq!(found[0].to_string(), "linux_raid_member on sda ('host:disklab1')");
        assert!(found[0].is_leftover());
        assert_eq!(parse_blkid("sda", 2, "").expect("nothing"), []);
        assert_eq!(parse_blkid("sda", 8, "").expect("something").len(), 1);
    }

    #[test]
    fn unparsable_output_is_an_error() {
        assert!(parse_wipefs("sda", "wipefs: error").is_err());
        assert!(parse_wipefs("sda", "[]").is_err());
        assert!(parse_blkid("sda", 4, "").is_err());
        assert!(parse_blkid("sda", 2, "TYPE=ext4").is_err());
    }

    #[test]
    fn labels_cannot_upset_a_terminal() {
        let signature = Signature {
            device: "sda".to_owned(),
            kind: "ext4".to_owned(),
            label: Some("\u{1b}[2J".to_owned()),
        };
        assert!(!signature.to_string().contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn hostile_output_gives_an_error_or_signatures(text in "\\PC{0,80}", code in any::<i32>(), lines in "((LABEL|TYPE|PTTYPE)?=?\\PC{0,8}\n){0,5}") {
            let _ = parse_wipefs("x", &text);
            let _ = parse_blkid("x", code, &lines);
        }

        #[test]
        fn every_entry_of_wipefs_counts(kinds in prop::collection::vec(prop::option::of("[a-z]{1,3}"), 1..5)) {
            let list: Vec<Value> = kinds.iter().map(|kind| serde_json::json!({"type": kind})).collect();
            let text = serde_json::json!({"signatures": list}).to_string();
            prop_assert!(!parse_wipefs("x", &text).expect("a list").is_empty());
        }
    }
}
