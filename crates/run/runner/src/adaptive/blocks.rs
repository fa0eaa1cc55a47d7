//! Which cells come next.

use std::collections::{HashMap, HashSet};

use disklab_store::CellRecord;
use disklab_study::Cell;

/// By (stack, workload): the blocks that it is needed in.
pub(crate) type Targets = HashMap<(String, String), u32>;

/// The cells of the next block that a target asks for and that the run does not have yet;
/// of all such blocks where `all`. `order` is that of the whole campaign: within a block,
/// what is left of it keeps its drawn order.
pub(crate) fn next_cells(
    targets: &Targets,
    order: &[Cell],
    records: &[CellRecord],
    all: bool,
) -> Vec<Cell> {
    let known: HashSet<(u32, &str, &str)> = records.iter().map(|r| key(&r.cell)).collect();
    let mut number = records.iter().map(|r| r.cell.number + 1).max().unwrap_or(0);
    let mut cells: Vec<Cell> = Vec::new();
    for cell in order {
        let target = targets.get(&(cell.stack.clone(), cell.workload.clone()));
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

fn key(cell: &Cell) -> (u32, &str, &str) {
    (cell.block, &cell.stack, &cell.workload)
}

#[cfg(test)]
mod tests {
    use disklab_store::CellState;
    use disklab_study::order;

    use super::*;

    fn pairs() -> Vec<(String, String)> {
        ["a", "b", "c"]
            .iter()
            .flat_map(|s| ["x", "y"].iter().map(move |w| ((*s).to_owned(), (*w).to_owned())))
            .collect()
    }

    fn done(cells: &[Cell]) -> Vec<CellRecord> {
        let record = |cell: &Cell| CellRecord {
            cell: cell.clone(),
            state: CellState::Done,
            error: None,
            ended: None,
            seconds: None,
        };
        cells.iter().map(record).collect()
    }

    #[test]
    fn the_first_block_is_that_of_the_order() {
        let order = order(&pairs(), 5, 7);
        let targets: Targets = pairs().into_iter().map(|p| (p, 3)).collect();
        assert_eq!(next_cells(&targets, &order, &[], false), order[..6]);
        assert_eq!(next_cells(&targets, &order, &[], true), order[..18]);
    }

    #[test]
    fn remaining_cells_keep_their_order_in_the_block() {
        let order = order(&pairs(), 5, 7);
        let records = done(&order[..12]);
        let needed = [("a", "x"), ("c", "x")];
        let targets: Targets =
            needed.iter().map(|(s, w)| (((*s).to_owned(), (*w).to_owned()), 4)).collect();
        let next = next_cells(&targets, &order, &records, true);
        let expected: Vec<(u32, &str)> = order[12..24]
            .iter()
            .filter(|c| c.workload == "x" && c.stack != "b")
            .map(|c| (c.block, c.stack.as_str()))
            .collect();
        let got: Vec<(u32, &str)> = next.iter().map(|c| (c.block, c.stack.as_str())).collect();
        assert_eq!(got, expected);
        let numbers: Vec<u32> = next.iter().map(|c| c.number).collect();
        assert_eq!(numbers, [12, 13, 14, 15]);
    }

    #[test]
    fn a_hole_is_filled_first() {
        let order = order(&pairs(), 4, 1);
        let mut records = done(&order[..18]);
        records.retain(|r| !(r.cell.block == 1 && r.cell.stack == "b"));
        let targets: Targets = pairs().into_iter().map(|p| (p, 4)).collect();
        let next = next_cells(&targets, &order, &records, false);
        assert!(next.len() == 2 && next.iter().all(|c| c.block == 1 && c.stack == "b"), "{next:?}");
        assert_eq!(next[0].number, 18);
    }
}
