//! `define process` with its threads.

use std::collections::HashMap;

use disklab_source::SourceError;

use super::bind::{Binder, Scope, at};
use super::composites::Composites;
use super::executed::{Defined, ProcessDefinition};
use super::fields::{AttributeFields, no_locals};
use super::flowop_reader::{FlowopContext, Inside};
use super::flowops::Builder;
use super::targets;
use crate::parse::lex::short;
use crate::parse::syntax::ThreadSyntax;
use crate::{Action, Attribute, Dialect, Fileset, Flowop, Process, Thread};

const PROCESS: &[&str] = &["name", "instances", "nice"];
const THREAD: &[&str] = &["name", "instances", "memsize", "useism", "ioprio", "procname"];
/// Most threads of all processes together. Upstream has 1024; Linux's default limit is
/// of this order.
pub const MAX_THREADS: u64 = 16_384;

/// Processes, rows and the number of flowops.
pub(super) struct Processes {
    pub list: Vec<Process>,
    pub rows: Vec<String>,
    pub flowops: usize,
}

impl Binder {
    pub(super) fn processes(
        &mut self,
        filesets: &[Fileset],
        composites: &Composites,
        dialect: Dialect,
    ) -> Result<Processes, SourceError> {
        let definitions = std::mem::take(&mut self.done.processes);
        let context = FlowopContext { binder: self, filesets, dialect, pending: Vec::new() };
        let mut builder =
            Builder { context, composites, rows: Vec::new(), row_ids: HashMap::new(), count: 0 };
        let mut list: Vec<Process> = Vec::new();
        let mut threads = 0_u64;
        for definition in &definitions {
            let process = builder.process(definition)?;
            if list.iter().any(|p| p.name == process.name) {
                return Err(process
                    .place
                    .error(format!("the process '{}' is defined twice", short(&process.name))));
            }
            let each: u64 = process
                .threads
                .iter()
                .map(|t| t.instances.fixed().unwrap_or(1))
                .fold(0, u64::saturating_add);
            threads =
                threads.saturating_add(each.saturating_mul(process.instances.fixed().unwrap_or(1)));
            if threads > MAX_THREADS {
                return Err(process
                    .place
                    .error(format!("{threads} threads in all; at most {MAX_THREADS}")));
            }
            list.push(process);
        }
        if let Some(first) = list.first().filter(|_| threads == 0) {
            return Err(first.place.error(
                "no thread runs: the processes have 0 instances or threads; expected at least 1, \
                 such as nthreads=1",
            ));
        }
        let Builder { rows, row_ids, count: flowops, context, .. } = builder;
        targets::resolve(&mut list, &rows, &row_ids, context.pending)?;
        Ok(Processes { list, rows, flowops })
    }
}

impl Builder<'_> {
    fn process(&mut self, definition: &Defined<ProcessDefinition>) -> Result<Process, SourceError> {
        let source = &definition.source;
        let ProcessDefinition { attributes, threads } = &definition.value;
        no_locals(source, attributes)?;
        let fields =
            AttributeFields::new(source, "the process", &definition.span, attributes, PROCESS)?;
        let none = Scope::new();
        let (name, _) = self.context.binder.text_of(&fields, "name", &none)?;
        let instances = self.instances(&fields)?;
        let nice = self.context.binder.number_of(&fields, "nice", &none, 0)?;
        let threads = threads
            .iter()
            .map(|thread| self.thread(definition, thread))
            .collect::<Result<_, _>>()?;
        Ok(Process { name, instances, nice, threads, place: fields.place() })
    }

    fn instances(&mut self, fields: &AttributeFields<'_>) -> Result<Attribute, SourceError> {
        let instances = self.context.binder.number_of(fields, "instances", &Scope::new(), 1)?;
        if instances.is_zero() {
            self.context.binder.note(&fields.place(), "0 instances: nothing of it runs");
        }
        Ok(instances)
    }

    fn thread(
        &mut self,
        process: &Defined<ProcessDefinition>,
        syntax: &ThreadSyntax,
    ) -> Result<Thread, SourceError> {
        let source = &process.source;
        no_locals(source, &syntax.attributes)?;
        let fields =
            AttributeFields::new(source, "the thread", &syntax.word, &syntax.attributes, THREAD)?;
        let none = Scope::new();
        let (name, _) = self.context.binder.text_of(&fields, "name", &none)?;
        let io_priority = match fields.find("ioprio") {
            None => None,
            Some(attribute) => {
                let value = self.context.binder.number_of(&fields, "ioprio", &none, 0)?;
                if value.fixed().is_some_and(|n| n > 7) {
                    return Err(fields
                        .at(&attribute.key.span)
                        .error("'ioprio' is a priority from 0 (highest) to 7"));
                }
                Some(value)
            }
        };
        let instances = self.instances(&fields)?;
        let memory = self.context.binder.number_of(&fields, "memsize", &none, 0)?;
        let use_ism = self.context.binder.switch(&fields, "useism", &none)?;
        let first = self.context.pending.len();
        let flowops = self.list(source, &syntax.flowops, &none, &Inside::THREAD)?;
        slots_are_filled(&flowops)?;
        targets::are_near(&flowops, self.context.pending.get(first..).unwrap_or_default())?;
        let place = at(source, &syntax.word);
        Ok(Thread { name, instances, memory, use_ism, io_priority, flowops, place })
    }
}

/// I/O without a fileset works on a slot that something else must fill.
fn slots_are_filled(flowops: &[Flowop]) -> Result<(), SourceError> {
    let mut all = Vec::new();
    for flowop in flowops {
        flowop.walk(&mut |f| all.push(f));
    }
    let fills = |flowop: &&Flowop| match &flowop.action {
        Action::OpenFile(files) | Action::CreateFile(files) => Some((files.slot, files.open_next)),
        action => action
            .io()
            .filter(|io| io.files.fileset.is_some())
            .map(|io| (io.files.slot, io.files.open_next)),
    };
    let filled: Vec<(usize, bool)> = all.iter().filter_map(fills).collect();
    let any = filled.iter().any(|(_, rotates)| *rotates);
    for flowop in &all {
        let needs = match &flowop.action {
            Action::CloseFile(files)
            | Action::Fsync(files)
            | Action::StatFile(files)
            | Action::DeleteFile(files) => Some(files),
            action => action.io().map(|io| &io.files),
        };
        let Some(files) = needs.filter(|files| files.fileset.is_none()) else { continue };
        if !any && !filled.iter().any(|(slot, _)| *slot == files.slot) {
            return Err(flowop.place.error(format!(
                "no flowop of this thread opens a file in slot {} ('fd'), and this one has no 'filesetname='",
                files.slot
            )));
        }
    }
    Ok(())
}
