//! What expressions are worth while the script is executed.

use std::ops::Range;

use disklab_source::SourceError;

use super::execute::ScriptExecutor;
use super::executed::{Bound, not_set, show};
use super::limits::MAX_TEXT;
use crate::parse::lex::{Piece, Spanned};
use crate::parse::syntax::{Expression, SpannedExpression};

/// Bytes of all texts together: loops could fill the memory with them.
const MAX_TEXTS: usize = 16 << 20;

impl ScriptExecutor {
    pub(super) fn calculated(
        &mut self,
        left: &SpannedExpression,
        sign: &Spanned<char>,
        right: &SpannedExpression,
    ) -> Result<Bound, SourceError> {
        let mut number = |expression: &SpannedExpression| match self.value(expression)? {
            Bound::Number(n) => Ok(n),
            _ => Err(self.place(&expression.span).error("expected a number here")),
        };
        let (a, b) = (number(left)?, number(right)?);
        let result = match sign.value {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            _ => a.checked_div(b),
        };
        result.filter(|n| i64::try_from(*n).is_ok()).map(Bound::Number).ok_or_else(|| {
            self.place(&sign.span).error(format!("{a} {} {b} is outside 0 to 2^63-1", sign.value))
        })
    }

    /// What an expression is worth now.
    pub(super) fn value(&mut self, expression: &SpannedExpression) -> Result<Bound, SourceError> {
        Ok(match &expression.value {
            Expression::Int(n) => Bound::Number(*n),
            Expression::Bool(b) => Bound::Bool(*b),
            Expression::Text(pieces) => Bound::Text(self.text(pieces, &expression.span)?),
            Expression::Variable(name) => self.look_up(name, &expression.span)?,
        })
    }

    fn look_up(&mut self, name: &str, span: &Range<usize>) -> Result<Bound, SourceError> {
        if self.done.given.contains_key(name) {
            self.done.used.insert(name.to_owned());
        }
        self.now.get(name).cloned().ok_or_else(|| not_set(&self.place(span), name, self.now.keys()))
    }

    pub(super) fn text(
        &mut self,
        pieces: &[Piece],
        span: &Range<usize>,
    ) -> Result<String, SourceError> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                // As upstream, which says 'No default' where nothing is set.
                Piece::Variable(name) => match self.look_up(name, span) {
                    Ok(bound) => text.push_str(&show(&bound)),
                    Err(_) => text.push_str(&format!("${name}")),
                },
            }
            if text.len() > MAX_TEXT {
                return Err(self
                    .place(span)
                    .error(format!("this text grows beyond {MAX_TEXT} bytes")));
            }
        }
        self.texts += text.len();
        if self.texts > MAX_TEXTS {
            return Err(self.place(span).error(format!("the texts grow beyond {MAX_TEXTS} bytes")));
        }
        Ok(text)
    }
}
