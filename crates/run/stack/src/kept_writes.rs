//! What drives keep of what is written to a layer, besides the data as they are at last.

/// What drives keep besides a workload's data as they are at last: until the place is used again,
/// which file systems put off, and which no drive hears of. The lab stores it. By default nothing:
/// written in place, as it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KeptWrites {
    /// Whether new data go to another place than the old, which stay.
    pub old_data: bool,
    /// Bytes of metadata that stay for each byte written.
    pub metadata: f64,
    /// Whether data that repeat or are zeros become such that do not.
    pub hides_repeats: bool,
}

impl KeptWrites {
    /// That of a file system which puts new data elsewhere, with so many bytes of metadata for each
    /// byte written.
    pub(crate) fn elsewhere(metadata: f64) -> Self {
        Self { old_data: true, metadata, ..Self::default() }
    }

    /// What two layers keep, one on the other.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            old_data: self.old_data || other.old_data,
            metadata: self.metadata + other.metadata,
            hides_repeats: self.hides_repeats || other.hides_repeats,
        }
    }
}
