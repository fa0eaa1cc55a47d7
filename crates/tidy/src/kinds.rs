//! One kind of thing is one file and one line in a table: what CONTRIBUTING.md promises of layers,
//! workloads, audits, import formats, drives and studies.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust::{RustToken, TokenKind, tokens};
use crate::tree::{files_with, text};

/// A table of kinds, each of which has a module next to it.
struct KindTable {
    /// The directory of the modules; `mod.rs` has the table.
    directory: &'static str,
    /// The table's name.
    table: &'static str,
    /// The type of its entries.
    kind: &'static str,
    /// Modules that several kinds share, and that are none themselves.
    shared: &'static [&'static str],
    /// What else of a module is used outside of the directory.
    shown: &'static [&'static str],
    /// Entries that there are at least: a table that is not found would pass.
    least: usize,
}

const TABLES: [KindTable; 5] = [
    KindTable {
        directory: "crates/run/stack/src/layers",
        table: "LAYERS",
        kind: "LayerKind",
        shared: &["file_system", "mount_options"],
        shown: &[],
        least: 30,
    },
    KindTable {
        directory: "crates/model/drive/src/faults/kinds",
        table: "FAULTS",
        kind: "FaultKind",
        shared: &["picks"],
        shown: &[],
        least: 8,
    },
    KindTable {
        directory: "crates/work/workload/src/kinds",
        table: "WORKLOADS",
        kind: "WorkloadKind",
        shared: &["drive_pass"],
        shown: &["fio::jobs_in_report"],
        least: 12,
    },
    KindTable {
        directory: "crates/analysis/audits/src/audits",
        table: "AUDITS",
        kind: "Audit",
        shared: &["support", "table"],
        // Named where they are raised and where their claims are held back.
        shown: &[
            "correlated_repeats::NAME",
            "in_one_place::NAME",
            "read_from_cache::NAME",
            "table::audits_markdown",
            "two_modes::NAME",
        ],
        least: 60,
    },
    KindTable {
        directory: "crates/output/import/src/formats",
        table: "FORMATS",
        kind: "ImportFormat",
        shared: &["bonnie_line", "bonnie_table", "csv_rows", "dd_commands", "hostile", "testing"],
        shown: &[],
        least: 11,
    },
];

/// Names that code outside of the kinds' own modules spells, and what it means by them. A new kind
/// needs no line here.
const SPELLED_ELSEWHERE: [(&str, &str); 32] = [
    // Layers.
    ("crypt", "dm-crypt's target; the audit of slow encryption is about this layer"),
    ("ext4", "the kernel's file system and a part of its options"),
    ("f2fs", "the kernel's file system and a part of its options"),
    ("integrity", "dm-integrity's target"),
    ("lvm", "the program"),
    ("md-linear", "the kernel lacks it since 6.8"),
    ("nilfs2", "the kernel's file system and a part of its options; its short name in reports"),
    ("partition", "sysfs has a file of this name"),
    ("queue", "sysfs has a directory of this name; the audit of schedulers is about this layer"),
    ("shr", "its short name in reports"),
    ("xfs", "the kernel's file system and a part of its options; its short name in reports"),
    ("zfs", "the program and the kernel's file system"),
    ("zvol", "the audit of direct I/O: a zvol has a cache of its own"),
    // Workloads, and formats that are named after the same program.
    ("backup", "imported runs of this kind: what each step did"),
    ("bonnie++", "the program"),
    ("copy", "imported runs of this kind; figures and costs of copies"),
    ("dd", "the program"),
    ("diskspd", "the program"),
    ("directory", "an option of jobs, a word of WML, a system call's error"),
    ("filebench", "the program"),
    ("fio", "the program"),
    ("hdparm", "the program"),
    ("iozone", "the program"),
    ("phoronix", "the program"),
    ("postgresql", "a shipped workload of this name"),
    ("rebuild", "the event"),
    ("rsync", "the program"),
    ("scrub", "the event, and the word of the programs that do it"),
    ("sysbench", "the program"),
    ("time", "the program; a key of fio's JSON; a heading"),
    // Audits.
    ("imported", "the id of an imported study"),
    ("shared-spindle", "the summary makes no claim on layouts whose drives share a disk"),
];

#[test]
fn each_module_of_kinds_has_its_lines_in_the_table() {
    for table in &TABLES {
        let entries = entries(table);
        assert!(entries.len() >= table.least, "{}: {} entries", table.table, entries.len());
        let listed: BTreeSet<&str> = entries.iter().map(String::as_str).collect();
        let modules = modules(table);
        let modules: BTreeSet<&str> = modules.iter().map(String::as_str).collect();
        assert_eq!(listed, modules, "{} lists each module next to it", table.table);
    }
}

#[test]
fn modules_of_kinds_are_private() {
    for table in &TABLES {
        let text = text(&format!("{}/mod.rs", table.directory));
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for module in modules(table) {
            assert!(code.contains(&format!("\nmod {module};")), "{}: {module}", table.directory);
        }
        let uses: Vec<&str> = code
            .lines()
            .filter_map(|line| {
                line.strip_prefix("pub use ").or(line.strip_prefix("pub(crate) use "))
            })
            .filter_map(|line| line.split([';', ' ']).next())
            .collect();
        assert_eq!(uses, table.shown, "{}", table.directory);
    }
}

#[test]
fn names_of_kinds_are_spelled_in_their_own_modules_only() {
    let mut unused: BTreeSet<&str> = SPELLED_ELSEWHERE.iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    let spelled = literals();
    for table in &TABLES {
        for (name, module) in names(table) {
            let is_own = |file: &str| {
                TABLES.iter().any(|t| file.starts_with(&format!("{}/{module}", t.directory)))
            };
            for (file, line) in spelled.get(&name).into_iter().flatten() {
                if is_own(file) {
                    continue;
                }
                unused.remove(name.as_str());
                if !SPELLED_ELSEWHERE.iter().any(|(known, _)| *known == name) {
                    wrong.push(format!("{file}:{line}: '{name}' of {}", table.table));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "a new kind is one file and one line:\n{}", wrong.join("\n"));
    assert!(unused.is_empty(), "nothing spells these elsewhere any more: {unused:?}");
}

#[test]
fn each_drive_is_one_file_and_one_line() {
    let table = text("crates/model/drive/src/shipped.rs");
    let sizes = "crates/input/study/src/model_sizes.rs";
    let drives = files_with("drives", "toml");
    assert!(drives.len() > 50, "{drives:?}");
    for file in &drives {
        let id = file.trim_start_matches("drives/").trim_end_matches(".toml");
        let line = format!("    (\"{id}\", include_str!(\"../../../../{file}\")),\n");
        assert_eq!(table.matches(&line).count(), 1, "{file} in the table of shipped drives");
        assert!(text(sizes).contains(&format!("(\"{id}\", ")), "{id} in {sizes}");
    }
    assert_eq!(table.matches("include_str!").count(), drives.len());
}

#[test]
fn each_study_is_one_file_and_one_line() {
    let table = text("crates/run/runner/src/studies.rs");
    let studies = files_with("studies", "toml");
    assert!(studies.len() >= 8, "{studies:?}");
    for file in &studies {
        let id = file.trim_start_matches("studies/").trim_end_matches(".toml");
        let line = format!("    (\"{id}\", include_str!(\"../../../../{file}\")),\n");
        assert_eq!(table.matches(&line).count(), 1, "{file} in the table of shipped studies");
    }
}

/// The modules that a table's entries name, such as `md` of `md::RAID0`.
fn entries(table: &KindTable) -> Vec<String> {
    let text = text(&format!("{}/mod.rs", table.directory));
    let (_, rest) = text.split_once(&format!("static {}: ", table.table)).expect(table.table);
    let (_, rest) = rest.split_once("&[\n").expect("its entries");
    let (entries, _) = rest.split_once("\n];").expect("its end");
    let module = |line: &str| line.trim().split_once("::").map(|(module, _)| module.to_owned());
    entries.lines().map(|line| module(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

/// The modules in the directory that are kinds: files and directories.
fn modules(table: &KindTable) -> Vec<String> {
    let directory = format!("{}/", table.directory);
    let mut found = BTreeSet::new();
    for file in files_with(table.directory, "rs") {
        let rest = file.strip_prefix(&directory).expect("below it");
        let module = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        if module != "mod" && !table.shared.contains(&module) {
            found.insert(module.to_owned());
        }
    }
    found.into_iter().collect()
}

/// The names of a table's kinds, with their modules: the first literal of each `: Kind = …;`.
fn names(table: &KindTable) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in files_with(table.directory, "rs") {
        let rest = file.strip_prefix(table.directory).expect("below it").trim_start_matches('/');
        let module = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        let text = text(&file);
        let tokens: Vec<RustToken<'_>> = tokens(&text)
            .into_iter()
            .filter(|t| t.kind != TokenKind::Comment && !t.in_tests)
            .collect();
        for (at, three) in tokens.windows(3).enumerate() {
            if three[0].text == ":" && three[1].text == table.kind && three[2].text == "=" {
                let mut after = tokens[at + 3..].iter().take_while(|t| t.text != ";");
                // Those of Btrfs are lines of a table of their own.
                if let Some(name) = after.find(|t| t.kind == TokenKind::Literal) {
                    found.push((name.text.trim_matches('"').to_owned(), module.to_owned()));
                }
            }
        }
    }
    assert!(found.len() >= table.least / 2, "{}: {} names", table.table, found.len());
    found
}

/// Where the program's code, without its tests, has which string literals.
fn literals() -> BTreeMap<String, Vec<(String, usize)>> {
    let mut found: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for file in files_with("crates", "rs") {
        let is_test = ["/tests/", "/examples/", "crates/tidy/"].iter().any(|f| file.contains(f))
            || ["test.rs", "tests.rs", "testing.rs", "hostile.rs", "fabricated.rs"]
                .iter()
                .any(|end| file.ends_with(end));
        if is_test {
            continue;
        }
        for token in tokens(&text(&file)) {
            if token.kind == TokenKind::Literal && !token.in_tests {
                let literal = token.text.trim_matches('"').to_owned();
                found.entry(literal).or_default().push((file.clone(), token.line));
            }
        }
    }
    found
}
