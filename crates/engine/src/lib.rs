//! Runs fio jobs natively.

mod backend;
mod error;
mod measure;
mod memory;
mod pattern;
mod random;
