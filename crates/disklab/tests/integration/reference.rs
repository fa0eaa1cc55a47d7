//! The pages of layers, workloads, formats and exit codes in docs/generated are those of the tables. `UPDATE=1` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use disklab_import::FORMATS;
use disklab_stack::{LAYERS, LayerKind};
use disklab_workload::WORKLOADS;
use serde_json::{Value, json};

use crate::command_support::disklab;

const UPDATE: &str = "UPDATE=1 cargo test -p disklab --test integration reference";

/// Where layers differ from what their programs do by themselves.
const DEFAULTS: &str = "## Defaults

An option that is not given is left to the program that makes the layer, so that a stack is what \
the program makes of these drives: mdadm, mkfs, lvcreate, cryptsetup and zpool of Debian 12 or 13, \
whichever is installed. `disklab lab build --zfs` takes Debian's OpenZFS. UUIDs, labels and hash \
seeds come from the seed. What else differs:

| layer | the program's default | disklab | why |
|---|---|---|---|
| `md-*` | a write-intent bitmap from 100 GiB a member on (mdadm 4.2, Debian 12); mdadm 4.4 (Debian 13) asks at any size | a bitmap from 100 GiB on | the same with both |
| `md-*`, `lvm-raid*`, `shr` | the first resync runs while the array is used | it is waited for; none on members that read as zeros, and none in the lab | a cell measures an array that is in sync. In the lab it would only take time: `resync=wait` has it, and `plan` says how long. LVM cannot skip that of RAID 6 |
| `shr` | (DSM) chunks of 64 KiB, no bitmap | the same | |
| `lvm`, `lvm-*` | signatures are wiped, the first 4 KiB zeroed; a pool's metadata are checked | neither | drives are blank or were wiped before |
| `crypt` | Argon2id for the passphrase | PBKDF2, 1,000 iterations | the key is no secret; data are encrypted as by default |
| `ext4` | after mounting, a thread writes inode tables and another reads bitmaps | neither: `noinit_itable`, `no_prefetch_block_bitmaps` | on large drives they run for minutes to hours, alongside what is measured; `lazy-init=wait` has the first done before |
| `ext4` | mkfs writes zeros into the journal, up to 1 GiB | it does not (`lazy_journal_init`) | 1 GiB more for each cell. On `lvm-thin` the journal gets its space at its first use; `lazy-init=off` has it written |
| `btrfs-*` | metadata raid1 on several devices | as often as the data, raid1c3 for raid6 | with fewer copies the metadata are lost before the data |
| `nilfs2` | mount starts the cleaner | it does not | `cleaner` has it |
| `f2fs` | a random seed for the checkpoint's version | a fixed one | repeatable |
| `zfs*` | zpool partitions whole disks, and remembers the pool | the same with udev; else disklab partitions, and no names of udev are kept with the pool. `cachefile=none` | nothing is left on the machine |
| `zvol` | a volume reserves its space | it does not, and takes 80 % of the pool | with padding, RAID-Z may not have the space |
| `loop-file` | the file goes through the page cache | direct I/O, if the file system has it | it would be cached twice |

Usable space is what `df` calls available to users: of ext4 without the 5 % for root (`mkfs='-m 0'` has none).
";

#[test]
fn reference_has_every_layer() {
    let inputs =
        |kind: &'static LayerKind| kind.inputs.iter().map(|i| (i.name, i.words())).collect();
    let kinds = LAYERS.iter().map(|kind| (kind.name, kind.summary, kind.options, inputs(kind)));
    let intro = "What a study's `stacks` may be made of, from the drives upwards \
        ([how to write a study](../guide/studies.md)). `disklab list stacks` says the same.";
    check("layers.md", "Layers", intro, &format!("{}\n{DEFAULTS}", kinds_text(kinds)));
}

#[test]
fn reference_has_every_kind_of_workload() {
    let kinds = WORKLOADS.iter().map(|kind| (kind.name, kind.summary, kind.fields, Vec::new()));
    let intro = "The kinds of workloads and the keys of each in a study. `disklab list \
        workloads` says the same. Options of job files, and more about each: \
        [workloads](../reference/workloads.md).";
    check("workload-kinds.md", "Kinds of workloads", intro, &kinds_text(kinds));
}

#[test]
fn reference_has_every_import_format() {
    let mut text = "| format | written by |\n|---|---|\n".to_owned();
    for format in FORMATS {
        let _ = writeln!(text, "| `{}` | {} |", format.name, cell(format.about));
    }
    let intro = "What `disklab import` reads, in the order in which a text is recognised \
        ([import](../guide/import.md)).";
    check("import-formats.md", "Import formats", intro, &text);
}

#[test]
fn reference_has_every_exit_code() {
    let mut text = "| code | meaning |\n|--:|---|\n".to_owned();
    let mut comment = String::new();
    for line in include_str!("../../src/exit.rs").lines() {
        if let Some(words) = line.strip_prefix("/// ") {
            comment = words.trim_end_matches('.').to_owned();
        } else if let Some((_, value)) =
            line.strip_prefix("pub const ").and_then(|rest| rest.split_once(": u8 = "))
        {
            let _ = writeln!(text, "| {} | {} |", value.trim_end_matches(';'), cell(&comment));
        }
    }
    let intro = "What `disklab` ends with. Bad input is found before anything is touched.";
    check("exit-codes.md", "Exit codes", intro, &text);
}

/// Names, summaries and the options and inputs of each.
fn kinds_text<'a>(
    kinds: impl Iterator<Item = (&'a str, &'a str, &'a [(&'a str, &'a str)], Vec<(&'a str, String)>)>,
) -> String {
    let mut text = String::new();
    for (name, summary, options, inputs) in kinds {
        let _ = write!(text, "## {name}\n\n{}\n\n", summary.trim_end_matches('.').to_owned() + ".");
        let options =
            options.iter().map(|(name, meaning)| (*name, (*meaning).to_owned())).collect();
        for (heading, rows) in [("option", options), ("input", inputs)] {
            let _: &Vec<(&str, String)> = &rows;
            if !rows.is_empty() {
                let _ = write!(text, "| {heading} | meaning |\n|---|---|\n");
                for (name, meaning) in rows {
                    let _ = writeln!(text, "| `{}` | {} |", cell(name), cell(&meaning));
                }
                text.push('\n');
            }
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// A text within a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

fn check(file: &str, title: &str, intro: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated").join(file);
    let wanted = format!("<!-- Written by `{UPDATE}`. -->\n\n# {title}\n\n{intro}\n\n{text}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, wanted).expect("written");
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/generated/{file} is not up to date: {UPDATE}");
}

/// The names in the tables of docs/reference/data.md, by the heading above each.
fn documented() -> BTreeMap<&'static str, BTreeSet<String>> {
    let (mut found, mut heading) = (BTreeMap::new(), "");
    for line in include_str!("../../../../docs/reference/data.md").lines() {
        if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim();
        }
        let Some((names, _)) = line.strip_prefix("| `").and_then(|row| row.split_once("` | "))
        else {
            continue;
        };
        let names = names.split("`, `").map(str::to_owned);
        found.entry(heading).or_insert_with(BTreeSet::new).extend(names);
    }
    found
}

fn same(documented: &BTreeMap<&str, BTreeSet<String>>, heading: &str, real: BTreeSet<String>) {
    let page = documented.get(heading).unwrap_or_else(|| panic!("no table '{heading}'"));
    assert_eq!(*page, real, "docs/reference/data.md, '{heading}' (left), and the program's");
}

/// The keys of the first object at a path such as `groups[].observations[]`.
fn keys(report: &Value, path: &str) -> BTreeSet<String> {
    let mut at = report;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        at = &at[part.trim_end_matches("[]")][0];
    }
    at.as_object().unwrap_or_else(|| panic!("no '{path}'")).keys().cloned().collect()
}

/// By a plan and a result that have every field.
#[test]
fn reference_has_plans_and_results() {
    let page = documented();
    let cell = disklab_cell::Cell {
        number: 0,
        block: 0,
        levels: disklab_cell::Levels::new("s", "w"),
        seed: 1,
    };
    let work = json!({ "id": "w", "kind": "dd", "body": {}, "caches": "cold" });
    let making = json!({
        "machine": "loop", "drives": [], "stack": [], "write_cache": true,
        "seed": 1, "earlier_files": true, "reserves_space": true,
    });
    let plan = json!({
        "format": 2, "cell": cell, "making": making, "workload": work, "scale": 1.0,
        "files": { "a": "b" }, "spread": 0.5,
        "faults": [{ "drive": 1, "does": "dies" }],
        "needs": { "kernel": [], "programs": [] },
        "estimate": { "seconds": 1.0, "clock_seconds": 1.0, "content": 1 },
    });
    let plan = disklab_cell::CellPlan::parse(&plan.to_string()).expect("a plan");
    let plan = serde_json::to_value(plan).expect("JSON");
    same(&page, "Plan", keys(&plan, ""));
    same(&page, "Object `making`", keys(&plan["making"], ""));
    let result = disklab_sample::CellResult {
        format: disklab_sample::CellResult::FORMAT,
        cell,
        plan: String::new(),
        disklab: String::new(),
        environment: disklab_sample::Environment::default(),
        outcome: Err("why".to_owned()),
        trace: Vec::new(),
        seconds: 1.0,
    };
    same(&page, "Result", keys(&serde_json::to_value(result).expect("JSON"), ""));
}

/// By the run that comes with disklab.
#[test]
fn reference_has_the_data_that_programs_read() {
    let (home, page) = (tempfile::tempdir().expect("temp"), documented());
    disklab(home.path()).args(["shipped", "--out", "run"]).assert().success();
    let report = |format: &str| {
        let words = ["report", "run", "--out", "-", "--format", format];
        disklab(home.path()).args(words).assert().success().get_output().stdout.clone()
    };

    let csv = String::from_utf8(report("csv")).expect("UTF-8");
    let header = csv.lines().next().expect("a header");
    same(&page, "Columns", header.split(',').map(str::to_owned).collect());

    let json: Value = serde_json::from_slice(&report("json")).expect("JSON");
    same(&page, "Object `report`", keys(&json, ""));
    let objects =
        page.keys().filter_map(|heading| heading.strip_prefix("Object `")?.strip_suffix("[]`"));
    let objects: Vec<_> = objects.collect();
    assert!(objects.len() >= 7, "{objects:?}");
    for path in objects {
        same(&page, &format!("Object `{path}[]`"), keys(&json, path));
    }

    let run = rusqlite::Connection::open(home.path().join("run/run.sqlite")).expect("a database");
    let names = |sql: &str| -> BTreeSet<String> {
        let mut rows = run.prepare(sql).expect(sql);
        let rows = rows.query_map([], |row| row.get(0)).expect(sql);
        rows.collect::<Result<_, _>>().expect(sql)
    };
    for table in names("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'outcome'")
    {
        let columns = names(&format!("SELECT name FROM pragma_table_info('{table}')"));
        same(&page, &format!("Table `{table}`"), columns);
    }
}
