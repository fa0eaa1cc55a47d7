//! The pages in docs/drives, and docs/generated/checks.md, are those that the checks make.
//! `UPDATE=1` writes them anew: the test of the siblings all, the other those of the drives that
//! are like no other, with all pictures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use disklab_drive::{DriveFile, SHIPPED};
use disklab_validation::summary::{ValidatedDrive, with_summary};
use disklab_validation::{Checked, page};

use crate::all;

const HOW: &str = "UPDATE=1 cargo test -p disklab-validation --test integration siblings";

pub fn the_pages_are_up_to_date() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/drives");
    let mut wanted: Vec<(PathBuf, String)> = Vec::new();
    for drive in all() {
        for document in page::documents(&drive.file, drive.text, &drive.checked) {
            wanted.push((directory.join(document.path), document.text));
        }
    }
    // The index and what belongs to no drive can be judged by all drives alone.
    if all().len() < SHIPPED.len() {
        return if is_update() { write(&wanted) } else { compare(&wanted) };
    }
    let readme = directory.join(page::README);
    let text = fs::read_to_string(&readme).expect("docs/drives/README.md");
    let drives: Vec<(&DriveFile, &[Checked])> =
        all().iter().map(|drive| (&drive.file, drive.checked.as_slice())).collect();
    let renewed = page::with_index(&text, &drives).expect("marks of the table of drives");
    wanted.push((readme, renewed));
    let summary = directory.join("../generated/checks.md");
    let text = fs::read_to_string(&summary).expect("docs/generated/checks.md");
    let drives: Vec<ValidatedDrive<'_>> = all()
        .iter()
        .map(|drive| ValidatedDrive {
            file: &drive.file,
            text: drive.text,
            checked: &drive.checked,
        })
        .collect();
    let renewed = with_summary(&text, &drives).expect("marks of the checks of all drives");
    wanted.push((summary, renewed));

    let names: BTreeSet<&PathBuf> = wanted.iter().map(|(path, _)| path).collect();
    let strangers: Vec<PathBuf> =
        files(&directory).into_iter().filter(|path| !names.contains(path)).collect();
    if is_update() {
        for path in strangers {
            fs::remove_file(path).expect("removed");
        }
        return write(&wanted);
    }
    assert!(strangers.is_empty(), "{strangers:?} belong to no drive: {HOW}");
    compare(&wanted);
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

fn write(wanted: &[(PathBuf, String)]) {
    for (path, text) in wanted {
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    }
}

fn compare(wanted: &[(PathBuf, String)]) {
    for (path, text) in wanted {
        let found = fs::read_to_string(path).unwrap_or_default();
        if let Err(difference) = alike(&found, text) {
            panic!("{} is not up to date: {difference}: {HOW}", path.display());
        }
    }
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("docs/drives").filter_map(Result::ok);
    entries
        .map(|entry| entry.path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

/// Whether two texts say the same: all but the numbers is equal, and the numbers
/// are within 1 % or 2 (pixels, in pictures) of each other. Other processors may
/// compute another last digit of a logarithm.
fn alike(a: &str, b: &str) -> Result<(), String> {
    let (a, b) = (pieces(a), pieces(b));
    for (a, b) in a.iter().zip(&b) {
        let same = match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= f64::max(2.0, 0.01 * a.abs().max(b.abs())),
            _ => a == b,
        };
        if !same {
            return Err(format!("it has '{a}' where '{b}' is now"));
        }
    }
    if a.len() == b.len() { Ok(()) } else { Err("it is longer or shorter".to_owned()) }
}

/// A text, cut into numbers and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let kind = is_number(first);
        let end = rest.find(|c| is_number(c) != kind).unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

#[test]
fn texts_are_alike_that_differ_in_a_last_digit() {
    assert_eq!(alike("a 81.76 IOPS, 400px.", "a 81.77 IOPS, 401px."), Ok(()));
    assert!(alike("a 1000 IOPS", "a 1100 IOPS").is_err());
    assert!(alike("a 10 met", "a 10 MISSED").is_err());
    assert!(alike("a 10", "a 10 b").is_err());
}
