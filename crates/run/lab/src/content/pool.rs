//! The file that holds the blocks which are worth keeping.

use std::io;
use std::path::{Path, PathBuf};

use super::file::StoreFile;
use super::read_ahead::ReadAheadBuffer;
use super::recent::Recent;
use super::slot_cache::SlotCache;
use super::{BLOCK_BYTES, ContentLimits};
use crate::LabError;

/// A block that so many show is worth keeping in memory: mirrors and journals alone make
/// two or three of one.
const MANY: u32 = 4;

/// Slots of one block each, counted by their users.
#[derive(Debug)]
pub(super) struct ChunkPool {
    file: StoreFile,
    /// Where the file is, for messages.
    folder: PathBuf,
    limits: ContentLimits,
    /// How many blocks show each slot.
    users: Vec<u32>,
    free: Vec<u32>,
    recent: Recent,
    /// Blocks that have their slots but are not written yet.
    gathered: Gathered,
    /// For comparisons.
    read_ahead: ReadAheadBuffer,
    /// Those with many users.
    slot_cache: SlotCache,
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
    /// An empty pool in a nameless file of `folder`.
    pub fn new(folder: &Path, limits: ContentLimits) -> Result<Self, LabError> {
        Ok(Self {
            file: StoreFile::new(folder, limits.disk_bytes)?,
            folder: folder.to_owned(),
            limits,
            users: Vec::new(),
            free: Vec::new(),
            recent: Recent::new(),
            gathered: Gathered::default(),
            read_ahead: ReadAheadBuffer::new(),
            slot_cache: SlotCache::new(),
        })
    }

    /// Keeps the block of `data` at `at`; `old` is the slot that it takes the place
    /// of. Returns the slot that holds it, which may be `old` or one that others use
    /// too. It may only be written when [`ChunkPool::flush`] is called, which must
    /// happen before other data than these are stored.
    pub fn store(&mut self, data: &[u8], at: usize, old: Option<u32>) -> Result<u32, LabError> {
        let block = &data[at..at + BLOCK_BYTES];
        if let Some(slot) = self.slot_cache.find(block)
            && self.share(slot, old)
        {
            return Ok(slot);
        }
        let hash = self.recent.hash(block);
        if let Some(slot) = self.recent.find(hash)
            && self.holds(slot, data, block)?
            && self.share(slot, old)
        {
            if self.users[slot as usize] >= MANY {
                self.slot_cache.keep(slot, block);
            }
            return Ok(slot);
        }
        let slot = match old {
            Some(slot) if self.users[slot as usize] == 1 => slot,
            Some(slot) => {
                self.release(slot);
                self.allocate()?
            }
            None => self.allocate()?,
        };
        if !self.gathered.continues(slot, at) {
            self.flush(data)?;
            self.gathered = Gathered { slot, at, blocks: 0 };
        }
        self.gathered.blocks += 1;
        self.slot_cache.forget(slot);
        self.recent.remember(hash, slot);
        Ok(slot)
    }

    /// One more user of a slot that has some, in the place of one of `old`. Returns
    /// whether it could be.
    fn share(&mut self, slot: u32, old: Option<u32>) -> bool {
        // A count that cannot be raised is no reason to fail: a copy is kept then.
        let users = &mut self.users[slot as usize];
        let Some(more) = users.checked_add(1).filter(|more| *more > 1) else { return false };
        *users = more;
        if let Some(old) = old {
            self.release(old);
        }
        true
    }

    /// One user less.
    pub fn release(&mut self, slot: u32) {
        let users = &mut self.users[slot as usize];
        *users -= 1;
        if *users == 0 {
            self.free.push(slot);
        }
    }

    /// Fills `data`, a whole number of blocks, from slots in a row.
    /// [`ChunkPool::flush`] must have been called after the last [`ChunkPool::store`].
    pub fn load(&self, slot: u32, data: &mut [u8]) -> Result<(), LabError> {
        self.file.read(data, offset(slot)).map_err(LabError::system("read content back"))
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
                LabError::DiskFull { folder: self.folder.clone(), bytes: self.disk_bytes() }
            }
            _ => LabError::system("write the disks' content")(e),
        })
    }

    /// Bytes of the file.
    pub fn disk_bytes(&self) -> u64 {
        (self.users.len() * BLOCK_BYTES) as u64
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> u64 {
        let counts = self.users.len() * size_of::<u32>();
        let index = (counts + self.free.len() * size_of::<u32>()) as u64;
        index
            + self.recent.memory_bytes()
            + self.read_ahead.memory_bytes()
            + self.slot_cache.memory_bytes()
    }

    /// What it may take.
    pub fn limits(&self) -> ContentLimits {
        self.limits
    }

    fn full(&self) -> LabError {
        let limit_bytes = self.limits.disk_bytes;
        LabError::Full { what: "disk space for the content of its disks", limit_bytes }
    }

    /// Whether a slot is in use and holds `block`, one of those of `data`.
    fn holds(&mut self, slot: u32, data: &[u8], block: &[u8]) -> Result<bool, LabError> {
        if self.users.get(slot as usize).is_none_or(|users| *users == 0) {
            return Ok(false);
        }
        if let Some(slot_cache) = self.gathered.find(slot, data) {
            return Ok(slot_cache == block);
        }
        self.read_ahead.get(slot, &self.file).map(|slot_cache| slot_cache == block)
    }

    fn allocate(&mut self) -> Result<u32, LabError> {
        if let Some(slot) = self.free.pop() {
            self.users[slot as usize] = 1;
            return Ok(slot);
        }
        let slot = u32::try_from(self.users.len()).ok().filter(|s| *s != u32::MAX);
        let fits = self.disk_bytes() + BLOCK_BYTES as u64 <= self.limits.disk_bytes;
        match slot {
            Some(slot) if fits => {
                self.users.push(1);
                Ok(slot)
            }
            _ => Err(self.full()),
        }
    }
}

/// Where a slot begins in the file.
pub(super) fn offset(slot: u32) -> u64 {
    u64::from(slot) * BLOCK_BYTES as u64
}
