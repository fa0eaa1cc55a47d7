//! Programs look at the clock by their vDSO, at the same virtual times as by system calls
//! (`kernel/patches/vdso.patch`).

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use crate::support::{Outcome, kernel, run, steady};
use disklab_exec::find_program;

/// What a look costs, in ns.
const COST: i64 = 16;
/// What it costs after so many without a moment in which the processor was idle.
const BUSY_COST: i64 = 256;
const BUSY_LOOKS: i64 = 16_384;
/// The most that it costs a program which does nothing else.
const MOST_COST: i64 = 16_384;
/// By how much time may pass before the kernel hears of it.
const LIMIT: i64 = 1_000_000;

/// The program, as text for a guest, which may see none of the host's temporary files.
fn program() -> String {
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/support/looks.c");
    let program = directory.path().join("looks");
    let status = Command::new("gcc").args(["-O1", "-o"]).args([&program, &source]).status();
    assert!(status.unwrap().success());
    let output = Command::new("base64").arg(&program).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program after `before`, and waits for what that began.
fn boot(before: &str, argument: &str) -> Option<Outcome> {
    if find_program("gcc").is_none() {
        eprintln!("skipped: needs gcc");
        return None;
    }
    let kernel = kernel()?;
    let script = format!(
        "base64 -d > /tmp/looks <<END\n{}END\nchmod +x /tmp/looks\n{before}\n
        /tmp/looks {argument} && wait && echo end=all",
        program()
    );
    let outcome = run(kernel, &script, steady(1, 64, 50_000), |_| {});
    outcome.report();
    assert!(!outcome.console.contains("backwards="), "{}", outcome.console);
    assert_eq!(outcome.word("end"), "all");
    Some(outcome)
}

/// What so many looks take where nothing else happens, the last of them by a system call.
fn time_of(looks: usize) -> i64 {
    // The first one, which says when it began, counts in what the next ones cost.
    let mut waited = COST;
    for _ in 0..=looks {
        waited += (waited / 16).clamp(COST, MOST_COST);
    }
    waited - COST
}

#[test]
fn clock_reads_take_the_same_time_by_vdso_and_by_system_call() {
    let Some(vdso) = boot("", "vdso") else { return };
    let call = boot("", "system-call").unwrap();
    for looks in [1, 5, 17, 18, 100, 1000, 20_000, 100_000] {
        let key = format!("looks{looks}");
        assert_eq!(vdso.word(&key), call.word(&key), "{looks} looks");
        // Nothing else happens in so short a time; and clocks show multiples of 16 ns.
        if looks <= 100 {
            let (found, expected) = (vdso.word(&key).parse::<i64>().unwrap(), time_of(looks));
            assert!((found - expected).abs() <= COST, "{found}, not {expected}");
        }
    }
    assert_eq!(vdso.word("now"), call.word("now"));
    assert_eq!(vdso.report().virtual_time, call.report().virtual_time);
}

#[test]
fn all_clocks_show_the_same_by_vdso_and_by_system_call() {
    let Some(outcome) = boot("", "compare") else { return };
    // The program's own clock shows what it wrote there, so it does make looks itself.
    assert_eq!((outcome.word("itself"), outcome.word("kernel")), ("1", "1"));
    for clock in 0..5 {
        assert_eq!(outcome.word(&format!("clock{clock}")), format!("{COST},{COST}"), "{clock}");
    }
    assert_eq!(outcome.word("timeofday"), "0");
}

/// A look costs what it does on a machine where a program works, and a program that polls gets to
/// the end of its wait in as many system calls as ever.
#[test]
fn looks_between_system_calls_are_cheap_until_they_are_a_wait() {
    let Some(outcome) = boot("", "between") else { return };
    let number = |key| outcome.word(key).parse::<i64>().unwrap();
    assert_eq!(number("work"), 1001 * COST);
    let expected = BUSY_LOOKS + 20_000_000 / BUSY_COST;
    let polls = number("polls");
    assert!((expected / 2..expected).contains(&polls), "{polls} polls, not {expected} or fewer");
}

#[test]
fn a_program_that_writes_to_its_clock_misleads_itself_only() {
    let reads =
        "dd if=/dev/vda of=/dev/null bs=4k count=2000 iflag=direct 2>/dev/null & sleep 0.1;";
    let Some(outcome) = boot(reads, "attack") else { return };
    let number = |key| outcome.word(key).parse::<i64>().unwrap();
    assert!(number("most") <= LIMIT + MOST_COST + COST, "{}", outcome.console);
    // A timer of 3 ms comes as soon as the program makes a system call.
    let late = number("alarm") - 3_000_000;
    assert!((0..4 * MOST_COST).contains(&late), "{late} ns late");
}
