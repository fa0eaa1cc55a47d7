//! One public name, one type.

use std::collections::BTreeMap;

use crate::ceilings;
use crate::rust::{RustToken, TokenKind, tokens};
use crate::tree::{files_with, text};

#[test]
fn public_types_have_names_of_their_own() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files_with("crates", "rs") {
        if ["/tests/", "/examples/"].iter().any(|directory| file.contains(directory)) {
            continue;
        }
        for (name, line) in public_types(&text(&file)) {
            places.entry(name).or_default().push(format!("{file}:{line}"));
        }
    }
    places.retain(|_, at| at.len() > 1);
    ceilings::hold("repeated_public_type_names", places.len(), || {
        places.iter().map(|(name, at)| format!("{name}: {}\n", at.join(", "))).collect()
    });
}

/// The types that a file makes visible outside of itself, with their lines.
pub fn public_types(text: &str) -> Vec<(String, usize)> {
    let tokens: Vec<RustToken<'_>> =
        tokens(text).into_iter().filter(|t| t.kind != TokenKind::Comment && !t.in_tests).collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, t)| t.text == "pub") {
        // `pub(crate)` and `pub(in path)`: what follows the bracket.
        let mut rest = tokens[at + 1..].iter();
        let mut next = rest.next();
        if next.is_some_and(|t| t.text == "(") {
            rest.find(|t| t.text == ")");
            next = rest.next();
        }
        if next.is_some_and(|t| ["struct", "enum", "union", "trait", "type"].contains(&t.text))
            && let Some(name) = rest.next()
        {
            found.push((name.text.to_owned(), token.line));
        }
    }
    found
}

#[test]
fn public_types_are_found_with_any_visibility() {
    let text = "pub struct A;\nstruct B;\npub(crate) enum C {}\npub(in crate::x) trait D {}\n\
        #[cfg(test)]\nmod tests {\n    pub struct E;\n}\n";
    let names: Vec<String> = public_types(text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["A", "C", "D"]);
}
