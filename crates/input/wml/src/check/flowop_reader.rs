//! Attributes of a flowop to a typed action.

use std::ops::Range;
use std::sync::Arc;

use disklab_source::{Location, SourceError, did_you_mean};

use super::bind::{Binder, Scope};
use super::fields::AttributeFields;
use crate::parse::lex::short;
use crate::{Attribute, Dialect, Fileset, FlowopFiles, Io, OpenHow, PerInstance, RowId, SLOTS};

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
    pub(super) fn full_name(&self, name: &str) -> String {
        if self.composite.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.composite)
        }
    }
}

/// What attributes refer to.
pub(super) struct FlowopContext<'b> {
    pub binder: &'b mut Binder,
    pub filesets: &'b [Fileset],
    pub dialect: Dialect,
    pub pending: Vec<PendingFlowop>,
}

/// One flowop while it is read.
pub(super) struct FlowopReader<'f, 'b> {
    pub context: &'f mut FlowopContext<'b>,
    pub fields: AttributeFields<'f>,
    pub scope: &'f Scope,
    pub inside: &'f Inside<'f>,
    pub id: usize,
    /// Whether `random` stands for a posset.
    pub posset: Option<u64>,
}

impl FlowopReader<'_, '_> {
    pub(super) fn error(&self, message: impl Into<String>) -> SourceError {
        self.fields.place().error(message)
    }

    fn key_span(&self, key: &str) -> Range<usize> {
        self.fields.find(key).map_or_else(|| self.fields.span.clone(), |a| a.key.span.clone())
    }

    pub(super) fn switch(&mut self, key: &str) -> Result<bool, SourceError> {
        self.context.binder.switch(&self.fields, key, self.scope)
    }

    pub(super) fn number(&mut self, key: &str, default: u64) -> Result<Attribute, SourceError> {
        self.context.binder.number_of(&self.fields, key, self.scope, default)
    }

    /// A number that must be given.
    pub(super) fn value(&mut self, key: &str) -> Result<Attribute, SourceError> {
        self.fields.require(key)?;
        self.number(key, 0)
    }

    pub(super) fn slot(&mut self, key: &str) -> Result<usize, SourceError> {
        let slot = self.context.binder.constant_of(&self.fields, key, self.scope, 0)?;
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
        let (name, place) = self.context.binder.text_of(&self.fields, "target", self.scope)?;
        let inner = self.inside.full_name(&name);
        self.context.pending.push(PendingFlowop { id: self.id, name, inner, place });
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
        let Some(fileset) = fileset.and_then(|id| self.context.filesets.get(id)) else {
            return Ok(Some(index));
        };
        let count = match (leaves, self.context.dialect) {
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
            let (name, place) = self.context.binder.text_of(&self.fields, key, self.scope)?;
            let filesets = self.context.filesets;
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
        let fileset = files.fileset.and_then(|id| self.context.filesets.get(id));
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
        let (name, place) = self.context.binder.text_of(&self.fields, "possetname", self.scope)?;
        let possets = &self.context.binder.done.possets;
        let Some(posset) = possets.get(&name).cloned() else {
            let near = did_you_mean(&short(&name), possets.keys().map(String::as_str));
            return Err(place.error(format!("no posset is named '{}'{near}", short(&name))));
        };
        let known = &["name", "type", "seed", "entries", "max"];
        let fields =
            AttributeFields::new(&posset.source, "the posset", &posset.span, &posset.value, known)?;
        let max = self.context.binder.constant_of(&fields, "max", &Scope::new(), 0)?;
        self.context
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
