//! What the tests of personalities need.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disklab_exec::Interrupt;
use disklab_filebench::{
    FilebenchError, FilebenchFigures, FilebenchReport, Options, RunProgress, SessionContext, run,
};
use disklab_source::Source;
use disklab_wml::{Overrides, Personality};

/// A personality from a script.
pub fn read(text: &str) -> Personality {
    read_with(text, &[], None)
}

pub fn read_with(text: &str, set: &[(&str, &str)], seconds: Option<f64>) -> Personality {
    let source = Arc::new(Source { name: "test.f".to_owned(), text: text.to_owned() });
    let overrides = Overrides {
        variables: set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        run_time: seconds.map(|s| Duration::try_from_secs_f64(s).expect("a time")),
    };
    Personality::read(&source, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

pub fn context(directory: &Path) -> SessionContext {
    SessionContext {
        directory: directory.to_owned(),
        seed: 7,
        interrupt: Interrupt::new(),
        progress: RunProgress::silent(),
    }
}

pub fn strict() -> Options {
    Options { strict: true, ..Options::default() }
}

/// A directory in memory where there is one.
pub fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).expect("temp")
}

/// One thread that does `flowops` until the first is done.
pub fn script(filesets: &str, flowops: &str) -> String {
    format!(
        "set mode quit firstdone\n{filesets}\n\
         define process name=p {{ thread name=t {{ {flowops} }} }}\nrun 60\n"
    )
}

/// Runs a script that ends by itself; returns what the first run gave.
pub fn measure(directory: &Path, text: &str, options: &Options) -> FilebenchFigures {
    run_in(directory, text, options).unwrap_or_else(|error| panic!("{error}")).runs.remove(0)
}

pub fn run_in(
    directory: &Path,
    text: &str,
    options: &Options,
) -> Result<FilebenchReport, FilebenchError> {
    run(&read(text), &context(directory), options)
}

/// Operations and bytes of a row.
pub fn row(measured: &FilebenchFigures, name: &str) -> (u64, u64) {
    let row = measured.rows.iter().find(|row| row.name == name).expect("row");
    assert_eq!(row.counted.histogram.count(), row.counted.operations, "{name}");
    (row.counted.operations, row.counted.bytes)
}

/// Sizes of all files below a directory, by path.
pub fn sizes(directory: &Path) -> std::collections::BTreeMap<String, u64> {
    let mut found = std::collections::BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(now) = left.pop() {
        for entry in std::fs::read_dir(&now).expect("directory") {
            let entry = entry.expect("entry");
            let meta = entry.metadata().expect("metadata");
            if meta.is_dir() {
                left.push(entry.path());
            } else {
                let path = entry.path();
                let path = path.strip_prefix(directory).expect("below").display().to_string();
                found.insert(path, meta.len());
            }
        }
    }
    found
}
