//! The raw outputs of each cell: `raw/0007-raid5_ext4-dd-write-4k/`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use disklab_exec::TraceEntry;
use disklab_study::Cell;

use crate::{CellRecord, CellState, StoreError};

/// A folder still being written ends in this.
const UNFINISHED: &str = ".part";

fn name(cell: &Cell) -> String {
    let plain = |text: &str| -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.=+".contains(c);
        text.chars().map(|c| if fits(c) { c } else { '_' }).take(80).collect()
    };
    format!("{:05}-{}-{}", cell.number, plain(&cell.stack), plain(&cell.workload))
}

fn part(folder: &Path, cell: &Cell) -> PathBuf {
    folder.join("raw").join(name(cell) + UNFINISHED)
}

/// Makes an empty folder for a cell that is about to run.
pub(crate) fn begin(folder: &Path, cell: &Cell) -> Result<PathBuf, StoreError> {
    let path = part(folder, cell);
    remove(&path)?;
    std::fs::create_dir_all(&path).map_err(StoreError::io("cannot make", &path))?;
    Ok(path)
}

/// Writes the command trace beside the outputs and gives the folder its final name.
pub(crate) fn finish(folder: &Path, cell: &Cell, trace: &[TraceEntry]) -> Result<(), StoreError> {
    let path = part(folder, cell);
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
    let done = folder.join("raw").join(name(cell));
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
    copy(&from, &to.join("raw").join(name(new)))
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

/// Removes the folders of cells that have not ended.
pub(crate) fn clear_unfinished(folder: &Path, cells: &[CellRecord]) -> Result<(), StoreError> {
    let ended: HashSet<String> =
        cells.iter().filter(|c| c.state != CellState::Waiting).map(|c| name(&c.cell)).collect();
    let raw = folder.join("raw");
    let Ok(entries) = std::fs::read_dir(&raw) else { return Ok(()) };
    for entry in entries.flatten() {
        if !ended.contains(&*entry.file_name().to_string_lossy()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(StoreError::io("cannot remove", path)(e)),
    }
}
