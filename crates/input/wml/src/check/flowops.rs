//! Flowops, with composites put in place.

use std::collections::HashMap;
use std::sync::Arc;

use disklab_source::{Source, SourceError, did_you_mean};

use super::bind::{Scope, at};
use super::composites::{Composites, definition_fields};
use super::fields::AttributeFields;
use super::flowop_reader::{FlowopContext, FlowopReader, Inside};
use super::kinds::KINDS;
use crate::parse::lex::short;
use crate::parse::syntax::{Attributes, FlowopSyntax};
use crate::{Action, Attribute, Flowop, RowId};

/// Every attribute that some flowop knows.
const KNOWN: &[&str] = &[
    "name",
    "filename",
    "filesetname",
    "possetname",
    "fd",
    "srcfd",
    "opennext",
    "iosize",
    "workingset",
    "random",
    "dsync",
    "directio",
    "noreadahead",
    "indexed",
    "iters",
    "value",
    "target",
    "blocking",
    "highwater",
];
/// Flowop instances of upstream (`FILEBENCH_NFLOWOPS`).
const MAX_FLOWOPS: usize = 16_384;
/// How deep composites may use others.
const MAX_DEPTH: usize = 16;

/// What flowops are built with.
pub(super) struct Builder<'b> {
    pub context: FlowopContext<'b>,
    pub composites: &'b Composites,
    pub rows: Vec<String>,
    /// Where each name is in `rows`.
    pub row_ids: HashMap<String, RowId>,
    pub count: usize,
}

/// The use of a composite.
struct CompositeCall<'a> {
    source: &'a Arc<Source>,
    fields: &'a AttributeFields<'a>,
    attributes: &'a Attributes,
    scope: &'a Scope,
    depth: usize,
}

impl Builder<'_> {
    /// The row of this name, made where it is new.
    fn row(&mut self, name: &str) -> RowId {
        if let Some(id) = self.row_ids.get(name) {
            return *id;
        }
        let id = self.rows.len();
        self.rows.push(name.to_owned());
        self.row_ids.insert(name.to_owned(), id);
        id
    }

    pub(super) fn list(
        &mut self,
        source: &Arc<Source>,
        list: &[FlowopSyntax],
        scope: &Scope,
        inside: &Inside<'_>,
    ) -> Result<Vec<Flowop>, SourceError> {
        list.iter().map(|flowop| self.one(source, flowop, scope, inside)).collect()
    }

    fn one(
        &mut self,
        source: &Arc<Source>,
        syntax: &FlowopSyntax,
        scope: &Scope,
        inside: &Inside<'_>,
    ) -> Result<Flowop, SourceError> {
        let span = &syntax.kind.span;
        let place = at(source, span);
        if self.count >= MAX_FLOWOPS {
            return Err(
                place.error(format!("more than {MAX_FLOWOPS} flowops, with those of composites"))
            );
        }
        let id = self.count;
        self.count += 1;
        let word = syntax.kind.value.as_str();
        let fields = AttributeFields::new(source, "the flowop", span, &syntax.attributes, KNOWN)?;
        let (name, _) = self.context.binder.text_of(&fields, "name", scope)?;
        let name = inside.full_name(&name);
        let iters = self.context.binder.number_of(&fields, "iters", scope, 1)?;
        let row = self.row(&name);
        let Some(kind) = KINDS.iter().find(|kind| kind.word == word) else {
            let depth = inside.depth;
            let call = CompositeCall {
                source,
                fields: &fields,
                attributes: &syntax.attributes,
                scope,
                depth,
            };
            let (iters, inner) = self.composite(word, &name, &call, iters)?;
            return Ok(Flowop { name, row, id, iters, action: Action::Composite(inner), place });
        };
        super::fields::no_locals(source, &syntax.attributes)?;
        for attribute in fields.list() {
            let key = attribute.key.value.as_str();
            if !matches!(key, "name" | "iters") && !kind.uses.iter().any(|set| set.contains(&key)) {
                let at = fields.at(&attribute.key.span);
                self.context.binder.note(&at, format!("'{key}' has no effect on '{word}'"));
            }
        }
        let mut reader =
            FlowopReader { context: &mut self.context, fields, scope, inside, id, posset: None };
        let action = (kind.read)(&mut reader)?;
        Ok(Flowop { name, row, id, iters, action, place })
    }

    /// The flowops of a composite that is used under a `name`, its variables replaced.
    fn composite(
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
            iters = self.context.binder.number_of(&fields, "iters", &Scope::new(), 1)?;
        }
        let mut scope = Scope::new();
        for local in &definition.value.attributes.locals {
            let value = match &local.value {
                Some(value) => {
                    Some(self.context.binder.outward(value, &definition.source, &Scope::new())?)
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
            *slot = Some(self.context.binder.outward(value, call.source, call.scope)?);
        }
        let inside = Inside { composite: name, depth: call.depth + 1 };
        let inner = self.list(&definition.source, &definition.value.flowops, &scope, &inside)?;
        Ok((iters, inner))
    }
}
