//! A clock that is slow to read, or too coarse.

use std::collections::BTreeSet;

use disklab_units::list;

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "coarse-clock",
    severity: Severity::Warning,
    detects: "a clock that costs microseconds to read, or counts in milliseconds",
    evidence: "current_clocksource of the kernel",
    remedy: "find out why the kernel gave up its fast clock (dmesg), and boot with it",
    reproducer: Reproducer::MadeUp,
    check,
};

/// Clocks that the kernel falls back to where it finds its fast one unstable: the first
/// two take about 1 µs over a bus (kernel: drivers/char/hpet.c, drivers/clocksource/
/// acpi_pm.c), the others count ticks (kernel/time/jiffies.c) or a timer of 1981
/// (arch/x86/kernel/i8253.c).
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let source = |cell: &crate::evidence::CellFacts| {
        let source = cell.conditions().clock.as_ref()?.source.clone()?;
        SLOW.contains(&source.as_str()).then_some(source)
    };
    let Some(cells) = afflicted(evidence, |cell| source(cell).map(|_| 1.0)) else {
        return Vec::new();
    };
    let names: BTreeSet<String> = cells.cells.iter().filter_map(|(c, _)| source(c)).collect();
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The kernel's clock was {} in {}: it costs a microsecond or more for each reading, or \
             counts milliseconds, so latencies of fast drives are wrong.",
            list(names.iter().map(String::as_str), 3),
            cells.words()
        ),
        advice: "The kernel's messages say why it gave up its fast clock (tsc, mostly); a BIOS \
                 update or clocksource=tsc may help."
            .to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Clock, Conditions};

    use super::*;
    use crate::testing::RunFixture;

    #[test]
    fn slow_clocks_are_reported_and_fast_ones_are_not() {
        let kinds =
            [("hpet", 1), ("refined-jiffies", 1), ("tsc", 0), ("kvm-clock", 0), ("timer", 0)];
        for (source, expected) in kinds {
            let mut fixture = RunFixture::new("");
            let clock = Some(Clock { source: Some(source.into()), ..Clock::default() });
            fixture.under("single/ext4", "dd-4k", 0, Conditions { clock, ..Conditions::default() });
            assert_eq!(fixture.findings(AUDIT.name).len(), expected, "{source}");
        }
    }
}
