//! A source of random numbers.

/// A source of uniformly distributed numbers.
pub trait Uniform {
    /// 64 random bits.
    fn next_u64(&mut self) -> u64;

    /// A number in [0, 1); upstream's generator can also give 1.
    fn unit(&mut self) -> f64;

    /// Whether random variables are to draw from their own `rand48` state, as
    /// upstream's do, and not from this source.
    fn is_upstream(&self) -> bool {
        false
    }
}
