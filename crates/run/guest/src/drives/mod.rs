//! What the guest of a session knows of its drives beyond what virtio tells the kernel, so that
//! what a user types answers as on a machine that has these drives.

pub mod database;
mod facts;
pub mod identify;
mod names;
pub mod uevents;

#[cfg(test)]
pub use facts::tests;
pub use facts::{DriveFacts, FIRMWARE};
