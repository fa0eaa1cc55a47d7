//! The workloads that come with disklab: `use = "NAME"` in a study.

use std::sync::Arc;

use disklab_source::{Source, SourceError, did_you_mean, one_of};

use disklab_cell::Caches;

use disklab_config::{Fields, Key, Node, Value};

/// The shipped workloads: one line each, which is a file in `workloads/`.
pub const SHIPPED_WORKLOADS: &[(&str, &str)] = &[
    ("small-files", include_str!("../../../../workloads/small-files.toml")),
    (
        "sync-writes-during-a-stream",
        include_str!("../../../../workloads/sync-writes-during-a-stream.toml"),
    ),
    ("large-directory", include_str!("../../../../workloads/large-directory.toml")),
    ("time-machine", include_str!("../../../../workloads/time-machine.toml")),
    ("vm-image", include_str!("../../../../workloads/vm-image.toml")),
    ("sqlite-commits", include_str!("../../../../workloads/sqlite-commits.toml")),
    ("postgresql", include_str!("../../../../workloads/postgresql.toml")),
    ("photo-import", include_str!("../../../../workloads/photo-import.toml")),
    ("video-streams", include_str!("../../../../workloads/video-streams.toml")),
    ("camera-and-player", include_str!("../../../../workloads/camera-and-player.toml")),
];

/// A workload of its own, for any study.
#[derive(Debug, Clone)]
pub struct ShippedWorkload {
    /// For people: one line.
    pub title: String,
    /// What it is like in life, and what its figures mean.
    pub about: String,
    /// The program: a word of the workload crate's table.
    pub kind: String,
    /// The kind's own fields.
    pub body: Node,
    /// When the page cache is emptied, where the study does not say.
    pub caches: Option<Caches>,
}

/// The words for `caches`.
pub(crate) const CACHES: [(&str, Caches); 3] =
    [("cold", Caches::Cold), ("drop", Caches::Drop), ("keep", Caches::Keep)];

/// Reads the text of a shipped workload.
///
/// # Errors
/// [`SourceError`], which names the file, if it lacks what a shipped workload has.
pub fn read_shipped(name: &str, text: &str) -> Result<ShippedWorkload, SourceError> {
    let source = Arc::new(Source { name: format!("workloads/{name}.toml"), text: text.to_owned() });
    let root = Node::parse(&source)?;
    let mut fields = Fields::new(&root, "a workload")?;
    let title = fields.require_text("title")?;
    let about = fields.require_text("about")?.trim().to_owned();
    let caches = fields.choice("caches", &CACHES)?;
    let rest = fields.rest();
    let [(kind, _, body)] = rest.as_slice() else {
        return Err(root.error("expected title, about, caches, and exactly one program's table"));
    };
    Ok(ShippedWorkload { title, about, kind: (*kind).to_owned(), body: (*body).clone(), caches })
}

/// The shipped workload that `node` names.
///
/// # Errors
/// [`SourceError`] at a name that no shipped workload has.
pub(crate) fn used(node: &Node) -> Result<ShippedWorkload, SourceError> {
    let name = node.as_text()?;
    let names = || SHIPPED_WORKLOADS.iter().map(|(name, _)| *name);
    match SHIPPED_WORKLOADS.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => read_shipped(name, text),
        None => Err(node.error(format!(
            "`use`: there is no workload '{name}'{}; known: {}",
            did_you_mean(&name, names()),
            one_of(names())
        ))),
    }
}

/// `body` with the fields of `with` in place of its own of the same names.
///
/// # Errors
/// [`SourceError`] at that of the two which is not a table.
pub(crate) fn changed(body: &Node, with: &Node) -> Result<Node, SourceError> {
    let mut entries: Vec<(Key, Node)> = body.entries()?.to_vec();
    for (key, value) in with.entries()? {
        match entries.iter_mut().find(|(known, _)| known.name == key.name) {
            Some(entry) => *entry = (key.clone(), value.clone()),
            None => entries.push((key.clone(), value.clone())),
        }
    }
    Ok(Node { value: Value::Table(entries), place: body.place.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_workload_is_understood() {
        for (name, text) in SHIPPED_WORKLOADS {
            let workload = read_shipped(name, text).unwrap_or_else(|e| panic!("{e}"));
            assert!(!workload.about.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_file_of_the_directory_is_shipped() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../workloads");
        let mut files: Vec<_> = std::fs::read_dir(directory)
            .expect("workloads/")
            .flatten()
            .filter_map(|e| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let mut shipped: Vec<_> = SHIPPED_WORKLOADS.iter().map(|(n, _)| (*n).to_owned()).collect();
        shipped.sort();
        assert_eq!(files, shipped);
    }

    #[test]
    fn an_invalid_workload_says_why() {
        for (text, part) in [
            ("title = 'x'", "'about'"),
            ("title = 'x'\nabout = 'y'", "exactly one program"),
            ("title = 'x'\nabout = 'y'\ncaches = 'warm'\n[fio]", "`caches`"),
            ("title = ", "workloads/w.toml:1"),
        ] {
            let error = read_shipped("w", text).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
