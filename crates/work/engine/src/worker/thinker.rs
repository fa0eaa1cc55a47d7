//! When a clone pauses (`thinktime`).

use disklab_jobfile::Think;

/// Pauses of a clone.
#[derive(Debug)]
pub(super) struct Thinker {
    pub(super) think: Think,
    ios: u64,
    since_ns: u64,
}

impl Thinker {
    pub(super) fn new(think: Think) -> Self {
        Self { think, ios: 0, since_ns: 0 }
    }

    pub(super) fn begin(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
        self.ios = 0;
    }

    /// Counts an I/O.
    pub(super) fn count(&mut self) {
        self.ios += 1;
    }

    /// Whether it is time for a pause.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        if self.ios == 0 {
            return false;
        }
        let long = self.think.io_time.is_some_and(|limit| {
            u128::from(now_ns.saturating_sub(self.since_ns)) >= limit.as_nanos()
        });
        long || self.ios >= self.think.blocks
    }
}
