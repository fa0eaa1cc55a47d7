//! What written data consist of.
//!
//! File systems and drives treat data by what they are: zeros are not stored by
//! some, repeats not by others, and what compresses is written in fewer blocks. So
//! a workload says what its data shall be, in a [`Spec`]: random, zeros or a
//! pattern; which share of it compresses; which share repeats. [`Content`] makes
//! those bytes, and [`Makeup`] tells what bytes really are, so that what was asked
//! for can be checked.
//!
//! Every byte follows from the seed, the number of its stream (a file, a job) and
//! its offset alone, on every machine: threads share a [`Content`] without a lock,
//! and what was written can be made again to be compared. [`ContentBuffers`] is the same
//! as an endless stream.

mod blocks;
mod buffers;
mod content;
mod makeup;
mod random_words;
mod share;
mod spec;
mod words;

pub use buffers::ContentBuffers;
pub use content::Content;
pub use makeup::{Distinct, Makeup, Measurement, RECORD_BYTES, measure};
pub use random_words::RandomWords;
pub use share::Share;
pub use spec::{Base, Compression, Duplicates, POOL_BLOCKS, Repeats, Spec, SpecError};
pub use words::{next_splitmix64, splitmix64};
