//! `randvar(…)` and `cvar(…)`.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use disklab_source::{SourceError, did_you_mean, one_of};

use super::bind::{Binder, Scope};
use super::executed::RandomDefinition;
use super::fields::{AttributeFields, no_locals};
use crate::parse::lex::short;
use crate::random::{CUSTOM_KINDS, Custom, RandomShape, RandomTable, RandomVariable, TableRow};

const RANDOM: &[&str] = &["type", "seed", "gamma", "mean", "min", "round", "randsrc", "randtable"];
const CUSTOM: &[&str] = &["type", "parameters", "min", "max", "round"];
const TYPES: &[&str] = &["gamma", "uniform", "tabular"];

impl Binder {
    /// Binds all random variables: before everything else.
    pub(super) fn bind_randoms(&mut self) -> Result<(), SourceError> {
        let definitions = std::mem::take(&mut self.done.randoms);
        let mut bound = Vec::with_capacity(definitions.len());
        for definition in &definitions {
            no_locals(&definition.source, &definition.attributes)?;
            let variable =
                if definition.custom { self.custom(definition) } else { self.random(definition) };
            bound.push(Arc::new(variable?));
        }
        self.randoms = bound;
        Ok(())
    }

    fn random(&mut self, definition: &RandomDefinition) -> Result<RandomVariable, SourceError> {
        let span = &definition.name.span;
        let attributes = &definition.attributes;
        let fields = AttributeFields::new(
            &definition.source,
            "a random variable",
            span,
            attributes,
            RANDOM,
        )?;
        let none = Scope::new();
        let min = self.constant_of(&fields, "min", &none, 0)? as f64;
        let round = self.constant_of(&fields, "round", &none, 0)? as f64;
        let seed = self.constant_of(&fields, "seed", &none, 0)?;
        let gamma = self.constant_of(&fields, "gamma", &none, 1500)?;
        let given = match fields.has("mean") {
            true => Some(self.constant_of(&fields, "mean", &none, 0)? as f64),
            false => None,
        };
        // Upstream takes the table's type from the table itself.
        let default = if fields.has("randtable") { "tabular" } else { "gamma" };
        let kind = self.choice(&fields, "type", TYPES, default)?;
        let source = self.choice(&fields, "randsrc", &["rand48", "urandom"], "rand48")?;
        if fields.has("randtable") && kind != "tabular" {
            return Err(fields
                .place()
                .error(format!("a table makes the type 'tabular', not '{kind}'")));
        }
        let shape = gamma as f64 / 1000.0;
        let (distribution, mean) = match kind {
            "tabular" => {
                let table = self.table(&fields)?;
                // A mean of 0 stands for the table's own.
                let mean = given.filter(|m| *m != 0.0).unwrap_or(table.mean());
                (RandomShape::Tabular(table), mean)
            }
            "uniform" => {
                let Some(mean) = given else {
                    return Err(fields.place().error("a uniform random variable needs 'mean='"));
                };
                (RandomShape::Uniform, mean)
            }
            _ if gamma == 0 => {
                return Err(fields
                    .place()
                    .error("'gamma' must be above 0 (it is the shape times 1000)"));
            }
            // Upstream's default mean is the shape.
            _ => (RandomShape::Gamma { shape }, given.unwrap_or(shape)),
        };
        if mean < min && (given.is_some() || kind == "tabular") {
            return Err(fields.place().error(format!("the mean, {mean}, is below 'min', {min}")));
        }
        Ok(RandomVariable {
            name: definition.name.value.clone(),
            distribution,
            mean,
            min,
            max: f64::INFINITY,
            round,
            rand48: (source == "rand48").then(|| Arc::new(AtomicU64::new(seed & ((1 << 48) - 1)))),
            factor: 1.0,
        })
    }

    /// One of these words, as the value of an attribute.
    fn choice(
        &mut self,
        fields: &AttributeFields<'_>,
        key: &str,
        known: &[&'static str],
        default: &'static str,
    ) -> Result<&'static str, SourceError> {
        if !fields.has(key) {
            return Ok(default);
        }
        let (word, place) = self.text_of(fields, key, &Scope::new())?;
        known.iter().find(|k| **k == word).copied().ok_or_else(|| {
            let near = did_you_mean(&short(&word), known.iter().copied());
            let all = one_of(known);
            place.error(format!("invalid '{key}' '{}'{near}: expected {all}", short(&word)))
        })
    }

    fn table(&mut self, fields: &AttributeFields<'_>) -> Result<RandomTable, SourceError> {
        let attribute = fields.require("randtable")?;
        let none = Scope::new();
        let mut rows = Vec::with_capacity(attribute.table.len());
        for [percent, min, max] in &attribute.table {
            let row = TableRow {
                percent: self.constant(percent, fields.source, &none)?,
                min: self.constant(min, fields.source, &none)? as f64,
                max: self.constant(max, fields.source, &none)? as f64,
            };
            if row.min > row.max {
                return Err(fields.at(&min.span).error("this range ends before it begins"));
            }
            rows.push(row);
        }
        RandomTable::new(&rows).map_err(|total| {
            let place = fields.at(&attribute.key.span);
            place.error(format!("the chances of the table sum to {total} %; expected 100"))
        })
    }

    fn custom(&mut self, definition: &RandomDefinition) -> Result<RandomVariable, SourceError> {
        let span = &definition.name.span;
        let attributes = &definition.attributes;
        let fields = AttributeFields::new(
            &definition.source,
            "a custom variable",
            span,
            attributes,
            CUSTOM,
        )?;
        let none = Scope::new();
        let (name, place) = self.text_of(&fields, "type", &none)?;
        let Some(kind) = CUSTOM_KINDS.iter().find(|k| k.name == name) else {
            let names = || CUSTOM_KINDS.iter().map(|k| k.name);
            let near = did_you_mean(&short(&name), names());
            let all = one_of(names());
            return Err(place.error(format!(
                "unknown custom variable '{}'{near}: expected {all}",
                short(&name)
            )));
        };
        let (text, place) = match fields.has("parameters") {
            true => self.text_of(&fields, "parameters", &none)?,
            false => (String::new(), fields.place()),
        };
        let custom = Custom::new(kind, &text).map_err(|wrong| place.error(wrong.to_string()))?;
        let min = self.constant_of(&fields, "min", &none, 0)? as f64;
        let max = match fields.has("max") {
            true => self.constant_of(&fields, "max", &none, 0)? as f64,
            false => f64::INFINITY,
        };
        if min > max {
            return Err(fields.place().error("'min' is above 'max'"));
        }
        Ok(RandomVariable {
            name: definition.name.value.clone(),
            mean: custom.mean().max(min).min(max),
            distribution: RandomShape::Custom(custom),
            min,
            max,
            round: self.constant_of(&fields, "round", &none, 0)? as f64,
            // Upstream's cvar-gamma draws from an unseeded drand48; the others seed
            // themselves from /dev/random. None draws from the common generator.
            rand48: Some(Arc::new(AtomicU64::new(0))),
            factor: 1.0,
        })
    }
}
