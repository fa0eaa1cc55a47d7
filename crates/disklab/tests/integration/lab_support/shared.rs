//! What is expensive to make is made by the first test that needs it, and read by the
//! others of the same run: cargo-nextest starts each test in a process of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

/// The directory that `make` has filled, in this process or in another one of this run.
/// `None` if `make` could not, which it has printed.
///
/// # Panics
///
/// If `make` has panicked, here or in another test: it is not tried twice.
pub fn shared(name: &str, make: impl FnOnce(&Path) -> Option<()>) -> Option<PathBuf> {
    let run = run_directory();
    let [made, begun] = ["made", "begun"].map(|state| run.join(format!("{name}.{state}")));
    let lock = File::create(run.join(format!("{name}.lock"))).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    if made.exists() {
        return Some(made);
    }
    assert!(!begun.exists(), "the first test that needed {name} failed to make it");
    fs::create_dir(&begun).unwrap();
    if make(&begun).is_none() {
        fs::remove_dir_all(&begun).unwrap();
        return None;
    }
    fs::rename(&begun, &made).unwrap();
    Some(made)
}

/// The directory of this run of all tests; of this process, if that is the whole run.
fn run_directory() -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared");
    let run = std::env::var("NEXTEST_RUN_ID")
        .unwrap_or_else(|_| format!("process-{}", std::process::id()));
    fs::create_dir_all(all.join(&run)).unwrap();
    remove_old(&all);
    all.join(run)
}

/// Removes what runs have left that ended long ago.
fn remove_old(all: &Path) {
    const LONG: Duration = Duration::from_secs(24 * 3600);
    for run in fs::read_dir(all).unwrap().flatten() {
        let age = run.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if age.is_some_and(|age| age > LONG) {
            let _ = fs::remove_dir_all(run.path());
        }
    }
}

#[test]
fn shared_fixture_is_made_once_and_not_tried_again_after_a_panic() {
    let name = format!("of-process-{}", std::process::id());
    let make = |directory: &Path| fs::write(directory.join("file"), "made").ok();
    assert!(shared(&name, |_| None).is_none(), "what could not be made is not there");
    let made = shared(&name, make).expect("made");
    assert_eq!(fs::read_to_string(made.join("file")).unwrap(), "made");
    assert_eq!(shared(&name, |_| panic!("made twice")), Some(made));

    let fails = format!("failing-{name}");
    let tried = std::panic::catch_unwind(|| shared(&fails, |_| panic!("it fails")));
    assert!(tried.is_err());
    let again = std::panic::catch_unwind(|| shared(&fails, |_| unreachable!("tried twice")));
    let said = again.expect_err("not tried again");
    assert!(said.downcast_ref::<String>().is_some_and(|text| text.contains("failed to make it")));
}
