//! docs/generated/commands.md has every command and option of the parser. `UPDATE=1` writes it.

use std::fmt::Write as _;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, Command};

const UPDATE: &str = "UPDATE=1 cargo test -p disklab --bins reference";

#[test]
fn reference_has_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated/commands.md");
    let wanted = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/generated/commands.md is not up to date: {UPDATE}");
}

#[test]
fn a_table_has_all_that_the_help_has() {
    let option = Arg::new("level").long("level").short('l').value_name("N").default_value("5");
    let option = option.help("From 1 to 9|10").value_parser(["5", "6"]);
    let hidden = Arg::new("all").long("all").hide(true);
    let mut command = Command::new("x").arg(option).arg(hidden);
    command.build();
    let row = "| `-l`, `--level <N>` | From 1 to 9\\|10. One of `5`, `6`. Default: `5` |\n";
    assert_eq!(table(&command), format!("\n| argument | meaning |\n|---|---|\n{row}"));
}

fn page() -> String {
    let mut command = super::command().disable_help_subcommand(true);
    command.build();
    let mut text = format!(
        "<!-- Written by `{UPDATE}`. -->\n\n# Commands\n\nAll commands and options. `disklab COMMAND \
         --help` says the same, and so do the man pages.\n"
    );
    section(&mut command, &mut text);
    text
}

/// A command, and all below it.
fn section(command: &mut Command, text: &mut String) {
    let usage = command.render_usage().to_string();
    let name = command.get_bin_name().unwrap_or("disklab").to_owned();
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(|about| markdown(&about.to_string())).unwrap_or_default();
    let usage = usage.trim_start_matches("Usage: ").trim_end();
    let _ = write!(text, "\n## {name}\n\n{about}\n\n```\n{usage}\n```\n{}", table(command));
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        let _ = write!(text, "\n```\n{}\n```\n", after.to_string().trim_end());
    }
    for below in command.get_subcommands_mut().filter(|below| !below.is_hide_set()) {
        section(below, text);
    }
}

/// The arguments and options. Those of every command are with the first.
fn table(command: &Command) -> String {
    let is_common = |arg: &Arg| arg.is_global_set() && command.get_name() != "disklab";
    let is_help = |arg: &Arg| ["help", "version"].contains(&arg.get_id().as_str());
    let shown = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !is_common(arg) && !is_help(arg));
    let rows: String = shown.map(row).collect();
    if rows.is_empty() { rows } else { format!("\n| argument | meaning |\n|---|---|\n{rows}") }
}

fn row(arg: &Arg) -> String {
    let short = arg.get_short().filter(|_| arg.get_long().is_some());
    let short = short.map(|c| format!("`-{c}`, ")).unwrap_or_default();
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut help = help.map(|help| markdown(&help.to_string())).unwrap_or_default();
    let values = arg.get_possible_values();
    let is_flag = !arg.get_action().takes_values();
    if !values.is_empty() && !is_flag {
        let names: Vec<String> = values.iter().map(value_text).collect();
        let _ = write!(help, ". One of {}", names.join(", "));
    }
    let defaults = arg.get_default_values();
    if !defaults.is_empty() && !is_flag && !arg.is_hide_default_value_set() {
        let words: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        let _ = write!(help, ". Default: `{}`", words.join(" "));
    }
    format!("| {short}`{arg}` | {} |\n", help.replace(['\n'], " ").replace('|', "\\|"))
}

fn value_text(value: &PossibleValue) -> String {
    let help = value.get_help().map(|help| format!(" ({help})"));
    format!("`{}`{}", value.get_name(), help.unwrap_or_default())
}

/// A help text within Markdown.
fn markdown(help: &str) -> String {
    help.trim().replace('<', "\\<").replace('*', "\\*")
}
