//! Change points of a series, by PELT.
//!
//! Killick, Fearnhead and Eckley, 'Optimal detection of changepoints with a linear
//! computational cost', Journal of the American Statistical Association 107 (2012):
//! the segmentation that minimises the segments' costs plus a penalty for each,
//! exactly, and without looking at ends that can no longer be best.

/// The shortest segment: a shorter one has no variance.
const SHORTEST: usize = 2;

/// Where the segments of `values` end, if mean or variance change between them: ascending, the last is `values.len()`. Each
/// change must lower the cost by more than `penalty`, above 0. Empty for an empty
/// series; values that are not finite make it one segment.
pub fn change_points(values: &[f64], penalty: f64) -> Vec<usize> {
    let n = values.len();
    if n < 2 * SHORTEST || !values.iter().all(|v| v.is_finite()) {
        return if n == 0 { Vec::new() } else { vec![n] };
    }
    let sums = Sums::new(values);
    // best[t]: the cost of the best segmentation of the first t values; infinite
    // where there is none.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last_change = vec![0; n + 1];
    best[0] = -penalty;
    // Starts of last segments that may still be best, each with its cost without
    // the penalty, and the end from which on it cannot be.
    let mut starts = vec![(0, f64::NEG_INFINITY, usize::MAX)];
    for end in SHORTEST..=n {
        let mut found = (f64::INFINITY, 0);
        starts.retain(|(.., until)| end < *until);
        for (start, without, _) in &mut starts {
            if end - *start >= SHORTEST {
                *without = best[*start] + sums.cost(*start, end);
                if *without + penalty < found.0 {
                    found = (*without + penalty, *start);
                }
            }
        }
        (best[end], last_change[end]) = found;
        // Where it is better to change here, even for the penalty, it is so for all
        // ends that leave a segment behind here.
        for (_, without, until) in &mut starts {
            if *without > best[end] {
                *until = (*until).min(end + SHORTEST);
            }
        }
        starts.push((end, f64::NEG_INFINITY, usize::MAX));
    }
    let mut ends = Vec::new();
    let mut end = n;
    while end > 0 {
        ends.push(end);
        end = last_change[end];
    }
    ends.reverse();
    ends
}

/// Fewer values than these say nothing of changes.
const FEWEST: usize = 8;
/// What each change between independent values must be worth, in ln n: of series of 8 to 365 normal
/// values without a change at most one in fifty claims any; a change of four deviations in the middle of
/// ten values is found in half of them, of thirty in all. (Values of one step depend on each other: for
/// these `steady` takes more.)
const PENALTY: f64 = 8.0;

/// Where the levels of independent values begin, such as a figure of many runs in their order: the first
/// is 0. A level has at least two values.
pub fn level_changes(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    let ends = if n < FEWEST { vec![n] } else { change_points(values, PENALTY * (n as f64).ln()) };
    std::iter::once(0).chain(ends).filter(|start| *start < n).collect()
}

/// Sums from the start, so that any segment's cost takes no loop.
struct Sums {
    sums: Vec<f64>,
    squares: Vec<f64>,
    least_variance: f64,
}

impl Sums {
    fn new(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().map(|v| v / n).sum::<f64>();
        let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
        let (mut sum, mut square) = (0.0, 0.0);
        for value in values {
            // From the mean, so that large values do not drown their differences.
            let value = value - mean;
            sum += value;
            square += value * value;
            sums.push(sum);
            squares.push(square);
        }
        // Equal values, as modelled drives give them, would have the likelihood of
        // infinity; a spread below a thousandth of the mean is of no interest.
        let least = (mean * 1e-3).powi(2).max(f64::MIN_POSITIVE);
        Self { sums, squares, least_variance: least }
    }

    /// Twice the negative log-likelihood of a normal distribution with the segment's own mean and
    /// variance, L·(ln 2π + ln σ̂² + 1), without ln 2π + 1: that adds up to the same for all divisions.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let length = (end - start) as f64;
        let sum = self.sums[end] - self.sums[start];
        let spread = (self.squares[end] - self.squares[start] - sum * sum / length).max(0.0);
        // Added, not a lower bound: so no split costs more, which pruning relies on.
        let variance = spread / length + self.least_variance;
        length * variance.ln()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_warm_up_is_found() {
        let values: Vec<f64> = (0..200)
            .map(|i| if i < 60 { 150.0 } else { 120.0 } + 3.0 * (1.7 * f64::from(i)).sin())
            .collect();
        let penalty = 15.0 * 200_f64.ln();
        assert_eq!(change_points(&values, penalty), [60, 200]);
    }

    #[test]
    fn a_step_of_the_mean_is_found() {
        let values: Vec<f64> = (0..1440)
            .map(|i| 20.0 + if i >= 600 { 3.0 } else { 0.0 } + (1.7 * f64::from(i) + 1.0).sin())
            .collect();
        let penalty = 15.0 * 1440_f64.ln();
        assert_eq!(change_points(&values, penalty), [600, 1440]);
    }

    #[test]
    fn the_ends_are_defined() {
        let ends = |values: &[f64]| change_points(values, 1.0);
        assert_eq!(ends(&[]), [0_usize; 0]);
        assert_eq!(ends(&[3.0]), [1]);
        assert_eq!(ends(&[1.0, f64::NAN, 9.0, 9.0, 9.0]), [5]);
        assert_eq!(ends(&[7.0; 100]), [100]);
        assert_eq!(ends(&[0.0; 100]), [100]);
    }

    #[test]
    fn a_figure_that_does_not_change_is_seldom_said_to() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for n in [FEWEST, 12, 30, 100] {
            for noise in [0.01, 0.05] {
                // Sums of twelve uniform values are normal enough.
                let mut value = || {
                    let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
                    100.0 * (1.0 + noise * (sum - 6.0))
                };
                let mut claimed = |step: f64| {
                    let claims = |_: &u32| {
                        let values: Vec<f64> = (0..n)
                            .map(|i| value() * if i < n / 2 { 1.0 } else { 1.0 + step * noise })
                            .collect();
                        level_changes(&values).len() > 1
                    };
                    (0..300_u32).filter(claims).count()
                };
                let (without, with) = (claimed(0.0), claimed(6.0));
                assert!(without <= 10, "n {n}, noise {noise}: {without} of 300 claim a change");
                assert!(with >= 150, "n {n}, noise {noise}: {with} of 300 find a change");
            }
        }
    }

    #[test]
    fn levels_of_equal_values_are_found_and_few_have_none() {
        let values = [[118.0; 5], [109.0; 5]].concat();
        assert_eq!(level_changes(&values), [0, 5]);
        assert_eq!(level_changes(&values[2..8]), [0]);
        assert_eq!(level_changes(&[]), [0_usize; 0]);
    }

    /// The same by trying all segmentations.
    fn exhaustive(values: &[f64], penalty: f64) -> f64 {
        let sums = Sums::new(values);
        let mut best = vec![f64::INFINITY; values.len() + 1];
        best[0] = -penalty;
        for end in SHORTEST..=values.len() {
            for start in 0..=end - SHORTEST {
                best[end] = best[end].min(best[start] + sums.cost(start, end) + penalty);
            }
        }
        best[values.len()]
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(
            values in proptest::collection::vec(-100.0_f64..100.0, 4..40), penalty in 0.1_f64..100.0
        ) {
            let ends = change_points(&values, penalty);
            let sums = Sums::new(&values);
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let total: f64 = starts
                .zip(&ends)
                .map(|(start, end)| sums.cost(start, *end) + penalty)
                .sum::<f64>() - penalty;
            let least = exhaustive(&values, penalty);
            prop_assert!(total <= least + 1e-6 * (1.0 + least.abs()), "{total} {least} {ends:?}");
        }
    }
}
