//! Memory that went to and fro between RAM and a disk.

use disklab_units::Bytes;

use crate::Severity;
use crate::audits::support::afflicted;
use crate::audits::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "swapping",
    severity: Severity::Warning,
    detects: "swapping, or processes killed for want of memory, while a cell ran",
    evidence: "pswpin, pswpout and oom_kill of /proc/vmstat around the cell",
    remedy: "end other programs, or use smaller files or fewer jobs",
    reproducer: Reproducer::MadeUp,
    check,
};

/// A page or two come back from swap on any machine that has been up for long.
const MUCH: u64 = 16 << 20;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    let swapped = afflicted(evidence, |cell| {
        let memory = cell.conditions().memory?;
        let moved = memory.swapped_in.saturating_add(memory.swapped_out);
        (moved > MUCH || memory.killed > 0).then_some(moved as f64)
    });
    let Some(cells) = swapped else { return Vec::new() };
    let killed: u64 =
        cells.cells.iter().filter_map(|(c, _)| Some(c.conditions().memory?.killed)).sum();
    let killed = match killed {
        0 => String::new(),
        1 => ", and the kernel killed a process for want of memory".to_owned(),
        n => format!(", and the kernel killed {n} processes for want of memory"),
    };
    vec![Detection {
        severity: Severity::Warning,
        text: format!(
            "The machine swapped in {}: at most {} in one{killed}. Swapping competes with the \
             workload for disks and for the page cache.",
            cells.words(),
            Bytes(cells.worst().1 as u64).si()
        ),
        advice: "End other programs, or use smaller files, fewer jobs or more memory.".to_owned(),
        groups: cells.groups,
    }]
}

#[cfg(test)]
mod tests {
    use disklab_sample::{Conditions, MemoryActivity};

    use super::*;
    use crate::testing::RunFixture;

    fn texts(swapped_out: u64, killed: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        let memory = Some(MemoryActivity { swapped_in: 4096, swapped_out, killed });
        fixture.under("single/ext4", "dd-4k", 0, Conditions { memory, ..Conditions::default() });
        fixture.texts(AUDIT.name)
    }

    #[test]
    fn swapping_and_killing_are_reported() {
        assert!(texts(200_000_000, 0)[0].contains("at most 200 MB in one."));
        assert!(texts(0, 2)[0].contains("killed 2 processes"));
    }

    #[test]
    fn a_few_pages_are_clean() {
        assert!(texts(1 << 20, 0).is_empty());
    }
}
