//! Newcomers find every crate: in the map, and with a README of its own.

use crate::tree::{files_with, root, text};

/// The folders of the crates below `crates/`, such as `model/drive`, sorted.
fn crates() -> Vec<String> {
    let manifests = files_with("crates", "toml");
    let folder = |path: &String| {
        let folder = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        Some(folder.to_owned())
    };
    manifests.iter().filter_map(folder).collect()
}

#[test]
fn map_names_each_crate_once() {
    let map = text("ARCHITECTURE.md");
    let mut listed: Vec<&str> = map
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| line.split('`').next())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, crates(), "the tables of ARCHITECTURE.md list each crate in crates/ once");
}

#[test]
fn each_crate_says_what_it_is_for() {
    let wrong: Vec<String> = crates()
        .into_iter()
        .filter_map(|name| {
            let file = format!("crates/{name}/README.md");
            if !root().join(&file).exists() {
                return Some(format!("{file} is missing"));
            }
            let text = text(&file);
            let parts = ["Purpose: ", "Main types: ", "Must not know: "];
            let lacks = parts.iter().find(|part| !text.contains(*part))?;
            Some(format!("{file} lacks the sentence '{}…'", lacks.trim_end()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
