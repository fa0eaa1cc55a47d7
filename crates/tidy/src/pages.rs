//! Written pages are few and short; generated pages say so, and lie apart.

use crate::tree::{files_with, text};

/// What all written pages of `docs` may have together.
const WRITTEN_WORDS: usize = 45_000;
/// What a page of the guide may have.
const GUIDE_WORDS: usize = 1_200;

/// Where generated pages lie.
const GENERATED: [&str; 2] = ["docs/generated/", "docs/drives/"];

fn is_generated(page: &str) -> bool {
    GENERATED.iter().any(|directory| page.starts_with(directory))
}

/// Whether a line begins a generated part.
fn is_mark(line: &str) -> bool {
    let words = ["written by", "generated from", "made by", "made of"];
    line.starts_with("<!-- ") && words.iter().any(|word| line.to_lowercase().contains(word))
}

/// The words of a page outside of its generated parts: bars of tables are none.
fn written_words(page: &str) -> usize {
    let (mut words, mut in_generated) = (0, false);
    for line in page.lines() {
        in_generated |= is_mark(line);
        if !in_generated {
            let is_word = |word: &&str| word.contains(char::is_alphanumeric);
            words += line.split_whitespace().filter(is_word).count();
        }
        in_generated &= !line.to_lowercase().starts_with("<!-- the end");
    }
    words
}

/// The pages of `docs` that people write, with their words.
fn written() -> Vec<(String, usize)> {
    let pages = files_with("docs", "md").into_iter().filter(|page| !is_generated(page));
    pages.map(|page| (page.clone(), written_words(&text(&page)))).collect()
}

#[test]
fn written_pages_are_not_too_long() {
    let pages = written();
    let all: usize = pages.iter().map(|(_, words)| words).sum();
    assert!(
        all <= WRITTEN_WORDS,
        "{all} words, and at most {WRITTEN_WORDS} are allowed: {pages:?}"
    );
    let guides = pages.iter().filter(|(page, _)| page.starts_with("docs/guide/"));
    let long: Vec<_> = guides.filter(|(_, words)| *words > GUIDE_WORDS).collect();
    assert!(long.is_empty(), "a guide has at most {GUIDE_WORDS} words: {long:?}");
}

#[test]
fn generated_pages_are_marked_and_lie_apart() {
    for page in files_with("docs", "md") {
        let is_marked = text(&page).lines().any(is_mark);
        assert!(
            is_marked == is_generated(&page),
            "{page}: generated pages begin with how they are made, and lie in {GENERATED:?}"
        );
    }
}

#[test]
fn generated_words_are_not_counted() {
    let page = "# A page\n\nfour words of text\n\n<!-- The list: written by `make` -->\n\n| a | b |\n\n\
                <!-- The end of the list. -->\n\ntwo more\n";
    assert_eq!(written_words(page), 2 + 4 + 2);
    assert_eq!(written_words("<!-- Written by `make`. -->\n\n# All of it\n"), 0);
}
