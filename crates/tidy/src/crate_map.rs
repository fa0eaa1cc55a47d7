//! Newcomers find every crate: in the map, and with a README of its own.

use std::collections::BTreeSet;

use crate::tree::{files_with, root, text};
use crate::type_names::public_types;

/// The directories of the crates below `crates/`, such as `model/drive`, sorted.
fn crates() -> Vec<String> {
    let manifests = files_with("crates", "toml");
    let directory = |path: &String| {
        let directory = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        Some(directory.to_owned())
    };
    let mut crates: Vec<String> = manifests.iter().filter_map(directory).collect();
    crates.sort_unstable();
    crates
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

#[test]
fn main_types_of_a_crate_are_its_own() {
    let mut wrong = Vec::new();
    for name in crates() {
        let file = format!("crates/{name}/README.md");
        let readme = text(&file);
        let line = readme.lines().find_map(|line| line.strip_prefix("Main types: "));
        let named: Vec<&str> = line.unwrap_or_default().split('`').skip(1).step_by(2).collect();
        let own: BTreeSet<String> = files_with(&format!("crates/{name}/src"), "rs")
            .iter()
            .flat_map(|file| public_types(&text(file)))
            .map(|(name, _)| name)
            .collect();
        let unknown = named.iter().filter(|name| !own.contains(**name));
        wrong.extend(unknown.map(|name| format!("{file}: no public type '{name}'")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
