//! The Mersenne Twister MT19937 with the seeding of 1998.

use super::uniform::Uniform;

const SIZE: usize = 624;
const MIDDLE: usize = 397;

/// Filebench's generator (`fb_random.c`, `mtwist`): MT19937, seeded by
/// `x[i] = 69069 · x[i−1]`, 64 bits from two outputs, the higher half first.
///
/// M. Matsumoto and T. Nishimura, Mersenne Twister, ACM TOMACS 8 (1998) 3–30.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twister {
    state: Vec<u32>,
    next: usize,
}

impl Twister {
    /// The seed that every process of Filebench starts from, in every run.
    pub const UPSTREAM_SEED: u32 = 4357;

    /// From `seed`.
    pub fn new(seed: u32) -> Self {
        let mut state = vec![seed; SIZE];
        for i in 1..SIZE {
            state[i] = state[i - 1].wrapping_mul(69069);
        }
        Self { state, next: SIZE }
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.next == SIZE {
            self.iteration();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn iteration(&mut self) {
        for i in 0..SIZE {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % SIZE] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + MIDDLE) % SIZE] ^ (y >> 1) ^ odd;
        }
        self.next = 0;
    }
}

impl Default for Twister {
    fn default() -> Self {
        Self::new(Self::UPSTREAM_SEED)
    }
}

impl Uniform for Twister {
    fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        (high << 32) | u64::from(self.next_u32())
    }

    /// Upstream divides by 2⁶⁴−1: 1 itself can be drawn.
    fn unit(&mut self) -> f64 {
        self.next_u64() as f64 / u64::MAX as f64
    }

    fn is_upstream(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::upstream_offset;

    #[test]
    fn offsets_are_those_of_filebench() {
        // Measured with strace: a file of 64m, iosize=4k, memsize=64k. Each I/O
        // draws its place in the memory, then its place in the file.
        let mut twister = Twister::default();
        let offsets: Vec<u64> = (0..5)
            .map(|_| {
                upstream_offset(&mut twister, 64 << 10, 4 << 10);
                upstream_offset(&mut twister, 64 << 20, 4 << 10)
            })
            .collect();
        assert_eq!(offsets, [34_246_656, 41_984_000, 65_818_624, 29_822_976, 24_743_936]);
    }
}
