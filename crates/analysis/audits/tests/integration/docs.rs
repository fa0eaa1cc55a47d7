//! The table of docs/generated/audits.md is that of the audits. `UPDATE=1` writes it anew.

use std::path::{Path, PathBuf};

const UPDATE: &str = "UPDATE=1 cargo test -p disklab-audits --test integration docs";

#[test]
fn the_documentation_has_every_audit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/generated/audits.md");
    let intro = "What each audit finds, from which evidence, and what to do about it \
        ([how audits work](../reference/audits.md)). `disklab list audits` says the same.";
    let table = disklab_audits::audits_markdown();
    let wanted =
        format!("<!-- Written by `{UPDATE}`. -->\n\n# Audits\n\n{intro}\n\n{}\n", table.trim_end());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("written");
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == wanted, "docs/generated/audits.md is not up to date: {UPDATE}");
}

/// All sources below a directory, as one text.
fn sources(directory: &Path, text: &mut String) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
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

/// The source of a crate's module: `store::claim`, `engine::devices`, `bench::safety::*`.
fn is_module(crates: &[PathBuf], name: &str) -> bool {
    let (of, module) = name.split_once("::").unwrap_or((name, ""));
    let module = module.trim_end_matches("::*").replace("::", "/");
    let of = of.replace('_', "-");
    let at = |directory: &&PathBuf| directory.file_name().is_some_and(|name| *name == *of);
    crates.iter().filter(at).any(|directory| {
        ["src", "tests/integration"].iter().any(|part| {
            let path = directory.join(part).join(&module);
            path.is_dir() || path.with_extension("rs").is_file()
        })
    })
}

/// What SECURITY.md promises is held by tests that are where it says.
#[test]
fn promises_of_security_are_held_by_modules_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let directories = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect()
    };
    let mut crates = directories(&root.join("crates"));
    crates.extend(crates.clone().iter().flat_map(|group| directories(group)));
    let text = std::fs::read_to_string(root.join("SECURITY.md")).expect("SECURITY.md");
    let mut promises = 0;
    for row in text.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |")) {
        let held_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        for name in held_by.split('`').skip(1).step_by(2) {
            assert!(is_module(&crates, name), "there is no {name}: {row}");
        }
        promises += 1;
    }
    assert!(promises >= 15, "{promises} promises name their tests");
}
