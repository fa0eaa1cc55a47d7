//! The attributes of one command, taken one by one.

use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError, did_you_mean};

use crate::parse::lex::short;
use crate::parse::syntax::{AttributeSyntax, Attributes};

/// A list of attributes, whose names must be known and whose values are asked for.
pub(super) struct AttributeFields<'a> {
    pub source: &'a Arc<Source>,
    /// What they belong to, for errors: `the fileset`.
    pub what: &'static str,
    /// Where that begins.
    pub span: Range<usize>,
    list: &'a [AttributeSyntax],
}

impl<'a> AttributeFields<'a> {
    /// The attributes, each of which must be in `known`.
    pub(super) fn new(
        source: &'a Arc<Source>,
        what: &'static str,
        span: &Range<usize>,
        attributes: &'a Attributes,
        known: &[&'static str],
    ) -> Result<Self, SourceError> {
        let fields = Self { source, what, span: span.clone(), list: &attributes.list };
        for attribute in fields.list {
            let key = attribute.key.value.as_str();
            if !known.contains(&key) {
                let near = did_you_mean(&short(key), known.iter().copied());
                let all = if near.is_empty() {
                    format!("; known are {}", known.join(", "))
                } else {
                    near
                };
                let key = short(key);
                return Err(fields
                    .at(&attribute.key.span)
                    .error(format!("{what} has no attribute '{key}'{all}")));
            }
        }
        Ok(fields)
    }

    pub(super) fn at(&self, span: &Range<usize>) -> Location {
        Location { source: self.source.clone(), span: span.clone() }
    }

    /// Where the whole begins.
    pub(super) fn place(&self) -> Location {
        self.at(&self.span)
    }

    pub(super) fn find(&self, key: &str) -> Option<&'a AttributeSyntax> {
        self.list.iter().find(|a| a.key.value == key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    pub(super) fn require(&self, key: &str) -> Result<&'a AttributeSyntax, SourceError> {
        self.find(key).ok_or_else(|| self.place().error(format!("{} needs '{key}='", self.what)))
    }

    pub(super) fn list(&self) -> &'a [AttributeSyntax] {
        self.list
    }
}

/// Refuses local variables where only composites have them.
pub(super) fn no_locals(source: &Arc<Source>, attributes: &Attributes) -> Result<(), SourceError> {
    match attributes.locals.first() {
        None => Ok(()),
        Some(local) => {
            let place = Location { source: source.clone(), span: local.name.span.clone() };
            Err(place.error("only composite flowops ('define flowop') have variables of their own"))
        }
    }
}
