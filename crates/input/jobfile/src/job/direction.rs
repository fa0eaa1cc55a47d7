//! Reads and writes.

/// Which way data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoDirection {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// One value for reads and one for writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerDirection<T> {
    /// Also the only one if the option was given one value.
    pub read: T,
    /// For writes.
    pub write: T,
}

impl<T: Clone> PerDirection<T> {
    /// The same for both.
    pub fn both(value: T) -> Self {
        Self { read: value.clone(), write: value }
    }
}

impl<T> PerDirection<T> {
    /// The value for one of them.
    pub const fn get(&self, direction: IoDirection) -> &T {
        match direction {
            IoDirection::Read => &self.read,
            IoDirection::Write => &self.write,
        }
    }

    /// The result of `f` for each.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> PerDirection<U> {
        PerDirection { read: f(self.read), write: f(self.write) }
    }
}
