//! Every shipped drive, validated once for all that is expected of it.

mod checks;
mod docs;
mod held_out;
mod latencies;

use std::sync::OnceLock;

use disklab_drive::{DriveFile, SHIPPED, shipped};
use disklab_validation::{Checked, check};

/// A shipped drive, the text of its file, and what came out of its checks.
struct Drive {
    file: DriveFile,
    text: &'static str,
    checked: Vec<Checked>,
}

/// The drives that the test tries: it loads them first.
static TRIED: OnceLock<Vec<Drive>> = OnceLock::new();

fn all() -> &'static [Drive] {
    TRIED.get().expect("loaded")
}

/// Checks the shipped drives, with those that take their parameters from a sibling or without.
fn load(siblings: bool) -> Vec<Drive> {
    std::thread::scope(|scope| {
        let drives: Vec<_> = SHIPPED
            .iter()
            .filter(|(_, text)| siblings || !text.lines().any(|line| line.starts_with("like ")))
            .map(|(id, text)| {
                scope.spawn(move || {
                    let file = shipped(id).expect("all shipped drives load");
                    let checked = check(&file);
                    Drive { file, text, checked }
                })
            })
            .collect();
        drives.into_iter().map(|drive| drive.join().expect("no check panics")).collect()
    })
}

/// What is expected of the shipped drives and of their checks. One test tries all, because
/// cargo-nextest starts each test in a process of its own, and the checks take long.
const EXPECTED: [(&str, fn()); 5] = [
    ("no_shipped_drive_misses_a_figure", checks::no_shipped_drive_misses_a_figure),
    ("every_kind_of_drive_has_all_its_charts", checks::every_kind_of_drive_has_all_its_charts),
    ("the_same_again_gives_the_same", checks::the_same_again_gives_the_same),
    ("charts_have_names_of_their_own", checks::charts_have_names_of_their_own),
    ("the_pages_are_up_to_date", docs::the_pages_are_up_to_date),
];

fn try_all(siblings: bool) {
    assert!(TRIED.set(load(siblings)).is_ok(), "one test a process");
    // Each part is tried, and says itself what is wrong.
    let failed: Vec<&str> = EXPECTED
        .iter()
        .filter(|(_, part)| std::panic::catch_unwind(part).is_err())
        .map(|(name, _)| *name)
        .collect();
    assert!(failed.is_empty(), "failed: {failed:?}");
}

#[test]
fn shipped_drives_pass_their_checks_and_their_pages_are_up_to_date() {
    try_all(false);
}

/// Minutes of CPU time, so only `make test-all` runs it.
#[test]
fn siblings_of_shipped_drives_pass_their_checks_too() {
    try_all(true);
}
