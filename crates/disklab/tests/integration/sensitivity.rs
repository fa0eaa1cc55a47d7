//! `--set-drive` and `disklab sensitivity`.

use std::path::Path;

use crate::lab_support::kernel::kernel;

/// Exit code, standard output and standard error.
fn disklab(home: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output =
        crate::command_support::disklab(home).args(words).output().expect("the program runs");
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
fn usage_errors_are_reported_before_anything_is_touched() {
    let home = tempfile::tempdir().expect("temp");
    for (words, expected) in [
        (&["plan", "--set-drive", "st3500418as:seek.ful=1 ms"][..], "did you mean 'full'"),
        (&["plan", "--set-drive", "seek.full"], "expected MODEL:TABLE.FIELD=VALUE"),
        (&["plan", "--set-drive", "hgst-10tb:seek.full=16 ms"], "no drive of the model"),
        (&["plan", "--on", "loop", "--set-drive", "a:b=c"], "applies only to the lab"),
        (&["sensitivity", "--plan", "--on", "loop"], "only the lab has"),
        (&["sensitivity", "--plan", "--drive", "hgst-10tb"], "no drive of this model"),
        (&["sensitivity", "--plan", "--field", "no.such"], "no parameter is left"),
        (&["sensitivity", "--plan", "--drawn", "0"], "0 is not in 1..=1000"),
        (&["sensitivity", "--plan", "--only", "no:such"], "matches no cell"),
    ] {
        let words: Vec<&str> = [&[words[0], "btrfs-raid1"], &words[1..]].concat();
        let (code, _, error) = disklab(home.path(), &words);
        assert_eq!(code, Some(2), "{words:?}: {error}");
        assert!(error.contains(expected), "{words:?}: {error}");
    }
    let words = ["sensitivity", "nas", "--plan", "--only", "single/ext4:*"];
    let (code, _, error) = disklab(home.path(), &words);
    assert_eq!(code, Some(2));
    assert!(error.contains("there is nothing to compare"), "{error}");
    let (code, _, error) = disklab(home.path(), &["sensitivity", "--resume", "--out", "none"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("contains no analysis to resume"), "{error}");
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

#[test]
fn drives_are_drawn_by_the_seed() {
    let home = tempfile::tempdir().expect("temp");
    let plan = |seed: &str| {
        let words = ["sensitivity", "btrfs-raid1", "--plan", "--drawn", "4", "--seed", seed];
        let drives = ["--drive", "barracuda-500gb", "--field", "seek.*", "--json"];
        let (code, drawn, error) = disklab(home.path(), &[&words[..], &drives].concat());
        assert_eq!(code, Some(0), "{error}");
        assert!(error.contains("runs          5: as shipped"), "{error}");
        serde_json::from_str::<serde_json::Value>(&drawn).expect("JSON")["drawn"].clone()
    };
    let drawn = plan("1");
    assert_eq!(drawn, plan("1"));
    assert_ne!(drawn, plan("2"));
    let drives = drawn.as_array().expect("drives");
    assert_eq!(drives.len(), 4);
    for drive in drives {
        let moves = drive.as_array().expect("moves");
        let mut fields: Vec<&str> =
            moves.iter().map(|v| v["field"].as_str().expect("a name")).collect();
        assert!(fields.iter().all(|field| field.starts_with("seek.")), "{fields:?}");
        let all = fields.len();
        fields.sort_unstable();
        fields.dedup();
        assert_eq!(fields.len(), all, "each parameter stands at one end");
    }
}

/// In the lab: the write cache off, whose figure depends on one overhead of the drive
/// (docs/method/sensitivity.md).
#[test]
fn parameters_that_a_claim_depends_on_are_found_singly_and_jointly() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let common = ["sensitivity", "btrfs-raid1", "--repeats", "1", "--seed", "1"];
    let cell = ["--only", "*off*:dd-write-512", "--field", "interface.write-overhead"];
    let read = |out: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(home.path().join(out).join("sensitivity.json"));
        serde_json::from_str(&text.expect("written")).expect("JSON")
    };
    let words = [&common[..], &cell, &["--out", "one"]].concat();
    let (code, said, error) = disklab(home.path(), &words);
    assert_eq!(code, Some(0), "{error}");
    assert!(said.contains("1 more are reproduced at one value and not at another"), "{said}");
    let ends: Vec<f64> = read("one")["sensitivity"]["parameters"][0]["ends"]
        .as_array()
        .expect("ends")
        .iter()
        .map(|end| end["rows"][0]["moved"].as_f64().expect("a figure"))
        .collect();

    let words = [&common[..], &cell, &["--drawn", "3", "--out", "all"]].concat();
    let (code, said, error) = disklab(home.path(), &words);
    assert_eq!(code, Some(0), "{error}");
    assert!(said.contains("Page: all/sensitivity.md"), "{said}");
    let found = read("all");
    let row = &found["drawn"]["rows"][0];
    let figures = row["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 3);
    // The only parameter is at one of its ends: what it gives there is known.
    for figure in figures {
        let figure = figure.as_f64().expect("a number");
        assert!(ends.contains(&figure), "{figure} of {ends:?}");
    }
    let page = std::fs::read_to_string(home.path().join("all/sensitivity.md")).expect("written");
    assert!(page.contains("| `wcache-off-512` | 42.2 kB/s |"), "{page}");
    let picture = std::fs::read_to_string(home.path().join("all/sensitivity.html"));
    let picture = picture.expect("written");
    // Three drives, and one dot of each kind in the legend of the one chart.
    assert_eq!(picture.matches("<circle class=\"moved").count(), 3 + 2, "{picture}");
    assert_eq!(picture.matches("<script").count(), 1, "{picture}");
    // Stopped and resumed, nothing is run twice.
    std::fs::remove_file(home.path().join("all/sensitivity.md")).expect("removed");
    let (code, _, error) = disklab(home.path(), &["sensitivity", "--resume", "--out", "all"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(!error.contains("cells are left"), "{error}");
    assert_eq!(
        std::fs::read_to_string(home.path().join("all/sensitivity.md")).expect("again"),
        page
    );
}

/// A study of one's own: what its run says of its stacks are the claims.
#[test]
fn a_study_of_ones_own_has_claims_too() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let study = "id = 'mine'\ntitle = 'Mine'\nrepeats = 1\n[stacks]\n\
                 a = { layers = 'partition/ext4', drives = 1 }\n\
                 b = { layers = 'partition[start=90%]/ext4', drives = 1 }\n\
                 [[drives]]\nmodel = 'barracuda-500gb'\nsize = '500 GB'\n\
                 [[workloads]]\nid = 'read'\n\
                 dd = { direction = 'read', bs = '1M', count = 64, flags = 'direct' }\n";
    std::fs::write(home.path().join("mine.toml"), study).expect("written");
    let words = ["sensitivity", "mine.toml", "--seed", "1", "--drawn", "2", "--out", "out"];
    let (code, said, error) = disklab(home.path(), &words);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        error.contains("claims        what the run as shipped says of the stacks in 1 workload"),
        "{error}"
    );
    // The inner edge is slower than the outer one with any of the drives.
    assert!(said.contains("with all 2 drives that were drawn: 1 of 1 claim."), "{said}");
    let page = std::fs::read_to_string(home.path().join("out/sensitivity.md")).expect("written");
    assert!(page.contains("| claim | says |"), "{page}");
    assert!(page.contains("| `b ÷ a: read, read (throughput)` | below |"), "{page}");
}
