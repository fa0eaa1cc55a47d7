//! `disklab compare A B`, as a user meets it: runs imported from fio's outputs.

use std::path::Path;

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::contains;

/// A report of fio, cut to what matters.
fn fio(iops: f64) -> String {
    let bytes = iops * 4096.0;
    format!(
        r#"{{
  "fio version" : "fio-3.33",
  "time" : "Sat Nov 21 23:56:27 2026",
  "jobs" : [ {{
    "jobname" : "randread", "groupid" : 0, "error" : 0, "job_runtime" : 60000,
    "job options" : {{ "rw" : "randread", "bs" : "4k", "direct" : "1", "directory" : "/mnt" }},
    "read" : {{
      "io_bytes" : {}, "bw_bytes" : {bytes}, "bw" : {}, "iops" : {iops},
      "runtime" : 60000, "total_ios" : {}
    }},
    "usr_cpu" : 1.0, "sys_cpu" : 4.0
  }} ]
}}
"#,
        bytes * 60.0,
        bytes / 1024.0,
        iops * 60.0
    )
}

/// Imports one run: repeats of random reads on each stack.
fn run(home: &Path, name: &str, stacks: &[(&str, &[f64])]) {
    let mut command = disklab(home);
    command.arg("import");
    for (stack, rates) in stacks {
        for (n, iops) in rates.iter().enumerate() {
            let file = format!("{name}-files/{stack}-randread-{}.json", n + 1);
            std::fs::create_dir_all(home.join(&file).parent().expect("a directory")).expect("made");
            std::fs::write(home.join(&file), fio(*iops)).expect("written");
            command.arg(file);
        }
    }
    command.args(["--to", name]).assert().code(0);
}

const CALM: [f64; 4] = [1000.0, 1004.0, 998.0, 1001.0];
const SLOW: [f64; 4] = [800.0, 803.0, 799.0, 801.0];
const ALIKE: [f64; 4] = [1001.0, 1003.0, 999.0, 1002.0];
const WILD: [f64; 4] = [1000.0, 300.0, 2500.0, 600.0];

fn home() -> tempfile::TempDir {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    run(home, "old", &[("ext4", &CALM), ("btrfs", &SLOW)]);
    run(home, "same", &[("ext4", &ALIKE), ("btrfs", &SLOW)]);
    run(home, "worse", &[("ext4", &SLOW), ("btrfs", &CALM)]);
    temp
}

/// What a comparison prints, without what changes from day to day.
fn output_of(home: &Path, args: &[&str], code: i32) -> String {
    let output = disklab(home).arg("compare").args(args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn without_dates(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        // The seed of an import and its day.
        let line = match line.find(", imported ") {
            Some(at) => format!("{}, imported DAY{}", &line[..at], &line[at + 21..]),
            None => line.to_owned(),
        };
        if !line.contains("seed: ") && !line.contains("the bench's own words") {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[test]
fn a_slower_run_is_a_regression() {
    let temp = home();
    let text = output_of(temp.path(), &["old", "worse"], 10);
    insta::assert_snapshot!("text", without_dates(&text));
    let comment = output_of(temp.path(), &["old", "worse", "--format", "md"], 10);
    insta::assert_snapshot!("comment", without_dates(&comment));
    let page = output_of(temp.path(), &["old", "worse", "--format", "html"], 10);
    assert!(page.contains("worse against old") && page.contains("change slower"), "{page}");
    // One script, which is the page's own.
    let (before_script, script) = page.split_once("<script>").expect("a script");
    assert!(!script.contains("<script") && !before_script.contains("http://"), "{page}");
}

#[test]
fn the_same_and_the_faster_are_no_regression() {
    let temp = home();
    let text = output_of(temp.path(), &["old", "same"], 0);
    assert!(text.contains("equivalent within 5 %") && text.contains("identical"), "{text}");
    assert!(text.contains("Nothing is slower."), "{text}");
    run(temp.path(), "faster", &[("ext4", &CALM), ("btrfs", &CALM)]);
    let text = output_of(temp.path(), &["old", "faster"], 0);
    assert!(text.contains("faster by 25.0 % ["), "{text}");
}

#[test]
fn inconclusive_comparisons_have_their_own_exit_codes() {
    let temp = home();
    let home = temp.path();
    run(home, "wild", &[("ext4", &WILD), ("btrfs", &SLOW)]);
    let text = output_of(home, &["old", "wild"], 11);
    assert!(text.contains("inconclusive: with noise of"), "{text}");
    run(home, "once", &[("ext4", &[990.0]), ("btrfs", &[700.0])]);
    let text = output_of(home, &["old", "once"], 12);
    assert!(text.contains("measured once in B"), "{text}");
    run(home, "few", &[("ext4", &[1000.0, 1030.0, 980.0]), ("btrfs", &SLOW)]);
    let text = output_of(home, &["old", "few"], 12);
    assert!(text.contains("repeats on each side would show 5 %"), "{text}");
    // A regression outranks what is not known.
    run(home, "both", &[("ext4", &WILD), ("btrfs", &[500.0, 501.0, 499.0, 502.0])]);
    output_of(home, &["old", "both"], 10);
    run(home, "two", &[("ext4", &WILD), ("btrfs", &[700.0])]);
    output_of(home, &["old", "two"], 11);
}

#[test]
fn the_margin_decides() {
    let temp = home();
    run(temp.path(), "little", &[("ext4", &CALM.map(|r| (r * 0.97).round())), ("btrfs", &SLOW)]);
    output_of(temp.path(), &["old", "little"], 0);
    output_of(temp.path(), &["old", "little", "--level", "1%"], 10);
}

#[test]
fn bencher_gets_its_format_and_json_has_everything() {
    let temp = home();
    let bmf: serde_json::Value =
        serde_json::from_str(&output_of(temp.path(), &["old", "worse", "--format", "json"], 10))
            .expect("JSON");
    let benchmarks = bmf.as_object().expect("an object per benchmark");
    assert_eq!(benchmarks.len(), 2);
    for (name, measures) in benchmarks {
        assert!(!name.is_empty());
        for metric in measures.as_object().expect("measures").values() {
            let number = |field: &str| metric[field].as_f64().expect(field);
            assert!(number("lower_value") <= number("value"));
            assert!(number("value") <= number("upper_value"));
        }
    }
    insta::assert_snapshot!("bmf", serde_json::to_string_pretty(&bmf).expect("text"));
    let all: serde_json::Value =
        serde_json::from_str(&output_of(temp.path(), &["old", "worse", "--json"], 10))
            .expect("JSON");
    assert_eq!(all["schema"], "disklab-compare");
    assert_eq!(all["verdict"], "regression");
    assert_eq!(all["figures"][0]["change"], "slower");
    assert_eq!(all["figures"][0]["stack"], "ext4");
    assert_eq!(all["counts"]["faster"], 1);
}

#[test]
fn renamed_stacks_are_matched_and_files_written() {
    let temp = home();
    let home = temp.path();
    run(home, "renamed", &[("xfs", &ALIKE), ("btrfs", &SLOW)]);
    let text = output_of(home, &["old", "renamed"], 0);
    assert!(text.contains("Stacks only in A: ext4."), "{text}");
    assert!(text.contains("Stacks only in B: xfs."), "{text}");
    let args = ["old", "renamed", "--map", "ext4=xfs", "--format", "md", "--out", "c.md"];
    assert_eq!(output_of(home, &args, 0), "");
    let comment = std::fs::read_to_string(home.join("c.md")).expect("written");
    assert!(comment.contains("xfs, ") && !comment.contains("Stacks only"), "{comment}");
}

#[test]
fn usage_errors_are_refused() {
    let temp = home();
    let home = temp.path();
    run(home, "other", &[("zfs", &CALM)]);
    std::fs::create_dir(home.join("empty")).expect("made");
    std::fs::create_dir(home.join("broken")).expect("made");
    std::fs::write(home.join("broken/run.sqlite"), "no database").expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["old"], "two runs"),
        (&["old", "same", "worse"], "not 3"),
        (&["old", "nowhere"], "not a run directory"),
        (&["empty", "old"], "not a run directory"),
        (&["old", "broken"], "broken"),
        (&["old", "other"], "no figure in common"),
        (&["old", "same", "--margin", "0%"], "outside"),
        (&["old", "same", "--margin", "much"], "per cent"),
        (&["old", "same", "--margin", "1"], "may mean 1% or 100%"),
        (&["old", "same", "--map", "ext4"], "OLD=NEW"),
        (&["old", "same", "--map", "xfs=ext4"], "neither a stack nor a workload 'xfs'"),
        (&["old", "same", "--accept", "everything"], "no audit"),
        (&["old", "same", "--format", "pdf"], "pdf"),
        (&["old", "--published", "--map", "a=b"], "cannot be used with"),
    ];
    for (args, expected) in cases {
        disklab(home)
            .arg("compare")
            .args(*args)
            .assert()
            .code(2)
            .stderr(contains(*expected))
            .stdout(predicate::str::is_empty());
    }
}
