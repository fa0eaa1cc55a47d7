//! The generated pages of docs/reference are those of the tables. `UPDATE=1` writes them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use disklab_import::FORMATS;
use disklab_stack::LAYERS;
use disklab_workload::WORKLOADS;

const UPDATE: &str = "UPDATE=1 cargo test -p disklab --test integration reference";

#[test]
fn reference_has_every_layer() {
    let kinds = LAYERS.iter().map(|kind| (kind.name, kind.summary, kind.options));
    let intro = "What a study's `stacks` may be made of, from the drives upwards \
        ([how to write a study](../guide/studies.md)). `disklab list stacks` says the same.";
    check("layers.md", "Layers", intro, &kinds_text(kinds));
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
