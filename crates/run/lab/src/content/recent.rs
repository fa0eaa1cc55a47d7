//! A memory of blocks that were written lately, to find repeats.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

/// Buckets, a power of two. With the ways below they remember 64 Ki blocks, which
/// are 256 MiB of data.
const BUCKETS: usize = 1 << 14;
/// Places in a bucket: with one, a few blocks that repeat would push each other
/// out by chance, again and again.
const WAYS: usize = 4;
/// No slot.
const NONE: (u32, u32) = (0, u32::MAX);

/// Slots of the pool by a hash of their content. An entry may be stale: a lookup
/// compares the content.
#[derive(Debug)]
pub(super) struct Recent {
    buckets: Vec<[(u32, u32); WAYS]>,
    state: FixedState,
}

impl Recent {
    /// Nothing was written yet.
    pub fn new() -> Self {
        // A fixed seed: the same run must make the same use of space. Collisions
        // cost a comparison, never a wrong answer.
        Self { buckets: vec![[NONE; WAYS]; BUCKETS], state: FixedState::with_seed(0) }
    }

    /// A number for this content, the same for the same content.
    pub fn hash(&self, data: &[u8]) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write(data);
        hasher.finish()
    }

    /// The slot that may hold content of this hash.
    pub fn find(&mut self, hash: u64) -> Option<u32> {
        let bucket = &mut self.buckets[index(hash)];
        let way = bucket.iter().position(|e| e.0 == tag(hash) && *e != NONE)?;
        // What was used last is pushed out last.
        bucket[..=way].rotate_right(1);
        Some(bucket[0].1)
    }

    /// `slot` holds content of this hash.
    pub fn remember(&mut self, hash: u64, slot: u32) {
        let bucket = &mut self.buckets[index(hash)];
        let same = bucket.iter().position(|e| e.0 == tag(hash)).unwrap_or(WAYS - 1);
        bucket[..=same].rotate_right(1);
        bucket[0] = (tag(hash), slot);
    }

    /// Bytes of memory it takes.
    pub fn memory_bytes(&self) -> u64 {
        (BUCKETS * WAYS * size_of::<(u32, u32)>()) as u64
    }
}

fn index(hash: u64) -> usize {
    hash as usize & (BUCKETS - 1)
}

fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}
