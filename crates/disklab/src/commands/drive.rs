//! `disklab drive`: what a drive model does, compared with theory.

mod check;
mod extent;
mod partition;
mod probe;
mod real;
mod scratch;
mod subject;

use std::path::Path;

use disklab_bench::find_model;
use disklab_drive::{DriveFile, SHIPPED, shipped};
use disklab_exec::{LARGEST_TEXT, read_text};
use disklab_validation::{Checked, page};
use serde_json::json;

use super::outputs::{OutputError, write_own};
use crate::cli::{DriveArgs, DriveCommand};
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::{print, print_json};

/// A drive, and the text of its file.
struct Described {
    file: DriveFile,
    text: String,
}

/// Carries out the command.
pub fn drive(args: &DriveArgs, as_json: bool) -> Result<u8, Failure> {
    match &args.command {
        Some(DriveCommand::Probe(args)) => probe::probe(args, as_json),
        Some(DriveCommand::Check(args)) => check::check(args, as_json),
        None => validate(args, as_json),
    }
}

fn validate(args: &DriveArgs, as_json: bool) -> Result<u8, Failure> {
    let mut checked = Vec::new();
    for described in described(args.drive.as_deref())? {
        let outcome = disklab_validation::check(&described.file);
        checked.push((described, outcome));
    }
    if let Some(directory) = &args.svg {
        for (_, outcome) in &checked {
            for (path, text) in page::pictures(outcome) {
                write(directory, &path, &text)?;
            }
        }
    }
    if let Some(directory) = &args.pages {
        write_pages(directory, &checked, args.drive.is_none())?;
    }
    if as_json {
        let drives: Vec<_> = checked.iter().map(|(d, outcome)| as_value(d, outcome)).collect();
        match drives.as_slice() {
            [one] if args.drive.is_some() => print_json(one)?,
            all => print_json(&all)?,
        }
    } else {
        let texts: Vec<String> = checked.iter().map(|(d, o)| page::plain(&d.file, o)).collect();
        print(&texts.join("\n"))?;
    }
    let missed = checked.iter().flat_map(|(_, outcome)| outcome).flat_map(Checked::missed).count();
    Ok(if missed > 0 { FAILED } else { DONE })
}

/// The drive of this name or file, or all that come with disklab.
fn described(name: Option<&str>) -> Result<Vec<Described>, Failure> {
    let Some(name) = name else {
        let all = SHIPPED.iter().filter_map(|(id, text)| {
            Some(Described { file: shipped(id)?, text: (*text).to_owned() })
        });
        return Ok(all.collect());
    };
    let file = find_model(name, Path::new(""))?;
    let known = SHIPPED.iter().find(|(id, _)| shipped(id).as_ref() == Some(&file));
    let text = match known {
        Some((_, text)) => (*text).to_owned(),
        None => read_text(Path::new(name), LARGEST_TEXT).map_err(|e| {
            Failure::usage_error(format!("cannot read the drive file '{name}': {e}"))
        })?,
    };
    Ok(vec![Described { file, text }])
}

fn write_pages(
    directory: &Path,
    checked: &[(Described, Vec<Checked>)],
    all: bool,
) -> Result<(), Failure> {
    for (described, outcome) in checked {
        for document in page::documents(&described.file, &described.text, outcome) {
            write(directory, &document.path, &document.text)?;
        }
    }
    // The table of all drives is in a text that people write.
    let readme = directory.join(page::README);
    if all && let Ok(text) = std::fs::read_to_string(&readme) {
        let drives: Vec<(&DriveFile, &[Checked])> =
            checked.iter().map(|(d, outcome)| (&d.file, outcome.as_slice())).collect();
        if let Some(renewed) = page::with_index(&text, &drives) {
            write(directory, page::README, &renewed)?;
        }
    }
    Ok(())
}

fn write(directory: &Path, path: &str, text: &str) -> Result<(), Failure> {
    let parent = directory.join(path).parent().map_or_else(|| directory.to_owned(), Path::to_owned);
    std::fs::create_dir_all(&parent)
        .map_err(|e| Failure::usage_error(format!("cannot make '{}': {e}", parent.display())))?;
    write_own(directory, path, text, |_| true).map_err(OutputError::into_usage_error)?;
    Ok(())
}

fn as_value(described: &Described, outcome: &[Checked]) -> serde_json::Value {
    let file = &described.file;
    json!({
        "id": file.id,
        "name": file.name,
        "kind": file.kind.word(),
        "capacity": file.capacity(),
        "note": file.note,
        "parameters": disklab_validation::values(&described.text),
        "checks": outcome,
    })
}
