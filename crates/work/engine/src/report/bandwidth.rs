//! How even the throughput was.

use disklab_sample::Direction;

use crate::measure::{SeriesBin, SeriesCells};

/// Smallest, largest, mean and deviation of what intervals of equal length had.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BandwidthSpread {
    /// The least of an interval.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// Over all intervals, which are equally long.
    pub mean: f64,
    /// The standard deviation of a sample.
    pub deviation: f64,
    /// Intervals.
    pub samples: u64,
}

impl BandwidthSpread {
    /// Of something per second, in intervals of at least `window_ns`. The last
    /// interval is left out, since it is cut off, unless it is the only one.
    pub(super) fn of(
        series: &SeriesCells,
        direction: Direction,
        window_ns: u64,
        elapsed_ns: u64,
        count: impl Fn(&SeriesBin) -> u64,
    ) -> Self {
        let mut series = series.clone();
        series.coarsen(window_ns);
        let cells = series.of(direction);
        let (cells, seconds) = match cells {
            [] => return Self::default(),
            [only] => (std::slice::from_ref(only), elapsed_ns.max(1) as f64 / 1e9),
            [whole @ .., _] => (whole, series.interval_ns as f64 / 1e9),
        };
        let rates: Vec<f64> = cells.iter().map(|cell| count(cell) as f64 / seconds).collect();
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        Self {
            min: rates.iter().copied().fold(f64::INFINITY, f64::min),
            max: rates.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: if rates.len() < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() },
            samples: rates.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_intervals_count() {
        let cell = |bytes| SeriesBin { operations: 1, bytes, latency_ns: 1 };
        let series = SeriesCells {
            interval_ns: 500_000_000,
            read: vec![cell(100), cell(300), cell(7)],
            write: vec![SeriesBin::default(); 3],
        };
        let spread = |window| {
            BandwidthSpread::of(&series, Direction::Read, window, 1_100_000_000, |cell| cell.bytes)
        };
        let fine = spread(500_000_000);
        assert_eq!((fine.min, fine.max, fine.mean, fine.samples), (200.0, 600.0, 400.0, 2));
        assert!((fine.deviation - 282.8427).abs() < 1e-3);
        assert_eq!(spread(1_000_000_000).mean, 400.0);
        assert!((spread(9_000_000_000).mean - 370.0).abs() < 1e-9);
        assert_eq!(
            BandwidthSpread::of(&SeriesCells::default(), Direction::Read, 1, 1, |c| c.bytes)
                .samples,
            0
        );
    }
}
