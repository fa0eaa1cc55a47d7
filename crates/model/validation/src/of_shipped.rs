//! What tables say of shipped drives.

use disklab_drive::{DriveFile, shipped};

/// What a table of drives' ids says of a shipped drive, and of none that was made from its file.
pub(crate) fn of_shipped<'a, T>(file: &DriveFile, table: &'a [(&str, T)]) -> Option<&'a T> {
    let (_, entry) = table.iter().find(|(id, _)| *id == file.id)?;
    let model = shipped(&file.id)?.without_spread();
    (model.kind == file.clone().without_spread().kind).then_some(entry)
}
