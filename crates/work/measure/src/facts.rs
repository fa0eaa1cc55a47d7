//! Settings of the kernel that change results, by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::SystemRoot;
use crate::host;

/// Names of facts and the files that hold them, as text. Kernel:
/// Documentation/admin-guide/sysctl/vm.rst, md.rst; OpenZFS: zfs(4).
const FILES: &[(&str, &str)] = &[
    ("vm.dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    ("vm.dirty_bytes", "/proc/sys/vm/dirty_bytes"),
    ("vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio"),
    ("vm.dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes"),
    ("vm.dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs"),
    ("vm.dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs"),
    ("vm.vfs_cache_pressure", "/proc/sys/vm/vfs_cache_pressure"),
    ("vm.swappiness", "/proc/sys/vm/swappiness"),
    ("dev.raid.speed_limit_min", "/proc/sys/dev/raid/speed_limit_min"),
    ("dev.raid.speed_limit_max", "/proc/sys/dev/raid/speed_limit_max"),
    ("fs.aio-max-nr", "/proc/sys/fs/aio-max-nr"),
    ("zfs.version", "/sys/module/zfs/version"),
    ("zfs.zfs_arc_max", "/sys/module/zfs/parameters/zfs_arc_max"),
    ("zfs.zfs_txg_timeout", "/sys/module/zfs/parameters/zfs_txg_timeout"),
    ("machine.vendor", "/sys/class/dmi/id/sys_vendor"),
    ("machine.product", "/sys/class/dmi/id/product_name"),
    ("machine.bios", "/sys/class/dmi/id/bios_version"),
    ("machine.model", "/proc/device-tree/model"),
];

/// The same where the file lists choices with the one in force in brackets.
const CHOICES: &[(&str, &str)] =
    &[("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled")];

/// Words at the front of kernel parameters that change results (kernel:
/// Documentation/admin-guide/kernel-parameters.txt). The others are nobody's
/// business: some systems pass keys and addresses there.
const PARAMETERS: [&str; 16] = [
    "mitigations",
    "spectre_",
    "transparent_hugepage",
    "zswap.",
    "preempt",
    "isolcpus",
    "nohz",
    "idle",
    "intel_idle.",
    "processor.max_cstate",
    "intel_pstate",
    "amd_pstate",
    "iommu",
    "libata.",
    "nvme",
    "scsi_mod.",
];

/// All facts that this kernel tells.
pub(crate) fn facts(root: &SystemRoot) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for (name, file) in FILES {
        facts.extend(root.value(file).map(|value| ((*name).to_owned(), value)));
    }
    for (name, file) in CHOICES {
        let value = root.text(file).and_then(|text| chosen(&text));
        facts.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    let cpufreq = [("cpufreq.governor", "scaling_governor"), ("cpufreq.driver", "scaling_driver")];
    for (name, file) in cpufreq {
        facts.extend(of_all_processors(root, file).map(|value| (name.to_owned(), value)));
    }
    let parameters = root.text("/proc/cmdline").and_then(|text| parameters(&text));
    facts.extend(parameters.map(|text| ("kernel.parameters".to_owned(), text)));
    facts.extend(host::container(root).map(|kind| ("container".to_owned(), kind)));
    facts
}

fn parameters(command_line: &str) -> Option<String> {
    let words = command_line.split_ascii_whitespace();
    let kept: Vec<&str> =
        words.filter(|word| PARAMETERS.iter().any(|front| word.starts_with(front))).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// How long tasks waited for I/O lately (kernel: Documentation/accounting/psi.rst),
/// in one line; `None` where the kernel does not account for it.
pub(crate) fn io_pressure(root: &SystemRoot) -> Option<String> {
    let text = root.value("/proc/pressure/io")?;
    Some(text.lines().map(str::trim).collect::<Vec<_>>().join("; "))
}

/// The 1-minute load average; `None` where it cannot be read.
pub fn load_average(root: &SystemRoot) -> Option<f64> {
    let text = root.text("/proc/loadavg")?;
    let load: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    (load.is_finite() && load >= 0.0).then_some(load)
}

/// The choice in brackets: `none` of `[none] mq-deadline`; the whole where there
/// are no brackets and only one word.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let words = || text.split_ascii_whitespace();
    let bracketed = words().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let only = || words().next().filter(|_| words().count() == 1);
    bracketed.or_else(only).filter(|word| !word.is_empty()).map(str::to_owned)
}

fn of_all_processors(root: &SystemRoot, file: &str) -> Option<String> {
    let dir = "/sys/devices/system/cpu/cpufreq";
    let policies = root.names(dir);
    let values: BTreeSet<String> =
        policies.iter().filter_map(|policy| root.value(format!("{dir}/{policy}/{file}"))).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn facts_have_names_and_the_absent_have_none() {
        let dir = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(dir.path());
        tree.file("/proc/sys/vm/dirty_ratio", "20\n");
        tree.file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        for (policy, governor) in [("policy0", "powersave"), ("policy1", "performance")] {
            let file = format!("/sys/devices/system/cpu/cpufreq/{policy}/scaling_governor");
            tree.file(&file, governor);
        }
        tree.file("/proc/pressure/io", "some avg10=0.33\nfull avg10=0.28\n");
        tree.file("/proc/loadavg", "0.52 0.58 0.59 1/467 12345\n");
        let root = tree.root();
        let facts = facts(&root);
        assert_eq!(facts["vm.dirty_ratio"], "20");
        assert_eq!(facts["transparent_hugepage"], "madvise");
        assert_eq!(facts["cpufreq.governor"], "performance, powersave");
        assert_eq!(facts.len(), 3, "{facts:?}");
        assert_eq!(io_pressure(&root).as_deref(), Some("some avg10=0.33; full avg10=0.28"));
        assert_eq!(load_average(&root), Some(0.52));
        tree.file("/proc/loadavg", "nan 1 2");
        assert_eq!(load_average(&root), None);
    }

    #[test]
    fn only_parameters_that_matter_are_kept() {
        let line = "root=UUID=1 mitigations=off nvme_core.io_timeout=9 rd.luks.key=secret";
        assert_eq!(parameters(line).as_deref(), Some("mitigations=off nvme_core.io_timeout=9"));
        assert_eq!(parameters("quiet"), None);
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none\n").as_deref(), Some("none"));
        assert_eq!(chosen("a b"), None);
        assert_eq!(chosen("[]"), None);
        assert_eq!(chosen(""), None);
    }

    proptest! {
        #[test]
        fn hostile_choices_do_no_harm(text in "[\\[\\]a-z \n]{0,40}") {
            if let Some(word) = chosen(&text) {
                prop_assert!(!word.is_empty());
            }
        }
    }
}
