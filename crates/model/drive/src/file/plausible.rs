//! Between what an uncertain value may lie.

/// A field whose value is not certain, and between what it may lie. The values are as
/// drive files give them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plausible {
    /// The field with its table, such as `cache.dirty-limit`.
    pub field: String,
    /// What the file says.
    pub value: String,
    /// The lower end.
    pub low: String,
    /// The upper end.
    pub high: String,
}

impl Plausible {
    /// The ends that are not the file's own value.
    pub fn ends(&self) -> impl Iterator<Item = &str> {
        [&self.low, &self.high].into_iter().map(String::as_str).filter(|end| *end != self.value)
    }
}
