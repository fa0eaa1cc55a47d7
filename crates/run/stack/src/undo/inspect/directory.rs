//! What is in a directory that is about to be removed or unmounted, and who
//! uses it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::users::users_of;
use super::super::{Marks, Obstacle};
use crate::StackError;
use crate::mounts::mounts;

/// How long programs of the run may take to end once their parent was killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// What file systems themselves keep in their root: ext4's, and NILFS2's.
const OF_FILE_SYSTEMS: [&str; 2] = ["lost+found", ".nilfs"];

/// Files and directories in `path` that the run did not make, also in directories below of
/// which it is known what the run makes in them.
///
/// # Errors
/// [`StackError::Io`] if it cannot be read: what is in it is then unknown, and it stays.
pub(crate) fn entries(path: &Path, marks: &Marks) -> Result<Vec<Obstacle>, StackError> {
    let fail = |e| StackError::io("cannot read the directory", path, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let inside = entry.path();
        let name = inside.file_name().unwrap_or_default();
        // No link is a directory here.
        let is_directory = entry.file_type().map_err(fail)?.is_dir();
        if is_directory && marks.has_path(&inside) && marks.knows_names_in(&inside) {
            found.extend(entries(&inside, marks)?);
        } else if !marks.has_path(&inside) && !OF_FILE_SYSTEMS.iter().any(|known| name == *known) {
            found.push(Obstacle::File(inside));
        }
    }
    found.sort_by_key(ToString::to_string);
    Ok(found)
}

/// Mounts below `path`.
///
/// # Errors
/// [`StackError::Io`] if `/proc` has no list of mounts: it then stays.
pub(crate) fn submounts(path: &Path) -> Result<Vec<Obstacle>, StackError> {
    let below = mounts()?
        .into_iter()
        .filter(|mount| mount.mount_point != path && mount.mount_point.starts_with(path));
    Ok(below.map(|mount| Obstacle::Mount { source: mount.source, at: mount.mount_point }).collect())
}

/// Processes that use something below `path`. Those of the run have been ended.
pub(crate) fn processes(path: &Path) -> Vec<Obstacle> {
    let began = Instant::now();
    loop {
        let users = users_of(path);
        if users.is_empty() || began.elapsed() > PATIENCE {
            let process = |user: &super::super::users::Holder| Obstacle::Process {
                uses: path.to_owned(),
                process: user.to_string(),
            };
            return users.iter().map(process).collect();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
