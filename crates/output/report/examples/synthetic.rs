//! Writes a report on a made-up run: `synthetic html|md|json|csv [BENCH [REPEATS]]`.
//! For looking at; the tests use the same run.

#[path = "../tests/integration/support/mod.rs"]
mod support;

use disklab_report::{ReportFormat, render};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let word = arguments.get(1).map_or("html", String::as_str);
    let Some((_, format)) = ReportFormat::WORDS.iter().find(|(w, _)| *w == word) else {
        eprintln!("expected html, md, json or csv, found '{word}'");
        std::process::exit(2);
    };
    let bench = arguments.get(2).map_or("loop", String::as_str);
    let repeats = arguments.get(3).and_then(|n| n.parse().ok()).unwrap_or(3);
    print!("{}", render(&support::report(bench, repeats), *format));
}
