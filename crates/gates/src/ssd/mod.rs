//! Gates of solid-state drives.

pub(crate) mod amplification;
pub(crate) mod depth;
pub(crate) mod writes;
