//! Every shipped drive, put through its gates once for all tests.

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
