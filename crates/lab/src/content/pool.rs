//! The file that holds the blocks which are worth keeping.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

use super::recent::Recent;
use super::{BLOCK_BYTES, ContentLimits};
use crate::LabError;

/// Slots of one block each, counted by their users.
#[derive(Debug)]
pub(super) struct Pool {
    file: File,
    limits: ContentLimits,
    /// How many blocks show each slot.
    users: Vec<u32>,
    free: Vec<u32>,
    recent: Recent,
    /// Slots to be written, in a row from `pending_slot`, and their data.
    pending: Vec<u8>,
    pending_slot: u32,
    scratch: Vec<u8>,
}

/// Blocks are gathered up to this many bytes, to write them at once.
const PENDING_LIMIT: usize = 1 << 20;

impl Pool {
    /// An empty pool in a nameless file of `folder`.
    pub fn new(folder: &Path, limits: ContentLimits) -> Result<Self, LabError> {
        let what = format!("make a file for the disks' content in '{}'", folder.display());
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = match open(folder, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => fd,
            // Some file systems have no nameless files.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR) => {
                let path = folder.join("content");
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
                let fd = open(&path, flags, Mode::RUSR | Mode::WUSR);
                let fd = fd.map_err(LabError::system(what.clone()))?;
                std::fs::remove_file(&path).map_err(LabError::system(what))?;
                fd
            }
            Err(e) => return Err(LabError::system(what)(e)),
        };
        Ok(Self {
            file: File::from(fd),
            limits,
            users: Vec::new(),
            free: Vec::new(),
            recent: Recent::new(),
            pending: Vec::with_capacity(PENDING_LIMIT),
            pending_slot: 0,
            scratch: vec![0; BLOCK_BYTES],
        })
    }

    /// Keeps a block; `old` is the slot that it takes the place of. Returns the
    /// slot that holds it, which may be `old` or one that others use too.
    pub fn store(&mut self, data: &[u8], old: Option<u32>) -> Result<u32, LabError> {
        let hash = self.recent.hash(data);
        if let Some(slot) = self.recent.find(hash)
            && self.holds(slot, data)?
        {
            // A count that cannot be raised is no reason to fail: keep a copy.
            let users = &mut self.users[slot as usize];
            if let Some(more) = users.checked_add(1) {
                *users = more;
                if let Some(old) = old {
                    self.release(old);
                }
                return Ok(slot);
            }
        }
        let slot = match old {
            Some(slot) if self.users[slot as usize] == 1 => slot,
            Some(slot) => {
                self.release(slot);
                self.allocate()?
            }
            None => self.allocate()?,
        };
        self.put(slot, data)?;
        self.recent.remember(hash, slot);
        Ok(slot)
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
    /// [`Pool::flush`] must have been called after the last [`Pool::store`].
    pub fn load(&self, slot: u32, data: &mut [u8]) -> Result<(), LabError> {
        self.file.read_exact_at(data, offset(slot)).map_err(LabError::system("read content back"))
    }

    /// Writes what was gathered.
    pub fn flush(&mut self) -> Result<(), LabError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let result = self.file.write_all_at(&self.pending, offset(self.pending_slot));
        self.pending.clear();
        result.map_err(|e| match e.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => self.disk_full(),
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
        (counts + self.free.len() * size_of::<u32>()) as u64 + self.recent.memory_bytes()
    }

    /// What it may take.
    pub fn limits(&self) -> ContentLimits {
        self.limits
    }

    fn disk_full(&self) -> LabError {
        let limit_bytes = self.limits.disk_bytes.min(self.disk_bytes());
        LabError::Full { what: "disk space for the content of its disks", limit_bytes }
    }

    /// Whether a slot is in use and holds `data`.
    fn holds(&mut self, slot: u32, data: &[u8]) -> Result<bool, LabError> {
        if self.users.get(slot as usize).is_none_or(|users| *users == 0) {
            return Ok(false);
        }
        let pending = (slot as usize).checked_sub(self.pending_slot as usize);
        if let Some(blocks) = pending
            && let Some(kept) = self.pending.chunks_exact(BLOCK_BYTES).nth(blocks)
        {
            return Ok(kept == data);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let loaded = self.load(slot, &mut scratch);
        let same = scratch == data;
        self.scratch = scratch;
        loaded.map(|()| same)
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
            _ => Err(self.disk_full()),
        }
    }

    fn put(&mut self, slot: u32, data: &[u8]) -> Result<(), LabError> {
        let blocks = self.pending.len() / BLOCK_BYTES;
        let next = self.pending_slot as usize + blocks;
        if self.pending.len() >= PENDING_LIMIT || next != slot as usize {
            self.flush()?;
        }
        if self.pending.is_empty() {
            self.pending_slot = slot;
        }
        self.pending.extend_from_slice(data);
        Ok(())
    }
}

fn offset(slot: u32) -> u64 {
    u64::from(slot) * BLOCK_BYTES as u64
}
