//! Mistakes made on purpose in the lab, each of which an audit must find.

use disklab_audits::{Reproducer, Severity};
use disklab_lab_kernel::{KERNEL_VARIABLE, cache_directory, find_zfs};

use crate::audit_support::{Found, assert_found, assert_says, command};
use crate::lab_support::kernel::kernel;

const MISTAKES: &str = include_str!("../studies/mistakes.toml");
const CONDITIONS: &str = include_str!("../studies/conditions.toml");
const ON_ZFS: &str = include_str!("../studies/mistakes-zfs.toml");

/// Audits whose mistake is one of ZFS.
const OF_ZFS: [&str; 2] = ["compressed-away", "direct-not-honoured"];

/// Audits whose mistake is one of drives and links.
const OF_CONDITIONS: [&str; 5] = [
    "coordinated-omission",
    "different-work",
    "mount-options-differ",
    "slow-link",
    "write-caches-differ",
];

/// Audits whose mistake shows in repeats only.
const OF_REPEATS: [&str; 1] = ["wide-interval"];

/// Eight random reads, of which each takes as long as the arm has to go.
const REPEATED: &str = r#"
id = "repeated"
title = "Repeats that differ"
repeats = 3
[[drives]]
model = "hdn721010ale604"
size = "10 TB"
[stacks]
"single/ext4" = "partition/ext4"
[[workloads]]
id = "eight-reads"
fio = { ioengine = "psync", direct = 1, rw = "randread", bs = "4k", size = "64M", io_size = "32k" }
"#;

/// The findings of a run of `study` in a new home. Severe ones are among them.
fn findings(study: &str, arguments: &[&str]) -> Found {
    let home = tempfile::tempdir().expect("temp");
    let mut command = command(home.path(), study, arguments);
    // It finds the kernel that the study needs.
    let output = command.env_remove(KERNEL_VARIABLE).output().expect("it starts");
    crate::audit_support::findings(home.path(), &output)
}

#[test]
fn mistakes_in_the_lab_are_found() {
    let Some(_) = kernel() else { return };
    let found = findings(MISTAKES, &["--scale", "0.9", "--memory", "1G"]);
    assert_found(&found, |name, reproducer| {
        let elsewhere = [&OF_ZFS[..], &OF_CONDITIONS, &OF_REPEATS].concat().contains(&name);
        matches!(reproducer, Reproducer::Lab(_)) && !elsewhere
    });
    // synology-2018: zeros by dd on Btrfs with compression.
    let zeros = ["zeros with compressing", "They were zeros"];
    assert_says(&found, "zeros-compressed", Severity::Severe, &zeros);
    // Phoronix Test Suite, issue 417: reads at the memory's speed.
    assert_says(&found, "read-from-cache", Severity::Severe, &["read-again with plain"]);
    assert_says(&found, "barriers-off", Severity::Severe, &["off (unsafe)"]);
    // By what the drives counted; no question asks for it.
    let counted = ["from-drive-memory", "of the reads from their own memory"];
    assert_says(&found, "drive-memory-reads", Severity::Warning, &counted);
    assert_says(&found, "nearly-full", Severity::Warning, &["the end of 1 of", "fill with full"]);
    let scattered = ["scattered", "(compressing)"];
    assert_says(&found, "in-one-place", Severity::Warning, &scattered);
    let unflushed = ["unflushed with plain"];
    assert_says(&found, "fits-drive-cache", Severity::Warning, &unflushed);
    assert_says(&found, "misaligned", Severity::Warning, &["odd-blocks (4000 bytes)"]);
    assert_says(&found, "holes-read", Severity::Severe, &["never-written", "with plain"]);
    assert_says(
        &found,
        "few-in-flight",
        Severity::Warning,
        &["buffered-aio", "had 1.", "buffered"],
    );
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
    let caches = ["write back (", " plain,", "write through (uncached)"];
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
    assert_says(&found, "different-work", Severity::Severe, &["for-a-second (up to"]);
    let discards =
        ["btrfs was mounted", "discard=async,relatime (on-flash)", "; relatime (on-disk)"];
    assert_says(&found, "mount-options-differ", Severity::Warning, &discards);
}

#[test]
fn repeats_that_differ_are_found_in_the_lab() {
    let Some(_) = kernel() else { return };
    let found = findings(REPEATED, &[]);
    assert_found(&found, |name, _| OF_REPEATS.contains(&name));
    assert_says(&found, "wide-interval", Severity::Warning, &["eight-reads with single/ext4"]);
}

#[test]
fn mistakes_on_zfs_in_the_lab_are_found() {
    if find_zfs(&cache_directory()).is_none() {
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
