//! The words that `docs/glossary.md` retires are counted in identifiers, comments, help,
//! messages and documents. `words.txt` has the rules.

use std::collections::HashMap;
use std::path::Path;

use crate::ceilings;
use crate::pattern::{LinePattern, ascii};
use crate::rust::{TokenKind, tokens};
use crate::tree::{files_with, text};

/// A retired word.
struct Rule<'a> {
    name: &'a str,
    identifiers: Option<Identifiers>,
    prose: Option<LinePattern>,
    /// Letters of the kinds of prose it counts in.
    kinds: &'a str,
}

/// How identifiers are matched.
enum Identifiers {
    AsWritten(LinePattern),
    InLowerCase(LinePattern),
}

/// All that is written, in streams.
#[derive(Default)]
struct Text {
    /// How often each identifier occurs.
    identifiers: HashMap<String, usize>,
    prose: HashMap<char, String>,
}

#[test]
fn retired_words_only_get_fewer() {
    let rules = include_str!("../words.txt");
    let written = written();
    let mut counts: Vec<(usize, &str)> =
        rules.lines().filter_map(rule).map(|rule| (count(&rule, &written), rule.name)).collect();
    counts.sort_by(|a, b| b.cmp(a));
    let total = counts.iter().map(|(count, _)| count).sum();
    ceilings::hold("retired_words", total, || {
        counts.iter().map(|(count, name)| format!("{count:6} {name}\n")).collect()
    });
}

fn rule(line: &str) -> Option<Rule<'_>> {
    if line.starts_with('#') {
        return None;
    }
    let [name, identifiers, prose, kinds] =
        line.split('~').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"));
    let pattern = |text: &str| {
        let pattern = LinePattern::new(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        // It would be counted everywhere, and hide what the ceiling should see.
        assert!(!pattern.matches(""), "{name}: '{text}' matches nothing at all");
        pattern
    };
    let any_case = |text: &str| pattern(&format!("(?im){text}"));
    let identifiers = match (identifiers, identifiers.strip_prefix('=')) {
        ("", _) => None,
        (_, Some(as_written)) => Some(Identifiers::AsWritten(pattern(as_written))),
        (in_lower_case, None) => Some(Identifiers::InLowerCase(any_case(in_lower_case))),
    };
    let prose = (!prose.is_empty()).then(|| any_case(prose));
    Some(Rule { name, identifiers, prose, kinds })
}

fn count(rule: &Rule<'_>, written: &Text) -> usize {
    let matches = |name: &str| match &rule.identifiers {
        None => false,
        Some(Identifiers::AsWritten(pattern)) => pattern.matches(name),
        Some(Identifiers::InLowerCase(pattern)) => pattern.matches(&spaced(name)),
    };
    let names: usize =
        written.identifiers.iter().filter(|(name, _)| matches(name)).map(|(_, uses)| uses).sum();
    let Some(prose) = &rule.prose else { return names };
    let texts = rule.kinds.chars().filter_map(|kind| written.prose.get(&kind));
    names + texts.map(|text| prose.count(text)).sum::<usize>()
}

/// `FlushAll` and `flush_all` as 'flush all'.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    let mut before = '_';
    for c in name.trim_matches('_').chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            words.push(' ');
        }
        words.push(if c == '_' { ' ' } else { c.to_ascii_lowercase() });
        before = c;
    }
    words
}

fn written() -> Text {
    let mut written = Text::default();
    for file in ["crates", "fuzz"].iter().flat_map(|directory| files_with(directory, "rs")) {
        // Of this crate, the rules' own words are no use of them.
        if !file.starts_with("crates/tidy/") {
            read_rust(&file, &text(&file), &mut written);
        }
    }
    let documents = written.prose.entry('d').or_default();
    for file in documents_of_the_project() {
        documents.push_str(&ascii(&text(&file)));
        documents.push('\n');
    }
    written
}

fn read_rust(file: &str, text: &str, written: &mut Text) {
    let quiet = is_test_code(file);
    let help = file.starts_with("crates/disklab/src/cli");
    for token in tokens(text) {
        let kind = match token.kind {
            TokenKind::Identifier => {
                *written.identifiers.entry(token.text.to_owned()).or_default() += 1;
                continue;
            }
            TokenKind::Comment if help => 'h',
            TokenKind::Comment => 'c',
            TokenKind::Literal if !quiet && !token.in_tests => 'm',
            _ => continue,
        };
        let prose = written.prose.entry(kind).or_default();
        prose.push_str(&ascii(token.text));
        prose.push('\n');
    }
}

/// Literals of tests are data, not messages.
fn is_test_code(file: &str) -> bool {
    let directories = ["/tests/", "/examples/", "/hostile"];
    let ends = ["test.rs", "tests.rs", "testing.rs"];
    file.starts_with("fuzz/")
        || directories.iter().any(|part| file.contains(part))
        || ends.iter().any(|end| file.ends_with(end))
}

/// What is written for people. The pages of single drives are made from code and drive files;
/// the glossary and the log of retired words have to name them.
fn documents_of_the_project() -> Vec<String> {
    let mut found: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "Makefile"]
            .map(str::to_owned)
            .to_vec();
    for (directory, extension) in [
        ("docs", "md"),
        ("kernel", "md"),
        ("studies", "toml"),
        ("workloads", "toml"),
        ("drives", "toml"),
        ("processors", "toml"),
        ("published", "toml"),
    ] {
        found.extend(files_with(directory, extension));
    }
    found.extend(crate::tree::files("scripts"));
    found.retain(|file| {
        let of_a_drive = file.starts_with("docs/drives/") && !file.ends_with("README.md");
        // Generated pages repeat what is counted where it is written.
        let generated = text(file).starts_with("<!-- Written by ");
        !of_a_drive
            && !generated
            && Path::new(file).file_name().is_some_and(|name| name != "glossary.md")
    });
    found
}

#[test]
fn identifiers_are_matched_as_words() {
    for (name, words) in [("FlushAll", "flush all"), ("flush_all", "flush all"), ("_u64", "u64")] {
        assert_eq!(spaced(name), words);
    }
}

#[test]
fn rules_count_in_their_own_streams() {
    let rule = rule(r"lap~^laps?$~\b(half|own) a? ?lap\b(?! of honour)~hc").expect("a rule");
    let mut written = Text::default();
    let code = "// half a lap, half a lap of honour\nfn lap(all: Laps) { \"half a lap\"; }";
    read_rust("crates/x/src/lib.rs", code, &mut written);
    assert_eq!(count(&rule, &written), 3);
}
