//! How the tests of all crates are arranged, and how a run of them is summed up.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The names in a directory; none if it is not there.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Every further program links all of disklab once more.
#[test]
fn each_crate_has_one_program_of_integration_tests_with_a_module_per_file() {
    let crates = repository().join("crates");
    let mut wrong = Vec::new();
    for name in names(&crates) {
        let tests = crates.join(&name).join("tests");
        for file in names(&tests) {
            let program = file.ends_with(".rs") || tests.join(&file).join("main.rs").exists();
            if program && file != "integration" {
                wrong.push(format!("{name}/tests/{file}: make it a module of tests/integration"));
            }
        }
        let main = fs::read_to_string(tests.join("integration/main.rs")).unwrap_or_default();
        for file in names(&tests.join("integration")) {
            let module = file.strip_suffix(".rs").filter(|module| *module != "main");
            if module.is_some_and(|m| !main.lines().any(|line| line == format!("mod {m};"))) {
                wrong.push(format!("{name}/tests/integration/{file}: no 'mod' in main.rs"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What cargo-nextest writes.
const JUNIT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="4" failures="1" errors="1">
    <testsuite name="disklab-stack::integration" tests="5" disabled="0" errors="1" failures="1">
        <testcase name="a::passes" classname="disklab-stack::integration" time="0.1">
            <system-out>skipped: it is part of another</system-out>
            <system-err></system-err>
        </testcase>
        <testcase name="a::lacks_two" classname="disklab-stack::integration" time="0.1">
            <system-out>running 1 test
test a::lacks_two ... ok</system-out>
            <system-err>skipped: needs md
skipped: needs root</system-err>
        </testcase>
        <testcase name="a::lacks_one" classname="disklab-stack::integration" time="0.1">
            <system-err>skipped: needs md</system-err>
        </testcase>
        <testcase name="a::fails" classname="disklab-stack::integration" time="0.2">
            <failure message="it is &lt;wrong&gt;" type="test failure with exit code 101">x</failure>
            <system-err>skipped: needs md</system-err>
        </testcase>
        <testcase name="a::hangs" classname="disklab-stack::integration" time="0.2">
            <failure type="test timeout"/>
        </testcase>
    </testsuite>
</testsuites>
"#;

const EXAMPLES: &str = "
test crates/input/wml/src/lib.rs - (line 9) ... ok
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s
test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out
";

#[test]
fn the_summary_counts_skipped_tests_separately() {
    let directory = tempfile::tempdir().expect("temp");
    let [junit, examples] = ["junit.xml", "log"].map(|name| directory.path().join(name));
    fs::write(&junit, JUNIT).expect("written");
    fs::write(&examples, EXAMPLES).expect("written");
    let mut awk = Command::new("awk");
    awk.arg("-v").arg(format!("examples={}", examples.display()));
    awk.arg("-f").arg(repository().join("scripts/count.awk")).arg(&junit);
    let output = awk.output().expect("awk runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let expected =
        ["3 skipped: needs md", "1 skipped: needs root", "4 passed, 5 failed, 2 skipped"];
    assert_eq!(lines, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
