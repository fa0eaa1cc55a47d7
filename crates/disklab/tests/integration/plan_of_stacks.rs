//! What a plan says of stacks: what takes whole drives before their first use, what users can
//! fill, and what is written to drives alike.

use std::path::Path;

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::{contains, is_match};

/// A study of one stack on so many drives of 4 TB.
fn study(home: &Path, drives: usize, layers: &str) {
    let text = format!(
        "id = 's'\ntitle = 's'\nrepeats = 1\n[[drives]]\nname = 'd'\nmodel = 'wd40efrx-68n32n0'\n\
         count = {drives}\n[stacks]\nx = \"{layers}\"\n[[workloads]]\nid = 'w'\n\
         fio = {{ rw = 'write', bs = '1M', size = '64M', end_fsync = 1 }}\n"
    );
    std::fs::write(home.join("s.toml"), text).expect("write");
}

#[test]
fn a_first_resync_is_named_with_its_hours_and_bytes() {
    let home = tempfile::tempdir().expect("temp");
    let plan = || disklab(home.path()).args(["plan", "s.toml"]).assert().success();
    // The lab makes none by itself.
    study(home.path(), 2, "crypt/md-raid1/ext4");
    plan().stdout(contains("before use").not());
    study(home.path(), 2, "crypt/md-raid1[resync=wait]/ext4");
    // What it writes is noise, for which this machine has no room.
    let planned = disklab(home.path()).args(["plan", "s.toml"]).assert().code(2);
    planned.stderr(contains("the largest cell needs 3.6")).stdout(contains(
        "before use    x, in each cell: first resync of md-raid1, 4 TB read and 4 TB written; \
         about 7 h 24 min of the drives' own, virtual time at 150 MB/s",
    ));
    study(home.path(), 2, "integrity/md-raid1/ext4");
    plan().stdout(contains("first checksums of integrity").and(contains("first resync").not()));
    let json = disklab(home.path()).args(["--json", "plan", "s.toml"]).assert().success();
    json.stdout(is_match("\"first checksums\"[^}]*8[0-9]{12}").expect("a pattern"));
}

#[test]
fn usable_space_is_what_users_can_fill() {
    let home = tempfile::tempdir().expect("temp");
    study(home.path(), 1, "ext4");
    let plan = || disklab(home.path()).args(["plan", "s.toml"]).assert().success();
    plan().stdout(is_match("usable +3.7[34] TB: x").expect("a pattern"));
    study(home.path(), 1, "ext4[mkfs='-m 0']");
    plan().stdout(is_match("usable +3.9[34] TB: x").expect("a pattern"));
}

#[test]
fn drives_are_shown_by_what_they_are_for() {
    let home = tempfile::tempdir().expect("temp");
    study(home.path(), 5, "zfs-raidz1{log=5}");
    let plan = || disklab(home.path()).args(["--json", "plan", "s.toml"]).assert();
    let text = disklab(home.path()).args(["plan", "s.toml"]).assert().success();
    text.stdout(
        contains("drives        x: d-1, d-2, d-3, d-4; log d-5")
            .and(contains("if lost       log of x: the pool continues with a log on its data"))
            .and(is_match("usable +11.5 TB: x").expect("a pattern")),
    );
    let json = plan().success().get_output().stdout.clone();
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let stack = &json["stacks"][0];
    assert_eq!(stack["roles"], serde_json::json!(["data", "data", "data", "data", "log"]));
    assert_eq!((&stack["layers"], &stack["tolerates"]), (&"zfs-raidz1{log=5}".into(), &1.into()));
    study(home.path(), 5, "zfs-raidz1{lgo=5}");
    plan().code(2).stderr(contains("s.toml:9:5: 'lgo' is not an input of the layers"));
}

#[test]
fn drives_alike_share_a_line() {
    let home = tempfile::tempdir().expect("temp");
    study(home.path(), 48, "md-raid6[width=8]/md-raid0/xfs");
    let plan = disklab(home.path()).args(["plan", "s.toml"]).assert().success();
    plan.stdout(contains("simulated d-1 to d-48, each: about"));
}

#[test]
fn a_shelf_of_128_drives_is_planned_and_one_more_is_refused() {
    let home = tempfile::tempdir().expect("temp");
    let plan = || disklab(home.path()).args(["plan", "s.toml"]).assert();
    study(home.path(), 128, "md-raid6[width=8]/md-raid0/xfs");
    plan().success().stdout(contains("simulated d-1 to d-128, each: about"));
    study(home.path(), 129, "md-raid0/xfs");
    let refused = plan().failure();
    let output = refused.get_output();
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("needs 129 drives; a stack in the lab has up to 128"), "{text}");
}

#[test]
fn what_needs_more_drives_than_are_named_is_left_out() {
    let home = tempfile::tempdir().expect("temp");
    let text = "id = 's'\ntitle = 's'\n[[drives]]\nname = 'd'\nmodel = 'hgst-10tb'\ncount = 4\n\
        [layouts]\nraid5 = 'md-raid5'\nraid1 = 'md-raid1'\n[file-systems]\next4 = 'ext4'\n\
        [[workloads]]\nid = 'w'\ndd = { direction = 'write', bs = '4K', count = 20 }\n";
    std::fs::write(home.path().join("s.toml"), text).expect("study");
    let plan = |drives: &str| {
        let output = disklab(home.path()).args(["plan", "s.toml", "--drives", drives]).output();
        let output = output.expect("planned");
        let text = [output.stdout.as_slice(), &output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let (code, two) = plan("wd-red-pro-22tb:2");
    assert_eq!(code, Some(0), "{two}");
    assert!(two.contains("raid5/ext4: md-raid5 needs at least 3 devices, got 2"), "{two}");
    let (code, one) = plan("wd-red-pro-22tb:1");
    assert_eq!(code, Some(2), "{one}");
    assert!(one.contains("md-raid1 needs at least 2 devices, got 1"), "{one}");
    // An error of the text is one on any drives.
    let broken = text.replace("'md-raid1'", "'md-raid1/ext4/md-raid1'");
    std::fs::write(home.path().join("s.toml"), broken).expect("study");
    let (code, broken) = plan("wd-red-pro-22tb:4");
    assert_eq!(code, Some(2), "{broken}");
}

/// The plan of `nas` on these drives, for programs.
fn nas_on(home: &Path, drives: &str) -> serde_json::Value {
    let arguments = ["--json", "plan", "nas", "--quick", "--drives", drives];
    let output = disklab(home).args(arguments).output().expect("planned");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The drives that stacks have, of those whose id begins so.
fn drives_of(plan: &serde_json::Value, stack: &str) -> Vec<usize> {
    let stacks = plan["stacks"].as_array().expect("stacks").iter();
    let of_stack = stacks.filter(|s| s["id"].as_str().is_some_and(|id| id.starts_with(stack)));
    of_stack.map(|s| s["drives"].as_array().map_or(0, Vec::len)).collect()
}

#[test]
fn other_drives_get_the_layouts_that_fit_them() {
    let home = tempfile::tempdir().expect("temp");
    let six = nas_on(home.path(), "wd-red-pro-22tb:6");
    for (stack, drives) in [("single/", 1), ("raid1/", 2), ("raid5/", 6), ("raid10/", 6)] {
        let found = drives_of(&six, stack);
        assert!(found.len() == 3 && found.iter().all(|n| *n == drives), "{stack}: {found:?}");
    }
    assert_eq!(drives_of(&six, "zfs-raidz3"), [0_usize; 0]);
    let raid5 = six["stacks"].as_array().expect("stacks").iter().find(|s| s["id"] == "raid5/btrfs");
    assert!(raid5.and_then(|s| s["capacity"].as_u64()).is_some_and(|n| n > 109_000_000_000_000));
    let five = nas_on(home.path(), "hdn721010ale604:5");
    assert_eq!(drives_of(&five, "raid10/"), [0_usize; 0]);
    assert_eq!(drives_of(&five, "raid6/"), [5, 5, 5]);
    let left_out = five["left_out"].to_string();
    assert!(left_out.contains("is for an even number of drives"), "{left_out}");
    // Of mixed drives an array uses of each what the smallest has.
    let mixed = nas_on(home.path(), "hdn721010ale604:2,mg08aca16te:2");
    assert_eq!(drives_of(&mixed, "raid6/"), [4, 4, 4]);
    for (count, least) in [(1, "single/"), (2, "raid1/"), (3, "raid5/"), (8, "raid6/")] {
        let plan = nas_on(home.path(), &format!("st4000vn006:{count}"));
        assert_eq!(drives_of(&plan, least).len(), 3, "{count}: {plan}");
    }
}

#[test]
fn drives_that_are_none_are_usage_errors() {
    let home = tempfile::tempdir().expect("temp");
    for (drives, expected) in [
        ("wd-red-pro-21tb:4", "did you mean 'wd-red-pro-2"),
        ("wd-red-pro-21tb:4", "like it: 'wd-red-pro-20tb'"),
        ("hgst-10tb:0", "invalid count '0'"),
        ("hgst-10tb:4:4:4", "expected MODEL"),
        ("hgst-10tb:4:20TB", "20 TB"),
        ("", "expected MODEL"),
        ("./no/such.toml:2", "cannot read the drive file"),
    ] {
        for command in ["plan", "run"] {
            let mut disklab = disklab(home.path());
            let refused = disklab.args([command, "nas", "--drives", drives]).assert().code(2);
            refused.stderr(contains(expected));
        }
    }
    let on_loop = ["plan", "nas", "--on", "loop", "--drives", "hgst-10tb:4"];
    let refused = disklab(home.path()).args(on_loop).assert().code(2);
    refused.stderr(contains("--drives applies only to the lab"));
    assert!(!home.path().join("disklab-runs").exists());
}

#[test]
fn a_plan_on_other_drives_names_them() {
    let home = tempfile::tempdir().expect("temp");
    let arguments = ["plan", "nas", "--drives", "wd-red-pro-22tb:6"];
    let plan = disklab(home.path()).args(arguments).assert().success();
    plan.stdout(contains("(6 × wd-red-pro-22tb)").and(contains("6 × WD Red Pro 22 TB")));
}

#[test]
fn a_plan_makes_nothing() {
    let home = tempfile::tempdir().expect("temp");
    let measured = tempfile::tempdir().expect("temp");
    study(home.path(), 1, "ext4");
    disklab(home.path()).args(["plan", "s.toml"]).assert().success();
    let on = format!("dir:{}", measured.path().display());
    disklab(home.path()).args(["plan", "s.toml", "--on", &on]).output().expect("starts");
    // It is where a run would keep its ledger, too.
    assert_eq!(home.path().read_dir().expect("there").count(), 1, "more than the study");
    assert_eq!(measured.path().read_dir().expect("there").count(), 0);
}
