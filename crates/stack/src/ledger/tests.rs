use std::path::PathBuf;

use disklab_exec::{Executor, Interrupt};

use super::*;

fn ledgers(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("folder").map(|e| e.expect("entry").path()).collect()
}

#[test]
fn takes_down_newest_first_to_the_mark() {
    let folder = tempfile::tempdir().expect("temp");
    let state = folder.path().join("state");
    let executor = Executor::new(Interrupt::new());
    // Not even a raised flag stops it.
    executor.interrupt.raise();
    let mut ledger = Ledger::open(&state).expect("ledger");
    let outer = folder.path().join("outer");
    let inner = outer.join("inner");
    for path in [&outer, &inner] {
        ledger.enter(Undo::RemoveFolder(path.clone())).expect("enter");
        std::fs::create_dir(path).expect("make");
    }
    let file = inner.join("file");
    ledger.enter(Undo::RemoveFile(file.clone())).expect("enter");
    std::fs::write(&file, "x").expect("write");
    assert_eq!(ledger.mark(), 3);
    assert!(ledger.take_down_to(1, &executor).is_empty());
    assert!(outer.exists() && !inner.exists());
    assert_eq!(ledger.mark(), 1);
    assert_eq!(ledgers(&state).len(), 1);
    assert!(ledger.take_down_to(0, &executor).is_empty());
    assert!(!outer.exists());
    assert!(ledgers(&state).is_empty(), "an empty ledger has no file");
    ledger.enter(Undo::RemoveFolder(outer.clone())).expect("it can be used again");
    assert_eq!(ledgers(&state).len(), 1);
    assert!(ledger.take_down_to(0, &executor).is_empty());
}

#[test]
fn what_fails_stays_entered_and_the_rest_goes() {
    let folder = tempfile::tempdir().expect("temp");
    let state = folder.path().join("state");
    let executor = Executor::default();
    let mut ledger = Ledger::open(&state).expect("ledger");
    let full = folder.path().join("full");
    std::fs::create_dir(&full).expect("make");
    std::fs::write(full.join("strange"), "x").expect("write");
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "x").expect("write");
    ledger.enter(Undo::RemoveFile(plain.clone())).expect("enter");
    ledger.enter(Undo::RemoveFolder(full.clone())).expect("enter");
    let errors = ledger.take_down_to(0, &executor);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(full.exists() && !plain.exists());
    assert_eq!(ledger.mark(), 1);
    drop(ledger);
    let (done, errors) = recover(&state, &executor);
    assert!(done.is_empty() && errors.len() == 1, "{done:?} {errors:?}");
    std::fs::remove_file(full.join("strange")).expect("remove");
    let (done, errors) = recover(&state, &executor);
    assert!(errors.is_empty(), "{errors:?}");
    assert!(done[0].contains("full"), "{done:?}");
    assert!(!full.exists() && ledgers(&state).is_empty());
}

#[test]
fn a_living_owner_is_left_alone() {
    let folder = tempfile::tempdir().expect("temp");
    let executor = Executor::default();
    let mut ledger = Ledger::open(folder.path()).expect("ledger");
    let file = folder.path().join("file");
    ledger.enter(Undo::RemoveFile(file.clone())).expect("enter");
    std::fs::write(&file, "x").expect("write");
    assert!(recover(folder.path(), &executor).0.is_empty());
    assert!(file.exists());
    drop(ledger);
    assert_eq!(recover(folder.path(), &executor).0.len(), 1);
    assert!(!file.exists());
}

#[test]
fn a_line_cut_short_is_dropped_and_a_strange_one_reported() {
    let folder = tempfile::tempdir().expect("temp");
    let executor = Executor::default();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "x").expect("write");
    let path = folder.path().join("ledger-1-0.jsonl");
    let entry =
        serde_json::to_string(&Line::Enter { number: 0, undo: Undo::RemoveFile(victim.clone()) })
            .expect("json");
    std::fs::write(&path, format!("{entry}\n{}", &entry[..20])).expect("write");
    let (done, errors) = recover(folder.path(), &executor);
    assert!(done.len() == 1 && errors.is_empty(), "{done:?} {errors:?}");
    assert!(!victim.exists() && !path.exists());

    std::fs::write(&path, "{\"enter\":{\"number\":0,\"undo\":{\"unmount\":\"/\"}}}\n")
        .expect("write");
    let (done, errors) = recover(folder.path(), &executor);
    assert!(done.is_empty() && errors.len() == 1, "{done:?} {errors:?}");
    assert!(path.exists(), "it is for the user to look at");
}

#[test]
fn a_missing_folder_holds_nothing() {
    let (done, errors) = recover(Path::new("/no/such/folder"), &Executor::default());
    assert!(done.is_empty() && errors.is_empty());
}
