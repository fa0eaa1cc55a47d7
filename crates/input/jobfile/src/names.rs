//! Names of files and jobs.

use disklab_source::FileName;

use crate::value::shown;

/// More names than this are refused.
const MOST_NAMES: usize = 10_000;

/// A name that stays in the directory, and means one file to fio.
fn file_name(name: &str, folders: bool) -> Result<(), String> {
    let why = if name.contains('/') && !folders {
        "it names a directory, and disklab runs the job in the directory that is measured"
    } else if name.contains('\\') {
        "fio takes '\\' for an escape; give plain names"
    } else if name == "-" {
        "not a file name"
    } else if let Err(why) = FileName::new(name.rsplit('/').next().unwrap_or_default()) {
        return Err(format!("'{}' is not allowed here: {why}", shown(name)));
    } else if name.len() > 4095 {
        "it is longer than any path can be"
    } else {
        return Ok(());
    };
    Err(format!("'{}' is not allowed here: {why}", shown(name)))
}

/// `directory` of a job in a study: the measured directory takes the place of `/`, so that a
/// job file written for `/mnt/data` runs in `mnt/data` below it. `.` is that directory itself.
///
/// # Errors
/// If it could lead out of it, or is no path of one directory.
pub(crate) fn directory_below(text: &str) -> Result<String, String> {
    if text.contains([':', '\\', '$']) {
        return Err(format!(
            "'{}' is not allowed here: give one directory, without ':', '\\' and '$'",
            shown(text)
        ));
    }
    let mut parts = Vec::new();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        FileName::new(part).map_err(|why| {
            format!(
                "'{}' is not allowed here: {why}; a study's jobs stay below the directory that is \
                 measured",
                shown(text)
            )
        })?;
        parts.push(part);
    }
    if parts.is_empty() {
        return Ok(".".to_owned());
    }
    let below = parts.join("/");
    if below.len() > 1024 { Err("it is longer than 1024 bytes".to_owned()) } else { Ok(below) }
}

/// `filename`: names with ':' between them.
pub(crate) fn file_names(text: &str, folders: bool) -> Result<Vec<String>, String> {
    let names: Vec<&str> = text.split(':').map(str::trim).filter(|n| !n.is_empty()).collect();
    if names.is_empty() {
        return Err("expected a file's name".to_owned());
    }
    if names.len() > MOST_NAMES {
        return Err(format!("more than {MOST_NAMES} names"));
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("'{}' stands twice", shown(pair[0])));
    }
    names.iter().map(|name| file_name(name, folders).map(|()| (*name).to_owned())).collect()
}

/// `filename_format`.
pub(crate) fn name_format(text: &str, folders: bool) -> Result<String, String> {
    let fixed = ["$jobname", "$jobnum", "$filenum"]
        .iter()
        .fold(text.to_owned(), |text, keyword| text.replace(keyword, "0"));
    if fixed.contains('$') {
        return Err("only $jobname, $jobnum and $filenum are known".to_owned());
    }
    if fixed.contains(':') {
        return Err("fio takes ':' for the end of a name".to_owned());
    }
    file_name(&fixed, folders)?;
    Ok(text.to_owned())
}

/// A job's name becomes part of file names.
pub(crate) fn job_name(name: &str) -> Result<(), String> {
    if FileName::new(name).is_err() || name.contains(['\\', '$', ':']) {
        return Err(
            "fio makes file names from a job's name: it cannot be empty, '.', '..' or longer \
             than 200 bytes, nor have '/', '\\', '$', ':' or control characters"
                .to_owned(),
        );
    }
    Ok(())
}
