//! fio's JSON: no output of a program panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// The reader is no public part of its crate, and needs nothing else of it.
#[path = "../../crates/work/workload/src/kinds/fio/output.rs"]
#[allow(dead_code)]
mod output;

/// What the reader gives where there is no report.
#[derive(Debug)]
pub struct WorkloadError(String);

impl WorkloadError {
    fn output(program: &str, why: impl Into<String>) -> Self {
        Self(format!("{program}: {}", why.into()))
    }
}

fuzz_target!(|text: &str| match output::parse(text) {
    Ok(output) => assert!(!output.jobs.is_empty()),
    Err(error) => assert!(!error.0.is_empty()),
});
