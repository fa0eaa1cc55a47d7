use disklab_sample::Direction;
use proptest::prelude::*;

use super::borg::REPOSITORY;
use super::*;
use crate::testing::{WorkOutcome, lacks, read, run_in};

/// What the notes of a run say by how many percent the stored sizes are off.
fn off(ran: &WorkOutcome, copy: &str) -> Vec<f64> {
    let about = format!("after {copy},");
    let note = ran.notes.iter().find(|n| n.text.starts_with(&about)).expect("told");
    note.text.split('(').skip(1).filter_map(|part| part.split_once(" %)")?.0.parse().ok()).collect()
}

fn steps(ran: &WorkOutcome) -> Vec<(&str, Direction, Option<u64>)> {
    ran.steps
        .iter()
        .map(|s| (s.name.as_str(), s.figures[0].direction, s.figures[0].operations))
        .collect()
}

#[test]
fn the_studys_ratios_come_out() {
    if lacks("borg") {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let body = "size = '901.92 GB'\ncompressed = '639.69 GB'\ndeduplicated = '515.84 GB'\n\
                copies = 2\nfiles = 10000000\ndirectories = 3";
    let workload = read("backup", body, 0.00004).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    let names: Vec<_> = ran.steps.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["copy-1", "copy-2", "restore", "check"]);
    let size = 901.92e9 * 0.00004;
    for step in &ran.steps[..3] {
        assert!((step.figures[0].bytes as f64 / size - 1.0).abs() < 0.01, "{step:?}");
        let files = step.figures[0].operations.expect("counted");
        assert!(files.abs_diff(400) < 20, "{files}");
    }
    for copy in ["copy-1", "copy-2"] {
        let off = off(&ran, copy);
        assert_eq!(off.len(), 3);
        assert!(off.iter().all(|percent| percent.abs() < 2.0), "{copy}: {off:?}");
    }
    // What was backed up comes back, byte by byte.
    let tree = Tree { files: 400, directories: 3, size: Bytes(36_076_800) };
    let part = |of: f64, whole: f64| Share::new(1.0 - of / whole);
    let mut corpus =
        crate::corpus::Corpus::new(&tree, part(639.69, 901.92), part(515.84, 639.69), 42)
            .expect("valid");
    let difference = corpus.first_difference(&directory.path().join("restored")).expect("read");
    assert_eq!(difference, None);
    let space = ran.notes.iter().find(|n| n.text.starts_with("scaled from")).expect("scaled");
    assert!(space.text.contains("not scaled"), "{space:?}");
    // And nothing lies elsewhere.
    let entries = std::fs::read_dir(directory.path()).expect("directory");
    let mut names: Vec<_> = entries.map(|e| e.expect("entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["borg-base", REPOSITORY, "restored"]);
    let mut bytes = 0;
    let mut directories = vec![directory.path().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).expect("directory") {
            let entry = entry.expect("entry");
            let data = entry.metadata().expect("entry");
            if data.is_dir() { directories.push(entry.path()) } else { bytes += data.len() }
        }
    }
    assert!(bytes <= workload.cost().space.0, "{bytes} {:?}", workload.cost());
}

#[test]
fn a_changed_tree_is_copied_from_next_to() {
    if lacks("borg") {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let body = "size = '10 MB'\ncompressed = '5 MB'\ndeduplicated = '4 MB'\ncopies = 3\n\
                changed = 20\nsource = 'same-stack'\nfiles = 100\nrestore = 'discard'\n\
                check = 'data'\ncompression = 'zstd,3'\nencryption = 'repokey-blake2'";
    let workload = read("backup", body, 1.0).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    let names: Vec<_> = steps(&ran).iter().map(|s| s.0.to_owned()).collect();
    assert_eq!(names, ["copy-1", "copy-2", "copy-3", "restore", "check"]);
    let off = off(&ran, "copy-3");
    assert!(off.iter().all(|percent| percent.abs() < 12.0), "{off:?}");
    let changed = ran.notes.iter().filter(|n| n.text.contains("changed before copy-")).count();
    assert_eq!(changed, 2);
    assert!(!directory.path().join("restored").exists());
    assert!(ran.commands.iter().any(|c| c.contains("create --compression=zstd,3")));
    assert!(ran.commands.iter().any(|c| c.contains("check --verify-data")));
}

#[test]
fn programs_are_named_and_cost_is_reported() {
    let workload = read("backup", "size = '1 GB'\ncompressed = '500 MB'", 1.0).expect("valid");
    assert!(workload.programs().contains(&("borg", "borgbackup")));
    let cost = workload.cost();
    assert_eq!(cost.prewrite, Bytes::ZERO);
    // The repository and what is restored.
    assert!((1_500_000_000..1_600_000_000).contains(&cost.space.0), "{cost:?}");
    let same_stack = read("backup", "size = '1 GB'\nsource = 'same-stack'\nrestore = 'not'", 1.0);
    let cost = same_stack.expect("valid").cost();
    assert_eq!(cost.prewrite, Bytes(1_000_000_000));
    assert!((2_000_000_000..2_100_000_000).contains(&cost.space.0), "{cost:?}");
}

#[test]
fn wrong_fields_are_errors() {
    for (body, part) in [
        ("", "size"),
        ("size = 0", "nothing to back up"),
        ("size = '1 TB'\nprogram = 'brog'", "expected 'borg'"),
        ("size = '1 TB'\nprogram = 'attic'", "say 'borg'"),
        ("size = '1 TB'\ncopies = 0", "from 1 to 1000"),
        ("size = '1 TB'\nchanged = 101", "from 0 to 100"),
        ("size = '1 TB'\ncompressed = '2 TB'", "is more than"),
        ("size = '1 TB'\ncompressed = '1 GB'\ndeduplicated = '2 GB'", "is more than"),
        ("size = '1 TB'\ndeduplicated = 0", "nothing would be left"),
        ("size = '1 TB'\ncompression = 'zstd,99'", "none of Borg's"),
        ("size = '1 TB'\nsource = 'same-stak'", "did you mean 'same-stack'"),
        ("size = '1 TB'\ndata = 3", "unknown field 'data'"),
    ] {
        let error = read("backup", body, 1.0).expect_err(body).to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn space_holds_what_is_kept_at_any_scale(
        scale in 1e-9_f64..2.0, size in 1_u64..1 << 45, compressed in 0.01_f64..1.0,
        copies in 1_u64..1000, changed in 0_u64..=100, same_stack in any::<bool>(),
    ) {
        let compressed = ((size as f64 * compressed) as u64).max(1);
        let source = if same_stack { "same-stack" } else { "stream" };
        let body = format!(
            "size = {size}\ncompressed = {compressed}\ncopies = {copies}\nchanged = {changed}\n\
             source = '{source}'"
        );
        let cost = read("backup", &body, scale).expect("valid").cost();
        prop_assert!(cost.space.0 >= cost.prewrite.0 / copies);
        prop_assert!(cost.content <= cost.space);
        prop_assert!(cost.fixed_seconds.is_finite());
    }
}
