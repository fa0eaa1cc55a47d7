//! Flowops: attributes to typed actions, composites put in place.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, Source, SourceError, did_you_mean};

use super::bind::{Binder, Scope, at};
use super::composites::{CompositeCall, Composites};
use super::fields::AttributeFields;
use super::kinds::KINDS;
use crate::parse::lex::short;
use crate::parse::syntax::FlowopSyntax;
use crate::{
    Action, Attribute, Dialect, Fileset, Flowop, FlowopFiles, Io, OpenHow, PerInstance, RowId,
    SLOTS,
};

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

/// A name that must turn out to be a flowop's.
pub(super) struct PendingFlowop {
    pub id: usize,
    pub name: String,
    /// The same within the composite that it is in.
    pub inner: String,
    pub place: Location,
}

/// Where flowops are: in a thread, or in composites.
pub(super) struct Inside<'a> {
    /// The full name of the composite that is used; empty in a thread.
    pub composite: &'a str,
    /// How many composites deep.
    pub depth: usize,
}

impl Inside<'static> {
    pub(super) const THREAD: Self = Self { composite: "", depth: 0 };
}

impl Inside<'_> {
    /// `use.flowop`, as upstream calls the flowops of each use of a composite
    /// (`parser_inner_flowop_define`).
    fn full_name(&self, name: &str) -> String {
        if self.composite.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.composite)
        }
    }
}

/// What flowops are built with.
pub(super) struct Builder<'b> {
    pub binder: &'b mut Binder,
    pub filesets: &'b [Fileset],
    pub dialect: Dialect,
    pub composites: &'b Composites,
    pub rows: Vec<String>,
    /// Where each name is in `rows`.
    pub row_ids: HashMap<String, RowId>,
    pub count: usize,
    pub pending: Vec<PendingFlowop>,
}

/// One flowop while it is read.
pub(super) struct Building<'f, 'b> {
    builder: &'f mut Builder<'b>,
    fields: AttributeFields<'f>,
    scope: &'f Scope,
    inside: &'f Inside<'f>,
    id: usize,
    /// Whether `random` stands for a posset.
    posset: Option<u64>,
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
        let (name, _) = self.binder.text_of(&fields, "name", scope)?;
        let name = inside.full_name(&name);
        let iters = self.binder.number_of(&fields, "iters", scope, 1)?;
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
                self.binder.note(&at, format!("'{key}' has no effect on '{word}'"));
            }
        }
        let mut building = Building { builder: self, fields, scope, inside, id, posset: None };
        let action = (kind.read)(&mut building)?;
        Ok(Flowop { name, row, id, iters, action, place })
    }
}

impl Building<'_, '_> {
    pub(super) fn error(&self, message: impl Into<String>) -> SourceError {
        self.fields.place().error(message)
    }

    fn key_span(&self, key: &str) -> Range<usize> {
        self.fields.find(key).map_or_else(|| self.fields.span.clone(), |a| a.key.span.clone())
    }

    pub(super) fn switch(&mut self, key: &str) -> Result<bool, SourceError> {
        self.builder.binder.switch(&self.fields, key, self.scope)
    }

    pub(super) fn number(&mut self, key: &str, default: u64) -> Result<Attribute, SourceError> {
        self.builder.binder.number_of(&self.fields, key, self.scope, default)
    }

    /// A number that must be given.
    pub(super) fn value(&mut self, key: &str) -> Result<Attribute, SourceError> {
        self.fields.require(key)?;
        self.number(key, 0)
    }

    pub(super) fn slot(&mut self, key: &str) -> Result<usize, SourceError> {
        let slot = self.builder.binder.constant_of(&self.fields, key, self.scope, 0)?;
        usize::try_from(slot).ok().filter(|slot| *slot < SLOTS).ok_or_else(|| {
            let place = self.fields.at(&self.key_span(key));
            place.error(format!("'{key}' is a slot from 0 to {}; {slot} is not", SLOTS - 1))
        })
    }

    /// The flowop that `target` names; looked up when all are known.
    pub(super) fn target(&mut self, needed: bool) -> Result<Option<RowId>, SourceError> {
        if !needed && !self.fields.has("target") {
            return Ok(None);
        }
        let (name, place) = self.builder.binder.text_of(&self.fields, "target", self.scope)?;
        let inner = self.inside.full_name(&name);
        self.builder.pending.push(PendingFlowop { id: self.id, name, inner, place });
        Ok(Some(RowId::MAX))
    }

    /// The files; with a fileset where `needed`.
    pub(super) fn files(&mut self, needed: bool) -> Result<FlowopFiles, SourceError> {
        self.files_or_leaves(needed, false)
    }

    /// `indexed`. Of empty directories, and in 1.4.9 of files too, it is a share: 1
    /// stands for half of the entries (`flowoplib_pickfile`, `flowoplib_pickleafdir`).
    fn indexed(
        &mut self,
        fileset: Option<usize>,
        leaves: bool,
    ) -> Result<Option<Attribute>, SourceError> {
        if !self.fields.has("indexed") {
            return Ok(None);
        }
        let index = self.number("indexed", 0)?;
        let Some(fileset) = fileset.and_then(|id| self.builder.filesets.get(id)) else {
            return Ok(Some(index));
        };
        let count = match (leaves, self.builder.dialect) {
            (true, _) => &fileset.leafdirs,
            (false, Dialect::V149) => &fileset.entries,
            (false, Dialect::V15) => return Ok(Some(index)),
        };
        // Upstream divides whole numbers.
        let half = (count.mean() / 2.0).trunc();
        Ok(Some(match index {
            Attribute::Random(random) => Attribute::Random(Arc::new(random.scaled(half))),
            Attribute::Constant(n) => Attribute::Constant((n as f64 * half) as u64),
            variable => variable,
        }))
    }

    fn files_or_leaves(&mut self, needed: bool, leaves: bool) -> Result<FlowopFiles, SourceError> {
        if self.fields.has("filename") && self.fields.has("filesetname") {
            return Err(self.error("'filename' and 'filesetname' are the same attribute; give one"));
        }
        let key = if self.fields.has("filename") { "filename" } else { "filesetname" };
        let fileset = if needed || self.fields.has(key) {
            let (name, place) = self.builder.binder.text_of(&self.fields, key, self.scope)?;
            let filesets = self.builder.filesets;
            let found = filesets.iter().position(|fileset| fileset.name == name);
            Some(found.ok_or_else(|| {
                let near = did_you_mean(&short(&name), filesets.iter().map(|f| f.name.as_str()));
                place.error(format!("no fileset is named '{}'{near}", short(&name)))
            })?)
        } else {
            None
        };
        let indexed = self.indexed(fileset, leaves)?;
        let how = OpenHow {
            dsync: self.switch("dsync")?,
            direct: self.switch("directio")?,
            no_read_ahead: self.switch("noreadahead")?,
        };
        Ok(FlowopFiles {
            fileset,
            slot: self.slot("fd")?,
            open_next: self.switch("opennext")?,
            indexed,
            how,
        })
    }

    pub(super) fn need_fileset_or(
        &self,
        files: &FlowopFiles,
        otherwise: bool,
    ) -> Result<(), SourceError> {
        if files.fileset.is_none() && !otherwise {
            return Err(self.error("the flowop needs 'filesetname='"));
        }
        Ok(())
    }

    pub(super) fn leaf_directories(&mut self) -> Result<FlowopFiles, SourceError> {
        let files = self.files_or_leaves(true, true)?;
        let fileset = files.fileset.and_then(|id| self.builder.filesets.get(id));
        if let Some(fileset) = fileset.filter(|f| f.leafdirs.is_zero()) {
            return Err(self.error(format!(
                "the fileset '{}' has no 'leafdirs' to make or to remove",
                fileset.name
            )));
        }
        Ok(files)
    }

    pub(super) fn io(&mut self) -> Result<Io, SourceError> {
        if self.fields.has("possetname") {
            self.posset()?;
        }
        let files = self.files(false)?;
        let working_set = match self.posset {
            Some(max) if !self.fields.has("workingset") => Attribute::Constant(max),
            _ => self.number("workingset", 0)?,
        };
        Ok(Io {
            files,
            size: self.number("iosize", 0)?,
            random: self.switch("random")? || self.posset.is_some(),
            working_set: PerInstance(working_set),
        })
    }

    /// A posset of the old dialect: positions drawn beforehand. Here they are drawn as
    /// they are used.
    fn posset(&mut self) -> Result<(), SourceError> {
        let (name, place) = self.builder.binder.text_of(&self.fields, "possetname", self.scope)?;
        let possets = &self.builder.binder.done.possets;
        let Some(posset) = possets.get(&name).cloned() else {
            let near = did_you_mean(&short(&name), possets.keys().map(String::as_str));
            return Err(place.error(format!("no posset is named '{}'{near}", short(&name))));
        };
        let known = &["name", "type", "seed", "entries", "max"];
        let fields =
            AttributeFields::new(&posset.source, "the posset", &posset.span, &posset.value, known)?;
        let max = self.builder.binder.constant_of(&fields, "max", &Scope::new(), 0)?;
        self.builder
            .binder
            .note(&place, "a posset is a random position below its 'max', drawn at each use");
        self.posset = Some(max);
        Ok(())
    }

    /// Refuses an I/O of 0 bytes.
    pub(super) fn sized(&mut self, io: Io) -> Result<Io, SourceError> {
        if io.size.is_zero() {
            let place = self.fields.at(&self.key_span("iosize"));
            return Err(place.error("the flowop needs 'iosize=' above 0"));
        }
        Ok(io)
    }
}
