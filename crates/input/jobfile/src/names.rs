//! Names of files and jobs.

use disklab_source::FileName;

use crate::error::{NameError, NameFault};
use crate::value::shown;

/// More names than this are refused.
const MOST_NAMES: usize = 10_000;

/// A name that stays in the directory, and means one file to fio.
fn file_name(name: &str, folders: bool) -> Result<(), NameError> {
    let fault = if name.contains('/') && !folders {
        NameFault::Directory
    } else if name.contains('\\') {
        NameFault::Escape
    } else if name == "-" {
        NameFault::Dash
    } else if let Err(why) = FileName::new(name.rsplit('/').next().unwrap_or_default()) {
        NameFault::Invalid(why)
    } else if name.len() > 4095 {
        NameFault::TooLong
    } else {
        return Ok(());
    };
    Err(NameError::File { name: shown(name), fault })
}

/// `directory` of a job in a study: the measured directory takes the place of `/`, so that a
/// job file written for `/mnt/data` runs in `mnt/data` below it. `.` is that directory itself.
///
/// # Errors
/// If it could lead out of it, or is no path of one directory.
pub(crate) fn directory_below(text: &str) -> Result<String, NameError> {
    if text.contains([':', '\\', '$']) {
        return Err(NameError::Directory { found: shown(text) });
    }
    let mut parts = Vec::new();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        FileName::new(part).map_err(|source| NameError::Outside { found: shown(text), source })?;
        parts.push(part);
    }
    if parts.is_empty() {
        return Ok(".".to_owned());
    }
    let below = parts.join("/");
    if below.len() > 1024 { Err(NameError::LongDirectory) } else { Ok(below) }
}

/// `filename`: names with ':' between them.
pub(crate) fn file_names(text: &str, folders: bool) -> Result<Vec<String>, NameError> {
    let names: Vec<&str> = text.split(':').map(str::trim).filter(|n| !n.is_empty()).collect();
    if names.is_empty() {
        return Err(NameError::NoName);
    }
    if names.len() > MOST_NAMES {
        return Err(NameError::TooMany { most: MOST_NAMES });
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(NameError::Repeated { name: shown(pair[0]) });
    }
    names.iter().map(|name| file_name(name, folders).map(|()| (*name).to_owned())).collect()
}

/// `filename_format`.
pub(crate) fn name_format(text: &str, folders: bool) -> Result<String, NameError> {
    let fixed = ["$jobname", "$jobnum", "$filenum"]
        .iter()
        .fold(text.to_owned(), |text, keyword| text.replace(keyword, "0"));
    if fixed.contains('$') {
        return Err(NameError::Keyword);
    }
    if fixed.contains(':') {
        return Err(NameError::Colon);
    }
    file_name(&fixed, folders)?;
    Ok(text.to_owned())
}

/// A job's name becomes part of file names.
pub(crate) fn job_name(name: &str) -> Result<(), NameError> {
    if FileName::new(name).is_err() || name.contains(['\\', '$', ':']) {
        return Err(NameError::Job);
    }
    Ok(())
}
