//! Distributions given as a table of ranges.

use super::Uniform;

/// One row of a `randtable`: with this chance, evenly in this range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableRow {
    /// Chance in whole percent; 0 rows are allowed and never drawn.
    pub percent: u64,
    /// Lower end of the range.
    pub min: f64,
    /// Upper end of the range.
    pub max: f64,
}

/// A distribution of 100 equally likely ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomTable {
    /// Lower end and width of each percent.
    cells: Vec<(f64, f64)>,
    lowest: f64,
    mean: f64,
}

impl RandomTable {
    /// From its rows.
    ///
    /// # Errors
    /// The total, where the percentages do not sum to 100.
    pub fn new(rows: &[TableRow]) -> Result<Self, u64> {
        let total = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.percent));
        if total != 100 {
            return Err(total);
        }
        let mut cells = Vec::with_capacity(100);
        let mut lowest = f64::INFINITY;
        let mut mean = 0.0;
        for row in rows {
            // As upstream: rows of 0 % count for the lowest value too.
            lowest = lowest.min(row.min);
            mean += (row.min + row.max) / 2.0 * row.percent as f64 / 100.0;
            cells.extend((0..row.percent).map(|_| (row.min, row.max - row.min)));
        }
        Ok(Self { cells, lowest, mean })
    }

    /// The mean of the table itself.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// A draw, moved so that the lowest value becomes `min` and the mean `mean`
    /// (`rand_table_get` and `randdist_init` of `fb_random.c`).
    pub(super) fn draw(&self, rng: &mut impl Uniform, min: f64, mean: f64) -> f64 {
        let place = rng.unit() * 100.0;
        // Upstream's generator can give 1: then it reads past its table.
        let index = (place as usize).min(self.cells.len().saturating_sub(1));
        let Some(&(base, width)) = self.cells.get(index) else { return min };
        let value = base + width * (place - index as f64).min(1.0);
        let spread = self.mean - self.lowest;
        if spread == 0.0 {
            return min;
        }
        (value - self.lowest) / spread * (mean - min) + min
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn rows() -> Vec<TableRow> {
        [(0, 1.0, 7.0), (80, 1.0, 4.0), (15, 4.0, 16.0), (5, 16.0, 64.0)]
            .map(|(percent, min, max)| TableRow { percent, min, max })
            .to_vec()
    }

    #[test]
    fn each_range_is_drawn_as_often_as_it_says() {
        let table = RandomTable::new(&rows()).expect("100 %");
        assert!((table.mean() - 5.5).abs() < 1e-12);
        let mut rng = Rng::stream(5, 0);
        let n = 200_000;
        let drawn: Vec<f64> = (0..n).map(|_| table.draw(&mut rng, 1.0, 5.5)).collect();
        let within = |min, max| drawn.iter().filter(|x| (min..max).contains(*x)).count();
        for (range, share) in [((1.0, 4.0), 0.80), ((4.0, 16.0), 0.15), ((16.0, 64.0), 0.05)] {
            let got = within(range.0, range.1) as f64 / f64::from(n);
            assert!((got - share).abs() < 0.005, "{range:?}: {got}");
        }
        let mean = drawn.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 5.5).abs() < 0.1, "{mean}");
    }

    #[test]
    fn its_mean_and_minimum_can_be_moved() {
        let table = RandomTable::new(&rows()).expect("100 %");
        let mut rng = Rng::stream(6, 0);
        let drawn: Vec<f64> = (0..200_000).map(|_| table.draw(&mut rng, 10.0, 100.0)).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean - 100.0).abs() < 1.0, "{mean}");
        assert!(drawn.iter().all(|x| *x >= 10.0));
    }

    #[test]
    fn percentages_must_be_whole() {
        let mut rows = rows();
        rows[1].percent = 79;
        assert_eq!(RandomTable::new(&rows), Err(99));
        rows[1].percent = u64::MAX;
        assert_eq!(RandomTable::new(&rows), Err(u64::MAX));
        let constant = [TableRow { percent: 100, min: 8.0, max: 8.0 }];
        let table = RandomTable::new(&constant).expect("100 %");
        assert_eq!(table.draw(&mut Rng::stream(1, 1), 8.0, 8.0), 8.0);
    }
}
