//! What the programs really print, on Debian 12.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use disklab_import::{FORMATS, Reading, detect};
use disklab_source::Source;

/// (file, format, readings, steps of each, the first figure's bytes and operations per
/// second).
type Expected = (&'static str, &'static str, usize, usize, Option<f64>, Option<f64>);

const OUTPUTS: [Expected; 17] = [
    ("fio-3.33.json", "fio-json", 1, 1, Some(184_365_010.0), Some(175.824_176)),
    ("fio-3.33.txt", "fio-text", 1, 1, Some(200_712_192.0 / 1.013), Some(49_002.0 / 1.013)),
    (
        "fio-3.33-status-interval.txt",
        "fio-text",
        1,
        1,
        Some(3_690_496.0 / 3.001),
        Some(901.0 / 3.001),
    ),
    ("fio-3.33-terse-3.txt", "fio-terse", 1, 1, Some(1984.0 * 1024.0 / 0.047), Some(10_553.0)),
    ("hyperfine-1.15.json", "hyperfine-json", 6, 1, None, None),
    ("bonnie-2.00a.txt", "bonnie++", 1, 3, Some(486.0 * 1024.0), None),
    ("iozone-3.489.txt", "iozone", 1, 4, Some(215_593.0 * 16384.0), Some(215_593.0)),
    (
        "iozone-3.489-processes.txt",
        "iozone",
        1,
        6,
        Some(4_303_526.0 * 1024.0),
        Some(4_303_526.0 / 16.0),
    ),
    ("sysbench-1.0.20.txt", "sysbench", 1, 1, Some(5970.80 * 16384.0), Some(5970.80)),
    ("hdparm.txt", "hdparm", 1, 2, Some(11_475.64 * 1_048_576.0), None),
    ("hdparm-direct.txt", "hdparm", 1, 1, Some(4586.83 * 1_048_576.0), None),
    ("dd-gnu.txt", "dd", 1, 1, Some(33_554_432.0 / 0.154_249), None),
    ("dd-small.txt", "dd", 1, 1, Some(512.0 / 9.3098e-5), None),
    ("time-bash.txt", "time", 1, 1, None, None),
    ("time-posix.txt", "time", 1, 1, None, None),
    ("time-v.txt", "time", 1, 1, None, None),
    ("time-gnu.txt", "time", 1, 1, None, None),
];

fn read(name: &str) -> (&'static str, Vec<Reading>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let format = detect(&text).unwrap_or_else(|| panic!("{name}: unknown"));
    let source = Arc::new(Source { name: name.to_owned(), text });
    (format.name, format.read(&source).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn every_output_gives_its_figures() {
    for (name, format, readings, steps, bytes, operations) in OUTPUTS {
        let (detected, all) = read(name);
        assert_eq!((detected, all.len()), (format, readings), "{name}");
        for reading in &all {
            assert_eq!((reading.steps.len(), reading.failure.as_ref()), (steps, None), "{name}");
        }
        let figure = &all[0].steps[0].figures[0];
        assert_eq!(figure.bytes_per_second, bytes, "{name}");
        assert_eq!(figure.operations_per_second, operations, "{name}");
        assert!(bytes.is_some() || figure.elapsed_ns > 0, "{name}");
    }
}

#[test]
fn every_file_is_tested_and_every_format_documented() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for entry in fs::read_dir(directory).expect("the directory").flatten() {
        let name = entry.file_name();
        assert!(OUTPUTS.iter().any(|o| name == o.0), "{name:?} is in no table");
    }
    let page = include_str!("../../../../../docs/reference/import.md");
    for format in FORMATS {
        assert!(page.contains(&format!("`{}`", format.name)), "{} is not in docs", format.name);
    }
}
