//! Things by numbers that are used again.

/// Each thing has a number until it is removed.
#[derive(Debug, Default)]
pub(super) struct Numbered<T> {
    things: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default> Numbered<T> {
    /// Keeps a thing. Returns its number, never [`u32::MAX`]; `None` if there are too many.
    pub fn insert(&mut self, thing: T) -> Option<u32> {
        if let Some(number) = self.free.pop() {
            self.things[number as usize] = thing;
            return Some(number);
        }
        let number = u32::try_from(self.things.len()).ok().filter(|n| *n != u32::MAX)?;
        self.things.push(thing);
        Some(number)
    }

    /// The thing of a number that is in use.
    pub fn get(&self, number: u32) -> &T {
        &self.things[number as usize]
    }

    /// The thing of a number that may not be in use; that of one that was is the default.
    pub fn find(&self, number: u32) -> Option<&T> {
        self.things.get(number as usize)
    }

    /// The thing of a number that is in use.
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.things[number as usize]
    }

    /// How many numbers were ever in use at once.
    pub fn capacity(&self) -> usize {
        self.things.len()
    }

    /// Whether the next thing gets a number that was in use before.
    pub fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// The thing of a number that is in use until now.
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        std::mem::take(&mut self.things[number as usize])
    }

    /// Bytes of memory, without what the things refer to.
    pub fn memory_bytes(&self) -> u64 {
        (self.things.len() * size_of::<T>() + self.free.len() * size_of::<u32>()) as u64
    }
}
