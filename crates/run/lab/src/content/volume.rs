//! One disk's index.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use disklab_drive::{Durable, UnsettledWrites};
use foldhash::fast::FixedState;

use super::block::{BLOCK_BYTES, SECTOR_BYTES};
use super::chunk::{Block, CHUNK_BLOCKS, CHUNK_BYTES, Chunk, Table};
use super::pool::ChunkPool;
use crate::LabError;

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Estimated memory of an entry of the map, its share of free places included.
const ENTRY_BYTES: u64 = 48;

/// The content of all disks of a lab.
#[derive(Debug)]
pub struct DiskContent {
    pub(super) volumes: Vec<ContentVolume>,
    pub(super) pool: ChunkPool,
}

/// What a disk holds; what is not there is as below, or was never written and reads as zeros.
#[derive(Debug, Default)]
pub(super) struct ContentVolume {
    chunks: HashMap<u64, Chunk, FixedState>,
    tables: u64,
    /// The content that it began with, and which of its volumes, that are as many, is this one's.
    below: Option<(Arc<DiskContent>, usize)>,
    /// What the drive could still lose, with what each block held before; `None` while nobody
    /// wants to know.
    unsettled: Option<UnsettledWrites<Block>>,
}

impl ContentVolume {
    /// One that holds what that volume does.
    pub fn on(below: Arc<DiskContent>, volume: usize) -> Self {
        Self { below: Some((below, volume)), ..Self::default() }
    }

    /// Bytes of memory it takes, without what lies below.
    pub fn memory_bytes(&self) -> u64 {
        self.chunks.len() as u64 * ENTRY_BYTES + self.tables * size_of::<Table>() as u64
    }

    /// Keeps `data` from byte `at` on.
    pub fn write(&mut self, pool: &mut ChunkPool, at: u64, data: &[u8]) -> Result<(), LabError> {
        let mut done = 0;
        while done < data.len() {
            let place = at.saturating_add(done as u64);
            let skip = (place % BLOCK) as usize;
            let now = (data.len() - done).min(BLOCK_BYTES - skip);
            if now == BLOCK_BYTES {
                self.put(pool, place / BLOCK, data, done)?;
            } else {
                pool.flush(data)?;
                let mut block = [0; BLOCK_BYTES];
                self.get(pool, place / BLOCK, &mut block)?;
                block[skip..skip + now].copy_from_slice(&data[done..done + now]);
                self.put(pool, place / BLOCK, &block, 0)?;
                pool.flush(&block)?;
            }
            done += now;
        }
        pool.flush(data)?;
        self.check_memory(pool)
    }

    /// Makes `bytes` from `at` on read as zeros.
    pub fn zero(&mut self, pool: &mut ChunkPool, at: u64, bytes: u64) -> Result<(), LabError> {
        let end = at.saturating_add(bytes);
        let mut at = at;
        while at < end {
            let chunk_end = (at / CHUNK_BYTES + 1).saturating_mul(CHUNK_BYTES);
            let block_end = (at / BLOCK + 1).saturating_mul(BLOCK);
            if at.is_multiple_of(CHUNK_BYTES) && chunk_end <= end {
                self.forget(pool, at / CHUNK_BYTES);
                at = chunk_end;
            } else if at.is_multiple_of(BLOCK) && block_end <= end {
                if self.has(at / CHUNK_BYTES) {
                    self.set(pool, at / BLOCK, Block::Fill(0));
                }
                at = block_end;
            } else {
                let stop = block_end.min(end);
                // Shorter than a block.
                self.write(pool, at, &[0; BLOCK_BYTES][..(stop - at) as usize])?;
                at = stop;
            }
        }
        Ok(())
    }

    /// Fills `data` from byte `at` on.
    pub fn read(&self, pool: &ChunkPool, at: u64, data: &mut [u8]) -> Result<(), LabError> {
        let mut at = at;
        let mut rest = data;
        while !rest.is_empty() {
            let skip = (at % BLOCK) as usize;
            if skip != 0 || rest.len() < BLOCK_BYTES {
                let mut block = [0; BLOCK_BYTES];
                self.get(pool, at / BLOCK, &mut block)?;
                let part = rest.len().min(BLOCK_BYTES - skip);
                let (now, later) = rest.split_at_mut(part);
                now.copy_from_slice(&block[skip..skip + part]);
                (at, rest) = (at.saturating_add(part as u64), later);
                continue;
            }
            let first = self.block(at / BLOCK);
            let mut blocks = 1;
            if first == Block::Below {
                let most = rest.len() / BLOCK_BYTES;
                while blocks < most && self.block(at / BLOCK + blocks as u64) == Block::Below {
                    blocks += 1;
                }
                let (now, later) = rest.split_at_mut(blocks * BLOCK_BYTES);
                self.read_below(at, now)?;
                (at, rest) = (at.saturating_add(now.len() as u64), later);
                continue;
            }
            if let Block::Slot(slot) = first {
                while rest.len() >= (blocks + 1) * BLOCK_BYTES
                    && slot.checked_add(blocks as u32).map(Block::Slot)
                        == Some(self.block(at / BLOCK + blocks as u64))
                {
                    blocks += 1;
                }
            }
            let (now, later) = rest.split_at_mut(blocks * BLOCK_BYTES);
            load(pool, first, now)?;
            (at, rest) = (at.saturating_add(now.len() as u64), later);
        }
        Ok(())
    }

    /// Shows `each` the bytes from `at` on, in pieces in a row, as many as `space` is
    /// long, until it says false: from where they lie in memory, or from `space`. Returns
    /// whether it saw all.
    pub fn show(
        &self,
        pool: &ChunkPool,
        at: u64,
        space: &mut [u8],
        mut each: impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, LabError> {
        let (mut done, mut shown) = (0, 0);
        while done < space.len() {
            let place = at.saturating_add(done as u64);
            let skip = (place % BLOCK) as usize;
            let now = (space.len() - done).min(BLOCK_BYTES - skip);
            if let Block::Slot(slot) = self.block(place / BLOCK)
                && let Some(block) = pool.slot_cache(slot)
            {
                let before = &mut space[shown..done];
                self.read(pool, at.saturating_add(shown as u64), before)?;
                if !before.is_empty() && !each(before) || !each(&block[skip..skip + now]) {
                    return Ok(false);
                }
                shown = done + now;
            }
            done += now;
        }
        let rest = &mut space[shown..];
        self.read(pool, at.saturating_add(shown as u64), rest)?;
        Ok(rest.is_empty() || each(rest))
    }

    /// Remembers from now on what a loss of power would undo.
    pub fn watch(&mut self, pool: &mut ChunkPool) {
        let before = self.unsettled.replace(UnsettledWrites::default());
        let notes =
            before.into_iter().flat_map(|mut unsettled| unsettled.undo().collect::<Vec<_>>());
        notes.for_each(|(_, block)| pool.release(block));
    }

    /// Request `number` is about to write bytes `at..end`, or zeros. What is zero there already
    /// stays as it is when it is zeroed.
    pub fn prepare(
        &mut self,
        pool: &mut ChunkPool,
        number: u64,
        (at, end): (u64, u64),
        zeroes: bool,
    ) -> Result<(), LabError> {
        let Some(mut unsettled) = self.unsettled.take() else { return Ok(()) };
        let sector = |byte: u64| byte / SECTOR_BYTES;
        let mut result = Ok(());
        let mut at = at;
        while at < end && result.is_ok() {
            let stop = (at / CHUNK_BYTES + 1).saturating_mul(CHUNK_BYTES).min(end);
            if !zeroes || self.has(at / CHUNK_BYTES) {
                let range = (sector(at), sector(stop));
                result = unsettled.enter(number, range, |block| pool.keep(self.block(block)));
            }
            at = stop;
        }
        self.unsettled = Some(unsettled);
        result
    }

    /// What the drive says is durable.
    pub fn settle(&mut self, pool: &mut ChunkPool, durable: Durable) {
        if let Some(unsettled) = &mut self.unsettled {
            unsettled.settle(durable, |_, _| (), |block| pool.release(block));
        }
    }

    /// Undoes what the drive could still lose.
    pub fn lose(&mut self, pool: &mut ChunkPool) -> Result<(), LabError> {
        let Some(mut unsettled) = self.unsettled.take() else { return Ok(()) };
        let mut data = [0; BLOCK_BYTES];
        for (parts, block) in unsettled.undo() {
            for (start, end) in parts {
                self.load(pool, start * SECTOR_BYTES / BLOCK, block, &mut data)?;
                let (from, to) = (start * SECTOR_BYTES, end * SECTOR_BYTES);
                let skip = (from % BLOCK) as usize;
                self.write(pool, from, &data[skip..skip + (to - from) as usize])?;
            }
            pool.release(block);
        }
        self.unsettled = Some(unsettled);
        Ok(())
    }

    /// The blocks of `first..end` that hold anything but zeros, in their order.
    pub fn held(&self, first: u64, end: u64) -> Vec<u64> {
        let mut keys = BTreeSet::new();
        self.add_keys(&mut keys);
        let blocks = keys.into_iter().flat_map(|key| {
            let chunk = key.saturating_mul(CHUNK_BLOCKS as u64);
            chunk.max(first)..chunk.saturating_add(CHUNK_BLOCKS as u64).min(end)
        });
        blocks.filter(|number| self.holds(*number)).collect()
    }

    fn add_keys(&self, keys: &mut BTreeSet<u64>) {
        keys.extend(self.chunks.keys());
        if let Some((below, volume)) = &self.below {
            below.volumes[*volume].add_keys(keys);
        }
    }

    fn holds(&self, number: u64) -> bool {
        match (self.block(number), &self.below) {
            (Block::Below, Some((below, volume))) => below.volumes[*volume].holds(number),
            (block, _) => block != Block::Fill(0),
        }
    }

    fn get(&self, pool: &ChunkPool, number: u64, data: &mut [u8]) -> Result<(), LabError> {
        self.load(pool, number, self.block(number), data)
    }

    /// Fills `data` with what `block`, which is or was at `number`, means.
    fn load(
        &self,
        pool: &ChunkPool,
        number: u64,
        block: Block,
        data: &mut [u8],
    ) -> Result<(), LabError> {
        match block {
            Block::Below => self.read_below(number * BLOCK, data),
            block => load(pool, block, data),
        }
    }

    fn read_below(&self, at: u64, data: &mut [u8]) -> Result<(), LabError> {
        match &self.below {
            Some((below, volume)) => below.volumes[*volume].read(&below.pool, at, data),
            None => {
                data.fill(0);
                Ok(())
            }
        }
    }

    fn block(&self, number: u64) -> Block {
        let (chunk, index) = place(number);
        match self.chunks.get(&chunk) {
            Some(own) => own.get(index),
            None if self.has_below(chunk) => Block::Below,
            None => Block::Fill(0),
        }
    }

    /// Whether a chunk can hold anything but zeros.
    fn has(&self, chunk: u64) -> bool {
        self.chunks.contains_key(&chunk) || self.has_below(chunk)
    }

    fn has_below(&self, chunk: u64) -> bool {
        self.below.as_ref().is_some_and(|(below, volume)| below.volumes[*volume].has(chunk))
    }

    /// Has block `number` hold the block of `data` that lies at `at`.
    fn put(
        &mut self,
        pool: &mut ChunkPool,
        number: u64,
        data: &[u8],
        at: usize,
    ) -> Result<(), LabError> {
        if let Some(word) = Block::fill_of(&data[at..at + BLOCK_BYTES]) {
            if word != 0 || self.has(place(number).0) {
                self.set(pool, number, Block::Fill(word));
            }
            return Ok(());
        }
        let kept = pool.store(data, at, self.block(number))?;
        self.change(number, kept);
        Ok(())
    }

    /// Sets a block and releases what it held.
    fn set(&mut self, pool: &mut ChunkPool, number: u64, block: Block) {
        pool.release(self.block(number));
        self.change(number, block);
    }

    fn change(&mut self, number: u64, block: Block) {
        let (key, index) = place(number);
        let fresh = if self.has_below(key) { Chunk::Below } else { Chunk::Fill(0) };
        let chunk = self.chunks.entry(key).or_insert(fresh);
        self.tables += u64::from(chunk.set(index, block));
        // Writers go upwards: the last block tells when a run may be complete.
        if index == CHUNK_BLOCKS - 1 && chunk.simplify() {
            self.tables -= 1;
        }
    }

    /// Has a chunk hold zeros.
    fn forget(&mut self, pool: &mut ChunkPool, key: u64) {
        let own = match self.has_below(key) {
            true => self.chunks.insert(key, Chunk::Fill(0)),
            false => self.chunks.remove(&key),
        };
        if let Some(chunk @ Chunk::Table(_)) = own {
            self.tables -= 1;
            for index in 0..CHUNK_BLOCKS {
                pool.release(chunk.get(index));
            }
        }
    }

    fn check_memory(&self, pool: &ChunkPool) -> Result<(), LabError> {
        let limit_bytes = pool.limits().memory_bytes;
        if self.memory_bytes() + pool.memory_bytes() <= limit_bytes {
            return Ok(());
        }
        Err(LabError::Full { what: "memory for the index of its disks", limit_bytes })
    }
}

fn place(number: u64) -> (u64, usize) {
    // Below CHUNK_BLOCKS.
    (number / CHUNK_BLOCKS as u64, (number % CHUNK_BLOCKS as u64) as usize)
}

fn load(pool: &ChunkPool, block: Block, data: &mut [u8]) -> Result<(), LabError> {
    match block {
        Block::Slot(slot) => pool.load(slot, data),
        Block::Delta(number) => pool.load_delta(number, data),
        Block::Random(number) => {
            pool.random_words(number).fill(data);
            Ok(())
        }
        // What lies below is read there.
        Block::Fill(0) | Block::Below => {
            data.fill(0);
            Ok(())
        }
        Block::Fill(word) => {
            for place in data.chunks_exact_mut(8) {
                place.copy_from_slice(&word.to_ne_bytes());
            }
            Ok(())
        }
    }
}
