//! Binds expressions to values.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use disklab_source::{Location, Source, SourceError};

use super::executed::{Bound, Executed, not_set, show};
use super::fields::AttributeFields;
use super::limits::{MAX_NOTES, MAX_TEXT};
use crate::parse::lex::{Piece, short};
use crate::parse::syntax::{Expression, SpannedExpression};
use crate::random::RandomVariable;
use crate::{Attribute, Variable};

/// Bytes of a name or a path (PATH_MAX of Linux).
const MAX_NAME: usize = 4096;

/// A composite's local variables; none where one has no value.
pub(super) type Scope = HashMap<String, Option<(Expression, Location)>>;

/// Turns expressions into values, in a scope of local variables.
pub(super) struct Binder {
    pub done: Executed,
    pub randoms: Vec<Arc<RandomVariable>>,
    /// Variables that change while the script runs, and are used.
    pub moving: HashMap<String, Arc<Variable>>,
    pub notes: Vec<SourceError>,
}

/// An expression that names no variable of its scope any more.
enum Resolved {
    Bound(Bound),
    /// A variable that changes later, with its value now.
    Moving(String, Bound, Location),
}

impl Binder {
    fn resolve(
        &mut self,
        expression: &Expression,
        place: &Location,
        scope: &Scope,
    ) -> Result<Resolved, SourceError> {
        Ok(Resolved::Bound(match expression {
            Expression::Int(n) => Bound::Number(*n),
            Expression::Bool(b) => Bound::Bool(*b),
            Expression::Text(pieces) => Bound::Text(self.interpolate(pieces, place, scope)?),
            Expression::Variable(name) => {
                if let Some(local) = scope.get(name) {
                    let Some((expression, at)) = local else {
                        return Err(place.error(format!(
                            "the local variable '${}' has no value; give it one where the composite flowop is used",
                            short(name)
                        )));
                    };
                    // Resolved where the composite was used: it names no local.
                    return self.resolve(expression, at, &Scope::new());
                }
                let Some(bound) = self.done.values.get(name).cloned() else {
                    let known = self.done.values.keys().chain(scope.keys());
                    return Err(not_set(place, name, known));
                };
                self.done.used.insert(name.clone());
                if let Some(at) = self.done.moving.get(name) {
                    return Ok(Resolved::Moving(name.clone(), bound, at.clone()));
                }
                bound
            }
        }))
    }

    fn interpolate(
        &mut self,
        pieces: &[Piece],
        place: &Location,
        scope: &Scope,
    ) -> Result<String, SourceError> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Variable(name) => {
                    let expression = Expression::Variable(name.clone());
                    match self.resolve(&expression, place, scope)? {
                        Resolved::Bound(bound) => text.push_str(&show(&bound)),
                        Resolved::Moving(name, _, at) => return Err(changes(&name, &at)),
                    }
                }
            }
            if text.len() > MAX_TEXT {
                return Err(place.error(format!("this text grows beyond {MAX_TEXT} bytes")));
            }
        }
        Ok(text)
    }

    /// An expression with its locals replaced, to hand it to an inner composite.
    pub(super) fn outward(
        &self,
        expression: &SpannedExpression,
        source: &Arc<Source>,
        scope: &Scope,
    ) -> Result<(Expression, Location), SourceError> {
        let place = at(source, &expression.span);
        if let Expression::Variable(name) = &expression.value
            && let Some(local) = scope.get(name)
        {
            return local.clone().ok_or_else(|| {
                place.error(format!("the local variable '${}' has no value", short(name)))
            });
        }
        Ok((expression.value.clone(), place))
    }

    /// A number, bound late.
    pub(super) fn number(
        &mut self,
        expression: &SpannedExpression,
        source: &Arc<Source>,
        scope: &Scope,
    ) -> Result<Attribute, SourceError> {
        let place = at(source, &expression.span);
        let wrong = |bound: &Bound| {
            let found = short(&show(bound));
            place.error(format!("expected a number or a random variable, found '{found}'"))
        };
        match self.resolve(&expression.value, &place, scope)? {
            Resolved::Bound(Bound::Number(n)) => Ok(Attribute::Constant(n)),
            Resolved::Bound(Bound::Random(index)) => self
                .randoms
                .get(index)
                .map(|random| Attribute::Random(random.clone()))
                .ok_or_else(|| place.error("a random variable cannot depend on another")),
            Resolved::Moving(name, Bound::Number(n), _) => {
                let variable = self.moving.entry(name.clone()).or_insert_with(|| {
                    Arc::new(Variable { name, first: n, now: AtomicU64::new(n) })
                });
                Ok(Attribute::Variable(variable.clone()))
            }
            Resolved::Moving(name, Bound::Random(_), at) => Err(changes(&name, &at)),
            Resolved::Bound(bound) | Resolved::Moving(_, bound, _) => Err(wrong(&bound)),
        }
    }

    /// A number that is known now.
    pub(super) fn constant(
        &mut self,
        expression: &SpannedExpression,
        source: &Arc<Source>,
        scope: &Scope,
    ) -> Result<u64, SourceError> {
        match self.number(expression, source, scope)? {
            Attribute::Constant(n) => Ok(n),
            _ => Err(at(source, &expression.span).error("expected a number that never changes")),
        }
    }

    pub(super) fn text(
        &mut self,
        expression: &SpannedExpression,
        source: &Arc<Source>,
        scope: &Scope,
    ) -> Result<String, SourceError> {
        let place = at(source, &expression.span);
        match self.resolve(&expression.value, &place, scope)? {
            Resolved::Bound(Bound::Text(text)) => Ok(text),
            Resolved::Bound(bound) => {
                Err(place.error(format!("expected a word or a text, found '{}'", show(&bound))))
            }
            Resolved::Moving(name, _, at) => Err(changes(&name, &at)),
        }
    }

    /// The number of an attribute, or a default.
    pub(super) fn number_of(
        &mut self,
        fields: &AttributeFields<'_>,
        key: &str,
        scope: &Scope,
        default: u64,
    ) -> Result<Attribute, SourceError> {
        let Some(attribute) = fields.find(key) else { return Ok(Attribute::Constant(default)) };
        match &attribute.value {
            Some(value) => self.number(value, fields.source, scope),
            None => Err(needs_value(fields, &attribute.key.span, key, "a number")),
        }
    }

    /// The constant of an attribute, or a default.
    pub(super) fn constant_of(
        &mut self,
        fields: &AttributeFields<'_>,
        key: &str,
        scope: &Scope,
        default: u64,
    ) -> Result<u64, SourceError> {
        let Some(attribute) = fields.find(key) else { return Ok(default) };
        match &attribute.value {
            Some(value) => self.constant(value, fields.source, scope),
            None => Err(needs_value(fields, &attribute.key.span, key, "a number")),
        }
    }

    /// The text of an attribute that must be there.
    pub(super) fn text_of(
        &mut self,
        fields: &AttributeFields<'_>,
        key: &str,
        scope: &Scope,
    ) -> Result<(String, Location), SourceError> {
        let attribute = fields.require(key)?;
        match &attribute.value {
            Some(value) => {
                let text = self.text(value, fields.source, scope)?;
                let place = fields.at(&value.span);
                if text.len() > MAX_NAME {
                    return Err(place.error(format!("'{key}' is longer than {MAX_NAME} bytes")));
                }
                Ok((text, place))
            }
            None => Err(needs_value(fields, &attribute.key.span, key, "a name")),
        }
    }

    /// A switch: bare is true, and a number is true unless it is 0.
    pub(super) fn switch(
        &mut self,
        fields: &AttributeFields<'_>,
        key: &str,
        scope: &Scope,
    ) -> Result<bool, SourceError> {
        let Some(attribute) = fields.find(key) else { return Ok(false) };
        let Some(value) = &attribute.value else { return Ok(true) };
        let place = fields.at(&value.span);
        match self.resolve(&value.value, &place, scope)? {
            Resolved::Bound(Bound::Bool(b)) => Ok(b),
            Resolved::Bound(Bound::Number(n)) => Ok(n != 0),
            Resolved::Bound(bound) => {
                Err(place
                    .error(format!("expected true or false, found '{}'", short(&show(&bound)))))
            }
            Resolved::Moving(name, _, at) => Err(changes(&name, &at)),
        }
    }

    pub(super) fn note(&mut self, place: &Location, text: impl Into<String>) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(place.error(text));
        }
    }
}

pub(super) fn at(source: &Arc<Source>, span: &Range<usize>) -> Location {
    Location { source: source.clone(), span: span.clone() }
}

fn changes(name: &str, place: &Location) -> SourceError {
    place.error(format!(
        "'${}' changes here, after files were made or a run began; only numbers can",
        short(name)
    ))
}

fn needs_value(
    fields: &AttributeFields<'_>,
    span: &Range<usize>,
    key: &str,
    what: &str,
) -> SourceError {
    fields.at(span).error(format!("'{key}' needs a value: {what}"))
}
