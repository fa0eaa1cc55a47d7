//! CONTRIBUTING's promise: a layer, a workload, an audit, a format to import and a drive are
//! one file and one line in a table; nothing else names the file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder whose files are lines of the table in its `mod.rs`.
struct Table {
    folder: &'static str,
    /// Its static.
    table: &'static str,
    /// Files that several of the others share.
    shared: &'static [&'static str],
    /// What else of a file is used outside of the folder.
    shown: &'static [&'static str],
}

const TABLES: [Table; 4] = [
    Table {
        folder: "crates/run/stack/src/layers",
        table: "LAYERS",
        shared: &["file_system", "mount_options"],
        shown: &["lvm::VOLUME", "zfs::MARK"],
    },
    Table {
        folder: "crates/work/workload/src/kinds",
        table: "WORKLOADS",
        shared: &[],
        shown: &["fio::real::assume_fio"],
    },
    Table {
        folder: "crates/analysis/verdict/src/audits",
        table: "AUDITS",
        shared: &["support", "table"],
        // Named where they are raised and where their claims are held back.
        shown: &["correlated_repeats::NAME", "table::audits_markdown", "two_modes::NAME"],
    },
    Table {
        folder: "crates/output/import/src/formats",
        table: "FORMATS",
        shared: &["bonnie_table", "csv_rows", "hostile", "testing"],
        shown: &[],
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files and folders in `folder`, without their endings.
fn modules(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path());
    let names = entries.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    names.filter(|name| name != "mod").collect()
}

#[test]
fn each_file_is_one_line_of_its_table() {
    for Table { folder, table, shared, shown } in TABLES {
        let folder = root().join(folder);
        let text = fs::read_to_string(folder.join("mod.rs")).expect("mod.rs");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let (_, rows) = code.split_once(&format!("pub static {table}")).expect(table);
        let (_, rows) = rows.split_once("= &[").expect(table);
        let (rows, _) = rows.split_once("];").expect(table);
        let in_table: BTreeSet<String> = rows
            .lines()
            .filter_map(|row| Some(row.trim().split_once("::")?.0.to_owned()))
            .collect();
        let shared: BTreeSet<String> = shared.iter().map(|name| (*name).to_owned()).collect();
        let files: BTreeSet<String> = modules(&folder).difference(&shared).cloned().collect();
        assert_eq!(files, in_table, "{}", folder.display());
        // Private: only what is in `shown` can be named elsewhere.
        for name in &files {
            assert!(code.contains(&format!("\nmod {name};")), "{name} is not private");
        }
        let uses: Vec<&str> = code
            .lines()
            .filter_map(|line| {
                line.strip_prefix("pub use ").or(line.strip_prefix("pub(crate) use "))
            })
            .filter_map(|line| line.split([';', ' ']).next())
            .collect();
        assert_eq!(uses, shown, "{}", folder.display());
    }
}

#[test]
fn each_drive_is_one_file_and_one_line() {
    let text =
        fs::read_to_string(root().join("crates/model/drive/src/shipped.rs")).expect("shipped.rs");
    for name in modules(&root().join("drives")) {
        let line = format!("    (\"{name}\", include_str!(\"../../../../drives/{name}.toml\")),\n");
        assert_eq!(text.matches(&line).count(), 1, "{name}");
        assert_eq!(disklab_drive::shipped(&name).expect("a drive").id, name);
    }
}
