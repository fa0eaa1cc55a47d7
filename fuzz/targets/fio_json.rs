//! fio's JSON: no output of a program panics.

#![no_main]

use disklab_workload::jobs_in_report;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match jobs_in_report(text) {
    Ok(jobs) => assert!(jobs > 0),
    Err(error) => assert!(!error.to_string().is_empty()),
});
