//! Parts of what is not a run of a fixed number of cells: each becomes what it is in one go.

use std::fs;
use std::path::Path;

use disklab_store::{Run, RunInfo};

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::disklab;
use crate::parts_in_the_lab::{contents, ends};

/// Small cells on mirrors and on what they are made of.
const STUDY: &str = r#"
id = "small"
title = "Small"
[lab]
memory = "512 MiB"
[[drives]]
name = "d"
model = "hgst-10tb"
size = 3000000512
count = 2
set = { capacity = 3000000512 }
[stacks]
single = { layers = "ext4", drives = 1 }
raid1 = { layers = "md-raid1[resync=skip]/ext4", drives = 2 }
[[workloads]]
id = "job"
fio = { rw = "randread", bs = "4k", size = "8m", io_size = "128k", direct = 1 }
[[questions]]
ask = "Which is faster?"
workloads = "job"
measure = "throughput"
"#;

pub fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("temp");
    fs::write(home.path().join("s.toml"), STUDY).expect("a study");
    home
}

/// Carries out the parts that are not there yet.
fn carry_out(home: &Path, plan: &str) {
    let mut names: Vec<_> = fs::read_dir(home.join(plan))
        .expect("parts")
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.parse::<u32>().is_ok() && !home.join("parts").join(name).exists())
        .collect();
    names.sort();
    for name in names {
        let (part, out) = (format!("{plan}/{name}"), format!("parts/{name}"));
        ends(home, &["run", "--part", &part, "--out", &out], 0);
    }
}

/// All parts that are carried out, as a shell names them.
fn parts(home: &Path) -> Vec<String> {
    let all = fs::read_dir(home.join("parts")).expect("parts").flatten();
    all.map(|entry| format!("parts/{}", entry.file_name().display())).collect()
}

pub fn same(home: &Path, one: &str, other: &str) {
    let outcome = |run: &str| Run::open(&home.join(run)).expect("a run").outcome().expect("read");
    assert_eq!(outcome(one), outcome(other));
    let (one, other) = (contents(&home.join(one)), contents(&home.join(other)));
    assert_eq!(one.0, RunInfo { created: one.0.created, ..other.0 });
    assert!(!one.1.is_empty());
    assert_eq!(one.1, other.1);
    assert!(one.2 == other.2, "{:?}", one.2.keys());
}

#[test]
fn a_run_whose_samples_decide_has_parts_up_to_each_look() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let home = home();
    let home = home.path();
    let study = ["run", "s.toml", "--seed", "7", "--precision", "9%"];
    // As the cells have too few requests for an answer.
    ends(home, &[&study[..], &["--out", "whole"]].concat(), 1);
    let said = ends(home, &[&study[..], &["--to", "plan", "--parts", "2"]].concat(), 0);
    assert!(said.contains("2 parts with 6 cells are in plan"), "{said}");
    assert!(said.contains("merge parts/* --to RUN --next plan"), "{said}");
    ends(home, &["run", "s.toml", "--repeats", "1", "--to", "other", "--parts", "2"], 0);
    let mut looks = 0;
    while !home.join("merged").exists() {
        looks += 1;
        carry_out(home, "plan");
        let parts = parts(home);
        let merge = |next: &str| {
            let parts = parts.iter().map(String::as_str);
            let words =
                ["merge"].into_iter().chain(parts).chain(["--to", "merged", "--next", next]);
            let output = disklab(home).args(words).output().expect("it starts");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        if looks == 1 {
            for other in ["other", "none"] {
                let (code, said) = merge(other);
                assert!(code == Some(2) && said.contains("parts of another run"), "{said}");
                assert!(!home.join("merged").exists(), "{said}");
            }
            // What an earlier call wrote before it was killed.
            fs::write(home.join("plan/004"), "cut off").expect("written");
        }
        let (code, said) = merge("plan");
        let is_merged = home.join("merged").exists();
        assert_eq!(code, Some(i32::from(is_merged)), "{said}");
        assert_eq!(said.contains("the samples do not decide yet"), !is_merged, "{said}");
    }
    assert!(looks > 1, "one look decides: the test shows nothing");
    same(home, "whole", "merged");
}

#[test]
fn an_analysis_has_the_parts_of_all_its_runs() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let home = home.path();
    let field = ["--only", "*off*:dd-write-512", "--field", "interface.write-overhead"];
    let words = ["sensitivity", "btrfs-raid1", "--repeats", "2", "--seed", "1"];
    let words = [&words[..], &field].concat();
    ends(home, &[&words[..], &["--out", "whole"]].concat(), 0);
    let divide = |parts, to| [&words[..], &["--to", to, "--parts", parts]].concat();
    let said = ends(home, &divide("1", "p"), 2);
    assert!(said.contains("the analysis has 3 runs") && !home.join("p").exists(), "{said}");
    let said = ends(home, &divide("4", "plan"), 0);
    assert!(said.contains("4 parts with 6 cells are in plan"), "{said}");
    carry_out(home, "plan");
    let merge = |parts: &[&str], code| ends(home, &[parts, &["--to", "merged"]].concat(), code);
    let all = ["merge", "parts/001", "parts/002", "parts/003", "parts/004"];
    let said = merge(&all[..4], 2);
    assert!(said.contains("1 of 2 parts missing") && !home.join("merged").exists(), "{said}");
    let said = merge(&[all[0], all[1], all[3], all[4]], 2);
    assert!(said.contains("no part of the run") && !home.join("merged").exists(), "{said}");
    merge(&all, 0);
    // Once more, as when an earlier call was killed.
    fs::remove_file(home.join("merged/sensitivity.json")).expect("removed");
    merge(&all, 0);
    for file in ["sensitivity.json", "sensitivity.md", "sensitivity.html", "plan.json"] {
        let read = |of: &str| fs::read_to_string(home.join(of).join(file)).expect("written");
        assert_eq!(read("whole"), read("merged"), "{file}");
    }
    for run in fs::read_dir(home.join("whole")).expect("runs").flatten() {
        if run.path().is_dir() {
            let name = run.file_name().into_string().expect("UTF-8");
            same(home, &format!("whole/{name}"), &format!("merged/{name}"));
        }
    }
}

#[test]
fn a_rebuild_and_a_scrub_have_parts() {
    ["rebuild", "scrub"].into_iter().for_each(has_parts);
}

fn has_parts(command: &str) {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let home = home();
    let home = home.path();
    let study = [command, "s.toml", "--seed", "7", "--repeats", "2"];
    ends(home, &[&study[..], &["--out", "whole"]].concat(), 0);
    let said = ends(home, &[&study[..], &["--to", "plan", "--parts", "2"]].concat(), 0);
    assert!(said.contains("2 parts with 2 cells are in plan"), "{said}");
    carry_out(home, "plan");
    ends(home, &["merge", "parts/001", "parts/002", "--to", "merged"], 0);
    same(home, "whole", "merged");
}
