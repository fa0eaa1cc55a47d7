//! Data against real compressors.

mod compressors;
