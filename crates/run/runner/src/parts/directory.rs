//! The names of parts in a directory.

use std::path::{Path, PathBuf};

use disklab_options::RunPart;

use super::file::PartHead;
use super::problem::PartProblem;

/// A part that was written.
#[derive(Debug)]
pub struct WrittenPart {
    /// Its file's name. Those of several runs are counted on.
    pub name: String,
    /// What it says of itself.
    pub head: PartHead,
}

/// The file of a part.
pub(super) fn part_name(RunPart { number, of }: RunPart) -> String {
    let width = of.to_string().len().max(3);
    format!("{number:0width$}")
}

/// The file of the part with this number in a directory of parts, if it is there.
pub fn part_file(directory: &Path, number: u32) -> Option<PathBuf> {
    (3..=7).map(|width| directory.join(format!("{number:0width$}"))).find(|path| path.exists())
}

/// How many parts a directory has: the first of each look says it.
///
/// # Errors
/// [`PartProblem`] if one of these is not a part.
pub fn parts_in(directory: &Path) -> Result<u32, PartProblem> {
    let mut of = 0;
    while let Some(first) = part_file(directory, of + 1) {
        of = PartHead::read(&first)?.part().of.max(of + 1);
    }
    Ok(of)
}

/// The parts of a directory behind the first `before`, in their order.
///
/// # Errors
/// [`PartProblem`] if one of them is not a part.
pub fn written_parts(directory: &Path, before: u32) -> Result<Vec<WrittenPart>, PartProblem> {
    let files =
        (before + 1..=parts_in(directory)?).filter_map(|number| part_file(directory, number));
    let read = |file: PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(WrittenPart { name, head: PartHead::read(&file)? })
    };
    files.map(read).collect()
}
