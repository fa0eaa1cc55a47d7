//! Real kernels, in virtual time.

mod support;

use support::{kernel, run, steady};

#[test]
fn a_guest_prints_and_powers_off() {
    let Some(kernel) = kernel() else { return };
    let outcome = run(kernel, "echo said=hello", Vec::new(), |_| {});
    outcome.report();
    assert_eq!(outcome.word("said"), "hello");
}

#[test]
fn an_hour_of_sleep_takes_no_time() {
    let Some(kernel) = kernel() else { return };
    let script = "a=$(date +%s); sleep 3600; b=$(date +%s); echo slept=$((b - a)) year=$(date +%Y)";
    let outcome = run(kernel, script, Vec::new(), |_| {});
    let report = outcome.report();
    assert_eq!(outcome.word("slept"), "3600");
    assert_eq!(outcome.word("year"), "2026");
    assert!(report.real_time.as_secs() < 60, "{:?}", report.real_time);
}
