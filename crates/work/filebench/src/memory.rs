//! Memory that direct I/O takes.

/// Direct I/O needs addresses at multiples of the logical block, which is 4 KiB at
/// most (`O_DIRECT` in open(2)).
const ALIGNMENT: usize = 4096;

/// Bytes that begin at a multiple of 4 KiB; zero at first, and without memory of
/// their own until they are used.
#[derive(Debug)]
pub(crate) struct Aligned {
    bytes: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    pub fn new(length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT];
        let from = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, from, length }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..self.from + self.length]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.length]
    }

    /// The first `length` bytes; grows where there are fewer, and forgets them.
    pub fn at_least(&mut self, length: usize) -> &mut [u8] {
        if self.length < length {
            *self = Self::new(length);
        }
        &mut self.bytes_mut()[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_grows() {
        let mut memory = Aligned::new(10);
        memory.bytes_mut().fill(7);
        assert_eq!(memory.bytes(), [7; 10]);
        let bytes = memory.at_least(100_000);
        assert_eq!((bytes.len(), bytes.as_ptr() as usize % ALIGNMENT), (100_000, 0));
    }
}
