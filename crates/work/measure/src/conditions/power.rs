//! Whether the processors ran as fast as they can: battery, throttling; and whether
//! they have instructions for AES.

use disklab_sample::Power;

use crate::SystemRoot;

/// Since the counts of throttling were `throttled_before`.
pub(super) fn power(root: &SystemRoot, throttled_before: Option<u64>) -> Power {
    let throttled = throttled(root).zip(throttled_before);
    Power {
        throttled: throttled.map(|(now, before)| now.saturating_sub(before)),
        on_battery: on_battery(root),
    }
}

/// How often processors were slowed down for their heat since boot, by the counters of
/// x86 (kernel: arch/x86/kernel, `thermal_throttle`); none elsewhere.
pub(super) fn throttled(root: &SystemRoot) -> Option<u64> {
    let dir = "/sys/devices/system/cpu";
    let counts = root.names(dir).into_iter().filter_map(|name| {
        let file = format!("{dir}/{name}/thermal_throttle/core_throttle_count");
        root.value(file)?.parse::<u64>().ok()
    });
    counts.fold(None, |sum: Option<u64>, count| Some(sum.unwrap_or(0).saturating_add(count)))
}

/// Whether a battery is being emptied and no mains adapter is on (Documentation/ABI/
/// testing/sysfs-class-power); none without a battery.
fn on_battery(root: &SystemRoot) -> Option<bool> {
    let dir = "/sys/class/power_supply";
    let (mut battery, mut emptied, mut mains) = (false, false, false);
    for name in root.names(dir) {
        let value = |file: &str| root.value(format!("{dir}/{name}/{file}")).unwrap_or_default();
        // The batteries of mice and keyboards are none of the machine's.
        if value("scope") == "Device" {
            continue;
        }
        match value("type").as_str() {
            "Battery" => {
                battery = true;
                emptied |= value("status") == "Discharging";
            }
            "Mains" | "USB" => mains |= value("online") == "1",
            _ => {}
        }
    }
    battery.then_some(emptied && !mains)
}

/// Whether the processor has instructions for AES; none where it does not tell.
pub(super) fn has_aes(root: &SystemRoot) -> Option<bool> {
    let cpuinfo = root.text("/proc/cpuinfo")?;
    // x86 and 64-bit ARM.
    let flags = cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        matches!(name.trim(), "flags" | "Features").then_some(value)
    })?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "aes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabricated::Fabricated;

    fn made() -> (tempfile::TempDir, Fabricated) {
        let dir = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(dir.path());
        (dir, tree)
    }

    #[test]
    fn throttling_is_counted_over_all_processors() {
        let (_dir, tree) = made();
        assert!(power(&tree.root(), throttled(&tree.root())).is_unknown());
        let count = |cpu: u32, n: u64| {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
            tree.file(&format!("{file}/core_throttle_count"), &format!("{n}\n"));
        };
        count(0, 3);
        count(1, 4);
        let before = throttled(&tree.root());
        assert_eq!(before, Some(7));
        count(1, 9);
        assert_eq!(power(&tree.root(), before).throttled, Some(5));
    }

    #[test]
    fn a_battery_counts_when_it_is_emptied() {
        let (_dir, tree) = made();
        let supply = |name: &str, file: &str, text: &str| {
            tree.file(&format!("/sys/class/power_supply/{name}/{file}"), text);
        };
        assert_eq!(on_battery(&tree.root()), None);
        supply("mouse", "type", "Battery\n");
        supply("mouse", "scope", "Device\n");
        supply("mouse", "status", "Discharging\n");
        assert_eq!(on_battery(&tree.root()), None);
        supply("BAT0", "type", "Battery\n");
        supply("BAT0", "status", "Discharging\n");
        supply("AC", "type", "Mains\n");
        supply("AC", "online", "0\n");
        assert_eq!(on_battery(&tree.root()), Some(true));
        supply("AC", "online", "1\n");
        assert_eq!(on_battery(&tree.root()), Some(false));
    }

    #[test]
    fn aes_is_a_flag() {
        let (_dir, tree) = made();
        for (text, expected) in [
            ("processor : 0\nflags\t\t: fpu aes lm\n", Some(true)),
            ("Features\t: fp asimd crc32\n", Some(false)),
            ("processor : 0\n", None),
        ] {
            tree.file("/proc/cpuinfo", text);
            assert_eq!(has_aes(&tree.root()), expected);
        }
    }
}
