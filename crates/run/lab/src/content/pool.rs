//! The file that holds the blocks which are worth keeping.

use std::io;
use std::path::{Path, PathBuf};

use disklab_content::RandomWords;

use super::block::BLOCK_BYTES;
use super::chunk::Block;
use super::delta::Delta;
use super::deltas::Deltas;
use super::file::{StoreFile, offset};
use super::limits::ContentLimits;
use super::numbered::Numbered;
use super::read_ahead::ReadAheadBuffer;
use super::recent::Recent;
use super::similar::{BlockMark, Similar};
use super::slot_cache::{SlotCache, first_words};
use crate::LabError;

/// A block that so many show is worth keeping in memory: mirrors and journals alone make
/// two or three of one.
const MANY: u32 = 4;

/// Slots of one block each, counted by their users.
#[derive(Debug)]
pub(super) struct ChunkPool {
    file: StoreFile,
    /// Where the file is, for messages.
    directory: PathBuf,
    limits: ContentLimits,
    /// How many blocks show each slot.
    users: Numbered<u32>,
    recent: Recent,
    /// Blocks that have their slots but are not written yet.
    gathered: Gathered,
    /// For comparisons.
    read_ahead: ReadAheadBuffer,
    /// Those with many users.
    slot_cache: SlotCache,
    /// Finds slots that other blocks differ from in a few words only.
    similar: Similar,
    /// Such blocks. A slot stays in use as long as one of them alters it.
    deltas: Deltas,
    random: Numbered<RandomWords>,
}

/// Blocks in a row, both in the pool and in what is being written, so that they can
/// be written at once, from where they lie.
#[derive(Debug, Default)]
struct Gathered {
    slot: u32,
    /// Where the first one lies in the data.
    at: usize,
    blocks: usize,
}

impl Gathered {
    /// The block of `data` that goes to `slot`, if it is one of these.
    fn find<'d>(&self, slot: u32, data: &'d [u8]) -> Option<&'d [u8]> {
        let number = slot.checked_sub(self.slot)? as usize;
        let at = self.at + number * BLOCK_BYTES;
        (number < self.blocks).then(|| data.get(at..at + BLOCK_BYTES))?
    }

    /// Whether a block at `at` that goes to `slot` comes next.
    fn continues(&self, slot: u32, at: usize) -> bool {
        self.slot as usize + self.blocks == slot as usize
            && self.at + self.blocks * BLOCK_BYTES == at
    }
}

impl ChunkPool {
    /// An empty pool in a nameless file of `directory`.
    pub fn new(directory: &Path, limits: ContentLimits) -> Result<Self, LabError> {
        Ok(Self {
            file: StoreFile::new(directory, limits.disk.limit_bytes())?,
            directory: directory.to_owned(),
            limits,
            users: Numbered::default(),
            recent: Recent::new(),
            gathered: Gathered::default(),
            read_ahead: ReadAheadBuffer::new(),
            slot_cache: SlotCache::new(first_words),
            similar: Similar::new(),
            deltas: Deltas::default(),
            random: Numbered::default(),
        })
    }

    /// Keeps the block of `data` at `at`, which takes the place of `old`. Returns what
    /// stands for it: the slot of `old`, one that others use too, or a delta. It may
    /// only be written when [`ChunkPool::flush`] is called, which must happen before other data
    /// than these are stored.
    pub fn store(&mut self, data: &[u8], at: usize, old: Block) -> Result<Block, LabError> {
        let block = &data[at..at + BLOCK_BYTES];
        if let Some(slot) = self.slot_cache.find(block)
            && self.share(slot, old)
        {
            return Ok(Block::Slot(slot));
        }
        if let Some(kept) = self.store_random(block, old) {
            return Ok(kept);
        }
        let mark = BlockMark::new(block);
        if let Some(mark) = mark
            && let Some(kept) = self.store_difference(data, block, mark, old)?
        {
            return Ok(kept);
        }
        let hash = self.recent.hash(block);
        if let Some(slot) = self.recent.find(hash)
            && self.content(slot, data)?.is_some_and(|content| content == block)
            && self.share(slot, old)
        {
            if *self.users.get(slot) >= MANY {
                self.slot_cache.keep(slot, block);
            }
            return Ok(Block::Slot(slot));
        }
        let slot = match old {
            Block::Slot(slot) if *self.users.get(slot) == 1 => slot,
            old => {
                self.release(old);
                self.allocate()?
            }
        };
        if !self.gathered.continues(slot, at) {
            self.flush(data)?;
            self.gathered = Gathered { slot, at, blocks: 0 };
        }
        self.gathered.blocks += 1;
        self.slot_cache.forget(slot);
        self.similar.forget(slot);
        self.recent.remember(hash, slot);
        if let Some(mark) = mark {
            self.similar.remember(slot, mark);
        }
        Ok(Block::Slot(slot))
    }

    /// Keeps `block` by what it follows from, if it is random data of disklab's own.
    fn store_random(&mut self, block: &[u8], old: Block) -> Option<Block> {
        let words = RandomWords::of(block)?;
        if !self.has_memory() {
            return None;
        }
        let number = self.random.insert(words)?;
        self.release(old);
        Some(Block::Random(number))
    }

    /// Whether blocks may still be kept in memory: the index of the disks needs most of it, and
    /// several labs may share a small machine.
    fn has_memory(&self) -> bool {
        let bytes = self.deltas.memory_bytes() + self.random.memory_bytes();
        bytes < self.limits.memory_bytes / 8
    }

    /// Keeps `block` by how it differs from another one, if one is found.
    fn store_difference(
        &mut self,
        data: &[u8],
        block: &[u8],
        mark: BlockMark,
        old: Block,
    ) -> Result<Option<Block>, LabError> {
        let found = match self.similar.base(mark) {
            Some((slot, base)) => Delta::between(base, block).map(|delta| (slot, delta)),
            None => self.new_base(data, block, mark)?,
        };
        let Some((slot, delta)) = found else { return Ok(None) };
        if delta.is_empty() {
            return Ok(self.share(slot, old).then_some(Block::Slot(slot)));
        }
        if !self.has_memory() || !self.share(slot, old) {
            return Ok(None);
        }
        let Some(number) = self.deltas.insert(slot, delta) else { return Err(self.full()) };
        Ok(Some(Block::Delta(number)))
    }

    /// A slot written lately that `block` differs from in a few words, and how. It is kept in
    /// memory from now on, for others.
    fn new_base(
        &mut self,
        data: &[u8],
        block: &[u8],
        mark: BlockMark,
    ) -> Result<Option<(u32, Delta)>, LabError> {
        let Some(slot) = self.similar.candidate(mark) else { return Ok(None) };
        let Some(content) = self.content(slot, data)? else { return Ok(None) };
        let Some(delta) = Delta::between(content, block) else { return Ok(None) };
        let content = content.to_vec();
        self.similar.keep(slot, &content);
        Ok(Some((slot, delta)))
    }

    /// One more user of a slot that has some, in the place of one of `old`. Returns
    /// whether it could be.
    fn share(&mut self, slot: u32, old: Block) -> bool {
        // A count that cannot be raised is no reason to fail: a copy is kept then.
        let users = self.users.get_mut(slot);
        let Some(more) = users.checked_add(1).filter(|more| *more > 1) else { return false };
        *users = more;
        self.release(old);
        true
    }

    /// One more block that shows what `block` does.
    pub fn keep(&mut self, block: Block) -> Result<Block, LabError> {
        let slot = match block {
            Block::Fill(_) | Block::Below => return Ok(block),
            Block::Slot(slot) => slot,
            Block::Random(number) => {
                let words = self.random_words(number);
                return self.random.insert(words).map(Block::Random).ok_or_else(|| self.full());
            }
            Block::Delta(number) => {
                let (slot, delta) = self.deltas.get(number);
                let (slot, delta) = (*slot, delta.clone());
                self.keep(Block::Slot(slot))?;
                return self
                    .deltas
                    .insert(slot, delta)
                    .map(Block::Delta)
                    .ok_or_else(|| self.full());
            }
        };
        let more = self.users.get(slot).checked_add(1).ok_or_else(|| self.full())?;
        *self.users.get_mut(slot) = more;
        Ok(block)
    }

    /// One user less.
    pub fn release(&mut self, block: Block) {
        let slot = match block {
            Block::Fill(_) | Block::Below => return,
            Block::Slot(slot) => slot,
            Block::Delta(number) => self.deltas.remove(number),
            Block::Random(number) => {
                self.random.remove(number);
                return;
            }
        };
        let users = self.users.get_mut(slot);
        *users -= 1;
        if *users == 0 {
            self.users.remove(slot);
        }
    }

    /// Fills `data`, a whole number of blocks, from slots in a row.
    /// [`ChunkPool::flush`] must have been called after the last [`ChunkPool::store`].
    pub fn load(&self, slot: u32, data: &mut [u8]) -> Result<(), LabError> {
        self.file.read(data, offset(slot)).map_err(LabError::system("read content back"))
    }

    /// Fills `data`, one block, from a delta. As [`ChunkPool::load`].
    pub fn load_delta(&self, number: u32, data: &mut [u8]) -> Result<(), LabError> {
        let (slot, delta) = self.deltas.get(number);
        match self.similar.get(*slot) {
            Some(base) => data.copy_from_slice(base),
            None => self.load(*slot, data)?,
        }
        delta.apply(data);
        Ok(())
    }

    /// The words of a block that is random data.
    pub fn random_words(&self, number: u32) -> RandomWords {
        *self.random.get(number)
    }

    /// What a slot holds, where it lies in memory.
    pub fn slot_cache(&self, slot: u32) -> Option<&[u8]> {
        self.slot_cache.get(slot)
    }

    /// Writes what was gathered of `data`.
    pub fn flush(&mut self, data: &[u8]) -> Result<(), LabError> {
        let Gathered { slot, at, blocks } = std::mem::take(&mut self.gathered);
        if blocks == 0 {
            return Ok(());
        }
        self.read_ahead.forget(slot, blocks);
        let rows = &data[at..at + blocks * BLOCK_BYTES];
        self.file.write(rows, offset(slot)).map_err(|e| match e.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                LabError::DiskFull { directory: self.directory.clone(), bytes: self.disk_bytes() }
            }
            _ => LabError::system("write the disks' content")(e),
        })
    }

    /// Bytes of the file.
    pub fn disk_bytes(&self) -> u64 {
        (self.users.capacity() * BLOCK_BYTES) as u64
    }

    /// Of the index; the content is in the file.
    pub fn memory_bytes(&self) -> u64 {
        self.users.memory_bytes()
            + self.recent.memory_bytes()
            + self.read_ahead.memory_bytes()
            + self.slot_cache.memory_bytes()
            + self.similar.memory_bytes()
            + self.deltas.memory_bytes()
            + self.random.memory_bytes()
    }

    /// What it may take.
    pub fn limits(&self) -> &ContentLimits {
        &self.limits
    }

    fn full(&self) -> LabError {
        let limit_bytes = self.limits.disk.limit_bytes();
        LabError::Full { what: "disk space for the content of its disks", limit_bytes }
    }

    /// What a slot holds, if it is in use.
    fn content<'a>(&'a mut self, slot: u32, data: &'a [u8]) -> Result<Option<&'a [u8]>, LabError> {
        if self.users.find(slot).is_none_or(|users| *users == 0) {
            return Ok(None);
        }
        match self.gathered.find(slot, data) {
            Some(block) => Ok(Some(block)),
            None => self.read_ahead.get(slot, &self.file).map(Some),
        }
    }

    fn allocate(&mut self) -> Result<u32, LabError> {
        if !self.users.has_free() && !self.limits.disk.take(BLOCK_BYTES as u64) {
            return Err(self.full());
        }
        self.users.insert(1).ok_or_else(|| self.full())
    }
}

impl Drop for ChunkPool {
    fn drop(&mut self) {
        self.limits.disk.give_back(self.disk_bytes());
    }
}
