//! The generated pages of docs/reference are those of the tables. `UPDATE=1` writes them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use disklab_import::FORMATS;
use disklab_stack::LAYERS;
use disklab_workload::WORKLOADS;

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
| `btrfs-*` | metadata raid1 on several devices | as often as the data, raid1c3 for raid6 | with fewer copies the metadata are lost before the data |
| `nilfs2` | mount starts the cleaner | it does not | `cleaner` has it |
| `f2fs` | a random seed for the checkpoint's version | a fixed one | repeatable |
| `zfs*` | zpool partitions whole disks, and remembers the pool | the same with udev; else disklab partitions. `cachefile=none` | nothing is left on the machine |
| `zvol` | a volume reserves its space | it does not, and takes 80 % of the pool | with padding, RAID-Z may not have the space |
| `loop-file` | the file goes through the page cache | direct I/O, if the file system has it | it would be cached twice |

Usable space is what `df` calls available to users: of ext4 without the 5 % for root (`mkfs='-m 0'` has none).
";

#[test]
fn reference_has_every_layer() {
    let kinds = LAYERS.iter().map(|kind| (kind.name, kind.summary, kind.options));
    let intro = "What a study's `stacks` may be made of, from the drives upwards \
        ([how to write a study](../guide/studies.md)). `disklab list stacks` says the same.";
    check("layers.md", "Layers", intro, &format!("{}\n{DEFAULTS}", kinds_text(kinds)));
}

#[test]
fn reference_has_every_kind_of_workload() {
    let kinds = WORKLOADS.iter().map(|kind| (kind.name, kind.summary, kind.fields));
    let intro = "The kinds of workloads and the keys of each in a study. `disklab list \
        workloads` says the same. Options of job files, and more about each: \
        [workloads](workloads.md).";
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

/// Names, summaries and the options of each.
fn kinds_text<'a>(
    kinds: impl Iterator<Item = (&'a str, &'a str, &'a [(&'a str, &'a str)])>,
) -> String {
    let mut text = String::new();
    for (name, summary, options) in kinds {
        let _ = write!(text, "## {name}\n\n{}\n\n", summary.trim_end_matches('.').to_owned() + ".");
        if options.is_empty() {
            continue;
        }
        text.push_str("| option | meaning |\n|---|---|\n");
        for (option, meaning) in options {
            let _ = writeln!(text, "| `{}` | {} |", cell(option), cell(meaning));
        }
        text.push('\n');
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    let wanted = format!("<!-- Written by `{UPDATE}`. -->\n\n# {title}\n\n{intro}\n\n{text}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, wanted).expect("written");
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/reference/{file} is not up to date: {UPDATE}");
}
