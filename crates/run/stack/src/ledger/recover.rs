//! Tearing down what dead owners left.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::Executor;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::host::{HostRelation, LedgerHost};
use super::line::{Entry, LedgerLine, LineContent, read_lines};
use super::trust::{check_directory, open_ledger};
use super::{LedgerId, Leftover, LeftoverDecision, LockedFile, Recovery};
use crate::undo::{Marks, TeardownContext, end_programs_of};
use crate::{LedgerElsewhere, LineProblem, Obstacle, StackError, Undecidable, Undo};

/// No ledger is anywhere near this long: 64 MiB.
const LONGEST: u64 = 64 << 20;

/// A child that a dying owner had just forked holds the lock a moment longer,
/// until it becomes the program it was forked for.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// Tears down what ledgers in `directory` list whose owners are gone, unless something
/// is on or in it that they did not make.
pub fn recover(directory: &Path, executor: &Executor) -> Recovery {
    let mut recovery = Recovery::default();
    let ids = match ledgers(directory) {
        Ok(ids) => ids,
        Err(error) => {
            recovery.errors.push(error);
            return recovery;
        }
    };
    let deadline = Instant::now() + LOCK_PATIENCE;
    for id in ids {
        let mut context = TeardownContext::with_care(executor);
        let result = recover_one(directory, &id, deadline, &mut context, &mut recovery);
        recovery.errors.append(&mut context.complaints);
        match result {
            Ok(()) => {}
            // Nothing of it can be meant for us.
            Err(error @ StackError::Untrusted { .. }) => recovery.notes.push(error.to_string()),
            Err(error) => recovery.errors.push(error),
        }
    }
    recovery
}

/// Discards or keeps what the run with this ledger left.
///
/// # Errors
/// If there is no such ledger, or it cannot be decided about here.
pub fn decide(
    directory: &Path,
    id: &LedgerId,
    decision: LeftoverDecision,
    executor: &Executor,
) -> Result<Recovery, StackError> {
    let known = ledgers(directory)?;
    let unknown = || StackError::UnknownLeftover {
        id: id.to_string(),
        known: known.iter().map(ToString::to_string).collect(),
    };
    let path = directory.join(id.file_name());
    if !known.contains(id) {
        return Err(unknown());
    }
    let deadline = Instant::now() + LOCK_PATIENCE;
    let Some(ledger) = lock_abandoned(&path, deadline)? else {
        return Err(StackError::Undecidable { id: id.to_string(), why: Undecidable::Running });
    };
    let mut recovery = Recovery::default();
    if decision == LeftoverDecision::Keep {
        ledger.remove()?;
        recovery.done.push(format!("forgot what the run {id} left; it stays where it is"));
        return Ok(recovery);
    }
    let content = read(&ledger)?;
    if let Some(other) = elsewhere(&content, id, directory) {
        let why = Undecidable::Elsewhere(other);
        return Err(StackError::Undecidable { id: id.to_string(), why });
    }
    let mut context = TeardownContext::by_force(executor);
    tear_down(ledger, content, id, &mut context, &mut recovery)?;
    recovery.errors.append(&mut context.complaints);
    Ok(recovery)
}

/// The ledgers in the state directory.
fn ledgers(directory: &Path) -> Result<Vec<LedgerId>, StackError> {
    if !check_directory(directory)? {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(directory)
        .map_err(|e| StackError::io("cannot read the directory", directory, e))?;
    let mut ids: Vec<LedgerId> = entries
        .filter_map(|entry| LedgerId::from_file_name(entry.ok()?.file_name().to_str()?))
        .collect();
    ids.sort_by_key(ToString::to_string);
    Ok(ids)
}

fn recover_one(
    directory: &Path,
    id: &LedgerId,
    deadline: Instant,
    context: &mut TeardownContext<'_>,
    recovery: &mut Recovery,
) -> Result<(), StackError> {
    let path = directory.join(id.file_name());
    let Some(ledger) = lock_abandoned(&path, deadline)? else { return Ok(()) };
    let content = read(&ledger)?;
    if let Some(other) = elsewhere(&content, id, directory) {
        recovery.notes.push(other.to_string());
        return Ok(());
    }
    tear_down(ledger, content, id, context, recovery)
}

/// Reads a ledger whose owner is dead.
fn read(ledger: &LockedFile) -> Result<LineContent, StackError> {
    let path = &ledger.path;
    let mut bytes = Vec::new();
    (&ledger.file)
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .map_err(|e| StackError::io("cannot read the ledger", path, e))?;
    // Its owner died while writing a line whose thing was therefore never made.
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let mut content = read_lines(path, &bytes[..whole]);
    content.whole = (whole < bytes.len()).then_some(whole as u64);
    if content.owner.is_none() && !content.entries.is_empty() {
        let problem = LineProblem::NoOwner;
        content.strange.push(StackError::InvalidLedger { path: path.clone(), line: 1, problem });
        content.entries.clear();
    }
    Ok(content)
}

/// Why what the ledger lists is not here, if so.
fn elsewhere(content: &LineContent, id: &LedgerId, directory: &Path) -> Option<LedgerElsewhere> {
    let (_, host) = content.owner.as_ref()?;
    let on_this_machine = match LedgerHost::here().relation(host) {
        HostRelation::Same | HostRelation::Rebooted => return None,
        HostRelation::OtherNamespace => true,
        HostRelation::OtherMachine => false,
    };
    Some(LedgerElsewhere { id: id.clone(), path: directory.join(id.file_name()), on_this_machine })
}

/// Tears down what is listed, newest first; what cannot be stays listed.
fn tear_down(
    mut ledger: LockedFile,
    content: LineContent,
    id: &LedgerId,
    context: &mut TeardownContext<'_>,
    recovery: &mut Recovery,
) -> Result<(), StackError> {
    // Only now, as it is ours: what follows is appended.
    if let Some(whole) = content.whole {
        let fail = |e| StackError::io("cannot shorten the ledger", &ledger.path, e);
        ledger.file.set_len(whole).map_err(fail)?;
    }
    let marks = content.marks();
    let LineContent { owner, entries, strange, .. } = content;
    if let Some((mark, host)) = owner {
        context.rebooted = LedgerHost::here().relation(&host) == HostRelation::Rebooted;
        // A ledger that this process itself has dropped left no programs behind.
        if !entries.is_empty() && !context.rebooted && mark != disklab_exec::owner() {
            end_programs_of(&mark)?;
        }
    }
    let mut pass =
        Pass { marks, left: Leftover::new(id), stays: Vec::new(), failed: !strange.is_empty() };
    recovery.errors.extend(strange);
    for Entry { number, undo, .. } in entries.into_iter().rev() {
        if pass.is_gone(&undo, context, recovery) {
            ledger.append(&LedgerLine::Gone { number })?;
        } else {
            pass.stays.push(undo);
        }
    }
    let Pass { left, failed, .. } = pass;
    if !left.things.is_empty() {
        recovery.left.push(left);
    } else if !failed {
        ledger.remove()?;
    }
    Ok(())
}

/// The entries of one ledger, on their way from the newest to the oldest.
struct Pass {
    marks: Marks,
    left: Leftover,
    /// What was left alone, or could not be torn down.
    stays: Vec<Undo>,
    failed: bool,
}

impl Pass {
    /// Why a thing is to stay.
    fn obstacles(&self, undo: &Undo, context: &TeardownContext<'_>) -> Vec<Obstacle> {
        // What cannot be inspected is for the user to decide about.
        let mut found = undo
            .obstacles(&self.marks, context)
            .unwrap_or_else(|error| vec![Obstacle::Failed(error.into())]);
        // A directory is entered before what is made in it, and would take that along.
        if found.is_empty() && self.stays.iter().any(|other| undo.contains(other)) {
            found.extend(undo.paths().into_iter().map(|path| Obstacle::Busy(path.to_owned())));
        }
        found
    }

    /// Tears one thing down; whether it is gone.
    fn is_gone(
        &mut self,
        undo: &Undo,
        context: &mut TeardownContext<'_>,
        recovery: &mut Recovery,
    ) -> bool {
        if context.rebooted && undo.ends_with_boot() {
            return true;
        }
        let obstacles = if context.by_force { Vec::new() } else { self.obstacles(undo, context) };
        if !obstacles.is_empty() {
            self.left.add(undo, obstacles);
            return false;
        }
        let outcome = undo.carry_out(context);
        match outcome {
            Ok(true) => {
                recovery.done.push(format!("tore down {undo}, left by an earlier disklab"));
                true
            }
            Ok(false) => true,
            // What is below a thing that was left alone is in use by that.
            Err(error) if !self.left.things.is_empty() => {
                self.left.add(undo, vec![Obstacle::Failed(error.into())]);
                false
            }
            Err(error) => {
                self.failed = true;
                recovery.errors.push(error);
                false
            }
        }
    }
}

/// Opens and locks a ledger; nothing where its owner lives or it is gone.
fn lock_abandoned(path: &Path, deadline: Instant) -> Result<Option<LockedFile>, StackError> {
    let Some(file) = open_ledger(path)? else { return Ok(None) };
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(e) => return Err(StackError::io("cannot lock the ledger", path, e.into())),
        }
    }
    // Its owner may have ended properly, and removed it, in this moment.
    let removed = |f: &File| f.metadata().is_ok_and(|m| m.nlink() == 0);
    if removed(&file) {
        return Ok(None);
    }
    Ok(Some(LockedFile { path: path.to_owned(), file }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gone_things_are_not_listed() {
        let text = br#"{"enter":{"number":0,"undo":{"remove-file":"/tmp/a/b"}}}
{"enter":{"number":1,"undo":{"remove-folder":"/tmp/a"},"marks":["m"]}}
{"gone":{"number":0}}
{"enter":{"number":2,"undo":{"no-such-thing":"/tmp/a"}}}
{"enter":{"number":3,"undo":{"remove-file":"relative/path"}}}
"#;
        let LineContent { owner, entries, strange: errors, marks, .. } =
            read_lines(Path::new("l"), text);
        assert_eq!(owner, None);
        let directory = crate::undo::RemoveDirectory("/tmp/a".into()).into();
        assert_eq!(entries, [Entry { number: 1, undo: directory, identity: None }]);
        assert_eq!(marks, ["m"]);
        assert_eq!(errors.len(), 2);
        assert!(errors[0].to_string().contains("line 4"), "{}", errors[0]);
        assert!(errors[1].to_string().contains("line 5"), "{}", errors[1]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let LineContent { entries, strange: errors, .. } = read_lines(Path::new("l"), &bytes);
            let lines = bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()).count();
            prop_assert!(entries.len() + errors.len() <= lines);
        }

        #[test]
        fn a_cut_ledger_lists_a_prefix(cut in 0_usize..240) {
            let whole: String = (0..4)
                .map(|n| format!("{{\"enter\":{{\"number\":{n},\"undo\":{{\"remove-file\":\"/t/f{n}\"}}}}}}\n"))
                .collect();
            let cut = cut.min(whole.len());
            let end = whole[..cut].rfind('\n').map_or(0, |i| i + 1);
            let LineContent { entries, strange: errors, .. } =
                read_lines(Path::new("l"), &whole.as_bytes()[..end]);
            prop_assert!(errors.is_empty());
            for (index, entry) in entries.iter().enumerate() {
                prop_assert_eq!(entry.number, index as u64);
            }
        }
    }
}
