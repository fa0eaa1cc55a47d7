//! Whole job files, run by fio and by the engine: the same files are left, under the same names.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::jobs;
use disklab_engine::{JobContext, run};
use serde_json::Value;

/// What a run left: its report, and the files with their lengths.
pub struct Left {
    pub report: Value,
    pub files: BTreeMap<String, u64>,
}

fn files(directory: &Path) -> BTreeMap<String, u64> {
    let entries =
        std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("entry"));
    entries
        .map(|entry| {
            let length = entry.metadata().expect("metadata").len();
            (entry.file_name().to_string_lossy().into_owned(), length)
        })
        .collect()
}

/// What fio leaves; none where it is not installed.
pub fn fio(text: &str) -> Option<Left> {
    let (directory, outside) =
        (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
    let job = outside.path().join("job.fio");
    std::fs::write(&job, text).expect("written");
    let run = Command::new("fio")
        .current_dir(directory.path())
        .args(["--output-format=json+", "--eta=never"])
        .arg(&job)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&run.stdout);
    let at = said.find('{').unwrap_or_else(|| panic!("{text}: {said}"));
    let report = serde_json::from_str(&said[at..]).unwrap_or_else(|e| panic!("{text}: {e}"));
    Some(Left { report, files: files(directory.path()) })
}

/// What the engine leaves.
pub fn engine(text: &str) -> Left {
    let directory = tempfile::tempdir().expect("temp");
    let report =
        run(&jobs(text), &JobContext::new(directory.path(), 1)).unwrap_or_else(|e| panic!("{e}"));
    Left { report: report.to_fio_json(), files: files(directory.path()) }
}

fn names(left: &Left) -> Vec<&str> {
    let jobs = left.report["jobs"].as_array().expect("jobs");
    jobs.iter().map(|job| job["jobname"].as_str().expect("a name")).collect()
}

/// `name` renames a job and not its files, but for clones; in `[global]` it does nothing.
#[test]
fn names_are_fios() {
    let apart = "[global]\nname=g\nrw=write\nsize=16k\nthread\n[a]\n[b]\nname=c\nnumjobs=2\n\
                 [d]\nname=e\nfilename_format=$jobname-$jobnum\n";
    let together = "[global]\nname=g\nrw=write\nsize=16k\nthread\ngroup_reporting\n\
                    [b]\nname=c\nnumjobs=2\n[d]\nstonewall\n";
    for (text, expected) in [(apart, &["a", "c", "b", "e"][..]), (together, &["c", "d"])] {
        let Some(fio) = fio(text) else {
            eprintln!("skipped: needs fio");
            return;
        };
        let engine = engine(text);
        assert_eq!(engine.files, fio.files);
        assert_eq!((names(&engine), names(&fio)), (expected.to_vec(), expected.to_vec()));
    }
}
