//! `disklab risk`: of a study, of a run, and of what is none.

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::command_support::{TINY_STUDY, disklab};

fn answered(home: &std::path::Path, words: &[&str]) -> Value {
    let assert = disklab(home).args(["--json", "risk"]).args(words).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).expect("JSON")
}

fn stack<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let mut stacks = answer["stacks"].as_array().expect("stacks").iter();
    stacks.find(|stack| stack["stack"] == id).unwrap_or_else(|| panic!("{id} in {answer}"))
}

#[test]
fn what_is_given_takes_the_place_of_what_is_published() {
    let home = tempfile::tempdir().expect("temp");
    let given = ["--failures", "2%", "--replaced-after", "0 h", "--rebuild", "24 h"];
    let bits = ["--unreadable", "1e30", "--years", "4"];
    let answer = answered(home.path(), &[&["nas"], &given[..], &bits[..]].concat());
    let chance = |id: &str, of: &str| stack(&answer, id)[of]["value"].as_f64().expect("a number");
    // Nothing is uncertain, nothing is unreadable: Patterson, Gibson and Katz's formula, nearly. A pair
    // on 4 drives is fatal in one of three cases, a second one of RAID 5 in all.
    let rate = 0.02 / 8766.0;
    let raid5 = 12.0 * rate * rate * 24.0 * 4.0 * 8766.0;
    for (id, expected) in [
        ("single/ext4", -(-0.08_f64).exp_m1()),
        ("raid5/ext4", raid5),
        ("shr/ext4", raid5),
        ("zfs-raidz1", raid5),
        ("btrfs-raid10", raid5),
        ("raid10/ext4", raid5 / 3.0),
        ("raid10-far/ext4", raid5 * 2.0 / 3.0),
        ("zfs-raid10", raid5 / 3.0),
        ("raid1/ext4", raid5 / 6.0),
    ] {
        for of in ["loses_all", "loses_something"] {
            let found = chance(id, of);
            assert!((found / expected - 1.0).abs() < 0.05, "{id} {of}: {found} for {expected}");
        }
    }
    assert!(chance("raid6/ext4", "loses_all") < raid5 / 1000.0);
    let at_risk = &stack(&answer, "raid5/ext4")["hours_at_risk"];
    assert_eq!((at_risk["low"].as_f64(), at_risk["high"].as_f64()), (Some(24.0), Some(24.0)));
    assert!(stack(&answer, "single/ext4")["hours_at_risk"].is_null());
    assert_eq!(std::fs::read_dir(home.path()).expect("home").count(), 0, "it touches nothing");
}

#[test]
fn a_run_of_a_directory_says_what_is_not_known() {
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("s.toml"), TINY_STUDY).expect("write");
    let run = ["run", "s.toml", "--on", "dir:.", "--out", "run"];
    disklab(home.path()).args(run).assert().success();
    let why = "left out, as it is not known which drives lie below it";
    disklab(home.path()).args(["risk", "run"]).assert().success().stdout(contains(why));
    let refused = disklab(home.path()).args(["risk", "run", "--drives", "hgst-10tb:4"]).assert();
    refused.code(2).stderr(contains("a run has its own drives"));
}

#[test]
fn what_is_no_chance_is_refused() {
    let home = tempfile::tempdir().expect("temp");
    for (words, why) in [
        (["nas", "--years", "0"], "from 0.01 to 100"),
        (["nas", "--failures", "200%"], "share"),
        (["nas", "--unreadable", "5"], "from 1e9"),
        (["nas", "--used", "-1"], "--used"),
        (["nas", "--rebuild", "soon"], "soon"),
        (["nowhere", "--years", "5"], "nowhere"),
    ] {
        let refused = disklab(home.path()).arg("risk").args(words).assert().code(2);
        refused.stderr(contains(why).or(contains(words[1])));
    }
}
