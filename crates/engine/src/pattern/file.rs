//! Where in a file the next I/O lies.

use disklab_jobfile::{Direction, Distribution, Extent, Job, RandomMap};

use super::distribution::Draw;
use super::map::Map;
use super::permutation::Permutation;
use super::side;
use crate::random::{Random, mix};

/// What holds for all files of a job.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    /// At the end of the file it begins again from the start.
    pub(super) wraps: bool,
    /// Random blocks begin anew when all were visited.
    pub(super) revisits: bool,
    /// Bytes between sequential I/Os; negative goes backwards.
    pub(super) skip: i64,
    /// Whether each block is visited once.
    pub(super) each_once: bool,
    /// Whether the map has to be kept, since the permutation does not tell all.
    pub(super) needs_map: bool,
    /// Random offsets are multiples of this many bytes; at least 1.
    pub(super) unit: u64,
    /// The smallest I/O.
    pub(super) min: u64,
    pub(super) distribution: [Distribution; 2],
}

impl Rules {
    pub(super) fn of(job: &Job, skip: i64, mixes_orders: bool) -> Self {
        let (align, access) = (job.blocks.align, job.pattern.access);
        let unit = match (access.reads, access.writes) {
            (true, false) => align.read,
            (false, _) => align.write,
            (true, true) => align.read.min(align.write),
        }
        .max(1);
        let one_size = job.blocks.max() == job.blocks.min() && job.blocks.max() <= unit;
        let random = &job.pattern.distribution;
        Self {
            wraps: false,
            revisits: job.timing.time_based,
            skip,
            each_once: job.pattern.map != RandomMap::None,
            needs_map: !one_size || mixes_orders,
            unit,
            min: job.blocks.min(),
            distribution: [random.read.clone(), random.write.clone()],
        }
    }
}

/// One file: its sequential positions, and its order of random blocks.
#[derive(Debug, Clone)]
pub(super) struct Place {
    start: u64,
    length: u64,
    /// How long the file really is: at least `start + length`.
    real: u64,
    /// Where the next sequential I/O begins, by direction.
    position: [u64; 2],
    /// Where the last I/O began.
    last: [Option<u64>; 2],
    random: Option<Box<Order>>,
    wrapped: bool,
}

#[derive(Debug, Clone)]
struct Order {
    blocks: u64,
    permutation: Permutation,
    next: u64,
    map: Option<Map>,
    draw: [Draw; 2],
    seed: u64,
}

impl Place {
    pub(super) fn new(extent: Extent, real: u64, rules: &Rules, random: Option<u64>) -> Self {
        let start = extent.offset;
        let random = random.map(|seed| {
            let blocks = extent.length.checked_sub(rules.min).map_or(0, |n| n / rules.unit + 1);
            let draw = [0, 1].map(|side: usize| {
                Draw::new(&rules.distribution[side], blocks, rules.unit, mix(seed + 1))
            });
            let permutation = Permutation::new(blocks, seed);
            let keeps = rules.each_once && rules.needs_map;
            let map = keeps.then(|| Map::new(extent.length.div_ceil(rules.unit)));
            Box::new(Order { blocks, permutation, next: 0, map, draw, seed })
        });
        let real = real.max(extent.end());
        Self {
            start,
            length: extent.length,
            real,
            position: [start; 2],
            last: [None; 2],
            random,
            wrapped: false,
        }
    }

    /// From the start, and in another random order.
    pub(super) fn restart(&mut self) {
        self.position = [self.start; 2];
        self.last = [None; 2];
        if let Some(order) = &mut self.random {
            order.restart();
        }
    }

    /// The next sequential offset: get_next_seq_offset in fio's io_u.c, with its
    /// ways to wrap.
    pub(super) fn sequential(&mut self, direction: Direction, rules: &Rules) -> Option<u64> {
        let position = &mut self.position[side(direction)];
        if rules.wraps && *position >= self.start + self.length {
            *position = self.start;
            self.wrapped = true;
        }
        if *position >= self.real {
            return None;
        }
        let end = if self.real > self.length { self.length } else { self.real };
        if *position == self.start && self.start > 0 && rules.skip < 0 {
            *position = end;
        }
        // Below the start where a backward pattern began there: fio lets it wrap.
        let mut at = position.wrapping_sub(self.start);
        if at > 0 && rules.skip != 0 {
            at = at.wrapping_add_signed(rules.skip);
            if at >= self.real {
                at = if rules.skip > 0 { self.start } else { end.wrapping_add_signed(rules.skip) };
            }
        }
        self.absolute(at)
    }

    /// The offset of the I/O before, or the start.
    pub(super) fn repeated(&self, direction: Direction) -> Option<u64> {
        self.absolute(self.last[side(direction)].map_or(0, |last| last - self.start))
    }

    /// The next random offset; none where all blocks were visited.
    pub(super) fn random(
        &mut self,
        direction: Direction,
        rules: &Rules,
        random: &mut Random,
    ) -> Option<u64> {
        let order = self.random.as_mut()?;
        if order.blocks == 0 {
            return None;
        }
        let block = if rules.each_once {
            match order.unvisited(random) {
                None if rules.revisits => {
                    order.restart();
                    self.wrapped = true;
                    order.unvisited(random)
                }
                found => found,
            }?
        } else {
            order.draw[side(direction)].block(order.blocks, random)
        };
        Some(self.start + block * rules.unit)
    }

    /// Whether it has begun again from the start since the last call.
    pub(super) fn take_wrapped(&mut self) -> bool {
        std::mem::take(&mut self.wrapped)
    }

    fn absolute(&self, at: u64) -> Option<u64> {
        (at < self.length).then(|| self.start + at).filter(|offset| *offset < self.real)
    }

    /// Bytes from an offset to the end of the I/O's part of the file.
    pub(super) fn room(&self, offset: u64) -> u64 {
        (self.start + self.length).saturating_sub(offset)
    }

    /// Takes note of an I/O. Says how many of its bytes may be done: fewer where
    /// a random one would meet what was visited; none where too few are left.
    pub(super) fn take(
        &mut self,
        direction: Direction,
        offset: u64,
        length: u64,
        random: bool,
        rules: &Rules,
    ) -> Option<u64> {
        let mut length = length;
        if let Some(map) = self.random.as_mut().and_then(|order| order.map.as_mut()) {
            let first = (offset - self.start) / rules.unit;
            let units = length.div_ceil(rules.unit);
            if random {
                let free = map.visit(first, units);
                length = length.min(free * rules.unit);
                if length < rules.min {
                    return None;
                }
            } else {
                map.mark(first, units);
            }
        }
        self.position[side(direction)] = offset + length;
        self.last[side(direction)] = Some(offset);
        Some(length)
    }
}

impl Order {
    fn restart(&mut self) {
        self.seed = mix(self.seed);
        self.permutation = Permutation::new(self.blocks, self.seed);
        self.next = 0;
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// A block that was not visited, if there is one.
    ///
    /// With a map, as fio draws it (`__get_next_rand_offset`, io_u.c): any block, and
    /// the next free one where that was visited. A large I/O thus begins where room
    /// begins; drawn evenly from what is free it would mostly be cut short.
    fn unvisited(&mut self, random: &mut Random) -> Option<u64> {
        if let Some(map) = &self.map {
            let below = |block: &u64| *block < self.blocks;
            let drawn = map.free_from(random.below(self.blocks)).filter(below);
            return drawn.or_else(|| map.free_from(0).filter(below));
        }
        let block = (self.next < self.blocks).then(|| self.permutation.at(self.next));
        self.next += u64::from(block.is_some());
        block
    }
}
