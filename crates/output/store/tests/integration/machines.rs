//! One run of the runs of several machines.

use std::path::{Path, PathBuf};

use disklab_options::BenchKind;
use disklab_sample::Environment;
use disklab_store::{Run, RunInfo, StoreError};

use crate::support::{cells, info, raw_directories, sample};

/// A machine's run, whose samples have so many bytes.
fn machine(directory: &Path, info: &RunInfo, bytes: u64) -> PathBuf {
    let mut run = Run::create(directory, info, &cells()).expect("create");
    for cell in &cells() {
        let raw = run.begin_cell(cell).expect("begin");
        std::fs::write(raw.join("cell.txt"), format!("{bytes}")).expect("write");
        run.record(cell, &sample(bytes), 2.0).expect("record");
    }
    directory.to_owned()
}

fn on(path: &str, kernel: &str) -> RunInfo {
    RunInfo {
        bench: BenchKind::Dir(path.into()).into(),
        bench_about: format!("the directory {path}"),
        environment: Environment {
            kernel: kernel.to_owned(),
            processor: Some(format!("of {kernel}")),
            ..Environment::default()
        },
        ..info()
    }
}

fn merge(machines: &[(&str, &PathBuf)], to: &Path) -> Result<Run, StoreError> {
    let named: Vec<_> =
        machines.iter().map(|(name, run)| ((*name).to_owned(), (*run).clone())).collect();
    Run::merge_machines(&named, to)
}

#[test]
fn the_machine_is_an_axis_of_the_merged_run() {
    let temp = tempfile::tempdir().expect("temp");
    let at = |name: &str| temp.path().join(name);
    let infos = [on("/volume1", "Linux 3.10 aarch64"), on("/share", "Linux 4.4 x86_64")];
    let a = machine(&at("a"), &infos[0], 100);
    let b = machine(&at("b"), &infos[1], 200);
    let run = merge(&[("nas1", &a), ("nas2", &b)], &at("to")).expect("merged");
    let run = run.publish().expect("published");

    let info = run.info().expect("info");
    assert_eq!(info.options.axis[0].to_string(), "machine=nas1,nas2");
    let mut seen = Vec::new();
    run.for_each_sample(|record, sample| {
        let machine = record.cell.levels.further["machine"].clone();
        let own = info.at(&record.cell.levels.further);
        assert_eq!(own, infos[usize::from(machine == "nas2")], "what its run was is kept");
        seen.push((machine, sample.steps[0].figures[0].bytes));
    })
    .expect("samples");
    let n = cells().len();
    assert_eq!(seen.len(), 2 * n);
    assert!(seen[..n].iter().all(|one| *one == ("nas1".to_owned(), 100)), "{seen:?}");
    assert!(seen[n..].iter().all(|one| *one == ("nas2".to_owned(), 200)), "{seen:?}");
    assert_eq!(raw_directories(&at("to")).len(), 2 * n);
    let again = merge(&[("x", &at("to")), ("y", &a)], &at("again")).expect_err("merged already");
    assert!(again.to_string().contains("several machines already"), "{again}");
    assert!(!at("again").exists());
}

#[test]
fn what_is_not_of_one_study_on_machines_is_refused_and_nothing_made() {
    let temp = tempfile::tempdir().expect("temp");
    let at = |name: &str| temp.path().join(name);
    let dir = on("/volume1", "Linux");
    let a = machine(&at("a"), &dir, 1);
    let others = [
        ("seed", RunInfo { seed: 7, ..dir.clone() }, "the seed is"),
        ("scale", RunInfo { scale: 1.0, ..dir.clone() }, "the scale is"),
        ("text", RunInfo { study_text: "x".into(), ..dir.clone() }, "the study's text"),
        ("version", RunInfo { disklab: "0.1.1".into(), ..dir.clone() }, "disklab is"),
        ("loop", RunInfo { bench: BenchKind::Loop.into(), ..dir.clone() }, "the bench is 'dir'"),
        ("lab", RunInfo { bench: BenchKind::Lab.into(), ..dir.clone() }, "it was run in the lab"),
    ];
    for (name, info, words) in others {
        let other = machine(&at(name), &info, 1);
        let error = merge(&[("a", &a), ("b", &other)], &at("to")).expect_err(name).to_string();
        assert!(error.contains(words), "{name}: {error}");
        assert!(!at("to").exists(), "{name}");
    }
    for names in [["a", "a"], ["a", "b c\u{1b}[2J"], ["a", ""]] {
        let error = merge(&[(names[0], &a), (names[1], &a)], &at("to")).expect_err("names");
        assert!(error.to_string().contains("the names of the machines"), "{error}");
    }
    assert!(!at("to").exists());
}
