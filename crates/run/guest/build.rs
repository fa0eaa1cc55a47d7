//! Gives the crate `DISKLAB_GUEST_BUILD`: a number of the sources that the guest's program is made
//! of, by which the host's program knows one that was built from the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let root = Path::new("../../..");
    let mut sources = vec![root.join("Cargo.lock")];
    for directory in crates(root)? {
        for name in ["Cargo.toml", "src"] {
            let path = directory.join(name);
            println!("cargo:rerun-if-changed={}", path.display());
            collect(&path, &mut sources)?;
        }
    }
    println!("cargo:rerun-if-changed={}", root.join("Cargo.lock").display());
    sources.sort();
    let mut hasher = DefaultHasher::new();
    for path in sources {
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write(&fs::read(path)?);
    }
    for name in ["PROFILE", "TARGET"] {
        hasher.write(std::env::var(name).unwrap_or_default().as_bytes());
    }
    println!("cargo:rustc-env=DISKLAB_GUEST_BUILD={:016x}", hasher.finish());
    Ok(())
}

/// This crate's directory and those of the workspace's crates that it depends on.
fn crates(root: &Path) -> io::Result<Vec<PathBuf>> {
    let workspace = fs::read_to_string(root.join("Cargo.toml"))?;
    let paths: BTreeMap<&str, PathBuf> = workspace
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(" = { path = \"")?;
            Some((name, root.join(rest.split_once('"')?.0)))
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut open = vec!["disklab-guest".to_owned()];
    while let Some(name) = open.pop() {
        let Some(directory) = paths.get(name.as_str()) else { continue };
        if found.insert(directory.clone()) {
            open.extend(dependencies(&fs::read_to_string(directory.join("Cargo.toml"))?));
        }
    }
    Ok(found.into_iter().collect())
}

/// What a manifest's `[dependencies]` name.
fn dependencies(manifest: &str) -> impl Iterator<Item = String> + '_ {
    let section = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned)
}

fn collect(path: &Path, sources: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        sources.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), sources)?;
    }
    Ok(())
}
