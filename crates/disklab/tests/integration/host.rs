//! A host below the guest, as a user meets it: what the plan says, what is refused, and
//! what its page cache gives.

use std::path::Path;

use crate::command_support::disklab;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples;
use disklab_sample::Sample;
use predicates::prelude::*;
use predicates::str::contains;

/// A study in a guest on this host, with one stack for each of these cache modes.
fn text(host: &str, modes: &[&str]) -> String {
    let stack = |mode: &&str| {
        format!("{mode} = {{ layers = 'ext4', drives = 1, host-cache = '{mode}' }}\n")
    };
    let stacks: String = modes.iter().map(stack).collect();
    format!(
        "id = 's'\ntitle = 's'\nrepeats = 1\n[lab]\nmemory = '1 GiB'\n{host}\n[[drives]]\n\
         model = 'generic-3tb'\nsize = '3 TB'\n[stacks]\n{stacks}[[workloads]]\nid = 'w'\n\
         fio = {{ ioengine = 'psync', direct = 1, rw = 'randread', bs = '4k', size = '16M' }}\n"
    )
}

fn write(home: &Path, host: &str, modes: &[&str]) {
    std::fs::write(home.join("s.toml"), text(host, modes)).expect("write");
}

#[test]
fn the_plan_says_what_lies_below_the_guest() {
    let home = tempfile::tempdir().expect("temp");
    let plan = || disklab(home.path()).args(["plan", "s.toml"]).assert().success();
    write(home.path(), "host = { cache = 'none' }", &["none"]);
    plan().stdout(contains("behind a host's virtual disk (cache=none"));
    let host = "host = { cache = 'writeback', memory = '4 GiB', writes-at-once = 2 }";
    write(home.path(), host, &["writeback"]);
    plan().stdout(contains("cache=writeback"));
    // Without a host there is nothing to say.
    let without = text("", &["none"]).replace(", host-cache = 'none'", "");
    std::fs::write(home.path().join("s.toml"), without).expect("write");
    plan().stdout(contains("virtual disk").not());
}

#[test]
fn a_host_that_cannot_be_is_refused() {
    let home = tempfile::tempdir().expect("temp");
    for (host, modes, expected) in [
        ("host = { cache = 'fast' }", &["none"][..], "expected 'none'"),
        ("host = { cache = 'writeback' }", &["writeback"], "memory"),
        ("host = { cache = 'none', memory = '1 MiB' }", &["none"], "64 MiB"),
        ("host = { cache = 'none', request = '2 s' }", &["none"], "such as '7 us'"),
        ("host = { cache = 'none', speed = 1 }", &["none"], "speed"),
        ("", &["none"], "lab.host"),
    ] {
        write(home.path(), host, modes);
        disklab(home.path())
            .args(["plan", "s.toml"])
            .assert()
            .code(2)
            .stderr(contains(expected).and(contains("s.toml:")));
    }
}

#[test]
fn a_host_that_caches_gives_what_no_drive_does() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    let host = "host = { cache = 'none', memory = '256 MiB' }";
    let found = samples(home.path(), &text(host, &["none", "writeback"]), &["--seed", "1"]);
    let rate = |s: &Sample| s.steps[0].figures[0].operations_per_second.expect("a rate");
    let mut rates: Vec<(f64, &Sample)> = found.iter().map(|(_, s)| (rate(s), s)).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(drive, none), (memory, writeback)] = rates.as_slice() else { panic!("{rates:?}") };
    // A disk of 7200 rpm, one read at a time, over 16 MiB; and 7 µs for each request.
    assert!((80.0..400.0).contains(drive), "{drive}");
    assert!((100_000.0..143_000.0).contains(memory), "{memory}");
    let hits = |sample: &Sample| {
        let lab = sample.lab.as_ref().expect("the lab's");
        lab.drives[0].host.expect("there is a host").hits
    };
    assert_eq!(hits(none), 0);
    assert!(hits(writeback) >= 4096);
}
