//! Filebench's workloads run on real files.

mod flowops;
mod runs;
mod support;
