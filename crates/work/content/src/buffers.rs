//! Buffers, one after another.

use std::io::{self, Read};

use crate::{Base, Content, Spec, SpecError};

/// An endless stream of data like a [`Spec`]: each buffer continues where the last
/// one ended.
#[derive(Debug, Clone)]
pub struct ContentBuffers {
    content: Content,
    stream: u64,
    offset: u64,
}

impl ContentBuffers {
    /// Stream 0 of a seed, from its start.
    ///
    /// # Errors
    /// Where `spec` asks for what cannot be; see [`Spec::check`].
    pub fn new(spec: Spec, seed: u64) -> Result<Self, SpecError> {
        Ok(Self::of(Content::new(spec, seed)?, 0))
    }

    /// A stream of `content`, from its start.
    pub fn of(content: Content, stream: u64) -> Self {
        Self { content, stream, offset: 0 }
    }

    /// Stream 0 of data that are made from `base` and nothing else, from its start.
    /// A pattern without bytes gives zeros.
    pub fn plain(base: Base, seed: u64) -> Self {
        Self::of(Content::plain(base, seed), 0)
    }

    /// Continues at `offset` of `stream`.
    pub fn go_to(&mut self, stream: u64, offset: u64) {
        (self.stream, self.offset) = (stream, offset);
    }

    /// Fills `buffer` with what comes next.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        self.content.fill_at(self.stream, self.offset, buffer);
        self.offset = self.offset.wrapping_add(buffer.len() as u64);
    }

    /// Where in its stream the next buffer begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl Read for ContentBuffers {
    /// Always fills the whole of `buffer`.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill(buffer);
        Ok(buffer.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_continue_where_the_last_one_ended() {
        let mut buffers = ContentBuffers::new(Spec::random(), 3).expect("valid");
        let mut parts = vec![0; 1000];
        let (first, second) = parts.split_at_mut(333);
        buffers.fill(first);
        buffers.read_exact(second).expect("endless");
        assert_eq!(buffers.offset(), 1000);
        let content = Content::new(Spec::random(), 3).expect("valid");
        assert_eq!(content.first_difference(0, 0, &parts), None);
        buffers.go_to(8, 100);
        buffers.fill(&mut parts);
        assert_eq!(content.first_difference(8, 100, &parts), None);
        let mut plain = ContentBuffers::plain(Base::Random, 3);
        plain.fill(&mut parts);
        assert_eq!(content.first_difference(0, 0, &parts), None);
    }
}
