//! Names of files and jobs.

use disklab_source::FileName;

use crate::error::{NameError, NameFault};
use crate::value::shown;

/// More names than this are refused.
const MOST_NAMES: usize = 10_000;

/// A name that means one file to fio.
fn file_name(name: &str) -> Result<(), NameError> {
    let fault = if name.contains('\\') {
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
    let below = below(text, text)?;
    Ok(if below.is_empty() { ".".to_owned() } else { below })
}

/// `filename` or `filename_format` of a job in a study, of which the same holds.
///
/// # Errors
/// If a name could lead out of the measured directory, or is that of a device.
pub(crate) fn names_below(text: &str) -> Result<String, NameError> {
    let names = text.split(':').map(|name| {
        let name = name.trim();
        let below = below(name, name)?;
        let is_device = below.starts_with("dev/") && !below.starts_with("dev/shm/");
        if name.starts_with('/') && is_device {
            return Err(NameError::File { name: shown(name), fault: NameFault::Device });
        }
        Ok(below)
    });
    Ok(names.collect::<Result<Vec<_>, _>>()?.join(":"))
}

/// A path without the '/' that it begins with, and without '.'. `shown_as` is it as written.
fn below(text: &str, shown_as: &str) -> Result<String, NameError> {
    let mut parts = Vec::new();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        FileName::new(part)
            .map_err(|source| NameError::Outside { found: shown(shown_as), source })?;
        parts.push(part);
    }
    let below = parts.join("/");
    if below.len() > 1024 { Err(NameError::LongDirectory) } else { Ok(below) }
}

/// `filename`: names with ':' between them.
pub(crate) fn file_names(text: &str) -> Result<Vec<String>, NameError> {
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
    names.iter().map(|name| file_name(name).map(|()| (*name).to_owned())).collect()
}

/// `filename_format`.
pub(crate) fn name_format(text: &str) -> Result<String, NameError> {
    let fixed = ["$jobname", "$jobnum", "$filenum"]
        .iter()
        .fold(text.to_owned(), |text, keyword| text.replace(keyword, "0"));
    if fixed.contains('$') {
        return Err(NameError::Keyword);
    }
    if fixed.contains(':') {
        return Err(NameError::Colon);
    }
    file_name(&fixed)?;
    Ok(text.to_owned())
}

/// A job's name becomes part of file names. That of a job of its own, which is `plain`, may lead
/// through directories; in a study, it is given to fio as a word, too.
pub(crate) fn job_name(name: &str, plain: bool) -> Result<(), NameError> {
    let is_name = |part: &str| FileName::new(part).is_ok();
    let fits = match plain {
        true => {
            name.len() <= FileName::LONGEST
                && name.split('/').next_back().is_some_and(is_name)
                && !name.chars().any(char::is_control)
        }
        false => is_name(name) && !name.contains(['\\', '$']),
    };
    if fits { Ok(()) } else { Err(NameError::Job) }
}
