//! A study that crosses stacks and workloads with more.

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::assert::OutputAssertExt;
use disklab_store::Run;
use serde_json::Value;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{answer, disklab};

/// A file that was just written is read: from memory if that is kept.
const STUDY: &str = "id = \"axes\"\ntitle = \"What caches change\"\nrepeats = 3\n\
    earlier-files = \"none\"\n\
    [axes]\nbus = [\"none\", \"20 MB/s\"]\ncaches = [\"cold\", \"keep\"]\n\
    [[drives]]\nname = \"d\"\nmodel = \"hdn721010ale604\"\nsize = \"10 TB\"\n\
    [stacks]\nplain = \"ext4\"\n[[workloads]]\nid = \"again\"\n\
    fio = { rw = \"read\", bs = \"64k\", size = \"4M\", ioengine = \"psync\", invalidate = 0 }\n";

fn run(home: &Path, words: &[&str]) {
    std::fs::write(home.join("study.toml"), STUDY).expect("a file");
    let words = ["run", "study.toml", "--seed", "1", "--out", "run"].iter().chain(words);
    let code = disklab(home).args(words).output().expect("it starts").status.code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
}

fn stdout(home: &Path, words: &[&str]) -> String {
    String::from_utf8(answer(home, words).stdout).expect("UTF-8")
}

/// How often each combination has run.
fn counts(home: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in Run::open(&home.join("run")).expect("a run").cells().expect("cells") {
        *counts.entry(record.cell.levels.further_words()).or_default() += 1;
    }
    counts
}

#[test]
fn levels_of_an_axis_are_compared() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.ext4"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    let home = home.path();
    run(home, &[]);
    let levels =
        ["20MB/s", "none"].map(|b| ["cold", "keep"].map(|c| format!("bus={b} caches={c}")));
    let expected: BTreeMap<_, _> = levels.into_iter().flatten().map(|levels| (levels, 3)).collect();
    assert_eq!(counts(home), expected);

    let json: Value =
        serde_json::from_str(&stdout(home, &["report", "run", "--out", "-", "--format", "json"]))
            .expect("JSON");
    assert_eq!(json["at"]["caches"], "cold");
    assert_eq!(json["cells"].as_array().map(Vec::len), Some(3), "those at the first levels");
    let effects = json["effects"].as_array().expect("effects");
    let of = |axis: &str| effects.iter().find(|e| e["axis"] == axis).expect(axis);
    let (bus, caches) = (of("bus"), of("caches"));
    // What a file in memory gives is no figure of the drive's, and no 'faster'.
    assert!(caches["figures"][0]["ratio"].as_f64() > Some(2.0), "{caches}");
    assert_eq!(caches["figures"][0]["why"], "suspect", "{caches}");
    assert_eq!(bus["figures"][0]["change"], "slower", "{bus}");
    assert_eq!(bus["headline"], "bus 20MB/s against none: of 1 figure, 1 is slower.");
    let text = stdout(home, &["report", "run", "--format", "text"]);
    assert!(text.contains("caches keep against cold: of 1 figure, 1 is inconclusive."), "{text}");
    let kept = stdout(home, &["report", "run@caches=keep", "--out", "-", "--format", "csv"]);
    assert_eq!(kept.lines().filter(|l| l.ends_with(",bus=none caches=keep")).count(), 3);
    disklab(home).args(["report", "run@caches=keep"]).assert().success();
    assert!(home.join("run/report-caches=keep.html").is_file());
    disklab(home).args(["report", "run@bus=20MB/s", "--format", "md"]).assert().success();
    disklab(home).args(["compare", "run@bus=none", "run@bus=20MB/s"]).assert().code(10);
    let words = ["compare", "run@caches=keep", "run@bus=none,caches=cold"];
    disklab(home).args(words).assert().code(11);
    for wrong in ["run@caches=x", "run@x=y", "run@caches=../x"] {
        disklab(home).args(["report", wrong]).assert().code(2);
    }

    // A run of all levels that was stopped has no other seeds than one of a single level.
    let one = tempfile::tempdir().expect("temp");
    run(one.path(), &["--axis", "caches=keep", "--axis", "bus=none"]);
    let alone = stdout(one.path(), &["report", "run", "--out", "-", "--format", "csv"]);
    assert_eq!(alone, kept);
}

/// A goal decides by the first levels, and the others run as often.
#[test]
fn a_goal_runs_all_levels_as_often() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.ext4"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    let goal = ["--precision", "20%", "--axis", "caches=cold"];
    run(home.path(), &goal);
    let counts = counts(home.path());
    assert_eq!(counts.len(), 2, "{counts:?}");
    let times: Vec<usize> = counts.values().copied().collect();
    assert!(times[0] >= 3 && times[0] == times[1], "{counts:?}");
}

#[test]
fn a_wrong_axis_is_refused_before_anything_is_made() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("study.toml"), STUDY).expect("a file");
    for (words, why) in [
        (vec!["--axis", "memroy=1GiB"], "did you mean 'memory'"),
        (vec!["--axis", "memory=1MiB"], "128 MiB"),
        (vec!["--axis", "memory=many"], "memory, level 'many'"),
        (vec!["--axis", "memory"], "an axis and its levels"),
        (vec!["--axis", "memory=1GiB,1GiB"], "twice"),
        (vec!["--axis", "caches=cold,warm"], "cold, drop or keep"),
        (vec!["--axis", "linux=5.4"], "no kernel '5.4'"),
        (vec!["--axis", "machine=windows"], "unknown machine"),
        (vec!["--axis", "host-cache=none"], "no lab.host"),
        (vec!["--bus", "1 GB/s"], "the axis bus has a level for each"),
        (vec!["--on", "dir:."], "only the lab has this axis"),
    ] {
        let mut command = disklab(home.path());
        let output = command.args(["run", "study.toml", "--out", "run"]).args(&words);
        let output = output.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
        assert!(!home.path().join("run").exists(), "{words:?}");
    }
}

/// Stacks with and without a second drive, and what is wrong with it.
fn with_fault(does: &str) -> String {
    format!(
        "id = \"faults\"\ntitle = \"What a slow drive costs\"\nrepeats = 3\n\
         [[drives]]\nname = \"d\"\nmodel = \"hdn721010ale604\"\nsize = \"20 GB\"\ncount = 2\n\
         [stacks]\nsingle = {{ layers = \"ext4\", drives = 1 }}\nmirror = \"md-raid1/ext4\"\n\
         [[faults]]\nid = \"ill\"\ndoes = {does}\n[[workloads]]\nid = \"safe\"\n\
         dd = {{ direction = \"write\", bs = \"64k\", count = 24, flags = \"dsync\" }}\n"
    )
}

#[test]
fn a_fault_is_a_level() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.ext4", "mdadm"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    let home = home.path();
    std::fs::write(home.join("study.toml"), with_fault("\"drive 2: slow by 10\"")).expect("a file");
    let words = ["run", "study.toml", "--seed", "1", "--out", "run"];
    let code = disklab(home).args(words).output().expect("it starts").status.code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
    let mut cells = BTreeMap::new();
    for record in Run::open(&home.join("run")).expect("a run").cells().expect("cells") {
        let words = format!("{} {}", record.cell.levels.stack, record.cell.levels.further_words());
        *cells.entry(words).or_default() += 1;
    }
    // One drive has no second one.
    let expected = ["mirror fault=ill", "mirror fault=none", "single fault=none"];
    assert_eq!(cells, expected.map(|cell| (cell.to_owned(), 3)).into());
    let text = stdout(home, &["report", "run", "--format", "text"]);
    assert!(text.contains("fault ill against none: of 1 figure, 1 is slower."), "{text}");
}

#[test]
fn a_wrong_fault_is_an_error_at_its_line() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    for (does, why) in [
        ("\"drive 3: dies\"", "there is no drive 3"),
        ("\"drive 2: explodes\"", "explodes"),
        ("\"drive 2: rots within 10 % to 120 %\"", "120 %"),
        ("\"drive 2: dies at -1 s\"", "-1 s"),
        ("\"the second drive dies\"", "expected 'drive N: …'"),
        ("[]", "`does`"),
    ] {
        std::fs::write(home.path().join("study.toml"), with_fault(does)).expect("a file");
        let mut command = disklab(home.path());
        let output = command.args(["run", "study.toml", "--out", "run"]).output();
        let output = output.expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{does}: {said}");
        assert!(said.contains(why) && said.contains("study.toml:14:"), "{does}: {said}");
        assert!(!home.path().join("run").exists(), "{does}");
    }
}
