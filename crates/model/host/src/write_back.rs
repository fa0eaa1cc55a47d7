//! What is to be written of the dirty pages, and what is being.

use std::collections::{BTreeMap, VecDeque};

/// What is to be written, and what is being.
#[derive(Debug, Clone)]
pub(crate) struct WriteBack {
    pub background: u64,
    pub limit: u64,
    /// Runs of pages, with their numbers.
    pub plan: VecDeque<(u64, u64, u64)>,
    pub planned: u64,
    /// The work that the drive has: number of its run, and pages.
    pub at_work: BTreeMap<u64, (u64, u64)>,
    pub works: u64,
    /// Parts of each run that are not written yet; 1 more while it is in the plan.
    pub open: BTreeMap<u64, u64>,
    pub pages: u64,
    pub cursor: u64,
    pub since: Option<u64>,
    pub looks: bool,
    /// Pages that writers will make dirty.
    pub reserved: u64,
    /// Writers that wait.
    pub throttled: VecDeque<usize>,
    /// Flushes, and up to which run they wait.
    pub flushes: Vec<(u64, usize)>,
}

impl WriteBack {
    /// For a cache of so many pages, with the shares in per cent at which writing begins
    /// and writers wait.
    pub fn new(pages: u64, (background, limit): (u64, u64)) -> Self {
        Self {
            background: pages / 100 * background,
            limit: pages / 100 * limit,
            plan: VecDeque::new(),
            planned: 0,
            at_work: BTreeMap::new(),
            works: 0,
            open: BTreeMap::new(),
            pages: 0,
            cursor: 0,
            since: None,
            looks: false,
            reserved: 0,
            throttled: VecDeque::new(),
            flushes: Vec::new(),
        }
    }

    /// Pages on their way to the drive.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Whether `more` pages may become dirty in addition to those that are; a request larger than
    /// the limit goes alone.
    pub fn admits(&self, dirty: u64, more: u64) -> bool {
        let now = dirty + self.pages + self.reserved;
        now == 0 || now + more <= self.limit
    }

    /// Has a flush wait for all that was planned, if some of it is still open.
    pub fn wait(&mut self, slot: usize) -> bool {
        let waits = !self.open.is_empty();
        if waits {
            self.flushes.push((self.planned, slot));
        }
        waits
    }

    pub fn add(&mut self, start: u64, end: u64) {
        self.plan.push_back((start, end, self.planned));
        self.open.insert(self.planned, 1);
        self.planned += 1;
    }

    pub fn close(&mut self, run: u64) {
        if let Some(open) = self.open.get_mut(&run) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(&run);
            }
        }
    }
}
