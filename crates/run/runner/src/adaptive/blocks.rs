//! Which cells come next.

use std::collections::{HashMap, HashSet};

use disklab_cell::{Cell, Levels};
use disklab_store::CellRecord;

/// How many blocks each cell is needed in.
pub(crate) type Targets = HashMap<Levels, u32>;

/// The cells of the next block that a target asks for and that the run does not have yet;
/// of all such blocks where `all`. `order` is that of the whole campaign: within a block,
/// what is left of it keeps its drawn order.
pub(crate) fn next_cells(
    targets: &Targets,
    order: &[Cell],
    records: &[CellRecord],
    all: bool,
) -> Vec<Cell> {
    let known: HashSet<(u32, &Levels)> = records.iter().map(|r| key(&r.cell)).collect();
    let mut number = records.iter().map(|r| r.cell.number + 1).max().unwrap_or(0);
    let mut cells: Vec<Cell> = Vec::new();
    for cell in order {
        let target = targets.get(&cell.levels);
        if target.is_none_or(|target| cell.block >= *target) || known.contains(&key(cell)) {
            continue;
        }
        if !all && cells.last().is_some_and(|last| last.block != cell.block) {
            break;
        }
        cells.push(Cell { number, ..cell.clone() });
        number += 1;
    }
    cells
}

fn key(cell: &Cell) -> (u32, &Levels) {
    (cell.block, &cell.levels)
}

#[cfg(test)]
pub(super) mod tests {
    use disklab_cell::{SeedSharing, order};
    use disklab_store::CellState;

    use super::*;

    fn levels() -> Vec<Levels> {
        let of = |s: &'static str| ["x", "y"].map(|w| Levels::new(s, w));
        ["a", "b", "c"].into_iter().flat_map(of).collect()
    }

    /// What a run records of these cells, all of which are done.
    pub(in crate::adaptive) fn done(cells: &[Cell]) -> Vec<CellRecord> {
        let record = |cell: &Cell| CellRecord::new(cell.clone(), CellState::Done);
        cells.iter().map(record).collect()
    }

    #[test]
    fn the_first_block_is_that_of_the_order() {
        let order = order(&levels(), 5, 7, SeedSharing::Shared);
        let targets: Targets = levels().into_iter().map(|p| (p, 3)).collect();
        assert_eq!(next_cells(&targets, &order, &[], false), order[..6]);
        assert_eq!(next_cells(&targets, &order, &[], true), order[..18]);
    }

    #[test]
    fn remaining_cells_keep_their_order_in_the_block() {
        let order = order(&levels(), 5, 7, SeedSharing::Shared);
        let records = done(&order[..12]);
        let needed = [("a", "x"), ("c", "x")];
        let targets: Targets = needed.iter().map(|(s, w)| (Levels::new(*s, *w), 4)).collect();
        let next = next_cells(&targets, &order, &records, true);
        let expected: Vec<(u32, &str)> = order[12..24]
            .iter()
            .filter(|c| c.levels.workload == "x" && c.levels.stack != "b")
            .map(|c| (c.block, c.levels.stack.as_str()))
            .collect();
        let got: Vec<(u32, &str)> =
            next.iter().map(|c| (c.block, c.levels.stack.as_str())).collect();
        assert_eq!(got, expected);
        let numbers: Vec<u32> = next.iter().map(|c| c.number).collect();
        assert_eq!(numbers, [12, 13, 14, 15]);
    }

    #[test]
    fn a_hole_is_filled_first() {
        let order = order(&levels(), 4, 1, SeedSharing::Shared);
        let mut records = done(&order[..18]);
        records.retain(|r| !(r.cell.block == 1 && r.cell.levels.stack == "b"));
        let targets: Targets = levels().into_iter().map(|p| (p, 4)).collect();
        let next = next_cells(&targets, &order, &records, false);
        assert!(
            next.len() == 2 && next.iter().all(|c| c.block == 1 && c.levels.stack == "b"),
            "{next:?}"
        );
        assert_eq!(next[0].number, 18);
    }
}
