//! The files of this checkout.

use std::fs;
use std::path::{Path, PathBuf};

/// The checkout's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root")
}

/// The files below a directory of the root, or the file itself, as paths from the root, sorted.
/// Hidden and built ones are left out.
pub fn files(below: &str) -> Vec<String> {
    let root = root();
    let mut found = Vec::new();
    collect(&root.join(below), &mut found);
    let mut names: Vec<String> = found
        .iter()
        .map(|path| path.strip_prefix(&root).expect("below the root").display().to_string())
        .collect();
    names.sort();
    names
}

/// Those of them with this extension.
pub fn files_with(below: &str, extension: &str) -> Vec<String> {
    let mut names = files(below);
    names.retain(|name| Path::new(name).extension().is_some_and(|e| e == extension));
    names
}

/// A file's text; bytes that are not UTF-8 become replacement characters.
pub fn text(name: &str) -> String {
    let bytes = fs::read(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        found.push(path.to_owned());
        return;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for entry in entries {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if name == "target" || name == "disklab-runs" || name.as_encoded_bytes()[0] == b'.' {
            continue;
        }
        collect(&entry.path(), found);
    }
}

/// A slip of a shell (`> a`) leaves an empty file, and `git add` takes it along.
#[test]
fn no_file_is_empty() {
    let empty: Vec<String> = files(".")
        .into_iter()
        .filter(|name| fs::metadata(root().join(name)).is_ok_and(|m| m.len() == 0))
        .collect();
    assert!(empty.is_empty(), "these files are empty: {empty:?}");
}
