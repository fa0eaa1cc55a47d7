//! A doc comment says what the name and the type do not.

use std::collections::BTreeSet;

use crate::tree::{files_with, text};

/// Words that say nothing on their own.
const FILLERS: [&str; 21] = [
    "the", "a", "an", "it", "its", "of", "what", "is", "that", "which", "this", "in", "to", "for",
    "and", "are", "by", "one", "has", "as", "with",
];

#[test]
fn doc_comments_do_not_repeat_the_name() {
    let mut repeated = Vec::new();
    for file in files_with("crates", "rs") {
        // Doc comments of the command line are its help.
        if ["/tests/", "/examples/", "disklab/src/cli"].iter().any(|part| file.contains(part)) {
            continue;
        }
        let found = repetitions(&text(&file));
        repeated.extend(found.into_iter().map(|(line, doc)| format!("{file}:{line}: {doc}\n")));
    }
    assert!(repeated.is_empty(), "say something, or leave it out:\n{}", repeated.concat());
}

/// Comments of one line, with its number, that have only words of the line which they document. One
/// with a literal or a number says how something is spelled.
fn repetitions(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_doc = |at: usize| lines.get(at).is_some_and(|line| line.starts_with("///"));
    let alone = |at: &usize| is_doc(*at) && !is_doc(at + 1) && (*at == 0 || !is_doc(at - 1));
    let mut found = Vec::new();
    for at in (0..lines.len()).filter(alone) {
        let doc = lines[at].trim_start_matches('/').trim();
        let names: BTreeSet<String> =
            words(documented(&lines[at + 1..])).iter().map(|word| stem(word)).collect();
        let said: BTreeSet<String> = words(doc)
            .iter()
            .filter(|word| !FILLERS.contains(&word.as_str()))
            .map(|word| stem(word))
            .collect();
        let is_plain =
            !doc.contains(['`', '"', '#']) && !doc.contains(|c: char| c.is_ascii_digit());
        if is_plain && !said.is_empty() && said.is_subset(&names) {
            found.push((at + 1, doc.to_owned()));
        }
    }
    found
}

/// The first line that belongs to no attribute.
fn documented<'a>(lines: &[&'a str]) -> &'a str {
    let mut within_attribute = false;
    for line in lines {
        within_attribute |= line.starts_with("#[");
        if !within_attribute {
            return line;
        }
        within_attribute = !line.ends_with(']');
    }
    ""
}

/// The words of a text, and of the names in it, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let begins = c.is_ascii_uppercase() && !before.is_ascii_uppercase();
        if begins || !c.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphabetic(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A word without the commonest endings.
fn stem(word: &str) -> String {
    let without = |ending: &&str| word.strip_suffix(*ending).filter(|rest| rest.len() >= 3);
    ["ing", "ies", "es", "ed", "s"].iter().find_map(without).unwrap_or(word).to_owned()
}

#[test]
fn repetition_and_information_differ() {
    let found = |doc: &str, item: &str| {
        !repetitions(&format!("struct S {{\n    /// {doc}\n    #[serde]\n    {item}\n}}\n"))
            .is_empty()
    };
    assert!(found("Its name.", "pub name: String,"));
    assert!(found("The drives.", "pub drives: Vec<DriveState>,"));
    assert!(found("Bytes read.", "pub fn read_bytes(&self) -> u64 {"));
    assert!(!found("Its name in the study.", "pub name: String,"));
    assert!(!found("Its name.", "#[error(\n\"its name\"\n)]\n Path(PathBuf),"));
    assert!(!found("`io_uring`.", "IoUring,"));
    assert!(!found("0 or 1.", "pub fn flag(&self) -> bool {"));
    assert!(repetitions("/// The name.\n/// Longer.\npub name: String,\n").is_empty());
}
