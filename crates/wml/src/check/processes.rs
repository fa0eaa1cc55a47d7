//! `define process` with its threads.

use disklab_source::{SourceError, did_you_mean};

use super::bind::{Binder, Scope, at};
use super::executed::{CompositeDefinition, Defined, ProcessDefinition};
use super::fields::{Fields, no_locals};
use super::flowops::{Builder, Pending};
use crate::parse::lex::short;
use crate::parse::syntax::ThreadSyntax;
use crate::{Action, Fileset, Flowop, Process, Thread, Value};

const PROCESS: &[&str] = &["name", "instances", "nice"];
const THREAD: &[&str] = &["name", "instances", "memsize", "useism", "ioprio", "procname"];
/// Threads of all processes together. Upstream has 1024 definitions; Linux's
/// default limit is of this order.
const MAX_THREADS: u64 = 65_536;

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
        composites: &[Defined<CompositeDefinition>],
    ) -> Result<Processes, SourceError> {
        let definitions = std::mem::take(&mut self.done.processes);
        let mut builder = Builder {
            binder: self,
            filesets,
            composites,
            rows: Vec::new(),
            count: 0,
            pending: Vec::new(),
        };
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
        let (rows, flowops) = (builder.rows, builder.count);
        let pending = builder.pending;
        resolve(&mut list, &rows, pending)?;
        Ok(Processes { list, rows, flowops })
    }
}

impl Builder<'_> {
    fn process(&mut self, definition: &Defined<ProcessDefinition>) -> Result<Process, SourceError> {
        let source = &definition.source;
        let ProcessDefinition { attributes, threads } = &definition.value;
        no_locals(source, attributes)?;
        let fields = Fields::new(source, "the process", &definition.span, attributes, PROCESS)?;
        let none = Scope::new();
        let (name, _) = self.binder.text_of(&fields, "name", &none)?;
        let instances = self.instances(&fields)?;
        let nice = self.binder.number_of(&fields, "nice", &none, 0)?;
        let threads = threads
            .iter()
            .map(|thread| self.thread(definition, thread))
            .collect::<Result<_, _>>()?;
        Ok(Process { name, instances, nice, threads, place: fields.place() })
    }

    fn instances(&mut self, fields: &Fields<'_>) -> Result<Value, SourceError> {
        let instances = self.binder.number_of(fields, "instances", &Scope::new(), 1)?;
        if instances.is_zero() {
            self.binder.note(&fields.place(), "0 instances: nothing of it runs");
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
        let fields = Fields::new(source, "the thread", &syntax.word, &syntax.attributes, THREAD)?;
        let none = Scope::new();
        let (name, _) = self.binder.text_of(&fields, "name", &none)?;
        let io_priority = match fields.find("ioprio") {
            None => None,
            Some(attribute) => {
                let value = self.binder.number_of(&fields, "ioprio", &none, 0)?;
                if value.fixed().is_some_and(|n| n > 7) {
                    return Err(fields
                        .at(&attribute.key.span)
                        .error("'ioprio' is a priority from 0 (highest) to 7"));
                }
                Some(value)
            }
        };
        let instances = self.instances(&fields)?;
        let memory = self.binder.number_of(&fields, "memsize", &none, 0)?;
        let use_ism = self.binder.switch(&fields, "useism", &none)?;
        let first = self.pending.len();
        let flowops = self.list(source, &syntax.flowops, &none, 0)?;
        slots_are_filled(&flowops)?;
        targets_are_near(&flowops, self.pending.get(first..).unwrap_or_default())?;
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
            Action::CloseFile(files) | Action::Fsync(files) | Action::DeleteFile(files) => {
                Some(files)
            }
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

/// `finishon…` and the limits count a flowop of their own thread.
fn targets_are_near(flowops: &[Flowop], pending: &[Pending]) -> Result<(), SourceError> {
    let mut all = Vec::new();
    for flowop in flowops {
        flowop.walk(&mut |f| all.push(f));
    }
    for target in pending {
        let Some(asking) = all.iter().find(|f| f.id == target.id) else { continue };
        if matches!(asking.action, Action::Wakeup(_) | Action::SemPost { .. }) {
            continue;
        }
        if !all.iter().any(|f| f.name == target.name) {
            let near = did_you_mean(&short(&target.name), all.iter().map(|f| f.name.as_str()));
            return Err(target.place.error(format!(
                "no flowop of this thread is named '{}'{near}",
                short(&target.name)
            )));
        }
    }
    Ok(())
}

/// Puts the rows of the targets in place of their names.
fn resolve(
    list: &mut [Process],
    rows: &[String],
    pending: Vec<Pending>,
) -> Result<(), SourceError> {
    let mut blocks = Vec::new();
    let mut semaphores = Vec::new();
    for flowop in list.iter().flat_map(|p| &p.threads).flat_map(|t| &t.flowops) {
        flowop.walk(&mut |f| match f.action {
            Action::Block => blocks.push(f.row),
            Action::SemBlock { .. } => semaphores.push(f.row),
            _ => {}
        });
    }
    let targets: std::collections::HashMap<usize, Pending> =
        pending.into_iter().map(|p| (p.id, p)).collect();
    for flowop in list.iter_mut().flat_map(|p| &mut p.threads).flat_map(|t| &mut t.flowops) {
        resolve_one(flowop, rows, &targets, &blocks, &semaphores)?;
    }
    Ok(())
}

fn resolve_one(
    flowop: &mut Flowop,
    rows: &[String],
    targets: &std::collections::HashMap<usize, Pending>,
    blocks: &[usize],
    semaphores: &[usize],
) -> Result<(), SourceError> {
    let target = targets.get(&flowop.id);
    let row = target.and_then(|t| rows.iter().position(|row| *row == t.name));
    let checked = |kind: &str, fitting: &[usize]| match (row, target) {
        (Some(row), _) if fitting.contains(&row) => Ok(row),
        (_, Some(target)) => {
            let known = fitting.iter().filter_map(|row| rows.get(*row)).map(String::as_str);
            let near = did_you_mean(&short(&target.name), known);
            Err(target.place.error(format!("no '{kind}' is named '{}'{near}", short(&target.name))))
        }
        // Both always have a target: their attribute is required.
        (_, None) => Ok(0),
    };
    match &mut flowop.action {
        Action::Wakeup(target) => *target = checked("block", blocks)?,
        Action::SemPost { target, .. } => *target = checked("semblock", semaphores)?,
        Action::IopsLimit(target) | Action::OpsLimit(target) | Action::BandwidthLimit(target) => {
            *target = target.and(row);
        }
        Action::FinishOnCount(finish) | Action::FinishOnBytes(finish) => {
            finish.target = finish.target.and(row);
        }
        Action::Composite(inner) => {
            for flowop in inner {
                resolve_one(flowop, rows, targets, blocks, semaphores)?;
            }
        }
        _ => {}
    }
    Ok(())
}
