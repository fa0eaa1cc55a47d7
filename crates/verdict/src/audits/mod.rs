//! Audits: what makes samples or comparisons doubtful.
//!
//! One audit is one file and one line in [`AUDITS`]. An audit looks at what was
//! measured, never at what ought to be; it names its evidence and what to do.

mod cpu_bound;
mod failed_cells;
mod few_repeats;
mod foreign_io;
mod one_mirror_read;
mod read_from_cache;
mod scaled;
mod shared_spindle;
mod still_in_memory;
mod unfinished;
mod wide_interval;
mod write_amplification;
mod zeros_compressed;

use crate::evidence::Evidence;
use crate::{Finding, Severity};

/// One kind of doubt.
#[derive(Debug)]
pub struct Audit {
    /// Its name in reports, such as `zeros-compressed`.
    pub name: &'static str,
    /// The most severe finding it can make.
    pub severity: Severity,
    /// What it detects, in one line.
    pub detects: &'static str,
    pub(crate) check: fn(&Evidence<'_>) -> Vec<Found>,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub severity: Severity,
    pub text: String,
    pub advice: String,
    pub groups: Vec<usize>,
}

/// All audits. Among findings of the same severity, the order is this one.
pub static AUDITS: &[Audit] = &[
    shared_spindle::AUDIT,
    failed_cells::AUDIT,
    zeros_compressed::AUDIT,
    read_from_cache::AUDIT,
    still_in_memory::AUDIT,
    unfinished::AUDIT,
    few_repeats::AUDIT,
    foreign_io::AUDIT,
    cpu_bound::AUDIT,
    wide_interval::AUDIT,
    scaled::AUDIT,
    one_mirror_read::AUDIT,
    write_amplification::AUDIT,
];

/// All findings, most severe first.
pub(crate) fn audit(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = AUDITS
        .iter()
        .flat_map(|audit| {
            (audit.check)(evidence).into_iter().map(|found| Finding {
                audit: audit.name,
                severity: found.severity,
                text: found.text,
                advice: found.advice,
                groups: found.groups,
            })
        })
        .collect();
    findings.sort_by_key(|finding| finding.severity);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bed;

    #[test]
    fn names_are_distinct_and_told() {
        for (index, audit) in AUDITS.iter().enumerate() {
            assert!(AUDITS[..index].iter().all(|a| a.name != audit.name), "{}", audit.name);
            assert!(!audit.detects.is_empty() && !audit.detects.ends_with('.'), "{}", audit.name);
        }
    }

    #[test]
    fn a_clean_run_has_no_findings() {
        let mut bed = Bed::new("");
        for stack in ["single/ext4", "raid1/ext4"] {
            bed.repeats(stack, "dd-4k", &[1e6, 1.01e6, 0.99e6]);
        }
        assert_eq!(bed.analyse().findings, []);
    }

    #[test]
    fn the_most_severe_stands_first() {
        let mut bed = Bed::new("");
        bed.info.scale = 0.5;
        bed.measured("single/ext4", "dd-4k", 0, 1e6);
        let severities: Vec<_> = bed.analyse().findings.iter().map(|f| f.severity).collect();
        assert!(severities.len() >= 2 && severities.is_sorted(), "{severities:?}");
    }
}
