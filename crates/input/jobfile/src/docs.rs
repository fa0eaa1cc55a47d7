//! The options' documentation, from the table that also reads them.

use std::fmt::Write as _;

use crate::options::CHAPTERS;
use crate::options::unsupported::{IDLE, Idle, REFUSED, UNSUPPORTED, Unsupported};

/// All options that the native engine has, as Markdown tables by subject.
pub fn markdown() -> String {
    let mut text = String::new();
    for chapter in &CHAPTERS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "### {}\n", chapter.title);
        text.push_str(
            "| option | value | meaning (default) | not as in fio |\n|---|---|---|---|\n",
        );
        for option in chapter.options {
            let names: Vec<String> = std::iter::once(option.name)
                .chain(option.aliases.iter().copied())
                .map(|name| format!("`{name}`"))
                .collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                names.join(", "),
                cell(option.value),
                option.meaning,
                option.difference
            );
        }
        text.push('\n');
    }
    text
}

/// All options that the native engine has, for a terminal: two lines each.
pub fn listing() -> String {
    let mut text = String::new();
    for chapter in &CHAPTERS {
        let _ = writeln!(text, "{}\n", chapter.title);
        for option in chapter.options {
            let also: String = option.aliases.iter().map(|alias| format!(", {alias}")).collect();
            let _ = writeln!(text, "  {}{also} = {}", option.name, option.value);
            let _ = writeln!(text, "      {}", option.meaning.replace('`', ""));
            if !option.difference.is_empty() {
                let _ =
                    writeln!(text, "      Not as in fio: {}", option.difference.replace('`', ""));
            }
        }
        text.push('\n');
    }
    text
}

/// A text inside of a table, where '|' ends a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// What the native engine has not, as Markdown: what only fio runs, what nobody does, and what
/// has no effect.
pub fn unsupported() -> String {
    let lists = [UNSUPPORTED, REFUSED, IDLE];
    let idle = |option: &&Unsupported| matches!(option.idle, Idle::Always(_));
    let mut text = String::new();
    for (head, options) in [
        ("Only with `engine = \"fio\"`", UNSUPPORTED.iter().filter(|o| !idle(o)).collect()),
        ("Refused with either", REFUSED.iter().collect()),
        ("Accepted, without effect", lists.iter().copied().flatten().filter(idle).collect()),
    ] {
        let _ = writeln!(text, "### {head}\n\n| option | what it is, or why |\n|---|---|");
        reasons(&mut text, options);
        text.push('\n');
    }
    text
}

/// A row for each reason: its options, and the values with which they are accepted.
fn reasons(text: &mut String, options: Vec<&Unsupported>) {
    let mut done: Vec<&str> = Vec::new();
    for option in &options {
        if done.contains(&option.what) {
            continue;
        }
        done.push(option.what);
        let names: Vec<String> = options
            .iter()
            .filter(|other| other.what == option.what)
            .map(|other| {
                let names = std::iter::once(other.name).chain(other.aliases.iter().copied());
                let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                match other.idle {
                    Idle::At(values) if !values.is_empty() => {
                        format!("{} ({})", names.join(", "), values.join(", "))
                    }
                    _ => names.join(", "),
                }
            })
            .collect();
        let _ = writeln!(text, "| {} | {} |", names.join(", "), option.what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native_options;

    #[test]
    fn every_option_is_listed_once() {
        let (text, tables) = (listing(), markdown());
        for option in native_options() {
            let line = |l: &&str| l.trim_start().starts_with(option.name) && l.contains(" = ");
            assert!(text.lines().any(|l| line(&l)), "{}", option.name);
            let cell = format!("| `{}`", option.name);
            let found = tables.lines().filter(|l| {
                l.starts_with(&format!("{cell} ")) || l.starts_with(&format!("{cell},"))
            });
            assert_eq!(found.count(), 1, "{}", option.name);
        }
        // Each row has as many cells as its head.
        let cells = |l: &str| l.replace("\\|", "").matches('|').count();
        for row in tables.lines().filter(|l| l.starts_with('|')) {
            assert_eq!(cells(row), 5, "{row}");
        }
    }
}
