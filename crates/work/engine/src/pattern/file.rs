//! Where in a file the next I/O lies.

use disklab_jobfile::{Distribution, Extent, IoDirection, Job, RandomMap};

use super::distribution::OffsetDraw;
use super::map::BlockMap;
use super::permutation::Permutation;
use super::side;
use crate::random::{Random, mix};

/// Up to so many blocks of a file (a terabyte of 4 KiB; 32 MiB for each clone) a map is
/// kept; beyond, blocks of one length are permuted, which needs no memory.
///
/// Each visits every block once, but where fio meets a visited block it takes the next
/// free one, so that now and then an I/O lies next to one that was done. Small as that
/// share is, a drive that sorts what it has in its cache notices: with the permutation,
/// 2,048 random writes to a 64 MiB file were 2.2 percent slower than fio's.
const MAPPED_BLOCKS: u64 = 1 << 28;

/// What holds for all files of a job.
#[derive(Debug, Clone)]
pub(super) struct PatternRules {
    /// At the end of the file it begins again from the start.
    pub(super) wraps: bool,
    /// Random blocks begin anew when all were visited.
    pub(super) revisits: bool,
    /// Bytes between sequential I/Os; negative goes backwards.
    pub(super) skip: i64,
    /// Whether each block is visited once.
    pub(super) each_once: bool,
    /// Whether the map has to be kept however large it is, since the permutation does
    /// not tell all.
    pub(super) needs_map: bool,
    /// Random offsets are multiples of this many bytes, by direction; at least 1.
    pub(super) unit: [u64; 2],
    /// The smallest I/O, by direction.
    pub(super) min: [u64; 2],
    /// Whether reads and writes have blocks of different lengths, so that offsets of each are
    /// multiples of its own.
    ///
    /// fio keeps one map for both then, whose bits are the smaller blocks, but counts each
    /// direction's blocks in its own length: the tenth block of reads and the tenth of
    /// writes share a bit, wherever they lie (`mark_random_map` and `random_map_free` in
    /// io_u.c). So the last blocks of the longer kind are soon taken; the free bit that is
    /// found behind them lies beyond the file's end, and that ends the pass.
    pub(super) apart: bool,
    pub(super) distribution: [Distribution; 2],
}

impl PatternRules {
    pub(super) fn of(job: &Job, skip: i64) -> Self {
        let (align, access) = (job.blocks.align, job.pattern.access);
        let apart =
            access.reads && access.writes && align.read != align.write && !job.blocks.by_order;
        let unit = match (access.reads, access.writes) {
            _ if apart => [align.read, align.write],
            (true, false) => [align.read; 2],
            (false, _) => [align.write; 2],
            (true, true) => [align.read.min(align.write); 2],
        }
        .map(|unit| unit.max(1));
        let sizes = &job.blocks.sizes;
        let all = (job.blocks.min(), job.blocks.max());
        let spans = match apart {
            true => [&sizes.read, &sizes.write].map(|sizes| (sizes.min(), sizes.max())),
            false => [all; 2],
        };
        let one_size = spans.iter().zip(unit).all(|((min, max), unit)| min == max && *max <= unit);
        let random = &job.pattern.distribution;
        Self {
            wraps: false,
            revisits: job.timing.time_based,
            skip,
            each_once: job.pattern.map != RandomMap::None,
            needs_map: !one_size,
            unit,
            min: spans.map(|(min, _)| min),
            apart,
            distribution: [random.read.clone(), random.write.clone()],
        }
    }
}

/// One file: its sequential positions, and its order of random blocks.
#[derive(Debug, Clone)]
pub(super) struct Position {
    start: u64,
    length: u64,
    /// How long the file really is: at least `start + length`.
    real: u64,
    /// Where the next sequential I/O begins, by direction.
    position: [u64; 2],
    /// Where the last I/O began.
    last: [Option<u64>; 2],
    /// None where nothing is random.
    order: Option<Order>,
    wrapped: bool,
}

#[derive(Debug, Clone)]
struct Order {
    /// By direction.
    blocks: [u64; 2],
    permutation: Permutation,
    next: u64,
    map: Option<BlockMap>,
    draw: [OffsetDraw; 2],
    seed: u64,
}

impl Position {
    pub(super) fn new(
        extent: Extent,
        real: u64,
        rules: &PatternRules,
        random: Option<u64>,
    ) -> Self {
        let start = extent.offset;
        let order = |seed: u64| {
            let blocks = [0, 1].map(|side: usize| {
                let room = extent.length.checked_sub(rules.min[side]);
                room.map_or(0, |n| n / rules.unit[side] + 1)
            });
            let draw = [0, 1].map(|side: usize| {
                let unit = rules.unit[side];
                OffsetDraw::new(&rules.distribution[side], blocks[side], unit, mix(seed + 1))
            });
            let permutation = Permutation::new(blocks[0], seed);
            let keeps = rules.apart || rules.needs_map || blocks[0] <= MAPPED_BLOCKS;
            let bits = extent.length.div_ceil(rules.unit[0].min(rules.unit[1]));
            let map = (rules.each_once && keeps).then(|| BlockMap::new(bits));
            Order { blocks, permutation, next: 0, map, draw, seed }
        };
        let real = real.max(extent.end());
        Self {
            start,
            length: extent.length,
            real,
            position: [start; 2],
            last: [None; 2],
            order: random.map(order),
            wrapped: false,
        }
    }

    /// From the start, and in another random order.
    pub(super) fn restart(&mut self) {
        self.position = [self.start; 2];
        self.last = [None; 2];
        self.order.iter_mut().for_each(Order::restart);
    }

    /// The next sequential offset: get_next_seq_offset in fio's io_u.c, with its
    /// ways to wrap.
    pub(super) fn sequential(
        &mut self,
        direction: IoDirection,
        rules: &PatternRules,
    ) -> Option<u64> {
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
    pub(super) fn repeated(&self, direction: IoDirection) -> Option<u64> {
        self.absolute(self.last[side(direction)].map_or(0, |last| last - self.start))
    }

    /// The next random offset; none where all blocks were visited.
    pub(super) fn random(
        &mut self,
        direction: IoDirection,
        rules: &PatternRules,
        random: &mut Random,
    ) -> Option<u64> {
        let side = side(direction);
        let order = self.order.as_mut()?;
        if order.blocks[side] == 0 {
            return None;
        }
        let block = if rules.each_once {
            match order.unvisited(side, random) {
                None if rules.revisits => {
                    order.restart();
                    self.wrapped = true;
                    order.unvisited(side, random)
                }
                found => found,
            }?
        } else {
            order.draw[side].block(order.blocks[side], random)
        };
        let at = block.saturating_mul(rules.unit[side]);
        (at < self.length).then(|| self.start + at)
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
        direction: IoDirection,
        offset: u64,
        length: u64,
        random: bool,
        rules: &PatternRules,
    ) -> Option<u64> {
        let mut length = length;
        let at = side(direction);
        // Those that follow a random one in order count for nothing: fio's
        // IO_U_F_BUSY_OK.
        let map = self.order.as_mut().and_then(|order| order.map.as_mut());
        if let Some(map) = map.filter(|_| random) {
            let unit = rules.unit[at];
            let free = map.visit((offset - self.start) / unit, length.div_ceil(unit));
            length = length.min(free * unit);
            if length < rules.min[at] {
                return None;
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
        self.permutation = Permutation::new(self.blocks[0], self.seed);
        self.next = 0;
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// A block that was not visited, if there is one.
    ///
    /// With a map it is as fio draws it (`__get_next_rand_offset`, io_u.c): any block, and
    /// the next free one where that was visited. A large I/O thus begins where room
    /// begins; drawn evenly from what is free it would mostly be cut short.
    fn unvisited(&mut self, side: usize, random: &mut Random) -> Option<u64> {
        if let Some(map) = &self.map {
            let drawn = map.free_from(random.below(self.blocks[side]));
            if self.blocks[0] != self.blocks[1] {
                // What lies behind the last block is for the caller to find.
                return drawn.or_else(|| map.free_from(0));
            }
            let below = |block: &u64| *block < self.blocks[side];
            let drawn = drawn.filter(below);
            return drawn.or_else(|| map.free_from(0).filter(below));
        }
        let block = (self.next < self.blocks[0]).then(|| self.permutation.at(self.next));
        self.next += u64::from(block.is_some());
        block
    }
}
