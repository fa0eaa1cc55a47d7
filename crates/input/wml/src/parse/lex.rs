//! Words, numbers and texts of a script.
//!
//! The rules are those of `parser_lex.l`, with three fixed: a name may have one
//! letter (`$a`), words of the language may be used as names (`name=size`), and
//! `\"` may be in a string.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

/// Longest script. Upstream's longest is 6 KB.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Longest word, and longest text in quotes.
const MAX_WORD: usize = 4096;
const MAX_TEXT: usize = 64 << 10;

/// Parameters of a random variable that old scripts set as `$name.mean`.
const PARAMETERS: &[&str] = &["type", "seed", "gamma", "mean", "min", "round", "randsrc"];

/// A thing and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spanned<T> {
    pub value: T,
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A word of the language, a name or a path.
    Word(String),
    /// A number, its suffix k, m or g applied.
    Int(u64),
    /// A number below 0: only `psrun` takes one.
    Negative(u64),
    /// `$name`.
    Variable(String),
    /// `${name}` or `$(name)`, as written.
    Special(String),
    /// `.mean` right after a variable.
    Parameter(String),
    /// `"…"`.
    Text(Vec<Piece>),
    /// One of `{ } ( ) = , + - * /`.
    Sign(char),
    /// The end of the script.
    End,
}

/// A part of a quoted text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Literal(String),
    Variable(String),
}

impl Token {
    /// For 'found …' in errors.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Word(word) => format!("'{}'", short(word)),
            Self::Int(n) => format!("{n}"),
            Self::Negative(n) => format!("-{n}"),
            Self::Variable(name) => format!("'${}'", short(name)),
            Self::Special(text) => format!("'{}'", short(text)),
            Self::Parameter(name) => format!("'.{name}'"),
            Self::Text(_) => "a text in quotes".to_owned(),
            Self::Sign(sign) => format!("'{sign}'"),
            Self::End => "the end of the script".to_owned(),
        }
    }
}

/// Names in errors are cut: a script may hold one of a megabyte.
pub(crate) fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// All tokens, the last being [`Token::End`].
pub(crate) fn tokens(source: &Arc<Source>) -> Result<Vec<Spanned<Token>>, SourceError> {
    if source.text.len() > MAX_BYTES {
        let place = Location { source: source.clone(), span: 0..0 };
        return Err(place.error(format!(
            "the script has {} bytes; at most {MAX_BYTES} are read",
            source.text.len()
        )));
    }
    let mut lexer = Lexer { source, chars: source.text.char_indices().peekable() };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token()? {
        tokens.push(token);
    }
    let end = source.text.len();
    tokens.push(Spanned { value: Token::End, span: end..end });
    Ok(tokens)
}

struct Lexer<'a> {
    source: &'a Arc<Source>,
    chars: Peekable<CharIndices<'a>>,
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '/' | '_' | '-')
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | ':' | ';' | '-')
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Lexer<'_> {
    fn token(&mut self) -> Result<Option<Spanned<Token>>, SourceError> {
        loop {
            match self.chars.peek() {
                None => return Ok(None),
                Some((_, c)) if c.is_whitespace() => {
                    self.chars.next();
                }
                Some((_, '#')) => while self.chars.next_if(|(_, c)| *c != '\n').is_some() {},
                Some(_) => break,
            }
        }
        let Some((start, c)) = self.chars.next() else { return Ok(None) };
        let limit = if c == '"' { MAX_TEXT } else { MAX_WORD };
        let value = match c {
            '{' | '}' | '(' | ')' | '=' | ',' | '+' | '*' => Token::Sign(c),
            '$' => self.variable(start)?,
            '.' => self.parameter(start)?,
            '"' => self.text(start)?,
            _ if c.is_ascii_digit() => self.number(start)?,
            _ if starts_word(c) => self.word(start)?,
            _ => {
                let shown: String = c.escape_debug().collect();
                return Err(self.error(
                    start..start + c.len_utf8(),
                    format!(
                        "'{shown}' has no meaning here; expected a word, a number, '$' or '\"'"
                    ),
                ));
            }
        };
        let span = start..self.place();
        if span.len() > limit {
            return Err(self.error(span, format!("this is longer than {limit} bytes")));
        }
        Ok(Some(Spanned { value, span }))
    }

    /// Where the next character stands.
    fn place(&mut self) -> usize {
        self.chars.peek().map_or(self.source.text.len(), |(i, _)| *i)
    }

    fn take(&mut self, start: usize, fits: fn(char) -> bool) -> &str {
        while self.chars.next_if(|(_, c)| fits(*c)).is_some() {}
        let end = self.place();
        &self.source.text[start..end]
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>) -> SourceError {
        Location { source: self.source.clone(), span }.error(message)
    }

    fn word(&mut self, start: usize) -> Result<Token, SourceError> {
        let word = self.take(start, in_word).to_owned();
        Ok(match word.as_str() {
            "/" => Token::Sign('/'),
            "-" => Token::Sign('-'),
            _ => match word.strip_prefix('-') {
                Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                    let end = start + word.len();
                    Token::Negative(
                        number(rest).map_err(|e| self.error(start..end, e.to_string()))?,
                    )
                }
                _ => Token::Word(word),
            },
        })
    }

    fn number(&mut self, start: usize) -> Result<Token, SourceError> {
        let text = self.take(start, in_word).to_owned();
        let end = start + text.len();
        number(&text).map(Token::Int).map_err(|e| self.error(start..end, e.to_string()))
    }

    fn variable(&mut self, start: usize) -> Result<Token, SourceError> {
        let next = self.chars.peek().copied();
        if let Some((open, bracket @ ('{' | '('))) = next {
            let close = if bracket == '{' { '}' } else { ')' };
            self.chars.next();
            while self.chars.next_if(|(_, c)| *c != close && *c != '\n').is_some() {}
            if self.chars.next_if(|(_, c)| *c == close).is_none() {
                return Err(self.error(
                    start..open + 1,
                    format!("this '{bracket}' is never closed; expected '{close}'"),
                ));
            }
            let end = self.place();
            return Ok(Token::Special(self.source.text[start..end].to_owned()));
        }
        let name = self.take(start + 1, in_name).to_owned();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(self.error(
                start..start + 1 + name.len(),
                "expected a variable's name after '$': a letter, then letters, digits and _",
            ));
        }
        Ok(Token::Variable(name))
    }

    fn parameter(&mut self, start: usize) -> Result<Token, SourceError> {
        let name = self.take(start + 1, in_name).to_owned();
        if PARAMETERS.contains(&name.as_str()) {
            return Ok(Token::Parameter(name));
        }
        let message = if name.starts_with(|c: char| c.is_ascii_digit()) {
            "numbers are whole here: WML has no fractions".to_owned()
        } else {
            "'.' has no meaning here; it may stand inside of a name or a path".to_owned()
        };
        Err(self.error(start..start + 1 + name.len(), message))
    }

    fn text(&mut self, start: usize) -> Result<Token, SourceError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        loop {
            let Some((at, c)) = self.chars.next() else {
                return Err(
                    self.error(start..start + 1, "this quote is never closed; expected '\"'")
                );
            };
            match c {
                '"' => break,
                '\\' => match self.chars.next_if(|(_, c)| matches!(c, 'n' | '"' | '$' | '\\')) {
                    Some((_, 'n')) => literal.push('\n'),
                    Some((_, escaped)) => literal.push(escaped),
                    None => literal.push('\\'),
                },
                '$' if self.chars.peek().is_some_and(|(_, c)| c.is_ascii_alphabetic()) => {
                    let name = self.take(at + 1, in_name).to_owned();
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Variable(name));
                }
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Token::Text(pieces))
    }
}

/// Why a word is not a number of WML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WmlNumberError {
    /// It is not digits with a unit.
    #[error(
        "invalid number '{}': expected digits, then nothing or k, m or g (powers of 1024, small \
         letters)",
        short(.0)
    )]
    Invalid(String),
    /// Upstream keeps numbers in 64 bits with a sign.
    #[error("{} is too large; at most 2^63-1", short(.0))]
    TooLarge(String),
}

/// `123`, `4k`, `10m` or `2g`.
pub(crate) fn number(text: &str) -> Result<u64, WmlNumberError> {
    let invalid = || WmlNumberError::Invalid(text.to_owned());
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return Err(invalid()),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid());
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .filter(|n| i64::try_from(*n).is_ok())
        .ok_or_else(|| WmlNumberError::TooLarge(text.to_owned()))
}
