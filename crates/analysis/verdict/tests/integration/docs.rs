//! The table of docs/reference/audits.md is that of the audits. `UPDATE=1` writes it anew.

use std::path::Path;

const BEGIN: &str = "<!-- The audits: written by `UPDATE=1 cargo test -p disklab-verdict --test integration docs`. -->\n";
const END: &str = "<!-- The end of the audits. -->\n";

#[test]
fn the_documentation_has_every_audit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/audits.md");
    let text = std::fs::read_to_string(&path).expect("docs/reference/audits.md");
    let (before, rest) = text.split_once(BEGIN).expect("the mark where the audits begin");
    let (_, after) = rest.split_once(END).expect("the mark where they end");
    let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", disklab_verdict::audits_markdown());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("written");
    } else {
        assert!(
            text == wanted,
            "docs/reference/audits.md is not up to date: UPDATE=1 cargo test -p disklab-verdict --test integration docs"
        );
    }
}

/// All sources below a directory, as one text.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs") {
            *text += &std::fs::read_to_string(&path).expect("a source");
        }
    }
}

/// Every promise names its tests, and each of them exists.
#[test]
fn every_promise_has_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut all = String::new();
    sources(&root.join("crates"), &mut all);
    let text =
        std::fs::read_to_string(root.join("docs/validation/what-misled.md")).expect("the table");
    let is_row = |line: &&str| {
        line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let rows: Vec<&str> = text.lines().filter(is_row).collect();
    assert_eq!(rows.len(), 36);
    for (number, row) in rows.iter().enumerate() {
        assert!(row.starts_with(&format!("| {} |", number + 1)), "{row}");
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || tests.starts_with("measured: "), "{row}");
        for name in names {
            assert!(all.contains(&format!("fn {name}(")), "no test is called {name}: {row}");
        }
    }
}
