//! Audits: what makes samples or comparisons suspect.
//!
//! One audit is one file and one line in [`AUDITS`]; those of a condition that a cell recorded are
//! rows of `conditions`. An audit looks at what was
//! measured, never at what ought to be; it names its evidence and what to do.

mod background_io;
mod barriers_off;
mod busy_waits;
mod common_limit;
mod compressed_away;
mod conditions;
mod coordinated_omission;
mod correlated_repeats;
mod cpu_bound;
mod different_work;
mod direct_not_honoured;
mod drive_cache;
mod drive_memory_reads;
mod failed_cells;
mod faster_than_drives;
mod few_in_flight;
mod few_operations;
mod few_repeats;
mod flush_of_class;
mod fresh_ssd;
mod holes;
mod imported;
mod in_one_place;
mod maintenance_running;
mod memory_figure;
mod misaligned;
mod mount_options_differ;
mod nearly_full;
mod no_flushes;
mod not_on_drives;
mod not_steady;
mod one_mirror_read;
mod order_and_time;
mod other_load;
mod outer_tracks;
mod outlier;
mod read_from_cache;
mod scaled;
mod shared_spindle;
mod slow_governor;
mod slow_link;
mod small_file_set;
mod smart_trouble;
mod staging_area;
mod still_in_memory;
mod stolen_time;
mod support;
mod table;
mod too_short;
mod two_modes;
mod unfinished;
mod virtual_machine;
mod wide_interval;
mod write_amplification;
mod zeros_compressed;

pub use correlated_repeats::NAME as CORRELATED_REPEATS;
pub(crate) use in_one_place::NAME as IN_ONE_PLACE;
pub(crate) use read_from_cache::NAME as READ_FROM_CACHE;
pub use table::audits_markdown;
pub use two_modes::NAME as TWO_MODES;

use crate::Finding;
use crate::audit::Audit;
use crate::evidence::Evidence;

/// All audits. Among findings of the same severity, the order is this one.
pub static AUDITS: &[Audit] = &[
    not_on_drives::AUDIT,
    conditions::TOOL_FAILED,
    faster_than_drives::AUDIT,
    conditions::DEGRADED_ARRAY,
    zeros_compressed::AUDIT,
    compressed_away::AUDIT,
    holes::AUDIT,
    read_from_cache::AUDIT,
    drive_memory_reads::AUDIT,
    shared_spindle::AUDIT,
    barriers_off::AUDIT,
    conditions::WRITE_CACHES_DIFFER,
    different_work::AUDIT,
    order_and_time::AUDIT,
    maintenance_running::AUDIT,
    other_load::AUDIT,
    failed_cells::AUDIT,
    direct_not_honoured::AUDIT,
    still_in_memory::AUDIT,
    drive_cache::AUDIT,
    small_file_set::AUDIT,
    staging_area::AUDIT,
    flush_of_class::AUDIT,
    fresh_ssd::AUDIT,
    no_flushes::AUDIT,
    not_steady::AUDIT,
    too_short::AUDIT,
    few_operations::AUDIT,
    few_in_flight::AUDIT,
    coordinated_omission::AUDIT,
    unfinished::AUDIT,
    few_repeats::AUDIT,
    imported::AUDIT,
    common_limit::AUDIT,
    wide_interval::AUDIT,
    outlier::AUDIT,
    two_modes::AUDIT,
    correlated_repeats::AUDIT,
    background_io::AUDIT,
    conditions::SWAPPING,
    smart_trouble::AUDIT,
    slow_link::AUDIT,
    misaligned::AUDIT,
    nearly_full::AUDIT,
    in_one_place::AUDIT,
    conditions::HOST_NEARLY_FULL,
    conditions::SNAPSHOT_PRESENT,
    conditions::DRIVES_DIFFER,
    conditions::KERNELS_DIFFER,
    mount_options_differ::AUDIT,
    conditions::SCHEDULERS_DIFFER,
    cpu_bound::AUDIT,
    busy_waits::AUDIT,
    stolen_time::AUDIT,
    conditions::THROTTLED,
    conditions::ON_BATTERY,
    slow_governor::AUDIT,
    conditions::SLOW_ENCRYPTION,
    conditions::CONTROL_GROUP_LIMITS,
    conditions::COARSE_CLOCK,
    conditions::CLOCK_STEPPED,
    scaled::AUDIT,
    outer_tracks::AUDIT,
    memory_figure::AUDIT,
    virtual_machine::AUDIT,
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
    use crate::testing::RunFixture;

    #[test]
    fn names_are_distinct_and_reported() {
        for (index, audit) in AUDITS.iter().enumerate() {
            assert!(AUDITS[..index].iter().all(|a| a.name != audit.name), "{}", audit.name);
            assert!(!audit.detects.is_empty() && !audit.detects.ends_with('.'), "{}", audit.name);
        }
    }

    #[test]
    fn a_clean_run_has_no_findings() {
        let mut fixture = RunFixture::new("");
        for stack in ["single/ext4", "raid1/ext4"] {
            fixture.repeats(stack, "dd-4k", &[1e6, 1.01e6, 0.99e6]);
        }
        assert_eq!(fixture.audited().findings, []);
    }

    #[test]
    fn the_most_severe_finding_comes_first() {
        let mut fixture = RunFixture::new("");
        fixture.info.scale = 0.5;
        fixture.measured("single/ext4", "dd-4k", 0, 1e6);
        let severities: Vec<_> = fixture.audited().findings.iter().map(|f| f.severity).collect();
        assert!(severities.len() >= 2 && severities.is_sorted(), "{severities:?}");
    }
}
