//! How the lab's kernel differs from those of machines, and that each difference has a reason.
//!
//! `kernel/machines.tsv` has the options, which `scripts/kernel-options` collects;
//! `kernel/differences` the reasons. The page of the book is made of both.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::options::settings;
use super::variant::PLAIN;

const MACHINES: &str = include_str!("../../../../kernel/machines.tsv");
const REASONS: &str = include_str!("../../../../kernel/differences");
/// Where the page is, from this crate.
const PAGE: &str = "../../../docs/generated/kernel-options.md";
/// What it begins with.
const HEAD: &str = "\
# The lab's kernel and those of machines

<!-- Made of kernel/machines.tsv, kernel/differences and this page's head by the test
     page_of_the_book_is_what_the_files_say (disklab-lab-kernel): UPDATE=1 renews it. -->

Figures depend on how a kernel is configured: with `CONFIG_BLK_WBT` off, which all distributions have on,
random reads next to a buffered writer came to a third. So all options that are declared below `block`, `fs`, `mm`,
`drivers/md` and `kernel/sched`, and all that the code there asks for, are compared with those of Debian 12
(`linux-config-6.1`), Debian 13 (`linux-config-6.12`) and TrueNAS (Debian 13's with its own changes,
`scripts/package/truenas` of github.com/truenas/linux). `scripts/kernel-options` renews the table
`kernel/machines.tsv`; a test fails where a difference has no reason in `kernel/differences`.

What the code asks the machine when it runs, no option says. Btrfs asks whether crc32c is fast; in the lab it is
(`checksums.patch`), as on any x86-64 since 2008. The number of processors, one in User-Mode Linux, is asked for by Btrfs (three workers of a
kind, where four processors have six), by XFS's log and by the limit of dirty pages (it is looked at after a 32nd of them, not a 128th).

What user space sets is in `machines/`, a file each, with the source of each value. A study names
one by [`lab.machine`](../guide/studies.md), and a run's record has what was set. On Debian that is the
kernel's defaults nearly throughout: no udev rule chooses a scheduler, and no file in `sysctl.d` limits dirty pages.

";
/// The columns before those of machines.
const OWN_COLUMNS: usize = 3;

/// An option, and what it is where.
struct Row<'a> {
    name: &'a str,
    declared: &'a str,
    lab: &'a str,
    machines: Vec<&'a str>,
}

impl Row<'_> {
    fn differs(&self) -> bool {
        self.machines.iter().any(|value| *value != self.lab)
    }
}

fn rows(table: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let mut fields = str::split(line, '\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("too few fields: {line}"));
        let (name, declared, lab) = (next(), next(), next());
        Row { name, declared, lab, machines: fields.collect() }
    };
    table.lines().skip(1).map(row).collect()
}

/// The reasons, each with the patterns below it.
fn reasons(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('\t') {
            None => found.push((line, Vec::new())),
            Some(patterns) => {
                let (_, all) = found.last_mut().expect("a reason comes first");
                all.extend(patterns.split_whitespace());
            }
        }
    }
    found
}

/// Whether a pattern is for this option: a name with `*` and `?`, or a place in Kconfig.
fn is_for(pattern: &str, row: &Row<'_>) -> bool {
    if pattern.contains('/') { row.declared.starts_with(pattern) } else { fits(pattern, row.name) }
}

fn fits(pattern: &str, name: &str) -> bool {
    let mut rest = name.chars();
    match pattern.chars().next() {
        None => name.is_empty(),
        Some('*') => (0..=name.len()).any(|from| fits(&pattern[1..], &name[from..])),
        Some('?') => rest.next().is_some() && fits(&pattern[1..], rest.as_str()),
        Some(letter) => rest.next() == Some(letter) && fits(&pattern[1..], rest.as_str()),
    }
}

/// What is wrong: a difference without a reason or with two, and a reason without a difference.
fn problems(rows: &[Row<'_>], reasons: &[(&str, Vec<&str>)]) -> Vec<String> {
    let differing: Vec<&Row<'_>> = rows.iter().filter(|row| row.differs()).collect();
    let mut problems = Vec::new();
    for row in &differing {
        let patterns = reasons.iter().flat_map(|(_, patterns)| patterns);
        let found: Vec<&&str> = patterns.filter(|pattern| is_for(pattern, row)).collect();
        if found.len() != 1 {
            let values = row.machines.join(", ");
            problems.push(format!(
                "CONFIG_{} is {} in the lab and {values} on machines: {} reasons in \
                 kernel/differences {found:?}, expected one; or set it in kernel/lab.config",
                row.name,
                row.lab,
                found.len()
            ));
        }
    }
    for pattern in reasons.iter().flat_map(|(_, patterns)| patterns) {
        if !differing.iter().any(|row| is_for(pattern, row)) {
            problems.push(format!("kernel/differences: '{pattern}' differs nowhere, remove it"));
        }
    }
    problems
}

/// The page's text.
fn page(rows: &[Row<'_>], reasons: &[(&str, Vec<&str>)]) -> String {
    let count = |index: usize| rows.iter().filter(|row| row.machines[index] != row.lab).count();
    let names = MACHINES.lines().next().expect("a heading").split('\t').skip(OWN_COLUMNS);
    let mut text = HEAD.to_owned();
    text += "| kernel | options that differ |\n|---|---|\n";
    for (index, name) in names.enumerate() {
        let _ = writeln!(text, "| {name} | {} of {} |", count(index), rows.len());
    }
    text += "\n## Why\n\n| reason | options |\n|---|---|\n";
    for (reason, patterns) in reasons {
        let patterns: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
        let _ = writeln!(text, "| {reason} | {} |", patterns.join(" "));
    }
    text
}

/// What the fragments ask for goes before the table, which may be older.
fn rows_as_asked_for(fragment: &str) -> Vec<Row<'_>> {
    let asked: BTreeMap<&str, &str> = settings(fragment).collect();
    let mut rows = rows(MACHINES);
    for row in &mut rows {
        if let Some(value) = asked.get(format!("CONFIG_{}", row.name).as_str()) {
            row.lab = value;
        }
    }
    rows
}

#[test]
fn every_difference_from_machines_has_one_reason() {
    let fragment = PLAIN.fragment();
    let problems = problems(&rows_as_asked_for(&fragment), &reasons(REASONS));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Kconfig's defaults, and what options bring along, only a kernel shows.
#[test]
fn the_table_has_what_the_kernel_was_built_with() {
    let kernel = super::find(&super::cache_directory(), super::Parts::ALL);
    let config = kernel.and_then(|k| std::fs::read_to_string(k.with_file_name("config")).ok());
    let Some(config) = config else {
        eprintln!("skipped: needs the lab's kernel (disklab lab build)");
        return;
    };
    let built: BTreeMap<&str, &str> = settings(&config).collect();
    for row in rows(MACHINES) {
        let value = built.get(format!("CONFIG_{}", row.name).as_str()).copied().unwrap_or("n");
        assert_eq!(
            row.lab, value,
            "CONFIG_{}: renew kernel/machines.tsv by scripts/kernel-options and the kernel's config",
            row.name
        );
    }
}

#[test]
fn page_of_the_book_is_what_the_files_say() {
    let text = page(&rows(MACHINES), &reasons(REASONS));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "renew it: UPDATE=1 cargo test -p disklab-lab-kernel page_of_the_book");
}

#[test]
fn what_is_new_is_found() {
    let table = "option\tdeclared in\tlab\ta\tb\nA\tfs/Kconfig\tn\ty\ty\nB\tfs/x/Kconfig\ty\tn\ty\n\
                 C\tmm/Kconfig\ty\ty\ty\n";
    let found = |text: &str| problems(&rows(table), &reasons(text));
    assert!(found("why\n\tA fs/x/\n").is_empty());
    assert!(found("why\n\t? fs/x/\n")[0].starts_with("CONFIG_B is y in the lab and n, y"));
    for (text, words) in [
        ("why\n\tA\n", "CONFIG_B is y"),
        ("why\n\tA B\n\nand\n\tfs/x/\n", "2 reasons"),
        ("why\n\tA B C\n", "'C' differs nowhere"),
        ("", "CONFIG_A is n"),
    ] {
        let problems = found(text).join("\n");
        assert!(problems.contains(words), "{text}: {problems}");
    }
}
