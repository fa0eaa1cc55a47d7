use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use disklab_exec::{Executor, Interrupt};

use super::host::LedgerHost;
use super::*;
use crate::Obstacle;

fn ledgers(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).expect("directory").map(|e| e.expect("entry").path()).collect()
}

#[test]
fn tears_down_newest_first_to_the_mark() {
    let directory = tempfile::tempdir().expect("temp");
    let state = directory.path().join("state");
    let executor = Executor::new(Interrupt::new());
    // Not even a raised flag stops it.
    executor.interrupt.raise();
    let mut ledger = Ledger::open(&state).expect("ledger");
    let outer = directory.path().join("outer");
    let inner = outer.join("inner");
    for path in [&outer, &inner] {
        ledger.enter(undo::RemoveDirectory(path.clone())).expect("enter");
        std::fs::create_dir(path).expect("make");
    }
    let file = inner.join("file");
    ledger.enter(undo::RemoveFile(file.clone())).expect("enter");
    std::fs::write(&file, "x").expect("write");
    assert_eq!(ledger.mark(), 3);
    assert!(ledger.tear_down_to(1, &executor).is_empty());
    assert!(outer.exists() && !inner.exists());
    assert_eq!(ledger.mark(), 1);
    assert_eq!(ledgers(&state).len(), 1);
    assert!(ledger.tear_down_to(0, &executor).is_empty());
    assert!(!outer.exists());
    assert!(ledgers(&state).is_empty(), "an empty ledger has no file");
    ledger.enter(undo::RemoveDirectory(outer.clone())).expect("it can be used again");
    assert_eq!(ledgers(&state).len(), 1);
    assert!(ledger.tear_down_to(0, &executor).is_empty());
}

#[test]
fn failed_entries_stay_and_the_rest_is_torn_down() {
    let directory = tempfile::tempdir().expect("temp");
    let state = directory.path().join("state");
    let executor = Executor::default();
    let mut ledger = Ledger::open(&state).expect("ledger");
    let full = directory.path().join("full");
    std::fs::create_dir(&full).expect("make");
    std::fs::write(full.join("strange"), "x").expect("write");
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "x").expect("write");
    ledger.enter(undo::RemoveFile(plain.clone())).expect("enter");
    ledger.enter(undo::RemoveDirectory(full.clone())).expect("enter");
    let errors = ledger.tear_down_to(0, &executor);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(full.exists() && !plain.exists());
    assert_eq!(ledger.mark(), 1);
    drop(ledger);
    let Recovery { done, left, errors, .. } = recover(&state, &executor);
    assert!(done.is_empty() && errors.is_empty(), "{done:?} {errors:?}");
    assert_eq!(left[0].obstacles, [Obstacle::File(full.join("strange"))]);
    std::fs::remove_file(full.join("strange")).expect("remove");
    let Recovery { done, errors, .. } = recover(&state, &executor);
    assert!(errors.is_empty(), "{errors:?}");
    assert!(done[0].contains("full"), "{done:?}");
    assert!(!full.exists() && ledgers(&state).is_empty());
}

#[test]
fn a_living_owner_is_left_alone() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::default();
    let mut ledger = Ledger::open(directory.path()).expect("ledger");
    let file = directory.path().join("file");
    ledger.create_file(&file).expect("created").write_all(b"x").expect("write");
    assert!(recover(directory.path(), &executor).done.is_empty());
    assert!(file.exists());
    drop(ledger);
    assert_eq!(recover(directory.path(), &executor).done.len(), 1);
    assert!(!file.exists());
}

/// As the child is that a dying owner had just forked.
#[test]
fn a_lock_that_is_let_go_in_a_moment_is_waited_for() {
    let is_recovered = || {
        let directory = tempfile::tempdir().expect("temp");
        let mut ledger = Ledger::open(directory.path()).expect("ledger");
        ledger.create_file(&directory.path().join("file")).expect("created");
        let dying = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            drop(ledger);
        });
        let recovery = recover(directory.path(), &Executor::default());
        dying.join().expect("it ends");
        recovery.done.len() == 1
    };
    // A busy machine may keep the owner for longer now and then, and not each time.
    assert!((0..20).any(|_| is_recovered()));
}

/// A ledger that another process has written, and left.
fn write(directory: &Path, lines: &[LedgerLine], rest: &str) -> PathBuf {
    let path = directory.join("ledger-1-0.jsonl");
    let lines: Vec<_> = lines.iter().map(|l| serde_json::to_string(l).expect("json")).collect();
    std::fs::write(&path, format!("{}\n{rest}", lines.join("\n"))).expect("write");
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("mode");
    path
}

fn owner_at(host: LedgerHost) -> LedgerLine {
    LedgerLine::Owner { mark: "a test's, long dead".to_owned(), host }
}

fn entered(number: u64, undo: impl Into<Undo>) -> LedgerLine {
    LedgerLine::Enter { number, undo: undo.into(), marks: Vec::new() }
}

fn created(number: u64, path: &Path) -> LedgerLine {
    let metadata = path.symlink_metadata().expect("it exists");
    LedgerLine::Created { number, identity: FileIdentity::new(&metadata) }
}

#[test]
fn a_line_cut_short_is_dropped_and_a_strange_one_reported() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::default();
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "x").expect("write");
    let entry = entered(0, undo::RemoveFile(victim.clone()));
    let cut = serde_json::to_string(&entry).expect("json");
    let owner = owner_at(LedgerHost::here());
    let path = write(directory.path(), &[owner, entry, created(0, &victim)], &cut[..20]);
    let Recovery { done, errors, left, .. } = recover(directory.path(), &executor);
    assert!(done.len() == 1 && errors.is_empty(), "{done:?} {errors:?} {left:?}");
    assert!(!victim.exists() && !path.exists());

    write(directory.path(), &[entered(0, undo::Unmount("/".into()))], "");
    let Recovery { done, errors, .. } = recover(directory.path(), &executor);
    assert!(done.is_empty() && errors.len() == 1, "{done:?} {errors:?}");
    assert!(path.exists(), "it is for the user to look at");
}

#[test]
fn a_ledger_without_a_machine_is_not_acted_on() {
    let directory = tempfile::tempdir().expect("temp");
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "x").expect("write");
    let entry = entered(0, undo::RemoveFile(victim.clone()));
    let path = write(directory.path(), &[entry, created(0, &victim)], "");
    let Recovery { done, errors, .. } = recover(directory.path(), &Executor::default());
    assert!(done.is_empty() && errors.len() == 1, "{done:?} {errors:?}");
    assert!(errors[0].to_string().contains("which machine"), "{errors:?}");
    assert!(victim.exists() && path.exists());
}

#[test]
fn a_missing_directory_holds_nothing() {
    let Recovery { done, errors, .. } =
        recover(Path::new("/no/such/directory"), &Executor::default());
    assert!(done.is_empty() && errors.is_empty());
}

// A home directory on NFS, or one that a container shares with its host.
#[test]
fn a_ledger_of_another_machine_is_left_alone_and_stops_nobody() {
    let here = LedgerHost::here();
    let container = LedgerHost { mounts: Some(1), processes: Some(1), ..here.clone() };
    let machine = Some("0123456789abcdef0123456789abcdef".to_owned());
    let boot = Some("00000000-1111-4222-8333-444444444444".to_owned());
    let other = LedgerHost { machine, boot: boot.clone(), ..here.clone() };
    let nameless = LedgerHost { machine: None, boot, ..here };
    for host in [container, other, nameless] {
        let directory = tempfile::tempdir().expect("temp");
        let tree = directory.path().join("disklab1x0");
        std::fs::create_dir(&tree).expect("tree");
        let lines = [
            owner_at(host.clone()),
            entered(0, undo::RemoveTree(tree.clone())),
            created(0, &tree),
            // Not mounted here: taken for done, it would be forgotten there.
            entered(1, undo::Unmount(directory.path().join("mnt"))),
        ];
        // Its owner may be in the middle of a line: a lock does not reach everywhere.
        let path = write(directory.path(), &lines, "{\"gone\"");
        let before = std::fs::read(&path).expect("ledger");
        let Recovery { done, errors, left, notes } =
            recover(directory.path(), &Executor::default());
        assert!(done.is_empty() && errors.is_empty() && left.is_empty(), "{host:?}: {errors:?}");
        assert_eq!(notes.len(), 1, "{host:?}");
        assert!(notes[0].contains("disklab doctor"), "{notes:?}");
        assert_eq!(std::fs::read(&path).expect("ledger"), before, "{host:?}");
        assert!(tree.exists());
        // Nor is it discarded from here; its user may say that it is gone.
        let id: LedgerId = "1-0".parse().expect("ID");
        let discard =
            decide(directory.path(), &id, LeftoverDecision::Discard, &Executor::default());
        assert!(matches!(discard, Err(StackError::Undecidable { .. })), "{discard:?}");
        assert!(tree.exists() && path.exists());
        decide(directory.path(), &id, LeftoverDecision::Keep, &Executor::default())
            .expect("forgotten");
        assert!(tree.exists() && !path.exists());
    }
}

#[test]
fn a_restart_ends_processes_and_not_files() {
    let directory = tempfile::tempdir().expect("temp");
    let boot = Some("00000000-1111-4222-8333-444444444444".to_owned());
    let before = LedgerHost { boot, machine: Some("ab".to_owned()), ..LedgerHost::here() };
    if LedgerHost::here().machine.is_none() {
        eprintln!("skipped: needs a machine-id");
        return;
    }
    let before = LedgerHost { machine: LedgerHost::here().machine, ..before };
    let tree = directory.path().join("disklab1x0");
    std::fs::create_dir(&tree).expect("tree");
    // By now the number may be anybody's.
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
    let started = crate::undo::started(stranger.id()).expect("it runs");
    let lines = [
        owner_at(before),
        entered(0, undo::RemoveTree(tree.clone())),
        created(0, &tree),
        entered(1, undo::EndProgram { pid: stranger.id(), started }),
    ];
    let path = write(directory.path(), &lines, "");
    let Recovery { done, errors, .. } = recover(directory.path(), &Executor::default());
    let lives = stranger.try_wait().expect("asked").is_none();
    stranger.kill().expect("kill");
    stranger.wait().expect("killed");
    assert!(lives && errors.is_empty(), "{errors:?}");
    assert_eq!(done.len(), 1, "{done:?}");
    assert!(!tree.exists() && !path.exists());
}

#[test]
fn a_state_directory_of_others_is_refused_and_nothing_in_it_touched() {
    let directory = tempfile::tempdir().expect("temp");
    let state = directory.path().join("state");
    std::fs::create_dir(&state).expect("state");
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "x").expect("write");
    let entry = entered(0, undo::RemoveFile(victim.clone()));
    let path = write(&state, &[owner_at(LedgerHost::here()), entry, created(0, &victim)], "");
    std::fs::set_permissions(&state, Permissions::from_mode(0o777)).expect("mode");
    let Recovery { done, errors, .. } = recover(&state, &Executor::default());
    assert!(matches!(errors[..], [StackError::Untrusted { .. }]), "{errors:?}");
    assert!(done.is_empty() && victim.exists() && path.exists());
    let opened = Ledger::open(&state);
    assert!(matches!(opened, Err(StackError::Untrusted { .. })), "{opened:?}");

    // In a directory of our own, a ledger that others may write to.
    std::fs::set_permissions(&state, Permissions::from_mode(0o700)).expect("mode");
    std::fs::set_permissions(&path, Permissions::from_mode(0o622)).expect("mode");
    let Recovery { done, errors, notes, .. } = recover(&state, &Executor::default());
    assert!(done.is_empty() && errors.is_empty(), "it stops nobody: {errors:?}");
    assert!(notes[0].contains("not trusted") && victim.exists(), "{notes:?}");
    let id: LedgerId = "1-0".parse().expect("ID");
    let discard = decide(&state, &id, LeftoverDecision::Discard, &Executor::default());
    assert!(matches!(discard, Err(StackError::Untrusted { .. })), "{discard:?}");
    assert!(victim.exists());
}

#[test]
fn user_files_in_or_in_place_of_a_tree_stay() {
    let directory = tempfile::tempdir().expect("temp");
    let state = directory.path().join("state");
    let executor = Executor::default();
    let tree = directory.path().join("disklab1x0");
    let mut ledger = Ledger::open(&state).expect("ledger");
    ledger.create_tree(&tree).expect("tree");
    ledger.expect(&tree, vec!["test".to_owned()]).expect("expected");
    std::fs::write(tree.join("test"), "the run's").expect("write");
    drop(ledger);
    std::fs::write(tree.join("precious"), "the user's").expect("write");
    for _ in 0..2 {
        let Recovery { done, left, errors, .. } = recover(&state, &executor);
        assert!(done.is_empty() && errors.is_empty(), "{done:?} {errors:?}");
        assert_eq!(left[0].obstacles, [Obstacle::File(tree.join("precious"))]);
        assert!(left[0].to_string().contains("--discard"), "{}", left[0]);
    }
    // In its place.
    let aside = directory.path().join("aside");
    std::fs::rename(&tree, &aside).expect("rename");
    std::fs::create_dir(&tree).expect("another");
    std::fs::write(tree.join("test"), "the user's").expect("write");
    let Recovery { left, .. } = recover(&state, &executor);
    assert_eq!(left[0].obstacles, [Obstacle::Replaced(tree.clone())]);
    assert!(tree.join("test").exists());
    // Kept, it is forgotten.
    let id = left[0].id.clone();
    decide(&state, &id, LeftoverDecision::Keep, &executor).expect("kept");
    assert!(recover(&state, &executor).left.is_empty() && tree.join("test").exists());
    let again = decide(&state, &id, LeftoverDecision::Keep, &executor);
    assert!(matches!(again, Err(StackError::UnknownLeftover { .. })), "{again:?}");
}

#[test]
fn a_tree_stays_with_what_is_left_alone_in_it() {
    let directory = tempfile::tempdir().expect("temp");
    let state = directory.path().join("state");
    let executor = Executor::default();
    let tree = directory.path().join("disklab1x0");
    let inner = tree.join("disklab1x0");
    let image = inner.join("drive-0.img");
    let mut ledger = Ledger::open(&state).expect("ledger");
    ledger.create_tree(&tree).expect("tree");
    ledger.enter(undo::RemoveDirectory(inner.clone())).expect("enter");
    std::fs::create_dir(&inner).expect("make");
    ledger.enter(undo::RemoveFile(image.clone())).expect("enter");
    drop(ledger);
    // Another file than the run's.
    std::fs::write(&image, "the user's").expect("write");
    for _ in 0..2 {
        let Recovery { done, left, errors, .. } = recover(&state, &executor);
        assert!(done.is_empty() && errors.is_empty(), "{done:?} {errors:?}");
        assert_eq!(left[0].things.len(), 3, "{left:?}");
        assert_eq!(std::fs::read_to_string(&image).expect("still there"), "the user's");
    }
    let id = recover(&state, &executor).left[0].id.clone();
    let Recovery { errors, .. } =
        decide(&state, &id, LeftoverDecision::Discard, &executor).expect("discarded");
    assert!(errors.len() <= 1 && !tree.exists(), "{errors:?}");
}

#[test]
fn discarded_leftovers_are_removed() {
    let directory = tempfile::tempdir().expect("temp");
    let state = directory.path().join("state");
    let executor = Executor::default();
    let tree = directory.path().join("disklab1x0");
    let mut ledger = Ledger::open(&state).expect("ledger");
    ledger.create_tree(&tree).expect("tree");
    std::fs::write(tree.join("precious"), "the user's").expect("write");
    let id = recover(&state, &executor).left;
    assert!(id.is_empty(), "its owner lives");
    let file = ledgers(&state).remove(0);
    let name = file.file_name().and_then(|name| name.to_str()).expect("name");
    let id = LedgerId::from_file_name(name).expect("ID");
    let early = decide(&state, &id, LeftoverDecision::Discard, &executor);
    assert!(matches!(early, Err(StackError::Undecidable { .. })), "{early:?}");
    drop(ledger);
    let Recovery { done, errors, .. } =
        decide(&state, &id, LeftoverDecision::Discard, &executor).expect("discarded");
    assert!(done.len() == 1 && errors.is_empty(), "{done:?} {errors:?}");
    assert!(!tree.exists() && ledgers(&state).is_empty());
}

#[test]
fn a_file_of_the_users_is_never_entered() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::default();
    let mut ledger = Ledger::open(&directory.path().join("state")).expect("ledger");
    let file = directory.path().join("drive-1.img");
    std::fs::write(&file, "the user's").expect("write");
    ledger.create_file(&file).expect_err("it exists");
    let tree = directory.path().join("disklab1x0");
    std::fs::create_dir(&tree).expect("tree");
    ledger.create_tree(&tree).expect_err("it exists");
    assert_eq!(ledger.mark(), 0);
    assert!(ledger.tear_down_to(0, &executor).is_empty());
    assert!(file.exists() && tree.exists());
}

#[test]
fn marks_outlive_the_file_that_they_were_entered_in() {
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::default();
    let mut ledger = Ledger::open(directory.path()).expect("ledger");
    let inside = directory.path().join("x");
    ledger
        .enter_with(undo::RemoveDirectory(inside.clone()), vec!["a-b".to_owned()])
        .expect("enter");
    assert!(ledger.tear_down_to(0, &executor).is_empty());
    assert!(ledgers(directory.path()).is_empty());
    ledger.enter(undo::RemoveDirectory(inside)).expect("enter");
    let text = std::fs::read_to_string(&ledgers(directory.path())[0]).expect("ledger");
    let content = line::read_lines(Path::new("l"), text.as_bytes());
    assert!(content.strange.is_empty() && content.marks().has("AB"), "{text}");
}
