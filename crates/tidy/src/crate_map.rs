//! Newcomers find every crate: in the map, and with a README of its own.

use std::fs;

use crate::tree::{root, text};

/// The folders of the crates below `crates/`, such as `model/drive`.
fn crates() -> Vec<String> {
    let mut found = Vec::new();
    for entry in folders("crates") {
        if root().join("crates").join(&entry).join("Cargo.toml").exists() {
            found.push(entry);
        } else {
            let group = folders(&format!("crates/{entry}"));
            found.extend(group.into_iter().map(|name| format!("{entry}/{name}")));
        }
    }
    found.sort();
    found
}

/// The names of the folders in the folder at `path`.
fn folders(path: &str) -> Vec<String> {
    fs::read_dir(root().join(path))
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
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
