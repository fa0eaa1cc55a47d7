//! Processors that are kept slow.

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "slow-governor",
    severity: Severity::Warning,
    detects: "processors that the kernel keeps at their lowest frequency",
    evidence: "scaling_governor and scaling_driver at the beginning of the run",
    remedy: "choose another governor, such as schedutil or performance",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Drivers whose `powersave` lets the processor choose its frequency by load (kernel:
/// Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst). With all others it is
/// the lowest (cpufreq.rst).
const BY_LOAD: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let fact = |name: &str| evidence.info.environment.extra.get(name).map_or("", String::as_str);
    let (governor, driver) = (fact("cpufreq.governor"), fact("cpufreq.driver"));
    // Modelled drives wait for the model of a processor, not for this one.
    let slow = governor.split(", ").any(|word| word == "powersave") && !BY_LOAD.contains(&driver);
    if !slow || evidence.is_lab() {
        return Vec::new();
    }
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The frequency governor was powersave{}, which keeps processors at their lowest \
             frequency.",
            if driver.is_empty() { String::new() } else { format!(" (driver {driver})") }
        ),
        advice: "Set another one before a run: cpupower frequency-set -g schedutil, or \
                 performance."
            .to_owned(),
        groups: Vec::new(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RunFixture;

    fn found(bench: &str, governor: &str, driver: &str) -> usize {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = bench.parse().unwrap();
        let extra = &mut fixture.info.environment.extra;
        extra.insert("cpufreq.governor".into(), governor.into());
        extra.insert("cpufreq.driver".into(), driver.into());
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        fixture.findings(AUDIT.name).len()
    }

    #[test]
    fn powersave_is_slow_with_some_drivers_only() {
        assert_eq!(found("loop", "performance, powersave", "acpi-cpufreq"), 1);
        assert_eq!(found("loop", "powersave", "intel_pstate"), 0);
        assert_eq!(found("loop", "schedutil", "acpi-cpufreq"), 0);
        assert_eq!(found("lab", "powersave", "acpi-cpufreq"), 0);
    }
}
