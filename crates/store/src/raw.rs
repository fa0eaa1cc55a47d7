//! The raw outputs of each cell: `raw/0007-raid5_ext4-dd-write-4k/`.

use std::path::{Path, PathBuf};

use disklab_exec::TraceEntry;
use disklab_study::{Cell, FileName};

use crate::{CellRecord, CellState, StoreError};

/// A folder still being written ends in this.
const UNFINISHED: &str = ".part";

fn name(cell: &Cell) -> String {
    let [stack, workload] = [&cell.stack, &cell.workload].map(|name| FileName::plain(name, 80));
    format!("{:05}-{stack}-{workload}", cell.number)
}

/// The directory of all raw outputs. A link of that name would lead out of the run.
fn raw(folder: &Path) -> Result<PathBuf, StoreError> {
    let path = folder.join("raw");
    is_directory(&path)?;
    Ok(path)
}

fn part(folder: &Path, cell: &Cell) -> Result<PathBuf, StoreError> {
    Ok(raw(folder)?.join(name(cell) + UNFINISHED))
}

/// Makes an empty folder for a cell that is about to run.
pub(crate) fn begin(folder: &Path, cell: &Cell) -> Result<PathBuf, StoreError> {
    let path = part(folder, cell)?;
    remove(&path)?;
    std::fs::create_dir_all(&path).map_err(StoreError::io("cannot make", &path))?;
    Ok(path)
}

/// Writes the command trace beside the outputs and gives the folder its final name.
pub(crate) fn finish(folder: &Path, cell: &Cell, trace: &[TraceEntry]) -> Result<(), StoreError> {
    let path = part(folder, cell)?;
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
    let commands = path.join("commands.txt");
    std::fs::write(&commands, text).map_err(StoreError::io("cannot write", &commands))?;
    let done = raw(folder)?.join(name(cell));
    remove(&done)?;
    std::fs::rename(&path, &done).map_err(StoreError::io("cannot rename", &path))
}

/// Copies the outputs of a cell of the run in `from` to the cell `new` of the run in `to`.
/// There may be none: a run may have been given away without them.
pub(crate) fn adopt(from: &Path, cell: &Cell, to: &Path, new: &Cell) -> Result<(), StoreError> {
    let from = from.join("raw").join(name(cell));
    if !from.is_dir() {
        return Ok(());
    }
    copy(&from, &raw(to)?.join(name(new)))
}

fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    std::fs::create_dir_all(to).map_err(StoreError::io("cannot make", to))?;
    for entry in std::fs::read_dir(from).map_err(StoreError::io("cannot read", from))? {
        let entry = entry.map_err(StoreError::io("cannot read", from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(StoreError::io("cannot read", &path))?;
        if kind.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(StoreError::io("cannot copy", &path))?;
        }
    }
    Ok(())
}

/// Removes what cells that were cut off have left. Whatever else is there is not the run's.
pub(crate) fn clear_unfinished(folder: &Path, cells: &[CellRecord]) -> Result<(), StoreError> {
    let raw = raw(folder)?;
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

/// Whether there is a directory, or nothing, at `path`; a link is neither.
fn is_directory(path: &Path) -> Result<bool, StoreError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(StoreError::Unexpected { path: path.to_owned(), expected: "directory" }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(StoreError::io("cannot look at", path)(e)),
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    if !is_directory(path)? {
        return Ok(());
    }
    match std::fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(StoreError::io("cannot remove", path)(e)),
    }
}
