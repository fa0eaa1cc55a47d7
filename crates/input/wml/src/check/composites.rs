//! Composite flowops: `define flowop`, put in place where they are used.

use std::collections::HashMap;
use std::sync::Arc;

use disklab_source::{Source, SourceError, did_you_mean};

use super::bind::{Binder, Scope, at};
use super::executed::{CompositeDefinition, Defined};
use super::fields::AttributeFields;
use super::flowops::{Builder, Inside};
use super::kinds::KINDS;
use crate::parse::lex::short;
use crate::parse::syntax::Attributes;
use crate::{Attribute, Flowop};

/// How deep composites may use others.
const MAX_DEPTH: usize = 16;

/// All composites of a script.
pub(super) struct Composites {
    list: Vec<Defined<CompositeDefinition>>,
    by_name: HashMap<String, usize>,
}

fn definition_fields(
    definition: &Defined<CompositeDefinition>,
) -> Result<AttributeFields<'_>, SourceError> {
    let attributes = &definition.value.attributes;
    AttributeFields::new(
        &definition.source,
        "the composite flowop",
        &definition.span,
        attributes,
        &["name", "iters"],
    )
}

impl Composites {
    /// Names must differ from each other and from the built-in types.
    pub(super) fn new(
        list: Vec<Defined<CompositeDefinition>>,
        binder: &mut Binder,
    ) -> Result<Self, SourceError> {
        let mut by_name = HashMap::new();
        for (i, definition) in list.iter().enumerate() {
            let fields = definition_fields(definition)?;
            let (name, _) = binder.text_of(&fields, "name", &Scope::new())?;
            if KINDS.iter().any(|kind| kind.word == name) {
                return Err(fields.place().error(format!(
                    "'{name}' is a type of flowop already; name the composite otherwise"
                )));
            }
            if by_name.insert(name.clone(), i).is_some() {
                let name = short(&name);
                return Err(fields
                    .place()
                    .error(format!("the composite flowop '{name}' is defined twice")));
            }
        }
        Ok(Self { list, by_name })
    }

    fn find(&self, name: &str) -> Option<&Defined<CompositeDefinition>> {
        self.by_name.get(name).and_then(|i| self.list.get(*i))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

/// The use of a composite.
pub(super) struct CompositeCall<'a> {
    pub source: &'a Arc<Source>,
    pub fields: &'a AttributeFields<'a>,
    pub attributes: &'a Attributes,
    pub scope: &'a Scope,
    pub depth: usize,
}

impl Builder<'_> {
    /// The flowops of a composite that is used under a `name`, its variables replaced.
    pub(super) fn composite(
        &mut self,
        word: &str,
        name: &str,
        call: &CompositeCall<'_>,
        iters: Attribute,
    ) -> Result<(Attribute, Vec<Flowop>), SourceError> {
        let place = call.fields.place();
        let mut iters = iters;
        let composites = self.composites;
        let Some(definition) = composites.find(word) else {
            let known = KINDS.iter().map(|k| k.word).chain(composites.names());
            let near = did_you_mean(&short(word), known);
            let all = if near.is_empty() {
                "; expected one such as 'read' or 'openfile', or a composite"
            } else {
                ""
            };
            return Err(place.error(format!("unknown flowop type '{}'{near}{all}", short(word))));
        };
        if call.depth >= MAX_DEPTH {
            return Err(place.error(format!(
                "composite flowops are used more than {MAX_DEPTH} deep; '{word}' may use itself"
            )));
        }
        for attribute in call.fields.list() {
            let key = attribute.key.value.as_str();
            if !matches!(key, "name" | "iters") {
                let at = call.fields.at(&attribute.key.span);
                return Err(at.error(format!("the composite flowop '{word}' has no attribute '{key}'; it takes 'name', 'iters' and its variables")));
            }
        }
        if !call.fields.has("iters") {
            let fields = definition_fields(definition)?;
            iters = self.binder.number_of(&fields, "iters", &Scope::new(), 1)?;
        }
        let mut scope = Scope::new();
        for local in &definition.value.attributes.locals {
            let value = match &local.value {
                Some(value) => {
                    Some(self.binder.outward(value, &definition.source, &Scope::new())?)
                }
                None => None,
            };
            scope.insert(local.name.value.clone(), value);
        }
        for local in &call.attributes.locals {
            let at = at(call.source, &local.name.span);
            let name = &local.name.value;
            let Some(slot) = scope.get_mut(name) else {
                let near = did_you_mean(
                    &short(name),
                    definition.value.attributes.locals.iter().map(|l| l.name.value.as_str()),
                );
                return Err(at.error(format!(
                    "the composite flowop '{word}' has no variable '${}'{near}",
                    short(name)
                )));
            };
            let Some(value) = &local.value else {
                return Err(at.error(format!("'${}' needs a value here", short(name))));
            };
            *slot = Some(self.binder.outward(value, call.source, call.scope)?);
        }
        let inside = Inside { composite: name, depth: call.depth + 1 };
        let inner = self.list(&definition.source, &definition.value.flowops, &scope, &inside)?;
        Ok((iters, inner))
    }
}
