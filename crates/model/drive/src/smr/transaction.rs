//! Transactions of the log: what is committed together.

use super::parameters::CommitPoint;
use crate::hdd::SECTOR;

/// What is appended between one flush and the next, or until it has the size of the
/// largest point of the table.
#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    points: Vec<CommitPoint>,
    /// Sectors.
    size: u64,
    opened: u64,
    /// When the first write came that belongs to the next transaction.
    first: Option<u64>,
    ready: u64,
}

impl Transaction {
    /// None so far. The table has two points at least.
    pub(crate) fn new(points: &[CommitPoint]) -> Self {
        Self { points: points.to_vec(), size: 0, opened: 0, first: None, ready: 0 }
    }

    /// Notes that a write came.
    pub(crate) fn note_write(&mut self, arrived: u64) {
        if self.size == 0 {
            self.first.get_or_insert(arrived);
        }
    }

    /// Adds sectors.
    pub(crate) fn grow(&mut self, now: u64, sectors: u64) {
        if self.size == 0 {
            self.opened = self.first.take().unwrap_or(now).max(self.ready);
        }
        self.size += sectors;
        if self.points.last().is_some_and(|point| self.size * SECTOR >= point.size) {
            self.close();
        }
    }

    /// Ends it; says whether there was one.
    pub(crate) fn close(&mut self) -> bool {
        let was = self.size > 0;
        if was {
            self.ready = self.opened + self.time(self.size * SECTOR);
            (self.size, self.first) = (0, None);
        }
        was
    }

    /// When the last one that ended is committed.
    pub(crate) fn ready(&self) -> u64 {
        self.ready
    }

    /// The table at `size` bytes: straight lines between its points and on beyond
    /// them.
    fn time(&self, size: u64) -> u64 {
        let last = self.points.len().saturating_sub(2);
        let index = self.points.partition_point(|point| point.size < size);
        let Some([from, to]) =
            self.points.get(index.saturating_sub(1).min(last)..).and_then(|p| p.first_chunk())
        else {
            return 0;
        };
        let slope = (to.time - from.time) as f64 / (to.size - from.size) as f64;
        (from.time as f64 + (size as f64 - from.size as f64) * slope).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn table() -> Transaction {
        let point = |size, time| CommitPoint { size: size * MIB, time };
        Transaction::new(&[point(1, 100), point(2, 150), point(4, 400)])
    }

    #[test]
    fn times_lie_on_lines_through_the_points() {
        let table = table();
        let times = [0, 1, 2, 3, 4, 8].map(|size| table.time(size * MIB));
        assert_eq!(times, [50, 100, 150, 275, 400, 900]);
    }

    #[test]
    fn a_transaction_begins_with_the_arrival_of_its_first_write() {
        let mut transaction = table();
        assert!(!transaction.close());
        transaction.note_write(1000);
        transaction.note_write(1100);
        transaction.grow(1200, MIB / SECTOR);
        transaction.grow(1300, MIB / SECTOR);
        assert_eq!(transaction.ready(), 0);
        assert!(transaction.close());
        assert_eq!(transaction.ready(), 1150);
        // One that nobody ends is ended by its size, and the next begins after it.
        transaction.note_write(1120);
        transaction.grow(1150, 4 * MIB / SECTOR);
        assert_eq!(transaction.ready(), 1550);
        transaction.grow(1200, MIB / SECTOR);
        assert!(transaction.close());
        assert_eq!(transaction.ready(), 1650);
    }
}
