//! Script text to syntax tree.

mod commands;
mod define;
pub(crate) mod lex;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError, one_of};

use lex::{Piece, Spanned, Token};
use syntax::{AttributeSyntax, Attributes, Expression, Local, SpannedExpression, Statement};

/// Attributes of one command. The longest of upstream has 10.
const MAX_ATTRIBUTES: usize = 200;
/// Rows of a `randtable`: 100 of 1 %, and some of 0 %.
const MAX_ROWS: usize = 200;

/// A script, read but not checked.
#[derive(Debug)]
pub(crate) struct Script {
    pub statements: Vec<Spanned<Statement>>,
    /// Where a word stands that only Filebench 1.4.9 and before know.
    pub old: Option<Range<usize>>,
}

/// Reads a script.
pub(crate) fn script(source: &Arc<Source>) -> Result<Script, SourceError> {
    let tokens = lex::tokens(source)?;
    let mut parser = Parser { source: source.clone(), tokens, at: 0, old: None };
    let mut statements = Vec::new();
    while !parser.ends() {
        statements.push(parser.statement(0)?);
    }
    Ok(Script { statements, old: parser.old })
}

struct Parser {
    source: Arc<Source>,
    tokens: Vec<Spanned<Token>>,
    at: usize,
    old: Option<Range<usize>>,
}

impl Parser {
    fn peek(&self) -> &Spanned<Token> {
        // `at` never moves past the last token, which is the end.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Spanned<Token> {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn ends(&self) -> bool {
        self.peek().value == Token::End
    }

    fn error(&self, span: &Range<usize>, message: impl Into<String>) -> SourceError {
        Location { source: self.source.clone(), span: span.clone() }.error(message)
    }

    /// 'expected X, found Y' at the next token.
    fn expected(&self, what: &str) -> SourceError {
        let found = self.peek();
        self.error(&found.span, format!("expected {what}, found {}", found.value.show()))
    }

    /// Marks the script as one of the old dialect.
    fn mark_old(&mut self, span: &Range<usize>) {
        self.old.get_or_insert_with(|| span.clone());
    }

    fn sign(&mut self, sign: char, what: &str) -> Result<Range<usize>, SourceError> {
        if self.peek().value == Token::Sign(sign) {
            return Ok(self.next().span);
        }
        Err(self.expected(what))
    }

    fn skip_sign(&mut self, sign: char) -> bool {
        let found = self.peek().value == Token::Sign(sign);
        if found {
            self.next();
        }
        found
    }

    /// A word of any kind.
    fn word(&mut self, what: &str) -> Result<Spanned<String>, SourceError> {
        let Token::Word(word) = &self.peek().value else { return Err(self.expected(what)) };
        let value = word.clone();
        Ok(Spanned { value, span: self.next().span })
    }

    /// One of these words.
    fn choice<T: Copy>(&mut self, known: &[(&'static str, T)]) -> Result<T, SourceError> {
        let names = || known.iter().map(|(name, _)| *name);
        let what = one_of(names());
        let word = self.word(&what)?;
        known.iter().find(|(name, _)| *name == word.value).map(|(_, value)| *value).ok_or_else(
            || {
                let near = disklab_source::did_you_mean(&lex::short(&word.value), names());
                self.error(
                    &word.span,
                    format!(
                        "'{}' is not known here{near}; expected {what}",
                        lex::short(&word.value)
                    ),
                )
            },
        )
    }

    fn variable(&mut self, what: &str) -> Result<Spanned<String>, SourceError> {
        match &self.peek().value {
            Token::Variable(name) => {
                let value = name.clone();
                Ok(Spanned { value, span: self.next().span })
            }
            Token::Special(_) => Err(self.special()),
            _ => Err(self.expected(what)),
        }
    }

    fn special(&self) -> SourceError {
        self.error(
            &self.peek().span,
            "variables of the environment ($(…)) and of Filebench itself (${…}) are not read; \
             set one of your own with 'set $name=…'",
        )
    }

    fn is_value(&self) -> bool {
        matches!(self.peek().value, Token::Int(_) | Token::Variable(_))
    }

    fn expression(&mut self) -> Result<SpannedExpression, SourceError> {
        let value = match &self.peek().value {
            Token::Int(n) => Expression::Int(*n),
            Token::Word(word) => match word.as_str() {
                "true" => Expression::Bool(true),
                "false" => Expression::Bool(false),
                _ => Expression::Text(vec![Piece::Literal(word.clone())]),
            },
            Token::Text(pieces) => Expression::Text(pieces.clone()),
            Token::Variable(name) => Expression::Variable(name.clone()),
            Token::Special(_) => return Err(self.special()),
            Token::Negative(_) => {
                let span = self.peek().span.clone();
                return Err(self.error(&span, "numbers below 0 have no meaning here"));
            }
            _ => return Err(self.expected("a number, a word, a text, true, false or a variable")),
        };
        Ok(Spanned { value, span: self.next().span })
    }

    /// A number or a variable.
    fn amount(&mut self) -> Result<SpannedExpression, SourceError> {
        if self.is_value() {
            self.expression()
        } else {
            Err(self.expected("a number or a variable"))
        }
    }

    /// `key=value,key,$local=value…`; nothing where no attribute follows.
    fn attributes(&mut self) -> Result<Attributes, SourceError> {
        let mut found = Attributes::default();
        if !matches!(self.peek().value, Token::Word(_) | Token::Variable(_)) {
            return Ok(found);
        }
        loop {
            match &self.peek().value {
                Token::Word(_) => {
                    let attribute = self.attribute()?;
                    if let Some(first) =
                        found.list.iter().find(|a| a.key.value == attribute.key.value)
                    {
                        let line = self.error(&first.key.span, "").line;
                        return Err(self.error(
                            &attribute.key.span,
                            format!(
                                "'{}' is given twice; first in line {line}",
                                attribute.key.value
                            ),
                        ));
                    }
                    found.list.push(attribute);
                }
                Token::Variable(_) => {
                    let name = self.variable("a local variable")?;
                    let value = if self.skip_sign('=') { Some(self.expression()?) } else { None };
                    found.locals.push(Local { name, value });
                }
                _ => return Err(self.expected("an attribute's name")),
            }
            if found.list.len() + found.locals.len() > MAX_ATTRIBUTES {
                return Err(self.expected(&format!("at most {MAX_ATTRIBUTES} attributes")));
            }
            if !self.skip_sign(',') {
                break;
            }
        }
        // 'name=a size=4k': no statement begins with a word and '='.
        let next = self.tokens.get(self.at + 1).map(|t| &t.value);
        if matches!(self.peek().value, Token::Word(_)) && next == Some(&Token::Sign('=')) {
            return Err(self.expected("',' before the next attribute"));
        }
        Ok(found)
    }

    fn attribute(&mut self) -> Result<AttributeSyntax, SourceError> {
        let key = self.word("an attribute's name")?;
        if !self.skip_sign('=') {
            return Ok(AttributeSyntax { key, value: None, table: Vec::new() });
        }
        if key.value == "randtable" {
            let table = self.table()?;
            return Ok(AttributeSyntax { key, value: None, table });
        }
        let value = Some(self.expression()?);
        Ok(AttributeSyntax { key, value, table: Vec::new() })
    }

    fn table(&mut self) -> Result<Vec<[SpannedExpression; 3]>, SourceError> {
        self.sign('{', "'{{percent, min, max}, …}'")?;
        let mut rows = Vec::new();
        loop {
            self.sign('{', "'{percent, min, max}'")?;
            let percent = self.amount()?;
            self.sign(',', "',' and the range's lower end")?;
            let min = self.amount()?;
            self.sign(',', "',' and the range's upper end")?;
            let max = self.amount()?;
            let close = self.sign('}', "'}' after percent, min and max")?;
            rows.push([percent, min, max]);
            if rows.len() > MAX_ROWS {
                return Err(self.error(&close, format!("a table has at most {MAX_ROWS} rows")));
            }
            if !self.skip_sign(',') {
                break;
            }
        }
        self.sign('}', "',' and another row, or '}' after the last row")?;
        Ok(rows)
    }
}
