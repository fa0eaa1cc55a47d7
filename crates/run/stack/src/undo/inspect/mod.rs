//! What is on and in a leftover, before it is removed: a run that was killed may
//! have been dead for weeks, and its partition taken for something else.

mod devices;
mod directory;
mod image;
mod signatures;

pub(crate) use devices::{carriers, device, open_alone};
pub(crate) use directory::{entries, processes, submounts};
pub(crate) use image::image;
pub(crate) use signatures::{has_gpt, has_own};
