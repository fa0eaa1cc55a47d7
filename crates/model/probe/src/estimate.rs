//! Values with their intervals.

use disklab_stats::median_low;

/// A value, and between what it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbedValue {
    /// The value, in ns, B/s, B, or as a bare number.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Measurements behind it.
    pub samples: usize,
}

impl ProbedValue {
    /// A value that may be off by `error` to each side.
    pub fn within(value: f64, error: f64, samples: usize) -> Self {
        let error = error.abs();
        Self { value, low: value - error, high: value + error, samples }
    }

    /// A value found between two neighbours.
    pub fn between(low: f64, value: f64, high: f64, samples: usize) -> Self {
        Self { value, low, high, samples }
    }

    /// The same with another unit or offset.
    pub fn map(self, to: impl Fn(f64) -> f64) -> Self {
        let (low, high) = (to(self.low), to(self.high));
        Self { value: to(self.value), low: low.min(high), high: low.max(high), ..self }
    }
}

/// The middle of some numbers (the lower of two); 0 for none.
pub(crate) fn median(values: &[f64]) -> f64 {
    median_low(values).unwrap_or(0.0)
}

/// The number below which the part `part` lies; one of the numbers, 0 for none.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part) as usize).copied().unwrap_or(0.0)
}

/// Half of the width of the 95 % interval of a median: 1.96 · 1.2533 · s/√n, with s from
/// the median absolute deviation, as of normally distributed values.
pub(crate) fn median_error(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.96 * 1.2533 * 1.4826 * median(&deviations) / (values.len() as f64).sqrt()
}

/// Least squares: the coefficients of the basis whose values are the rows of `rows`, by
/// the normal equations. `None` if the rows do not determine them.
pub(crate) fn least_squares<const N: usize>(
    rows: &[[f64; N]],
    values: &[f64],
    weights: &[f64],
) -> Option<[f64; N]> {
    let (mut matrix, mut right) = ([[0.0; N]; N], [0.0; N]);
    for ((row, value), weight) in rows.iter().zip(values).zip(weights) {
        for i in 0..N {
            right[i] += weight * row[i] * value;
            for j in 0..N {
                matrix[i][j] += weight * row[i] * row[j];
            }
        }
    }
    solve(matrix, right)
}

/// Gauss's elimination with the largest pivot of each column.
fn solve<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> Option<[f64; N]> {
    for column in 0..N {
        let largest = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..N).max_by(|a, b| largest(a).total_cmp(&largest(b)))?;
        if matrix[pivot][column].abs() < 1e-30 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in 0..N {
            if row == column {
                continue;
            }
            let factor = matrix[row][column] / matrix[column][column];
            let pivot = matrix[column];
            for (value, above) in matrix[row].iter_mut().zip(pivot) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut result = [0.0; N];
    for (row, value) in result.iter_mut().enumerate() {
        *value = right[row] / matrix[row][row];
    }
    result.iter().all(|value| value.is_finite()).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_through_its_points() {
        let rows: Vec<[f64; 2]> = (0..5).map(|x| [1.0, f64::from(x)]).collect();
        let values: Vec<f64> = (0..5).map(|x| 3.0 + 2.0 * f64::from(x)).collect();
        let found = least_squares(&rows, &values, &[1.0; 5]).unwrap();
        assert!((found[0] - 3.0).abs() < 1e-9 && (found[1] - 2.0).abs() < 1e-9);
        assert_eq!(least_squares(&[[1.0, 1.0]], &[1.0], &[1.0]), None);
    }

    #[test]
    fn medians_and_quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!((median(&[]), median_error(&[])), (0.0, 0.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 1.0), 5.0);
        assert_eq!(median_error(&[1.0; 9]), 0.0);
    }
}
