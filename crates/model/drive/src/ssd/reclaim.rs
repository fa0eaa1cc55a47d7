//! Emptying lines: garbage collection and the folding of the SLC cache.

use super::ftl::{Ftl, ReclaimJob, State, Stream, Work};
use super::layout::FREE_LINES;
use super::map::Map;

impl Ftl {
    /// Reclaims as much as `count` new units use up, if free lines are few: what a
    /// line costs is spread evenly over what it wins.
    pub(super) fn reclaim_for(&mut self, count: u32) {
        if self.reclaim.is_none() && self.free.len() as u32 > FREE_LINES {
            return;
        }
        if !self.begin_reclaim() {
            return;
        }
        if let Some(job) = &mut self.reclaim {
            job.paid += i64::from(count) * i64::from(job.cost);
        }
        while let Some(job) = self.reclaim
            && job.paid >= i64::from(job.gain)
        {
            self.reclaim_page();
        }
    }

    /// Chooses the line to be emptied next, where none is.
    fn begin_reclaim(&mut self) -> bool {
        if self.reclaim.is_some() {
            return true;
        }
        let Some((line, valid)) = self.ranks.lowest() else { return false };
        let gain = self.layout.line_units() - valid;
        // Nothing is won by moving what is all in use.
        if gain == 0 {
            return false;
        }
        self.reclaim = Some(self.begin(line, valid, gain));
        if valid == 0 {
            self.reclaim_page();
        }
        true
    }

    fn begin(&mut self, line: u32, valid: u32, gain: u32) -> ReclaimJob {
        self.ranks.remove(line);
        self.lines[line as usize].state = State::Leaving;
        ReclaimJob { line, page: 0, cost: valid, gain, paid: 0 }
    }

    /// Copies one page's worth of the line that is being reclaimed. Gives whether
    /// there is something to reclaim.
    pub(super) fn reclaim_page(&mut self) -> bool {
        if self.reclaim.is_none() {
            return self.begin_reclaim();
        }
        let Some(mut job) = self.reclaim else { return false };
        let copied = self.advance(&mut job);
        job.paid -= i64::from(copied) * i64::from(job.gain);
        self.reclaim = self.unless_done(job);
        true
    }

    /// Folds one page of the SLC cache; gives the units that were copied, or nothing
    /// where there is nothing to fold.
    pub(crate) fn fold_page(&mut self) -> Option<u32> {
        loop {
            // The last free line is for reclaiming.
            if self.free.len() < 2 {
                return None;
            }
            if let Some(mut job) = self.fold {
                let copied = self.advance(&mut job);
                self.fold = self.unless_done(job);
                if copied > 0 {
                    return Some(copied);
                }
            } else if let Some((line, opened)) = self.cached.pop_front() {
                let oldest = &self.lines[line as usize];
                // It may have been reclaimed since.
                if oldest.state == State::Closed && oldest.opened == opened {
                    self.fold = Some(self.begin(line, oldest.valid, 0));
                }
            } else {
                return None;
            }
        }
    }

    /// Whether something is in the SLC cache that can be folded.
    pub(crate) fn is_caching(&self) -> bool {
        self.cache_lines > 0
    }

    /// Ends the line of the SLC cache that is being filled, so that it can be folded.
    pub(crate) fn close_cache(&mut self) {
        self.pad();
        if let Some(frontier) = self.frontiers[Stream::Cache as usize].take() {
            self.close(frontier.line);
        }
    }

    /// Copies the next page of a line that has something in use.
    fn advance(&mut self, job: &mut ReclaimJob) -> u32 {
        let line = &self.lines[job.line as usize];
        let (pages, cached) = (line.pages, line.cached);
        while job.page < pages && self.lines[job.line as usize].valid > 0 {
            let page = job.page;
            job.page += 1;
            let copied = self.copy_page(job.line, page, cached);
            if copied > 0 {
                return copied;
            }
        }
        job.page = pages;
        0
    }

    fn copy_page(&mut self, line: u32, page: u32, cached: bool) -> u32 {
        let base = line * self.layout.line_units();
        let first = page * self.layout.page_units;
        let is_here = |ftl: &Self, offset: u32| {
            let unit = ftl.lines[line as usize].owners.get(offset)?;
            (ftl.map.get(unit) == Some(base + offset)).then_some(unit)
        };
        let offsets = first..first + self.layout.page_units;
        let units = offsets.clone().filter(|at| is_here(self, *at).is_some()).count() as u32;
        if units > 0 {
            let page = line * self.layout.line_pages + page;
            self.work.push(Work::Read { page, units, cached });
            for offset in offsets {
                if let Some(unit) = is_here(self, offset) {
                    self.append(Stream::Copy, unit, 1);
                }
            }
            self.wear.copied += u64::from(units);
        }
        units
    }

    /// The job, unless its line is empty: then that is erased.
    fn unless_done(&mut self, job: ReclaimJob) -> Option<ReclaimJob> {
        let line = &mut self.lines[job.line as usize];
        if line.valid > 0 && job.page < line.pages {
            return Some(job);
        }
        self.cache_lines -= u32::from(line.cached);
        line.state = State::Free;
        line.cached = false;
        line.pages = 0;
        line.owners = Map::new(0);
        self.free.push_back(job.line);
        self.work.push(Work::Erase { line: job.line });
        None
    }
}
