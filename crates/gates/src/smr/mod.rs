//! Gates of shingled hard disks.

pub(crate) mod cliff;
pub(crate) mod sequential;
