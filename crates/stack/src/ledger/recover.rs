//! Taking down what dead owners left.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use disklab_exec::Executor;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{Line, LockedFile};
use crate::undo::{Hand, end_programs_of};
use crate::{StackError, Undo};

/// No ledger is anywhere near this long: 64 MiB.
const LONGEST: u64 = 64 << 20;

/// A child that a dying owner had just forked holds the lock a moment longer,
/// until it becomes the program it was forked for.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// Takes down what ledgers in `folder` list whose owners are gone. Returns what
/// was done, in sentences, and what failed.
pub fn recover(folder: &Path, executor: &Executor) -> (Vec<String>, Vec<StackError>) {
    let mut hand = Hand { executor, complaints: Vec::new() };
    let mut done = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return (done, hand.complaints),
        Err(e) => return (done, vec![StackError::io("cannot read the folder", folder, e)]),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let name = name.to_str()?;
            (name.starts_with("ledger-") && name.ends_with(".jsonl")).then(|| entry.path())
        })
        .collect();
    paths.sort();
    let deadline = Instant::now() + LOCK_PATIENCE;
    for path in paths {
        if let Err(error) = recover_one(&path, deadline, &mut hand, &mut done) {
            hand.complaints.push(error);
        }
    }
    (done, hand.complaints)
}

fn recover_one(
    path: &Path,
    deadline: Instant,
    hand: &mut Hand<'_>,
    done: &mut Vec<String>,
) -> Result<(), StackError> {
    let Some(mut ledger) = lock_abandoned(path, deadline)? else { return Ok(()) };
    let mut bytes = Vec::new();
    (&ledger.file)
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .map_err(|e| StackError::io("cannot read the ledger", path, e))?;
    // Its owner died while writing a line whose thing was therefore never made.
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    if whole < bytes.len() {
        ledger
            .file
            .set_len(whole as u64)
            .map_err(|e| StackError::io("cannot shorten the ledger", path, e))?;
    }
    let Content { owner, entries, mut strange } = read_lines(path, &bytes[..whole]);
    // A ledger that this process itself has dropped left no programs behind.
    if let Some(mark) = owner.filter(|mark| !entries.is_empty() && mark != disklab_exec::owner()) {
        end_programs_of(&mark)?;
    }
    let mut left = false;
    for (number, undo) in entries.into_iter().rev() {
        match undo.carry_out(hand) {
            Ok(true) => done.push(format!("took down {undo}, left by an earlier disklab")),
            Ok(false) => {}
            Err(error) => {
                left = true;
                hand.complaints.push(error);
                continue;
            }
        }
        ledger.append(&Line::Gone { number })?;
    }
    left |= !strange.is_empty();
    hand.complaints.append(&mut strange);
    if left { Ok(()) } else { ledger.remove() }
}

/// Opens and locks a ledger; nothing where its owner lives or it is gone.
fn lock_abandoned(path: &Path, deadline: Instant) -> Result<Option<LockedFile>, StackError> {
    let file = match OpenOptions::new().read(true).append(true).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(StackError::io("cannot open the ledger", path, e)),
    };
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

/// What stands in a ledger.
#[derive(Debug, Default)]
struct Content {
    /// The mark of the owner's programs.
    owner: Option<String>,
    /// What is not gone yet, in the order entered.
    entries: Vec<(u64, Undo)>,
    /// An error for each line that is none.
    strange: Vec<StackError>,
}

fn read_lines(path: &Path, bytes: &[u8]) -> Content {
    let mut content = Content::default();
    for (index, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let problem = match serde_json::from_slice(line) {
            Ok(Line::Owner { mark }) => {
                content.owner = Some(mark);
                continue;
            }
            Ok(Line::Enter { number, undo }) => match undo.check() {
                Ok(()) => {
                    content.entries.push((number, undo));
                    continue;
                }
                Err(problem) => problem,
            },
            Ok(Line::Gone { number }) => {
                content.entries.retain(|(n, _)| *n != number);
                continue;
            }
            Err(error) => error.to_string(),
        };
        content.strange.push(StackError::Other(format!(
            "line {} of the ledger {} is not understood ({problem}); see what it names, take that \
             down by hand, and remove the file",
            index + 1,
            path.display()
        )));
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gone_things_are_not_listed() {
        let text = br#"{"enter":{"number":0,"undo":{"remove-file":"/tmp/a/b"}}}
{"enter":{"number":1,"undo":{"remove-folder":"/tmp/a"}}}
{"gone":{"number":0}}
{"enter":{"number":2,"undo":{"no-such-thing":"/tmp/a"}}}
{"enter":{"number":3,"undo":{"remove-file":"relative/path"}}}
"#;
        let Content { owner, entries, strange: errors } = read_lines(Path::new("l"), text);
        assert_eq!(owner, None);
        assert_eq!(entries, [(1, Undo::RemoveFolder("/tmp/a".into()))]);
        assert_eq!(errors.len(), 2);
        assert!(errors[0].to_string().contains("line 4"), "{}", errors[0]);
        assert!(errors[1].to_string().contains("line 5"), "{}", errors[1]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let Content { entries, strange: errors, .. } = read_lines(Path::new("l"), &bytes);
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
            let Content { entries, strange: errors, .. } =
                read_lines(Path::new("l"), &whole.as_bytes()[..end]);
            prop_assert!(errors.is_empty());
            for (index, (number, _)) in entries.iter().enumerate() {
                prop_assert_eq!(*number, index as u64);
            }
        }
    }
}
