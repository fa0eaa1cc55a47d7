//! Jobs run by the engine on real files, next to what fio does with them.

mod clones;
mod common;
mod devices;
mod example_jobs;
mod failures;
mod json;
mod like_fio;
mod options;
mod parts;
mod verify;
mod whole_jobs;
