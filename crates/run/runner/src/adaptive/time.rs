//! What blocks take, and what a run has taken.

use std::collections::HashMap;

use disklab_cell::{Cell, Levels};
use disklab_store::{CellRecord, Session};

/// Real seconds that these cells will take together, `at_once` side by side. A cell takes
/// as long as nine in ten of its like have taken at most (one of many that met a stall says
/// nothing about the next), or what is `predicted`, corrected by what the
/// others took against theirs; side by side, no more than the last one waits for (Graham,
/// 'Bounds on multiprocessing timing anomalies', 1969).
pub(crate) fn block_seconds<'a>(
    cells: impl IntoIterator<Item = &'a Cell>,
    records: &[CellRecord],
    predicted: impl Fn(&Cell) -> f64,
    at_once: usize,
) -> f64 {
    let mut seen: HashMap<&Levels, Vec<f64>> = HashMap::new();
    let (mut taken, mut expected) = (0.0, 0.0);
    for record in records {
        let (Some(seconds), cell) = (record.seconds, &record.cell) else { continue };
        seen.entry(&cell.levels).or_default().push(seconds);
        taken += seconds;
        expected += predicted(cell);
    }
    seen.values_mut().for_each(|all| all.sort_by(f64::total_cmp));
    let long = |all: &Vec<f64>| all.get((all.len() * 9).div_ceil(10).saturating_sub(1)).copied();
    let correction = if expected > 0.0 { taken / expected } else { 1.0 };
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for cell in cells {
        let known = seen.get(&cell.levels).and_then(long);
        let seconds = known.unwrap_or_else(|| predicted(cell) * correction);
        sum += seconds;
        largest = largest.max(seconds);
    }
    let at_once = at_once.max(1) as f64;
    sum / at_once + largest * (1.0 - 1.0 / at_once)
}

/// Real seconds that earlier starts of the program have used: each from its beginning to the
/// end of its last cell. The last session is the present one, and is not counted.
pub(crate) fn used_seconds(sessions: &[Session], records: &[CellRecord]) -> f64 {
    let mut used = 0.0;
    for two in sessions.windows(2) {
        let [one, next] = two else { continue };
        let ends = records.iter().filter_map(|r| r.ended);
        let last = ends.filter(|end| (one.began..next.began).contains(end)).max();
        used += last.map_or(0.0, |last| last.duration_since(one.began).as_secs_f64());
    }
    used
}

#[cfg(test)]
mod tests {
    use disklab_store::CellState;
    use jiff::Timestamp;

    use super::*;

    fn cell(stack: &str, number: u32) -> Cell {
        Cell { number, block: number, levels: Levels::new(stack, "w"), seed: 1 }
    }

    fn record(stack: &str, number: u32, seconds: f64, ended: i64) -> CellRecord {
        CellRecord {
            ended: Timestamp::from_second(ended).ok(),
            seconds: Some(seconds),
            ..CellRecord::new(cell(stack, number), CellState::Done)
        }
    }

    #[test]
    fn cells_take_as_long_as_their_like_took() {
        let records = [record("a", 0, 4.0, 0), record("a", 1, 6.0, 0)];
        let next = [cell("a", 2), cell("b", 2)];
        // 'b' was predicted with 2.5 s, as 'a' was, which took twice as long on average.
        let got = block_seconds(&next, &records, |_| 2.5, 1);
        assert!((got - 11.0).abs() < 1e-9, "{got}");
        let two = block_seconds(&next, &records, |_| 2.5, 2);
        assert!((two - 8.5).abs() < 1e-9, "{two}");
        assert!((block_seconds(&next, &[], |_| 2.5, 1) - 5.0).abs() < 1e-9);
        let mut many: Vec<_> = (0..10).map(|n| record("a", n, 1.0, 0)).collect();
        many.push(record("a", 10, 60.0, 0));
        let got = block_seconds(&[cell("a", 11)], &many, |_| 2.5, 1);
        assert!((got - 1.0).abs() < 1e-9, "{got}");
    }

    #[test]
    fn time_between_sessions_is_not_the_runs() {
        let session = |began: i64| Session {
            began: Timestamp::from_second(began).expect("a time"),
            command: Vec::new(),
            disklab: String::new(),
            kernel: String::new(),
        };
        let records = [record("a", 0, 4.0, 14), record("a", 1, 6.0, 21), record("a", 2, 6.0, 1009)];
        let sessions = [session(10), session(1000), session(2000)];
        assert!((used_seconds(&sessions, &records) - 20.0).abs() < 1e-9);
        assert_eq!(used_seconds(&sessions[..1], &records), 0.0);
    }
}
