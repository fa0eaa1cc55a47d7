//! Random numbers and the distributions that WML draws from.

mod custom;
mod gamma;
mod rand48;
mod stream;
mod table;
mod twister;
mod uniform;
mod variable;

pub use custom::{CUSTOM_KINDS, Custom, CustomKind};
pub use gamma::gamma;
pub use rand48::Rand48;
pub(crate) use stream::below;
pub use stream::{Rng, random_offset, upstream_offset};
pub use table::{RandomTable, TableRow};
pub use twister::Twister;
pub use uniform::Uniform;
pub use variable::{RandomShape, RandomVariable};
