//! md arrays as `/sys` shows them.

use std::fs;
use std::path::Path;

use disklab_exec::{Executor, Invocation};

/// Kernel names of the arrays that are built on at least one of these block
/// devices, such as `md127` for `sda1`.
pub(crate) fn arrays_over(devices: &[String]) -> Vec<String> {
    all_arrays().into_iter().filter(|array| stands_on(array, devices)).collect()
}

fn stands_on(array: &str, devices: &[String]) -> bool {
    let slaves = Path::new("/sys/block").join(array).join("slaves");
    devices.iter().any(|device| slaves.join(device).exists())
}

/// Kernel names of all arrays.
pub(crate) fn all_arrays() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/block") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new("/sys/block").join(name).join("md").is_dir())
        .collect()
}

/// The UUID of an array, in whatever form it comes.
pub(crate) fn array_uuid(array: &str, executor: &Executor) -> Option<String> {
    let uuid = fs::read_to_string(format!("/sys/block/{array}/md/uuid")).ok();
    // Linux before 5.18 does not show it there.
    uuid.map(|uuid| uuid.trim().to_owned()).or_else(|| {
        let detail = Invocation::new("mdadm")
            .args(["--detail", "--export"])
            .arg(format!("/dev/{array}"))
            .uninterruptible();
        exported_uuid(&executor.check(&detail).ok()?.text())
    })
}

/// `MD_UUID` of what mdadm exports.
pub(crate) fn exported_uuid(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("MD_UUID=")).map(|uuid| uuid.trim().to_owned())
}

/// Whether two UUIDs are the same, whatever separates their digits.
pub(crate) fn same_uuid(a: &str, b: &str) -> bool {
    let digits = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '-' | ':')).map(|c| c.to_ascii_lowercase()).collect()
    };
    !digits(a).is_empty() && digits(a) == digits(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_in_all_forms() {
        let sysfs = "00112233-4455-6677-8899-aabbccddeeff";
        let mdadm = "MD_LEVEL=raid5\nMD_UUID=00112233:44556677:8899AABB:ccddeeff\nMD_NAME=x\n";
        let exported = exported_uuid(mdadm).expect("uuid");
        assert!(same_uuid(&exported, sysfs));
        assert!(!same_uuid(&exported, "00112233-4455-6677-8899-aabbccddee00"));
        assert!(!same_uuid("", "-"));
        assert_eq!(exported_uuid("MD_LEVEL=raid5\n"), None);
    }
}
