//! Which disklab this is: its version, and whether it was built quickly.

/// The version, as `--version` prints it and as runs record it. The quick profile checks
/// arithmetic and leaves most crates unoptimised; the optimised one does neither.
pub const VERSION: &str = if cfg!(debug_assertions) {
    concat!(env!("CARGO_PKG_VERSION"), " (quick build)")
} else {
    env!("CARGO_PKG_VERSION")
};
