//! How long cells take together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use disklab_units::duration_of;

/// Seconds until all cells have ended if each begins, in their order, as soon as one of `at_once`
/// places is free. One cell alone takes its whole time, however many places there are.
pub fn seconds_side_by_side(seconds: impl Iterator<Item = f64>, at_once: usize) -> f64 {
    let mut free_at: BinaryHeap<Reverse<Duration>> =
        std::iter::repeat_n(Reverse(Duration::ZERO), at_once.max(1)).collect();
    let mut last = Duration::ZERO;
    for seconds in seconds {
        let Some(Reverse(free)) = free_at.pop() else { continue };
        let end = free.saturating_add(duration_of(seconds));
        last = last.max(end);
        free_at.push(Reverse(end));
    }
    last.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_alone_is_not_divided_among_processors() {
        for (cells, at_once, expected) in [
            (&[5.0][..], 2, 5.0),
            (&[1.0, 1.0, 1.0][..], 2, 2.0),
            (&[1.0, 1.0, 9.0, 1.0][..], 2, 10.0),
            (&[2.0, 3.0][..], 1, 5.0),
            (&[][..], 4, 0.0),
        ] {
            let seconds = seconds_side_by_side(cells.iter().copied(), at_once);
            assert!((seconds - expected).abs() < 1e-6, "{cells:?} on {at_once}: {seconds}");
        }
    }

    proptest! {
        #[test]
        fn no_order_takes_less_than_the_work_or_the_longest_cell(
            cells in prop::collection::vec(0.0..1e4_f64, 1..40), at_once in 1..9_usize,
        ) {
            let taken = seconds_side_by_side(cells.iter().copied(), at_once);
            let sum: f64 = cells.iter().sum();
            let longest = cells.iter().copied().fold(0.0, f64::max);
            let least = longest.max(sum / at_once as f64);
            // Graham's bound of any order.
            let most = sum / at_once as f64 + longest;
            prop_assert!(taken >= least - 1e-3 && taken <= most + 1e-3, "{least} {taken} {most}");
        }
    }
}
