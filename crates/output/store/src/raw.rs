//! The raw outputs of each cell: `raw/0007-raid5_ext4-dd-write-4k/`.

use std::path::{Path, PathBuf};

use disklab_cell::Cell;
use disklab_exec::{LeftBehind, UntrustedDirectory};
use disklab_sample::TraceEntry;
use disklab_source::FileName;

use crate::{CellRecord, CellState, StoreError};

/// A directory still being written ends in this.
const UNFINISHED: &str = ".part";
const RAW: &str = "raw";
const COMMANDS: &str = "commands.txt";
/// No output of a cell has as many bytes; a guest of the lab could leave a file without end.
const LARGEST_OUTPUT: u64 = 1 << 30;

fn name(cell: &Cell) -> String {
    let [stack, workload] =
        [&cell.levels.stack, &cell.levels.workload].map(|name| FileName::plain(name, 80));
    format!("{:05}-{stack}-{workload}", cell.number)
}

/// The directory of all raw outputs. A link of that name would lead out of the run.
fn raw(directory: &Path) -> Result<PathBuf, StoreError> {
    let path = directory.join(RAW);
    is_directory(&path)?;
    Ok(path)
}

fn part(directory: &Path, cell: &Cell) -> Result<PathBuf, StoreError> {
    Ok(raw(directory)?.join(name(cell) + UNFINISHED))
}

/// The directory of a cell's outputs below the run's, if it is there: a run may have been given
/// away without them.
pub(crate) fn outputs(directory: &Path, cell: &Cell) -> Option<String> {
    let path = format!("{RAW}/{}", name(cell));
    directory.join(&path).is_dir().then_some(path)
}

/// Makes an empty directory for a cell that is about to run.
pub(crate) fn begin(directory: &Path, cell: &Cell) -> Result<PathBuf, StoreError> {
    let path = part(directory, cell)?;
    remove(&path)?;
    std::fs::create_dir_all(&path).map_err(StoreError::io("cannot make", &path))?;
    Ok(path)
}

/// Whether a cell has a directory that waits for its end.
pub(crate) fn is_begun(directory: &Path, cell: &Cell) -> Result<bool, StoreError> {
    is_directory(&part(directory, cell)?)
}

/// Writes the command trace next to the outputs and gives the directory its final name.
pub(crate) fn finish(
    directory: &Path,
    cell: &Cell,
    trace: &[TraceEntry],
) -> Result<(), StoreError> {
    let path = part(directory, cell)?;
    is_directory(&path)?;
    std::fs::create_dir_all(&path).map_err(StoreError::io("cannot make", &path))?;
    let mut text = String::new();
    for entry in trace {
        let cwd = entry.cwd.as_ref().map_or_else(String::new, |c| format!(" (in {c})"));
        text.push_str(&format!(
            "{:10.3} s  {:8.3} s  [{}]  {}{cwd}\n",
            entry.at_seconds,
            entry.elapsed_seconds,
            entry.status,
            entry.command_line()
        ));
    }
    // The cell may have been a guest's, which could have left a link of that name.
    UntrustedDirectory::open(&path)
        .and_then(|outputs| outputs.write(COMMANDS, text.as_bytes()))
        .map_err(StoreError::io("cannot write", &path.join(COMMANDS)))?;
    let done = raw(directory)?.join(name(cell));
    remove(&done)?;
    std::fs::rename(&path, &done).map_err(StoreError::io("cannot rename", &path))
}

/// Copies the outputs of a cell of the run in `from` to the cell `new` of the run in `to`.
/// There may be none: a run may have been given away without them. No link is followed:
/// a guest, or someone who gave the run away, may have made any.
pub(crate) fn adopt(from: &Path, cell: &Cell, to: &Path, new: &Cell) -> Result<(), StoreError> {
    let outputs = from.join(RAW).join(name(cell));
    let opened = from
        .canonicalize()
        .and_then(|from| UntrustedDirectory::open(&from)?.directory(RAW)?.directory(name(cell)));
    let opened = match opened {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(StoreError::io("cannot read", &outputs))?,
    };
    let copy = raw(to)?.join(name(new));
    std::fs::create_dir_all(&copy).map_err(StoreError::io("cannot make", &copy))?;
    let copy =
        UntrustedDirectory::open(&copy).map_err(StoreError::io("cannot make", copy.as_path()))?;
    let mut note = |path: &Path, why: LeftBehind| {
        tracing::warn!("'{}' was not copied: it is {}", path.display(), why.as_str());
    };
    copy.copy_all(&opened, LARGEST_OUTPUT, &mut note)
        .map_err(|(path, e)| StoreError::io("cannot copy", &path)(e))
}

/// Removes what cells that were cut off have left. Whatever else is there is not the run's.
pub(crate) fn clear_unfinished(directory: &Path, cells: &[CellRecord]) -> Result<(), StoreError> {
    let raw = raw(directory)?;
    for record in cells {
        let name = name(&record.cell);
        remove(&raw.join(format!("{name}{UNFINISHED}")))?;
        // A cell that was cut off between its outputs and its record.
        if record.state == CellState::Waiting {
            remove(&raw.join(name))?;
        }
    }
    Ok(())
}

/// Removes the outputs of all these cells, and the directory of outputs if that leaves it empty.
pub(crate) fn clear_all(directory: &Path, cells: &[CellRecord]) -> Result<(), StoreError> {
    let raw = raw(directory)?;
    for record in cells {
        let name = name(&record.cell);
        remove(&raw.join(format!("{name}{UNFINISHED}")))?;
        remove(&raw.join(name))?;
    }
    let _ = std::fs::remove_dir(raw);
    Ok(())
}

/// Whether there is a directory, or nothing, at `path`; a link is neither.
fn is_directory(path: &Path) -> Result<bool, StoreError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(StoreError::Unexpected { path: path.to_owned(), expected: "directory" }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(StoreError::io("cannot look at", path)(e)),
    }
}

pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    if !is_directory(path)? {
        return Ok(());
    }
    std::fs::remove_dir_all(path).map_err(StoreError::io("cannot remove", path))
}

#[cfg(test)]
mod tests {
    use disklab_cell::Levels;

    use super::*;

    /// A guest of the lab may write to its cell's directory.
    #[test]
    fn a_link_in_place_of_the_trace_is_replaced_and_not_written_through() {
        let place = tempfile::tempdir().expect("temp");
        let (run, user) = (place.path().join("run"), place.path().join("user"));
        std::fs::write(&user, "the user's").expect("write");
        let cell = Cell { number: 0, block: 0, levels: Levels::new("s", "w"), seed: 1 };
        let part = begin(&run, &cell).expect("begin");
        std::os::unix::fs::symlink(&user, part.join(COMMANDS)).expect("link");
        finish(&run, &cell, &[]).expect("finish");
        assert_eq!(std::fs::read_to_string(&user).expect("read"), "the user's");
        let trace = run.join(RAW).join(name(&cell)).join(COMMANDS);
        assert!(std::fs::symlink_metadata(trace).expect("trace").is_file());
    }
}
