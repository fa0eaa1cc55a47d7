//! Newcomers find every crate: in the map, and with a README of its own.

use std::fs;

use crate::tree::{root, text};

/// The folders of the crates, by name.
fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).expect("crates");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn map_names_each_crate_once() {
    let map = text("ARCHITECTURE.md");
    let listed: Vec<&str> = map
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| line.split('`').next())
        .collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, crates(), "the tables of ARCHITECTURE.md list each crate in crates/ once");
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
