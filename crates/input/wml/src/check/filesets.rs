//! `define file` and `define fileset`.

use std::sync::Arc;

use disklab_source::{FileName, Source, SourceError};

use super::bind::{Binder, Scope, at};
use super::executed::{Defined, FilesDefinition};
use super::fields::{AttributeFields, no_locals};
use crate::parse::lex::short;
use crate::{Attribute, Dialect, Fileset};

const FILE: &[&str] = &[
    "name",
    "path",
    "size",
    "filesize",
    "prealloc",
    "paralloc",
    "reuse",
    "trusttree",
    "readonly",
    "writeonly",
    "cached",
];
const FILESET: &[&str] = &[
    "name",
    "path",
    "size",
    "filesize",
    "prealloc",
    "paralloc",
    "reuse",
    "trusttree",
    "readonly",
    "writeonly",
    "cached",
    "entries",
    "leafdirs",
    "dirwidth",
    "dirgamma",
    "dirdepthrv",
    "filesizegamma",
];

/// Upstream has 16; each one costs a few hundred bytes.
const MAX_FILESETS: usize = 1024;

impl Binder {
    pub(super) fn filesets(&mut self, dialect: Dialect) -> Result<Vec<Fileset>, SourceError> {
        let definitions = std::mem::take(&mut self.done.files);
        let mut filesets: Vec<Fileset> = Vec::with_capacity(definitions.len());
        for definition in &definitions {
            let fileset = self.one_fileset(definition, dialect)?;
            if let Some(first) = filesets.iter().find(|f| f.name == fileset.name) {
                let line = first.place.error("").line;
                return Err(fileset.place.error(format!(
                    "the fileset '{}' is defined twice; first in line {line}",
                    fileset.name
                )));
            }
            if filesets.len() >= MAX_FILESETS {
                return Err(fileset.place.error(format!("at most {MAX_FILESETS} filesets")));
            }
            filesets.push(fileset);
        }
        Ok(filesets)
    }

    fn one_fileset(
        &mut self,
        definition: &Defined<FilesDefinition>,
        dialect: Dialect,
    ) -> Result<Fileset, SourceError> {
        let source = &definition.source;
        let FilesDefinition { single, attributes } = &definition.value;
        let (what, known) = if *single { ("the file", FILE) } else { ("the fileset", FILESET) };
        no_locals(source, attributes)?;
        let fields = AttributeFields::new(source, what, &definition.span, attributes, known)?;
        let none = Scope::new();
        let name = self.fileset_name(&fields)?;
        let (path, _) = self.text_of(&fields, "path", &none)?;
        let size = self.file_size(&fields)?;
        let entries = if *single {
            Attribute::Constant(1)
        } else {
            self.number_of(&fields, "entries", &none, 0)?
        };
        let leafdirs = self.number_of(&fields, "leafdirs", &none, 0)?;
        if entries.is_zero() && leafdirs.is_zero() {
            return Err(fields.place().error(
                "the fileset has no 'entries' and no 'leafdirs': there would be nothing in it",
            ));
        }
        if !*single && !fields.has("dirwidth") {
            self.note(&fields.place(), "without 'dirwidth' each file has a directory of its own");
        }
        if fields.has("cached") {
            self.note(
                &fields.place(),
                "'cached' has no effect: caches are dealt with before each run",
            );
        }
        let dir_depth = self.dir_depth(&fields, source)?;
        let prealloc = self.prealloc(&fields, &none)?;
        let size_shape = self.size_shape(&fields, *single, &size, dialect)?;
        Ok(Fileset {
            name,
            path,
            single: *single,
            entries,
            leafdirs,
            size,
            size_shape,
            dir_width: self.number_of(&fields, "dirwidth", &none, 0)?,
            dir_shape: self.constant_of(&fields, "dirgamma", &none, 1500)? as f64 / 1000.0,
            dir_depth,
            prealloc,
            paralloc: self.switch(&fields, "paralloc", &none)?,
            reuse: self.switch(&fields, "reuse", &none)?,
            trust_tree: self.switch(&fields, "trusttree", &none)?,
            read_only: self.switch(&fields, "readonly", &none)?,
            write_only: self.switch(&fields, "writeonly", &none)?,
            place: fields.place(),
        })
    }

    fn fileset_name(&mut self, fields: &AttributeFields<'_>) -> Result<String, SourceError> {
        let (name, place) = self.text_of(fields, "name", &Scope::new())?;
        if FileName::new(&name).is_err() {
            return Err(place.error(format!(
                "'{}' cannot be a directory's name: expected 1 to {} letters, digits, '.', '-' or '_'",
                short(&name),
                FileName::LONGEST
            )));
        }
        Ok(name)
    }

    fn file_size(&mut self, fields: &AttributeFields<'_>) -> Result<Attribute, SourceError> {
        if fields.has("size") && fields.has("filesize") {
            let what = "'size' and 'filesize' are the same attribute; give one";
            return Err(fields.place().error(what));
        }
        let key = if fields.has("filesize") { "filesize" } else { "size" };
        self.number_of(fields, key, &Scope::new(), 1024)
    }

    /// A random variable, if there is one.
    fn dir_depth(
        &mut self,
        fields: &AttributeFields<'_>,
        source: &Arc<Source>,
    ) -> Result<Option<Attribute>, SourceError> {
        let Some(attribute) = fields.find("dirdepthrv") else {
            return Ok(None);
        };
        let depth = self.number_of(fields, "dirdepthrv", &Scope::new(), 0)?;
        if matches!(depth, Attribute::Constant(_) | Attribute::Variable(_)) {
            return Err(
                at(source, &attribute.key.span).error("'dirdepthrv' needs a random variable")
            );
        }
        Ok(Some(depth))
    }

    /// A share in percent: bare or true is all of them.
    fn prealloc(
        &mut self,
        fields: &AttributeFields<'_>,
        scope: &Scope,
    ) -> Result<Attribute, SourceError> {
        let Some(attribute) = fields.find("prealloc") else { return Ok(Attribute::Constant(0)) };
        let value = match &attribute.value {
            None => Attribute::Constant(100),
            Some(value) => match self.number(value, fields.source, scope) {
                Ok(value) => value,
                // No number: true or false, else the switch tells what is wrong.
                Err(_) => Attribute::Constant(if self.switch(fields, "prealloc", scope)? {
                    100
                } else {
                    0
                }),
            },
        };
        match value.fixed() {
            Some(n) if n > 100 => Err(fields
                .at(&attribute.key.span)
                .error(format!("'prealloc' is a share in percent: {n} is above 100"))),
            _ => Ok(value),
        }
    }

    /// The shape of the sizes: Filebench 1.4.9 drew them from a gamma distribution
    /// unless told otherwise.
    fn size_shape(
        &mut self,
        fields: &AttributeFields<'_>,
        single: bool,
        size: &Attribute,
        dialect: Dialect,
    ) -> Result<f64, SourceError> {
        let random = matches!(size, Attribute::Random(_));
        if fields.has("filesizegamma") {
            let gamma = self.constant_of(fields, "filesizegamma", &Scope::new(), 0)?;
            return Ok(if random { 0.0 } else { gamma as f64 / 1000.0 });
        }
        if dialect == Dialect::V15 || single || random || size.is_zero() {
            return Ok(0.0);
        }
        self.note(
            &fields.place(),
            "as in Filebench 1.4.9, sizes are drawn from a gamma distribution with 'size' as the mean \
             (filesizegamma=1500); say filesizegamma=0 for equal sizes",
        );
        Ok(1.5)
    }
}
