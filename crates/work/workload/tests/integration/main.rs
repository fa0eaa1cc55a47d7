//! The shipped studies' workloads, and files on real file systems.

mod spread;
mod studies;
