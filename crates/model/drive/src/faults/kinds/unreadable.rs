//! Sectors that a drive cannot read.

use std::collections::BTreeSet;

use crate::faults::clauses::{FaultKind, InvalidFault};
use crate::faults::effect::{DrawFrom, Effect, Fate, FaultDraw, Meeting};
use crate::faults::numbers::FaultNumbers;
use crate::{Nanos, Operation};

/// How long a drive for arrays tries: ERC, error recovery control, is 70 tenths of a second by
/// default on drives that have it (smartctl(8), `-l scterc`, whose example is 70,70). One without tries for one to
/// two minutes.
const ERC: Nanos = Nanos(7_000_000_000);

/// Each is drawn.
const MOST: u64 = 1_000_000;

pub(super) const KIND: FaultKind = FaultKind {
    name: "unreadable",
    summary: "cannot read some sectors until they are written again, and tries for long",
    clauses: &[
        ("N sectors", "so many physical ones, drawn among what it holds"),
        ("1 bit in N", "one for so many bits read, such as '1 bit in 1e15', drawn by the seed"),
        ("tries TIME", "before it says so [default: 7 s]; a desktop drive tries 120 s"),
    ],
    read: |clauses| {
        let tries = clauses.time("tries")?.unwrap_or(ERC);
        let rate = clauses.rate("bit")?;
        let count = clauses.count("sector")?;
        let mut sectors = BTreeSet::new();
        if rate.is_none() && count.is_none() {
            let listed: u64 = clauses.place.0.iter().map(|(start, end)| end - start).sum();
            if listed == 0 || listed > MOST {
                return Err(InvalidFault::new(format!(
                    "expected 'N sectors', '1 bit in N' or 'on sectors LIST', up to {MOST}"
                )));
            }
            sectors.extend(clauses.place.0.iter().flat_map(|(start, end)| *start..*end));
        }
        if count.is_some_and(|count| count > MOST) {
            return Err(InvalidFault::new(format!("expected up to {MOST} sectors")));
        }
        let mut numbers = FaultNumbers(clauses.seed);
        let rate = rate.map(|mean| (mean, numbers.gap(mean)));
        let physical = clauses.physical;
        Ok(Box::new(Unreadable { sectors, count, rate, numbers, physical, tries }))
    },
};

struct Unreadable {
    sectors: BTreeSet<u64>,
    count: Option<u64>,
    /// One for so many bits, and after how many the next comes.
    rate: Option<(f64, u64)>,
    numbers: FaultNumbers,
    physical: u64,
    tries: Nanos,
}

impl Unreadable {
    /// Draws those that `start..end` meets on its way.
    fn read(&mut self, start: u64, end: u64) {
        let Some((mean, mut left)) = self.rate else { return };
        let mut at = start;
        while left <= (end - at) * 512 * 8 {
            at += left.saturating_sub(1) / (512 * 8);
            self.spoil(at);
            at = (at + 1).min(end);
            left = self.numbers.gap(mean);
        }
        self.rate = Some((mean, left - (end - at) * 512 * 8));
    }

    /// Makes the physical sector around `sector` unreadable.
    fn spoil(&mut self, sector: u64) {
        let first = sector / self.physical * self.physical;
        self.sectors.extend(first..first + self.physical);
    }
}

impl Effect for Unreadable {
    fn draws(&self) -> Option<FaultDraw> {
        self.count.map(|count| FaultDraw { count, from: DrawFrom::Sectors })
    }

    fn drawn(&mut self, sectors: &[u64]) {
        sectors.iter().for_each(|sector| self.spoil(*sector));
    }

    fn meet(&mut self, request: Meeting) -> Option<Fate> {
        match request.operation {
            Operation::Read => {
                self.read(request.start, request.end);
                let first = self.sectors.range(request.start..request.end).next().copied();
                first.map(|_| Fate {
                    fails_after: Some(self.tries),
                    unreadable: first,
                    ..Fate::default()
                })
            }
            Operation::Write | Operation::WriteZeroes => {
                let written: Vec<u64> =
                    self.sectors.range(request.start..request.end).copied().collect();
                for sector in written {
                    self.sectors.remove(&sector);
                }
                None
            }
            Operation::Flush | Operation::Discard => None,
        }
    }
}
