//! `--set-drive` and `disklab sensitivity`, as far as no guest is needed.
#![allow(missing_docs)]

mod command_support;

use std::path::Path;

/// Exit code, standard output and standard error.
fn disklab(home: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = command_support::disklab(home).args(words).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_changed_model_never_passes_as_the_shipped_one() {
    let home = tempfile::tempdir().expect("temp");
    let set = "barracuda-500gb:seek.full=19 ms";
    let (code, plan, error) = disklab(home.path(), &["plan", "btrfs-raid1", "--set-drive", set]);
    assert_eq!(code, Some(0), "{error}");
    assert!(plan.contains("(changed: seek.full = 19 ms)"), "{plan}");
    assert!(plan.contains("seek.full = 19 ms instead of its file's 18 ms"), "{plan}");
    let (_, plan, _) = disklab(home.path(), &["plan", "btrfs-raid1"]);
    assert!(!plan.contains("changed"), "{plan}");
}

#[test]
fn a_study_sets_fields_of_its_drives() {
    let home = tempfile::tempdir().expect("temp");
    let study = |set: &str| {
        let text = format!(
            "id = 's'\ntitle = 's'\n[stacks]\na = {{ layers = 'ext4', drives = 1 }}\n\
             [[drives]]\nmodel = 'hgst-10tb'\nsize = '10 TB'\nset = {{ {set} }}\n\
             [[workloads]]\nid = 'w'\nhdparm = {{ device = true }}\n"
        );
        std::fs::write(home.path().join("s.toml"), text).expect("write");
        disklab(home.path(), &["plan", "s.toml"])
    };
    let (code, plan, error) = study("'cache.dirty-limit' = '32 MiB'");
    assert_eq!(code, Some(0), "{error}");
    assert!(plan.contains("changed: cache.dirty-limit = 32 MiB"), "{plan}");
    let (code, _, error) = study("'cache.dirty-limits' = '32 MiB'");
    assert_eq!(code, Some(2));
    assert!(error.contains("s.toml:8:9: unknown field 'dirty-limits'"), "{error}");
}

#[test]
fn wrong_use_is_told_before_anything_is_touched() {
    let home = tempfile::tempdir().expect("temp");
    for (words, expected) in [
        (&["plan", "--set-drive", "st3500418as:seek.ful=1 ms"][..], "did you mean 'full'"),
        (&["plan", "--set-drive", "seek.full"], "expected MODEL:TABLE.FIELD=VALUE"),
        (&["plan", "--set-drive", "hgst-10tb:seek.full=16 ms"], "no drive of the model"),
        (&["plan", "--on", "loop", "--set-drive", "a:b=c"], "only the lab has"),
        (&["sensitivity", "--plan", "--on", "loop"], "only the lab has"),
        (&["sensitivity", "--plan", "--drive", "hgst-10tb"], "no drive of this model"),
        (&["sensitivity", "--plan", "--field", "no.such"], "no parameter is left"),
        (&["sensitivity", "--plan", "--only", "no:such"], "none of the published claims"),
    ] {
        let words: Vec<&str> = [&[words[0], "btrfs-raid1"], &words[1..]].concat();
        let (code, _, error) = disklab(home.path(), &words);
        assert_eq!(code, Some(2), "{words:?}: {error}");
        assert!(error.contains(expected), "{words:?}: {error}");
    }
    let (code, _, error) = disklab(home.path(), &["sensitivity", "nas", "--plan"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("nothing was published about 'nas'"), "{error}");
    let (code, _, error) = disklab(home.path(), &["sensitivity", "--resume", "--out", "none"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("holds no analysis to go on with"), "{error}");
}

#[test]
fn a_plan_names_every_run() {
    let home = tempfile::tempdir().expect("temp");
    let words = ["sensitivity", "btrfs-raid1", "--plan", "--drive", "barracuda-500gb"];
    let (code, runs, error) =
        disklab(home.path(), &[&words[..], &["--field", "seek.full"]].concat());
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(
        runs,
        "  st3500418as: seek.full 18 ms → 16 ms\n  st3500418as: seek.full 18 ms → 20 ms\n"
    );
    assert!(error.contains("runs          3: as shipped"), "{error}");
    assert!(!home.path().join("disklab-runs").exists());
}
