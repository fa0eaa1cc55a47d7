//! What a CI of a file system's developers does: a run a night, and a question.

use std::path::{Path, PathBuf};

use disklab_archive::{AddedRun, ArchivedRun, RunArchive, SeriesFilter};
use disklab_study::Measure;

use crate::support::{Night, Server};

const KERNELS: [&str; 2] = ["Linux 6.12", "Linux 6.13"];

/// From the tenth night on it is 8 % slower, under another kernel.
fn nights(directory: &Path) -> Vec<PathBuf> {
    (1..=16)
        .map(|day| {
            let is_new = day >= 10;
            let noise = 1.0 + 0.002 * (f64::from(day) * 2.4).sin();
            Night {
                day,
                bytes_per_second: noise * if is_new { 110e6 } else { 120e6 },
                kernel: KERNELS[usize::from(is_new)],
                done: 6,
            }
            .run(&directory.join(format!("night-{day}")))
        })
        .collect()
}

fn read(runs: &[PathBuf]) -> Vec<ArchivedRun> {
    runs.iter().map(|run| ArchivedRun::read(run).expect("a run")).collect()
}

fn throughput() -> SeriesFilter {
    SeriesFilter {
        patterns: vec!["single/ext4:write-*".to_owned()],
        study: None,
        measure: Measure::Throughput,
        since: None,
        until: None,
    }
}

/// All files below a directory, with what is in them.
fn content(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        if entry.path().is_dir() {
            all.extend(content(&entry.path()));
        } else {
            all.push((entry.path(), std::fs::read(entry.path()).expect("a file")));
        }
    }
    all.sort();
    all
}

/// The same in any archive.
fn nightly(name: &str) {
    let temp = tempfile::tempdir().expect("temp");
    let runs = nights(temp.path());
    let before = content(temp.path());
    let mut archive = RunArchive::open(name).expect("an archive");
    // Not in the order of the nights.
    let added = archive.add(&read(&runs[8..])).expect("added");
    assert_eq!(added, [AddedRun::New; 8]);
    let added = archive.add(&read(&runs)).expect("added");
    assert_eq!(added[..8], [AddedRun::New; 8]);
    assert_eq!(added[8..], [AddedRun::Known; 8]);
    assert!(content(temp.path()) == before, "no run is changed");
    drop(archive);

    let mut archive = RunArchive::open_existing(name).expect("it is there");
    let listed = archive.runs().expect("runs");
    assert_eq!(listed.len(), 16);
    assert!(listed.is_sorted_by_key(|run| run.began));
    assert_eq!(listed[0].path, runs[0]);
    assert_eq!(listed[0].drives["single/ext4"], "wd40efrx-68wt0n0");
    assert_eq!([&*listed[8].kernel, &*listed[9].kernel], KERNELS);
    assert_eq!(listed[0].cells, [6, 6]);

    let all = archive.series(&throughput()).expect("series");
    let [series] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((&*series.study, &*series.stack), ("nightly", "single/ext4"));
    assert_eq!(series.points.len(), 16);
    let first = &series.points[0];
    let (low, high) = first.ends.expect("three repeats");
    assert!(low < first.value && first.value < high && first.repeats == 3, "{first:?}");
    let [change] = series.changes.as_slice() else { panic!("{:?}", series.changes) };
    assert_eq!(change.at, 9, "the tenth night");
    assert!((change.after / change.before - 110.0 / 120.0).abs() < 0.005, "{change:?}");
    let kernels = KERNELS.map(str::to_owned);
    let [before, after] = kernels;
    assert_eq!(change.besides, [("kernel", before, after)]);

    let since = SeriesFilter {
        since: "2026-03-10T00:00:00Z".parse().ok(),
        until: "2026-03-12T02:00:00Z".parse().ok(),
        patterns: Vec::new(),
        ..throughput()
    };
    let all = archive.series(&since).expect("series");
    assert_eq!(all.len(), 2, "both stacks");
    assert!(all.iter().all(|series| series.points.len() == 2 && series.changes.is_empty()));
    let none = SeriesFilter { study: Some("weekly".to_owned()), ..throughput() };
    assert_eq!(archive.series(&none).expect("none"), []);

    // A run that was cut off is there as far as it is, and again when it is done.
    let cut = |done| Night { day: 20, bytes_per_second: 1e8, kernel: KERNELS[1], done };
    let directory = temp.path().join("cut");
    let runs = [cut(2).run(&directory)];
    assert_eq!(archive.add(&read(&runs)).expect("added"), [AddedRun::New]);
    assert_eq!(archive.runs().expect("runs").last().expect("the last").cells, [6, 2]);
    cut(6).run(&directory);
    assert_eq!(archive.add(&read(&runs)).expect("added"), [AddedRun::Renewed]);
    let listed = archive.runs().expect("runs");
    assert_eq!((listed.len(), listed[16].cells), (17, [6, 6]));
}

#[test]
fn nightly_runs_in_a_file() {
    let temp = tempfile::tempdir().expect("temp");
    nightly(temp.path().join("new/archive.sqlite").to_str().expect("UTF-8"));
}

#[test]
fn nightly_runs_on_a_server() {
    let Some(server) = Server::start() else { return };
    nightly(&server.url());
}

#[test]
fn a_server_that_is_not_there_or_needs_tls_is_said() {
    for (url, words) in [
        ("postgres://nobody@%2Fno-such-directory/x", "cannot connect to the archive"),
        ("postgres://host/x?sslmode=require", "without TLS"),
        ("postgres://host:port/x", "cannot connect to the archive"),
    ] {
        let error = RunArchive::open(url).expect_err(url);
        assert!(error.is_usage_error() && error.to_string().contains(words), "{error}");
    }
}
