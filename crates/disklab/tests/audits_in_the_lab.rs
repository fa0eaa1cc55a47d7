//! Mistakes made on purpose, each of which an audit must find: in the lab, and in a
//! directory of this machine.
#![allow(missing_docs)]

#[path = "lab_support/kernel.rs"]
mod lab_kernel;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use disklab_lab::kernel::{KERNEL_VARIABLE, cache_folder, find_zfs};
use disklab_store::Run;
use disklab_verdict::{AUDITS, Finding, Reproducer, Severity, analyse};
use lab_kernel::kernel;

const MISTAKES: &str = include_str!("studies/mistakes.toml");
const CONDITIONS: &str = include_str!("studies/conditions.toml");
const ON_ZFS: &str = include_str!("studies/mistakes-zfs.toml");

/// Audits whose mistake is one of ZFS.
const OF_ZFS: [&str; 2] = ["compressed-away", "direct-not-honoured"];

/// Audits whose mistake is one of drives and links.
const OF_CONDITIONS: [&str; 3] = ["coordinated-omission", "slow-link", "write-caches-differ"];

/// The findings of a run of `study` in a new home, by audit.
fn findings(study: &str, arguments: &[&str]) -> BTreeMap<&'static str, Vec<Finding>> {
    let home = tempfile::tempdir().expect("temp");
    std::fs::write(home.path().join("study.toml"), study).expect("a file");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.args(["run", "study.toml", "--seed", "1", "--out", "run"]).args(arguments);
    command.env("XDG_STATE_HOME", home.path()).env_remove("DISKLAB_LOG").current_dir(home.path());
    // It finds the kernel that the study needs.
    command.env_remove(KERNEL_VARIABLE);
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    // Severe findings give 1.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("FAILED"), "{said}");
    found_in(&home.path().join("run"))
}

fn found_in(run: &Path) -> BTreeMap<&'static str, Vec<Finding>> {
    let analysis = analyse(&Run::open(run).expect("a run")).expect("an analysis");
    let mut found: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
    for finding in analysis.findings {
        found.entry(finding.audit).or_default().push(finding);
    }
    found
}

/// Asserts that each audit that says so finds the mistake.
fn assert_found(found: &BTreeMap<&str, Vec<Finding>>, is_meant: impl Fn(&str, Reproducer) -> bool) {
    let meant = AUDITS.iter().filter(|audit| is_meant(audit.name, audit.reproducer));
    let missed: Vec<_> = meant.map(|a| a.name).filter(|name| !found.contains_key(name)).collect();
    let texts: Vec<_> = found.values().flatten().map(|f| (f.audit, &f.text)).collect();
    assert!(missed.is_empty(), "{missed:?} found nothing; others: {texts:#?}");
}

/// Asserts that a finding of this severity has all these words.
fn assert_says(
    found: &BTreeMap<&str, Vec<Finding>>,
    audit: &str,
    severity: Severity,
    words: &[&str],
) {
    let all = found.get(audit).map_or(&[][..], Vec::as_slice);
    let fits = |f: &Finding| f.severity == severity && words.iter().all(|w| f.text.contains(w));
    assert!(all.iter().any(fits), "{audit}, {words:?}: {all:#?}");
}

#[test]
fn mistakes_in_the_lab_are_found() {
    let Some(_) = kernel() else { return };
    let found = findings(MISTAKES, &["--scale", "0.9", "--memory", "1G"]);
    assert_found(&found, |name, reproducer| {
        let elsewhere = OF_ZFS.contains(&name) || OF_CONDITIONS.contains(&name);
        matches!(reproducer, Reproducer::Lab(_)) && !elsewhere
    });
    // synology-2018: zeros by dd on Btrfs with compression.
    let zeros = ["zeros with compressing", "They were zeros"];
    assert_says(&found, "zeros-compressed", Severity::Severe, &zeros);
    // Phoronix Test Suite, issue 417: reads at the memory's speed.
    assert_says(&found, "read-from-cache", Severity::Severe, &["read-again with plain"]);
    assert_says(&found, "barriers-off", Severity::Severe, &["off (unsafe)"]);
    assert_says(&found, "nearly-full", Severity::Warning, &["the end of 1 of", "fill with full"]);
    let unflushed = ["unflushed with plain"];
    assert_says(&found, "fits-drive-cache", Severity::Warning, &unflushed);
    assert_says(&found, "misaligned", Severity::Warning, &["odd-blocks (4000 bytes)"]);
    // What is well done is not found fault with.
    let of_zeros = &found["zeros-compressed"];
    assert!(of_zeros.iter().all(|f| !f.text.contains("plain")), "{of_zeros:#?}");
    let flushes = &found["no-flushes"];
    assert!(flushes.iter().all(|f| f.text.contains("zeros with unsafe")), "{flushes:#?}");
}

#[test]
fn drives_and_links_that_mislead_are_found_in_the_lab() {
    let Some(_) = kernel() else { return };
    let found = findings(CONDITIONS, &[]);
    assert_found(&found, |name, _| OF_CONDITIONS.contains(&name));
    let caches = ["write back (plain,", "write through (uncached)"];
    assert_says(&found, "write-caches-differ", Severity::Severe, &caches);
    assert_says(
        &found,
        "slow-link",
        Severity::Warning,
        &["read with slow", "what its link carries"],
    );
    let bus = ["striped", "of the bus that they share"];
    assert_says(&found, "slow-link", Severity::Warning, &bus);
    assert_says(&found, "coordinated-omission", Severity::Warning, &["paced with shingled"]);
}

#[test]
fn mistakes_on_zfs_in_the_lab_are_found() {
    if find_zfs(&cache_folder()).is_none() {
        eprintln!("skipped: needs the lab's ZFS kernel (disklab lab build --zfs)");
        return;
    }
    let found = findings(ON_ZFS, &["--memory", "1G"]);
    assert_found(&found, |name, _| OF_ZFS.contains(&name));
    // xpenology-2023: 439 MiB/s of repeated data on a pool with lz4.
    assert_says(&found, "compressed-away", Severity::Severe, &["repeated with volume"]);
    assert_says(&found, "read-from-cache", Severity::Severe, &["repeated with volume"]);
    // KDiskMark, issue 148: ZFS's cache inflates reads.
    assert_says(&found, "read-from-cache", Severity::Severe, &["read-again with pool"]);
    assert_says(&found, "direct-not-honoured", Severity::Warning, &["zvols"]);
}

#[test]
fn a_directory_in_memory_is_found() {
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        eprintln!("skipped: needs /dev/shm");
        return;
    }
    let folder = tempfile::tempdir_in(shm).expect("a folder");
    let on = format!("dir:{}", folder.path().display());
    let study = "id = \"memory\"\ntitle = \"Memory\"\nrepeats = 1\n[stacks]\nx = \"ext4\"\n\
                 [[drives]]\nmodel = \"hgst-10tb\"\nsize = \"10 TB\"\n\
                 [[workloads]]\nid = \"dd\"\n\
                 dd = { direction = \"write\", bs = \"64k\", count = 16, source = \"random\" }\n";
    let found = findings(study, &["--on", &on]);
    assert_found(&found, |_, reproducer| matches!(reproducer, Reproducer::Directory(_)));
    assert_says(&found, "not-on-drives", Severity::Severe, &["memory (tmpfs)"]);
}
