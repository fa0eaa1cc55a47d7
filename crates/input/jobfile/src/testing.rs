//! What several tests share.

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use crate::{Job, Policy, parse};

pub(crate) fn read(text: &str, policy: Policy) -> Result<Vec<Job>, SourceError> {
    parse(&Arc::new(Source { name: "t.fio".to_owned(), text: text.to_owned() }), policy)
}

/// The only job of `[a]` with these options.
pub(crate) fn job(options: &str) -> Result<Job, SourceError> {
    let mut jobs = read(&format!("[a]\nsize=1m\n{options}\n"), Policy::default())?;
    Ok(jobs.remove(0))
}

/// fio's answer to a job file, where the fio is here from which the names are.
pub(crate) fn fio(arguments: &[&str]) -> Option<(bool, String)> {
    let run = |arguments: &[&str]| {
        std::process::Command::new("fio").args(arguments).current_dir(std::env::temp_dir()).output()
    };
    let version = run(&["--version"]).ok()?;
    if String::from_utf8_lossy(&version.stdout).trim() != "fio-3.33" {
        return None;
    }
    let output = run(arguments).ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

/// Tells that a test did not run for want of fio.
pub(crate) fn lacks_fio() {
    eprintln!("skipped: needs fio 3.33, from which the names and forms are");
}

/// Places in a text.
pub(crate) fn place(text: &str) -> impl Fn(std::ops::Range<usize>) -> disklab_source::Location {
    let source = Arc::new(Source { name: "t.fio".to_owned(), text: text.to_owned() });
    move |span| disklab_source::Location { source: Arc::clone(&source), span }
}
