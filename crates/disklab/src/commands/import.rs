//! `disklab import`: what other programs measured, as a run.

use disklab_import::{Import, ImportError, ImportRequest, ImportTarget};
use disklab_published::Catalogue;
use disklab_runner::{check_outputs, find_study, is_study, session};

use super::ending::finish_new;
use crate::cli::ImportArgs;
use crate::exit::Failure;

/// Reads the files, makes a run of them, and writes its report.
pub fn import(args: ImportArgs, as_json: bool) -> Result<u8, Failure> {
    if args.to.join("run.sqlite").exists() {
        return Err(Failure::usage_error(format!(
            "{} already contains a run; use another --to",
            args.to.display()
        )));
    }
    let directory = args.to.clone();
    check_outputs(&directory)?;
    // All is read, and whatever is wrong found, before anything is written.
    let import = read(args)?;
    if !as_json {
        for (stack, workload, n) in import.counts() {
            let times = if n == 1 { "once".to_owned() } else { format!("{n} times") };
            eprintln!("  {stack}  {workload}  {times}");
        }
    }
    let run = import.write(&directory, &session()).map_err(|error| match error {
        ImportError::Store(_) => Failure::usage_error(error),
        error => Failure::failed(error),
    })?;
    let failed = import.cells.iter().filter(|cell| cell.result.is_err()).count();
    finish_new(run, failed, as_json)
}

fn read(args: ImportArgs) -> Result<Import, Failure> {
    if let Some(name) = &args.published {
        let catalogue = Catalogue::shipped().map_err(Failure::usage_error)?;
        let study = find_study(name)?.study;
        return Ok(Import::published(&catalogue, study)?);
    }
    let target = match args.study {
        None => ImportTarget::default(),
        Some(name) if is_study(&name) => ImportTarget::Existing(Box::new(find_study(&name)?.study)),
        Some(id) => ImportTarget::Made(id),
    };
    let request = ImportRequest {
        files: args.files,
        format: args.format,
        stack: args.stack,
        mappings: args.map,
        drives: args.drives,
        target,
    };
    Ok(Import::read(&request)?)
}
