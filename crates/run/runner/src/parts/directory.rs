//! The names of parts in a directory.

use std::path::{Path, PathBuf};

use disklab_options::RunPart;

use super::{PartHead, PartProblem};

/// The file of a part.
pub fn part_name(RunPart { number, of }: RunPart) -> String {
    let width = of.to_string().len().max(3);
    format!("{number:0width$}")
}

/// The file of the part with this number in a directory of parts, if it is there.
pub fn part_file(folder: &Path, number: u32) -> Option<PathBuf> {
    (3..=7).map(|width| folder.join(format!("{number:0width$}"))).find(|path| path.exists())
}

/// How many parts a directory has: the first of each look says it.
///
/// # Errors
/// [`PartProblem`] if one of these is not a part.
pub fn parts_in(folder: &Path) -> Result<u32, PartProblem> {
    let mut of = 0;
    while let Some(first) = part_file(folder, of + 1) {
        of = PartHead::read(&first)?.part().of.max(of + 1);
    }
    Ok(of)
}
