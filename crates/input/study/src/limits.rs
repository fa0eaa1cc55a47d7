//! How large a study and its runs may be, so that any text is refused or planned within
//! seconds.
//!
//! The largest shipped study has some 500 pairs of a stack and a workload; the limits leave
//! room for several hundred times as many.

use std::fmt;
use std::ops::RangeInclusive;

use disklab_units::Bytes;

/// Drives of a study.
pub const MOST_DRIVES: u64 = 1_024;
/// What fits a file system, up to more than is sold.
pub const DRIVE_SIZES: RangeInclusive<Bytes> = Bytes(16 << 20)..=Bytes(100_000_000_000_000);
/// Stacks of a study, all layouts with all file systems.
pub(crate) const MOST_STACKS: usize = 10_000;
/// Workloads of a study, all combinations of their parameters.
pub(crate) const MOST_WORKLOADS: usize = 10_000;
/// Pairs of a stack and a workload.
pub(crate) const MOST_PAIRS: usize = 100_000;
/// Questions of a study.
pub(crate) const MOST_QUESTIONS: usize = 1_000;
/// Tables of `exclude`.
pub(crate) const MOST_EXCLUSIONS: usize = 1_000;
/// Bytes of all workloads, with their parameters filled in; each value counts as
/// [`BYTES_OF_VALUE`] at least.
pub(crate) const MOST_FILLED: usize = 32 << 20;
/// What a value counts as, whatever its text.
pub(crate) const BYTES_OF_VALUE: usize = 16;
/// Cells of a run.
pub const MOST_CELLS: u64 = 1_000_000;

/// A run of more cells than [`MOST_CELLS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyCells {
    /// Pairs of a stack and a workload.
    pub pairs: usize,
    /// How often each of them runs.
    pub repeats: u32,
}

impl fmt::Display for TooManyCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "too many cells: {} pairs of a stack and a workload × {} repeats, and a run has at \
             most {MOST_CELLS} cells; take fewer --repeats, or part of the cells with --only or \
             --without",
            self.pairs, self.repeats
        )
    }
}

impl std::error::Error for TooManyCells {}

/// Checks the size of a run, before its cells are laid out.
///
/// # Errors
/// [`TooManyCells`] if the run has more cells than [`MOST_CELLS`].
pub fn check_run_size(pairs: usize, repeats: u32) -> Result<(), TooManyCells> {
    let cells = (pairs as u64).saturating_mul(u64::from(repeats));
    if cells > MOST_CELLS { Err(TooManyCells { pairs, repeats }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_cells_are_refused_with_a_remedy() {
        assert_eq!(check_run_size(10_000, 100), Ok(()));
        let error = check_run_size(10_000, 1_000).expect_err("10^7 cells");
        assert!(error.to_string().contains("10000 pairs"), "{error}");
        assert!(error.to_string().contains("--only"), "{error}");
        assert!(check_run_size(usize::MAX, u32::MAX).is_err());
    }
}
