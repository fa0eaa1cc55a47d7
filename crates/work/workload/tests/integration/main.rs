//! The shipped studies' workloads.

mod studies;
