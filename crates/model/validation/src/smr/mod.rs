//! Checks of shingled hard disks, and the loads that they are made of.

pub(crate) mod cliff;
pub mod load;
pub(crate) mod sequential;
