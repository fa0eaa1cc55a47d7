//! Which cells each part of a run has.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use disklab_units::Bytes;

/// What a cell costs, for a division.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellCost {
    /// The drives that it begins on, by a name that cells share which can begin on the same.
    pub drives: String,
    /// Predicted seconds.
    pub seconds: f64,
    /// What its drives will hold that takes space.
    pub content: Bytes,
    /// Memory of its guest.
    pub memory: Bytes,
}

/// Into how many pieces of a part's length cells on the same drives are divided: more balance
/// better, fewer make drives less often.
const PIECES: f64 = 4.0;

/// Divides cells into parts that take about as long, and as much space, as each other. Returns
/// the positions of each part's cells. Cells on the same drives are together, the longest first.
/// `parts` is at least 1, and no more than there are cells.
///
/// Each piece, the longest first, goes to the part that is shortest so far (Graham 1969, 'Bounds
/// on multiprocessing timing anomalies').
pub(crate) fn divide(cells: &[CellCost], parts: usize) -> Vec<Vec<usize>> {
    let mut by_drives: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, cell) in cells.iter().enumerate() {
        by_drives.entry(&cell.drives).or_default().push(at);
    }
    let total: f64 = cells.iter().map(|cell| cell.seconds).sum();
    let longest = total / parts as f64 / PIECES;
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    for group in by_drives.into_values() {
        let seconds: f64 = group.iter().map(|at| cells[*at].seconds).sum();
        let wanted = if longest > 0.0 { (seconds / longest).ceil() as usize } else { 1 };
        let single = group.into_iter().map(|at| vec![at]).collect::<Vec<_>>();
        let wanted = wanted.clamp(1, single.len());
        pieces.extend(balance(cells, single, wanted));
    }
    if pieces.len() < parts {
        pieces = (0..cells.len()).map(|at| vec![at]).collect();
    }
    let mut divided = balance(cells, pieces, parts);
    divided.iter_mut().for_each(|part| sort_part(cells, part));
    divided
}

/// How much a part has so far: nanoseconds, bytes, and cells.
type Load = (u64, u64, usize);

fn load(cells: &[CellCost], piece: &[usize]) -> Load {
    let seconds: f64 = piece.iter().map(|at| cells[*at].seconds).sum();
    let content = piece.iter().map(|at| cells[*at].content.0).fold(0, u64::saturating_add);
    ((seconds * 1e9) as u64, content, piece.len())
}

/// Puts pieces together to so many, none of which is empty if there are enough.
fn balance(cells: &[CellCost], pieces: Vec<Vec<usize>>, into: usize) -> Vec<Vec<usize>> {
    let mut pieces: Vec<_> = pieces.into_iter().map(|piece| (load(cells, &piece), piece)).collect();
    // Stable: equal pieces keep the order of the run.
    pieces.sort_by_key(|(load, _)| Reverse(*load));
    let mut whole = vec![Vec::new(); into];
    let mut lightest: BinaryHeap<Reverse<(Load, usize)>> =
        (0..into).map(|at| Reverse(((0, 0, 0), at))).collect();
    for (own, piece) in pieces {
        let Some(Reverse((load, at))) = lightest.pop() else { break };
        whole[at].extend(piece);
        let sum = (load.0.saturating_add(own.0), load.1.saturating_add(own.1), load.2 + own.2);
        lightest.push(Reverse((sum, at)));
    }
    whole
}

/// Cells on the same drives one after the other, the longest of both first.
fn sort_part(cells: &[CellCost], part: &mut [usize]) {
    let mut of_drives: BTreeMap<&str, f64> = BTreeMap::new();
    for at in part.iter() {
        *of_drives.entry(&cells[*at].drives).or_default() += cells[*at].seconds;
    }
    part.sort_by(|one, other| {
        let key = |at: usize| (&cells[at].drives, cells[at].seconds, at);
        let ((drives, seconds, at), (others, other_seconds, other_at)) = (key(*one), key(*other));
        let (group, other_group) = (of_drives[drives.as_str()], of_drives[others.as_str()]);
        other_group
            .total_cmp(&group)
            .then_with(|| drives.cmp(others))
            .then_with(|| other_seconds.total_cmp(&seconds))
            .then_with(|| at.cmp(&other_at))
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(drives: u32, seconds: f64) -> CellCost {
        CellCost {
            drives: drives.to_string(),
            seconds,
            content: Bytes::mib(1),
            memory: Bytes::gib(1),
        }
    }

    fn seconds(cells: &[CellCost], part: &[usize]) -> f64 {
        part.iter().map(|at| cells[*at].seconds).sum()
    }

    #[test]
    fn equal_cells_are_divided_equally() {
        let cells: Vec<_> = (0..64).map(|at| cell(at / 16, 10.0)).collect();
        for part in divide(&cells, 8) {
            assert_eq!(part.len(), 8);
        }
    }

    #[test]
    fn cells_on_the_same_drives_stay_together() {
        let cells: Vec<_> = (0..120).map(|at| cell(at % 40, 1.0)).collect();
        for part in divide(&cells, 4) {
            let mut drives: Vec<&str> = part.iter().map(|at| cells[*at].drives.as_str()).collect();
            drives.dedup();
            assert_eq!(drives.len(), part.len() / 3, "{drives:?}");
        }
    }

    #[test]
    fn the_longest_cells_begin_first() {
        let cells = [cell(0, 1.0), cell(1, 50.0), cell(0, 2.0), cell(2, 30.0)];
        assert_eq!(divide(&cells, 1), [[1, 3, 2, 0]]);
        assert_eq!(divide(&cells, 2), [vec![1], vec![3, 2, 0]]);
    }

    #[test]
    fn large_contents_are_spread() {
        let large = |content| CellCost { content, ..cell(0, 0.0) };
        let cells: Vec<_> = [9, 9, 1, 1, 1, 1].iter().map(|gib| large(Bytes::gib(*gib))).collect();
        let most = divide(&cells, 2).iter().map(|part| load(&cells, part).1).max();
        assert_eq!(most, Some(Bytes::gib(11).0));
    }

    proptest! {
        #[test]
        fn each_cell_is_in_one_part_and_parts_are_balanced(
            cells in prop::collection::vec((0_u32..6, 0_u32..1000), 1..80), parts in 1_usize..20
        ) {
            let cells: Vec<_> =
                cells.iter().map(|(drives, ms)| cell(*drives, f64::from(*ms) / 1e3)).collect();
            let parts = parts.min(cells.len());
            let divided = divide(&cells, parts);
            prop_assert_eq!(divided.len(), parts);
            prop_assert!(divided.iter().all(|part| !part.is_empty()));
            let mut all: Vec<usize> = divided.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..cells.len()).collect::<Vec<_>>());
            let total = seconds(&cells, &(0..cells.len()).collect::<Vec<_>>());
            let longest_cell = cells.iter().map(|cell| cell.seconds).fold(0.0, f64::max);
            let mean = total / parts as f64;
            for part in &divided {
                // A piece is at most a quarter of a part, and what one cell is longer than that.
                let most = mean * 1.5 + 2.0 * longest_cell + 1e-6;
                prop_assert!(seconds(&cells, part) <= most, "{} of {mean}", seconds(&cells, part));
            }
        }
    }
}
