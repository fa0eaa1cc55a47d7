//! Quantities with their units.
//!
//! Two families of size units exist and must never be mixed up: SI (kB, MB,
//! GB: powers of 1000) and IEC (KiB, MiB, GiB: powers of 1024). Everything here
//! names the family it prints in.

mod bit_rate;
mod bytes;
mod duration;
mod number;
mod rate;
mod share;

pub use bit_rate::{BitsPerSecond, ParseBitRateError};
pub use bytes::{Bytes, ParseBytesError};
pub use duration::{
    ParseDurationError, duration_of, parse_duration, parse_nanoseconds, show_duration,
    show_nanoseconds, show_seconds,
};
pub use number::{count, list, scale_words, significant};
pub use rate::{BytesPerSecond, Iops, ParseRateError};
pub use share::{
    ParseShareError, parse_share, parse_share_within, per_cent, per_cents, share_words, show_share,
};
