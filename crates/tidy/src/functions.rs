//! No function is longer than a page.

use crate::ceilings;
use crate::rust::{RustToken, TokenKind, tokens};
use crate::tree::{files_with, text};

const LONGEST: usize = 60;

#[test]
fn functions_fit_on_a_page() {
    let mut long = Vec::new();
    for file in files_with("crates", "rs") {
        for (name, line, lines) in functions(&text(&file)) {
            if lines > LONGEST {
                long.push(format!("{file}:{line}: {name} has {lines} lines"));
            }
        }
    }
    ceilings::hold("functions_over_60_lines", long.len(), || long.join("\n"));
}

/// Each function with a body: its name, its line, and how many lines it has.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let tokens: Vec<RustToken<'_>> =
        tokens(text).into_iter().filter(|t| t.kind != TokenKind::Comment).collect();
    let named = tokens.windows(2).enumerate().filter(|(_, pair)| {
        pair[0].text == "fn" && pair.iter().all(|token| token.kind == TokenKind::Identifier)
    });
    named
        .filter_map(|(at, pair)| {
            let end = end_of_body(&tokens[at..])?;
            Some((pair[1].text.to_owned(), pair[0].line, end - pair[0].line + 1))
        })
        .collect()
}

/// The line of the brace that closes the body; none if a `;` takes its place.
fn end_of_body(tokens: &[RustToken<'_>]) -> Option<usize> {
    let (mut brackets, mut braces) = (0, 0);
    for token in tokens.iter().filter(|t| t.kind == TokenKind::Sign) {
        match token.text {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets -= 1,
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                if braces == 0 && brackets == 0 {
                    return Some(token.line);
                }
            }
            ";" if brackets == 0 && braces == 0 => return None,
            _ => {}
        }
    }
    None
}

#[test]
fn lengths_count_nested_functions_and_skip_declarations() {
    let text = "trait T { fn a(x: [u8; 2]); }\nfn b() {\n    fn c() {}\n    let s = \"}\";\n}\n";
    let seen = functions(text);
    assert_eq!(seen, [("b".to_owned(), 2, 4), ("c".to_owned(), 3, 1)]);
}
