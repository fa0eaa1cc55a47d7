//! `disklab import`, as a user meets it.

use std::path::Path;

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::contains;

/// A report of fio, cut to what matters.
fn fio(iops: f64) -> String {
    let bytes = iops * 4096.0;
    format!(
        r#"note: both iodepth >= 1 and synchronous I/O engine are selected
{{
  "fio version" : "fio-3.33",
  "time" : "Sat Nov 21 23:56:27 2026",
  "jobs" : [ {{
    "jobname" : "randread", "groupid" : 0, "error" : 0, "job_runtime" : 10000,
    "job options" : {{ "rw" : "randread", "bs" : "4k", "direct" : "1", "directory" : "/mnt/{iops}" }},
    "read" : {{
      "io_bytes" : {}, "io_kbytes" : {}, "bw_bytes" : {bytes}, "bw" : {}, "iops" : {iops},
      "runtime" : 10000, "total_ios" : {},
      "clat_ns" : {{ "min" : 50000, "max" : 90000000, "mean" : 900000.0, "stddev" : 1.0, "N" : 1000,
        "percentile" : {{ "50.000000" : 800000, "99.000000" : 5000000, "99.900000" : 20000000 }} }}
    }},
    "usr_cpu" : 1.0, "sys_cpu" : 4.0
  }} ]
}}
"#,
        bytes * 10.0,
        bytes * 10.0 / 1024.0,
        bytes / 1024.0,
        iops * 10.0
    )
}

fn file(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

/// Three files for each of two stacks.
fn six(home: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for (stack, rates) in [("ext4", [1000.0, 1020.0, 980.0]), ("btrfs", [500.0, 512.0, 488.0])] {
        for (n, iops) in rates.into_iter().enumerate() {
            names.push(format!("{stack}-randread-{}.json", n + 1));
            file(home, &names[names.len() - 1], &fio(iops));
        }
    }
    names
}

#[test]
fn fios_outputs_of_two_stacks_become_a_report_with_a_comparison() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    disklab(home)
        .arg("import")
        .args(six(home))
        .args(["--to", "run"])
        .assert()
        .code(0)
        .stderr(contains("ext4  randread  3 times"))
        .stderr(contains("btrfs  randread  3 times"))
        .stdout(contains("4 KiB random reads"))
        .stdout(contains("Report: run/report.html"));
    let post = std::fs::read_to_string(home.join("run/report.md")).expect("a post");
    assert!(
        post.contains("**Imported**, what other programs measured: 6 files (fio-json)"),
        "{post}"
    );
    // The answer, and both stacks next to the best.
    assert!(post.contains("**ext4**"), "{post}");
    assert!(post.contains("1000 IOPS, 2.00× Btrfs"), "{post}");
    assert!(post.contains("*imported*: 2 figures were imported without the drives"), "{post}");
    let page = std::fs::read_to_string(home.join("run/report.html")).expect("a report");
    for part in [
        "imported from ext4-randread-1.json, format fio-json",
        "what the drives really read and wrote",
        "Other programs measured these figures",
        "fio-3.33",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("freshly made stack"), "nobody knows that");
    let raw = std::fs::read_dir(home.join("run/raw")).expect("raw").flatten();
    let kept: Vec<_> = raw.map(|e| e.path().join("imported.txt")).filter(|p| p.is_file()).collect();
    assert_eq!(kept.len(), 6);
    let output = disklab(home)
        .args(["report", "run", "--format", "csv", "--out", "-"])
        .output()
        .expect("it runs");
    let csv = String::from_utf8(output.stdout).expect("text");
    assert_eq!(csv.lines().filter(|l| l.contains("randread")).count(), 6, "{csv}");
}

#[test]
fn bad_input_is_reported_before_anything_is_written() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    six(home);
    let broken = fio(700.0).replace("\"bw_bytes\" : 2867200", "\"bw_bytes\" : \"2.8 MB\"");
    file(home, "broken-1.json", &broken);
    file(home, "letter.txt", "Dear Sir,\n");
    file(home, "other-1.json", &fio(5.0).replace("\"4k\"", "\"8k\""));
    file(home, "cut-1.json", &fio(5.0)[..400]);
    let one = "ext4-randread-1.json";
    let cases: &[(&[&str], &str)] = &[
        (&["--to", "run"], "<FILE>..."),
        (&[one], "--to"),
        (&[one, "broken-1.json", "--to", "run"], "broken-1.json:9:"),
        (
            &[one, "broken-1.json", "--to", "run"],
            "`bw_bytes`: expected a number from 0, found a text",
        ),
        (&["cut-1.json", "--to", "run"], "it is cut off"),
        (&["letter.txt", "--to", "run"], "known are 'fio-json'"),
        (
            &["letter.txt", "--format", "dd", "--to", "run"],
            "letter.txt:1:1: there is no last line of dd",
        ),
        (&["letter.txt", "--format", "cobol", "--to", "run"], "possible values: fio-json"),
        (&[one, "other-1.json", "--to", "run"], "did not do the same work: bs=4k against bs=8k"),
        (&[one, "nowhere.json", "--to", "run"], "cannot read nowhere.json"),
        (&[one, "--map", "ext4", "--to", "run"], "invalid mapping"),
        (&[one, "--as", "a stack", "--to", "run"], "invalid stack name"),
        (&[one, "--study", "first-look", "--to", "run"], "has no stack 'ext4'"),
        (&[one, "--study", "no study", "--to", "run"], "invalid id 'no study'"),
        (&["--published", "first-look", "--to", "run"], "nothing was published about 'first-look'"),
        (&[one, "--published", "smr-2015", "--to", "run"], "cannot be used with"),
    ];
    for (args, expected) in cases {
        disklab(home).arg("import").args(*args).assert().code(2).stderr(contains(*expected));
        assert!(!home.join("run").exists(), "{args:?}");
    }
    disklab(home).args(["import", one, "--to", "run"]).assert().code(0);
    let again = disklab(home).args(["import", one, "--to", "run"]).assert();
    again.code(2).stderr(contains("already contains a run"));
}

#[test]
fn names_can_be_given_and_failures_are_reported() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let dd = |seconds: &str, rate: &str| {
        format!(
            "16+0 records in\n16+0 records out\n1048576 bytes (1.0 MB) copied, {seconds} s, {rate} MB/s\n"
        )
    };
    file(home, "a.log", &(dd("0.5", "2.1") + &dd("0,25", "4,2")));
    file(home, "b.log", &dd("1", "1.0"));
    file(home, "c.json", &fio(5.0).replace("\"error\" : 0", "\"error\" : 28"));
    disklab(home)
        .args(["import", "a.log", "b.log", "c.json", "--to", "run", "--study", "mine"])
        .args(["--map", "a*=raid5/ext4:dd-write", "--map", "b*=raid5/btrfs[csum]:dd-write"])
        .args(["--as", "raid5/ext4"])
        .assert()
        .code(1)
        .stderr(contains("raid5/ext4  dd-write  2 times"))
        .stderr(contains("raid5/btrfs[csum]  dd-write  once"))
        .stdout(contains("1 cell failed"));
    let json = disklab(home).args(["report", "run", "--format", "json", "--out", "-"]).output();
    let value: serde_json::Value =
        serde_json::from_slice(&json.expect("it runs").stdout).expect("JSON");
    let text = value.to_string();
    assert!(text.contains("\"mine\"") && text.contains("fio's job 'randread' ended with error 28"));
    assert!(text.contains("\"write\""), "the name tells the direction");
}

#[test]
fn published_figures_are_imported_as_a_run() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    for (study, figures) in [
        ("synology-2018", 2),
        ("xpenology-2023", 11),
        ("btrfs-raid1", 13),
        ("qiita-2014", 32),
        ("smr-2015", 13),
    ] {
        disklab(home)
            .args(["import", "--published", study, "--to", study])
            .assert()
            .code(predicate::in_iter([0, 1]));
        let output = disklab(home)
            .args(["report", study, "--format", "csv", "--out", "-"])
            .output()
            .expect("it runs");
        let csv = String::from_utf8(output.stdout).expect("text");
        assert_eq!(csv.lines().count() - 1, figures, "{study}: {csv}");
        let post = std::fs::read_to_string(home.join(study).join("report.md")).expect("a post");
        assert!(post.contains(&format!("what was published about '{study}'")), "{post}");
        assert!(
            !post.contains("Published and measured results"),
            "it would be compared with itself"
        );
    }
}
