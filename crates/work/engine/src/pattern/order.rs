//! Which file the next I/O goes to.

use disklab_jobfile::FileOrder;

use super::distribution::{Zipf, normal, pareto};
use crate::random::Random;

/// Chooses among the files that are open and not finished, as fio does
/// (get_next_file in io_u.c).
#[derive(Debug, Clone)]
pub(super) struct FilePicker {
    order: FileOrder,
    zipf: Option<Zipf>,
    count: u32,
    most_open: u32,
    /// Files in use, by number, ascending.
    open: Vec<u32>,
    /// The first file that was not in use yet.
    unopened: u32,
    /// The place in `open` from which the next is taken.
    cursor: usize,
    current: Option<u32>,
    /// I/Os that the current file still gets.
    left: u32,
    random: Random,
}

impl FilePicker {
    /// `most_open` of `count` files are in use at once; both at least 1.
    pub(super) fn new(order: FileOrder, count: u32, most_open: u64, seed: u64) -> Self {
        let zipf = match order {
            FileOrder::Zipf { theta } => Some(Zipf::new(u64::from(count), theta)),
            _ => None,
        };
        let most_open = u32::try_from(most_open).unwrap_or(count).clamp(1, count.max(1));
        let mut files = Self {
            order,
            zipf,
            count,
            most_open,
            open: Vec::new(),
            unopened: 0,
            cursor: 0,
            current: None,
            left: 0,
            random: Random::new(seed, 11),
        };
        files.restart();
        files
    }

    /// All files are unfinished again.
    pub(super) fn restart(&mut self) {
        self.open = (0..self.most_open.min(self.count)).collect();
        self.unopened = self.most_open;
        self.cursor = 0;
        self.current = None;
        self.left = 0;
    }

    /// The file of the next I/O; none where all are finished.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.open.is_empty() {
            return None;
        }
        if self.count == 1 {
            return Some(0);
        }
        if let Some(file) = self.current {
            if self.order == FileOrder::Sequential {
                return Some(file);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(file);
            }
        }
        let n = self.open.len();
        let many = u64::from(self.count);
        let (place, every) = match self.order {
            FileOrder::RoundRobin { every } => (None, every),
            FileOrder::Sequential => (None, 1),
            FileOrder::Random { every } => (Some(self.random.below(many)), every),
            FileOrder::Zipf { .. } => {
                (self.zipf.as_ref().map(|zipf| zipf.draw(&mut self.random)), 1)
            }
            FileOrder::Pareto { power } => (Some(pareto(many, power, &mut self.random)), 1),
            FileOrder::Normal { deviation } => (Some(normal(many, deviation, &mut self.random)), 1),
        };
        let at = match place {
            None => self.cursor % n,
            // A file that is finished or not open yet leaves its turn to the next.
            Some(file) => self.open.partition_point(|f| u64::from(*f) < file) % n,
        };
        self.cursor = at + 1;
        self.left = every.saturating_sub(1);
        self.current = Some(self.open[at]);
        self.current
    }

    /// A file is finished: another one takes its place.
    pub(super) fn finish(&mut self, file: u32) {
        if let Ok(at) = self.open.binary_search(&file) {
            self.open.remove(at);
            if self.cursor > at {
                self.cursor -= 1;
            }
            if self.unopened < self.count {
                self.open.push(self.unopened);
                self.unopened += 1;
            }
        }
        if self.current == Some(file) {
            self.current = None;
            self.left = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(files: &mut FilePicker, n: usize) -> Vec<u32> {
        (0..n).filter_map(|_| files.next()).collect()
    }

    #[test]
    fn round_robin_goes_round() {
        let mut files = FilePicker::new(FileOrder::RoundRobin { every: 1 }, 3, 3, 1);
        assert_eq!(take(&mut files, 4), [0, 1, 2, 0]);
        files.finish(1);
        assert_eq!(take(&mut files, 3), [2, 0, 2]);
        let mut files = FilePicker::new(FileOrder::RoundRobin { every: 2 }, 2, 2, 1);
        assert_eq!(take(&mut files, 5), [0, 0, 1, 1, 0]);
    }

    #[test]
    fn open_files_come_first() {
        let mut files = FilePicker::new(FileOrder::RoundRobin { every: 1 }, 4, 2, 1);
        assert_eq!(take(&mut files, 3), [0, 1, 0]);
        files.finish(0);
        assert_eq!(take(&mut files, 3), [1, 2, 1]);
        for file in [1, 2, 3] {
            files.finish(file);
        }
        assert_eq!(files.next(), None);
        files.restart();
        assert_eq!(files.next(), Some(0));
    }

    #[test]
    fn sequential_finishes_a_file_first() {
        let mut files = FilePicker::new(FileOrder::Sequential, 3, 3, 1);
        assert_eq!(take(&mut files, 3), [0, 0, 0]);
        files.finish(0);
        assert_eq!(take(&mut files, 2), [1, 1]);
    }

    #[test]
    fn drawn_files_follow_their_law() {
        let share = |order| {
            let mut files = FilePicker::new(order, 100, 100, 1);
            let drawn = take(&mut files, 10_000);
            drawn.iter().filter(|f| **f < 20).count()
        };
        assert!((1800..2200).contains(&share(FileOrder::Random { every: 1 })));
        assert!((7800..8200).contains(&share(FileOrder::Pareto { power: 0.2 })));
        assert!(share(FileOrder::Zipf { theta: 1.2 }) > 7500);
        assert!(share(FileOrder::Normal { deviation: 5.0 }) < 10);
        let mut files = FilePicker::new(FileOrder::Random { every: 3 }, 50, 50, 1);
        assert!(take(&mut files, 300).chunks(3).all(|run| run[0] == run[1] && run[1] == run[2]));
    }
}
