//! Cuts Rust into comments, literals, identifiers and signs: as much as the rules need.

/// What a stretch of Rust's text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    Comment,
    /// A string literal, with its quotes.
    Literal,
    Identifier,
    Sign,
}

/// A piece of a file.
#[derive(Debug, Clone, Copy)]
pub struct RustToken<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// The line that it begins on, from 1.
    pub line: usize,
    /// Whether it comes after a `#[cfg(test)] mod name {`, which ends a file by this project's
    /// custom. `mod tests;` does not: what follows is no test.
    pub in_tests: bool,
}

/// The tokens of a file. White space and character literals are left out.
pub fn tokens(text: &str) -> Vec<RustToken<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line, mut in_tests) = (0, 1, false);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        in_tests |= opens_tests(rest);
        let (kind, length) = if rest.starts_with("//") {
            (Some(TokenKind::Comment), rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(length) = raw_string(rest).or_else(|| string(rest)) {
            (Some(TokenKind::Literal), length)
        } else if let Some(length) = character(rest) {
            (None, length)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            (Some(TokenKind::Identifier), rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else {
            ((!first.is_whitespace()).then_some(TokenKind::Sign), first.len_utf8())
        };
        if let Some(kind) = kind {
            found.push(RustToken { kind, text: &rest[..length], line, in_tests });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    found
}

fn opens_tests(rest: &str) -> bool {
    let module =
        rest.strip_prefix("#[cfg(test)]").and_then(|r| r.trim_start().strip_prefix("mod "));
    module.is_some_and(|m| m.find(['{', ';']).is_some_and(|at| m[at..].starts_with('{')))
}

/// The length of the raw string that begins here.
fn raw_string(rest: &str) -> Option<usize> {
    let after_prefix = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let body = after_prefix.trim_start_matches('#');
    let end = format!("\"{}", "#".repeat(after_prefix.len() - body.len()));
    let body = body.strip_prefix('"')?;
    Some(rest.len() - body.len() + body.find(&end)? + end.len())
}

/// The length of the string that begins here.
fn string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("b\"").or_else(|| rest.strip_prefix('"'))?;
    let mut escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(rest.len() - body.len() + at + 1),
            _ => {}
        }
    }
    None
}

/// The length of the character literal that begins here; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let content = if body.starts_with("\\u{") {
        body.find('}')? + 1
    } else if let Some(escaped) = body.strip_prefix('\\') {
        1 + escaped.chars().next()?.len_utf8()
    } else {
        body.chars().next().filter(|c| !matches!(c, '\'' | '\n'))?.len_utf8()
    };
    body[content..].starts_with('\'').then_some(content + 2)
}

#[test]
fn tokens_tell_comments_literals_and_names_apart() {
    let text = "// a \"b\"\nlet x: &'a str = r#\"c \"d\" // e\"#; '\"'; \"f\\\"g\nh\" y;";
    let seen: Vec<_> = tokens(text)
        .iter()
        .filter(|t| t.kind != TokenKind::Sign)
        .map(|t| (t.text, t.line))
        .collect();
    let wanted = [
        ("// a \"b\"", 1),
        ("let", 2),
        ("x", 2),
        ("a", 2),
        ("str", 2),
        ("r#\"c \"d\" // e\"#", 2),
        ("\"f\\\"g\nh\"", 2),
        ("y", 3),
    ];
    assert_eq!(seen, wanted);
}

#[test]
fn tests_begin_with_a_module_that_is_here() {
    let in_tests = |text: &str| tokens(text).last().is_some_and(|token| token.in_tests);
    assert!(in_tests("#[cfg(test)]\nmod tests {\n a"));
    assert!(!in_tests("#[cfg(test)]\nmod tests;\nmod words {}\na"));
}
