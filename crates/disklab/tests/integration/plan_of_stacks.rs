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
