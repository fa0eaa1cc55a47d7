//! The options' documentation, from the table that also reads them.

use std::fmt::Write as _;

use crate::options::CHAPTERS;
use crate::options::foreign::{REFUSED, UNSUPPORTED};

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

/// A text inside of a table, where '|' ends a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// What the native engine has not, as Markdown: what only fio runs, and what
/// nobody does.
pub fn unsupported() -> String {
    let mut text = String::new();
    for (head, list) in
        [("Only with `engine = \"fio\"`", UNSUPPORTED), ("Refused with either", REFUSED)]
    {
        let _ = writeln!(text, "### {head}\n\n| option | what it is, or why |\n|---|---|");
        let mut done: Vec<&str> = Vec::new();
        for foreign in list {
            if done.contains(&foreign.what) {
                continue;
            }
            done.push(foreign.what);
            let names: Vec<String> = list
                .iter()
                .filter(|f| f.what == foreign.what)
                .flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()))
                .map(|name| format!("`{name}`"))
                .collect();
            let _ = writeln!(text, "| {} | {} |", names.join(", "), foreign.what);
        }
        text.push('\n');
    }
    text
}
