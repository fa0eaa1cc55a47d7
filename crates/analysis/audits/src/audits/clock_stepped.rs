//! A clock that was set, or a machine that slept.

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::{CellFacts, Evidence};

pub(super) const AUDIT: Audit = Audit {
    name: "clock-stepped",
    severity: Severity::Warning,
    detects: "a time of day that was set while a cell ran, or a machine that slept",
    evidence: "the clocks of the day, of the steady time and of the time with sleep, around the cell",
    remedy: "let the clock be in step before, and forbid sleep",
    reproducer: Reproducer::MadeUp,
    check,
};

/// NTP slews by 500 parts in a million at most (kernel: include/linux/timex.h,
/// MAXFREQ); adjtime(3) as much again.
const SLEWING: f64 = 0.001;
/// Less is no step that matters: a tenth of a second.
const STEP_MS: f64 = 100.0;

/// Milliseconds by which clocks went apart more than they may.
fn stepped(cell: &CellFacts) -> Option<f64> {
    let clock = cell.conditions().clock.as_ref()?;
    let off = clock.stepped_ms.unsigned_abs().max(clock.slept_ms.unsigned_abs()) as f64;
    let allowed = STEP_MS + SLEWING * clock.elapsed_ms.max(0) as f64;
    (off > allowed).then_some(off)
}

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let Some(cells) = afflicted(evidence, stepped) else { return Vec::new() };
    let (worst, most) = cells.worst();
    let slept = worst.conditions().clock.as_ref().is_some_and(|c| c.slept_ms as f64 == most);
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "{} {:.1} s in {}. Programs that clock themselves by the time of day gave wrong \
             figures there.",
            if slept { "The machine slept for" } else { "The time of day was set by" },
            most / 1e3,
            cells.words()
        ),
        advice: "Let the clock be in step with NTP before a run, forbid sleep \
                 (systemd-inhibit), and repeat these cells."
            .to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Clock, Conditions};

    use super::*;
    use crate::testing::RunFixture;

    fn texts(stepped_ms: i64, slept_ms: i64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let clock = Some(Clock { source: None, stepped_ms, slept_ms, elapsed_ms: 60_000 });
        fixture.under("single/ext4", "dd-4k", 0, Conditions { clock, ..Conditions::default() });
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn steps_and_sleep_are_reported() {
        assert!(texts(-2500, 0)[0].starts_with("The time of day was set by 2.5 s"));
        assert!(texts(0, 90_000)[0].starts_with("The machine slept for 90.0 s"));
    }

    #[test]
    fn slewing_is_clean() {
        assert!(texts(30, 0).is_empty());
        assert!(texts(-60, 0).is_empty());
    }
}
