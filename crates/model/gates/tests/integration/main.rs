//! Every shipped drive, validated once for all that is expected of it.

mod docs;
mod gates;

use std::sync::OnceLock;

use disklab_drive::{DriveFile, SHIPPED, shipped};
use disklab_gates::{Checked, check};

/// A shipped drive, the text of its file, and what came out of its gates.
struct Drive {
    file: DriveFile,
    text: &'static str,
    checked: Vec<Checked>,
}

fn all() -> &'static [Drive] {
    static ALL: OnceLock<Vec<Drive>> = OnceLock::new();
    ALL.get_or_init(|| {
        std::thread::scope(|scope| {
            let drives: Vec<_> = SHIPPED
                .iter()
                .map(|(id, text)| {
                    scope.spawn(move || {
                        let file = shipped(id).expect("all shipped drives load");
                        let checked = check(&file);
                        Drive { file, text, checked }
                    })
                })
                .collect();
            drives.into_iter().map(|drive| drive.join().expect("no gate panics")).collect()
        })
    })
}

/// What is expected of the shipped drives and of their checks. One test tries all, because
/// cargo-nextest starts each test in a process of its own, and the checks take long.
const EXPECTED: [(&str, fn()); 5] = [
    ("no_shipped_drive_misses_a_figure", gates::no_shipped_drive_misses_a_figure),
    ("every_kind_of_drive_has_all_its_charts", gates::every_kind_of_drive_has_all_its_charts),
    ("the_same_again_gives_the_same", gates::the_same_again_gives_the_same),
    ("charts_have_names_of_their_own", gates::charts_have_names_of_their_own),
    ("the_pages_are_up_to_date", docs::the_pages_are_up_to_date),
];

#[test]
fn shipped_drives_pass_their_checks_and_their_pages_are_up_to_date() {
    // Each part is tried, and says itself what is wrong.
    let failed: Vec<&str> = EXPECTED
        .iter()
        .filter(|(_, part)| std::panic::catch_unwind(part).is_err())
        .map(|(name, _)| *name)
        .collect();
    assert!(failed.is_empty(), "failed: {failed:?}");
}
