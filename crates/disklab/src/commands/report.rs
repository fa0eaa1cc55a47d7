//! `disklab report`: a run's report in one of its forms.

use std::path::{Path, PathBuf};

use disklab_report::{Format as Rendered, Report, render};
use disklab_store::Run;

use crate::cli::{Format, ReportArgs};
use crate::exit::{DONE, Failure};

/// Writes the report.
pub fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let run = Run::open(&args.run).map_err(Failure::wrong_use)?;
    let report = Report::gather(&run).map_err(Failure::failed)?;
    let (format, name) = match args.format {
        Format::Html => (Rendered::Html, "report.html"),
        Format::Md => (Rendered::Markdown, "report.md"),
        Format::Json => (Rendered::Json, "report.json"),
        Format::Csv => (Rendered::Csv, "report.csv"),
    };
    let text = render(&report, format);
    match &args.out {
        Some(path) if path.as_os_str() == "-" => super::print(&text)?,
        out => {
            let path = out.clone().unwrap_or_else(|| args.run.join(name));
            write(&path, &text)?;
            super::print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(DONE)
}

/// Writes the page and the post into the run's folder. Returns the page's path.
pub fn write_both(run: &Run, report: &Report) -> Result<PathBuf, Failure> {
    let page = run.folder().join("report.html");
    write(&page, &render(report, Rendered::Html))?;
    write(&run.folder().join("report.md"), &render(report, Rendered::Markdown))?;
    Ok(page)
}

/// Writes a text to the file that was asked for; to standard output where none was, or `-`.
pub(super) fn write_or_print(out: Option<&Path>, text: &str) -> Result<(), Failure> {
    match out {
        Some(path) if path.as_os_str() != "-" => write(path, text),
        _ => super::print(text),
    }
}

/// Writes a file under another name first, so that there is never half of it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let unfinished = PathBuf::from(unfinished);
    std::fs::write(&unfinished, text)
        .and_then(|()| std::fs::rename(&unfinished, path))
        .map_err(|e| Failure::failed(format!("cannot write {}: {e}", path.display())))
}
