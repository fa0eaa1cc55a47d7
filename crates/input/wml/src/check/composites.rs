//! Composite flowops: `define flowop`.

use std::collections::HashMap;

use disklab_source::SourceError;

use super::bind::{Binder, Scope};
use super::executed::{CompositeDefinition, Defined};
use super::fields::AttributeFields;
use super::kinds::KINDS;
use crate::parse::lex::short;

/// All composites of a script.
pub(super) struct Composites {
    list: Vec<Defined<CompositeDefinition>>,
    by_name: HashMap<String, usize>,
}

pub(super) fn definition_fields(
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

    pub(super) fn find(&self, name: &str) -> Option<&Defined<CompositeDefinition>> {
        self.by_name.get(name).and_then(|i| self.list.get(*i))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}
