//! The drives that the user names in place of a study's.

use std::path::Path;

use disklab_bench::find_model;
use disklab_study::{DriveRequest, DriveRequests};
use disklab_units::Bytes;

use crate::RunnerError;

/// The same drives, each of whose models is known: a file by its whole path, and with the size
/// that its drive has, so that the run can be resumed from anywhere.
///
/// # Errors
/// [`RunnerError::NamedDrives`] if a model is not known or its file is wrong.
pub(crate) fn known_drives(named: &DriveRequests) -> Result<DriveRequests, RunnerError> {
    named.0.iter().map(known).collect::<Result<_, _>>().map(DriveRequests)
}

fn known(request: &DriveRequest) -> Result<DriveRequest, RunnerError> {
    let failed = |source| RunnerError::NamedDrives {
        request: request.to_string(),
        source: Box::new(source),
    };
    let file = find_model(&request.model, Path::new("")).map_err(failed)?;
    let mut known = request.clone();
    if request.model.contains('/') || request.model.ends_with(".toml") {
        let path = Path::new(&request.model);
        let whole = std::path::absolute(path)
            .map_err(|source| RunnerError::Path { path: path.to_owned(), source })?;
        known.model = whole.to_string_lossy().into_owned();
        known.size.get_or_insert(Bytes(file.capacity()));
    }
    Ok(known)
}
