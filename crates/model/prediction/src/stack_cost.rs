//! What a stack's layers make of a workload's I/O, for predictions in the lab.

use disklab_stack::{FirstPass, FormatWrites, SmallWrite, Volume};

/// What a stack costs where each request to each drive is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StackCost {
    /// Drives below it.
    pub drives: usize,
    /// Bytes written to all drives together for one byte written to the stack.
    pub write_bytes: f64,
    /// What a small write takes.
    pub small_write: SmallWrite,
    /// Whether emptying caches takes a pool away and looks for it on all drives again.
    pub is_imported: bool,
    /// Bytes that making the stack writes to all drives together.
    pub making_bytes: f64,
    /// Moments at which a request of making it ends, if each is a small write.
    pub making_moments: f64,
    /// What passes over whole devices take before its first use.
    pub passes: PassCost,
}

/// What passes over whole devices take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct PassCost {
    /// Bytes of the longest device of each, one pass after the other.
    pub length: f64,
    /// Bytes of zeros read and written.
    pub zeros: f64,
    /// Bytes of anything else read and written.
    pub content: f64,
}

impl PassCost {
    fn new(passes: &[FirstPass]) -> Self {
        let moved = |zeros| {
            let of_kind = passes.iter().filter(|pass| pass.zeros == zeros);
            of_kind.map(|pass| pass.read + pass.written).sum()
        };
        let length = passes.iter().map(|pass| pass.length).sum();
        Self { length, zeros: moved(true), content: moved(false) }
    }
}

impl StackCost {
    /// One drive, of which nothing is known, or a directory.
    pub const SINGLE: Self = Self {
        drives: 1,
        write_bytes: 1.0,
        small_write: SmallWrite::ONE,
        is_imported: false,
        making_bytes: 0.0,
        making_moments: 0.0,
        passes: PassCost { length: 0.0, zeros: 0.0, content: 0.0 },
    };

    /// That of a stack that becomes this volume, and writes so much when it is made.
    pub fn new(volume: &Volume, format: &FormatWrites, is_imported: bool) -> Self {
        let SmallWrite { reads, writes } = volume.small_write;
        // What waits for reads does not fill the drives' caches: the writes of a stripe end together.
        let moments = if reads > 0.0 { reads + 1.0 } else { writes };
        let all_bytes: f64 = format.bytes.iter().sum();
        let pass_bytes: f64 = format.passes.iter().map(|pass| pass.written).sum();
        Self {
            drives: volume.drive_writes.iter().filter(|share| **share > 0.0).count().max(1),
            write_bytes: volume.drive_writes.iter().sum(),
            small_write: volume.small_write,
            is_imported,
            making_bytes: (all_bytes - pass_bytes).max(0.0),
            making_moments: format.requests * moments,
            passes: PassCost::new(&format.passes),
        }
    }

    /// Moments at which a request for a small write ends and something is woken, if each goes to
    /// the medium.
    pub fn small_write_moments(&self) -> f64 {
        self.small_write.reads + self.small_write.writes
    }

    /// Whether parity is updated in place, stripe by stripe in md's cache.
    pub fn has_stripe_cache(&self) -> bool {
        self.small_write.reads > 0.0
    }
}
