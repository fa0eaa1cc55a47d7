//! `disklab report`: a run's report in one of its forms.

use std::path::Path;

use disklab_report::{
    Report, ReportFormat as Rendered, TextStyle, TwoStacks, first_screen, is_report, render,
};
use disklab_runner::RunnerError;
use disklab_source::FileName;
use disklab_store::Run;

use super::outputs::{OutputError, write_named, write_own};
use super::run_at;
use crate::cli::{Format, ReportArgs};
use crate::exit::{DONE, Failure};

/// Writes the report.
pub fn report(args: &ReportArgs) -> Result<u8, Failure> {
    if let [first, second] = args.versus.as_slice() {
        return versus(args, [first.as_str(), second.as_str()]);
    }
    let asked = args.format.unwrap_or(Format::Html);
    if args.verbose && asked != Format::Text {
        return Err(Failure::usage_error(
            "--verbose is for --format text; the others have all intervals",
        ));
    }
    let report = run_at::gather(&args.run)?;
    let (directory, levels) = run_at::split(&args.run);
    let (format, ending) = match asked {
        Format::Html => (Rendered::Html, "html"),
        Format::Md => (Rendered::Markdown, "md"),
        Format::Json => (Rendered::Json, "json"),
        Format::Csv => (Rendered::Csv, "csv"),
        Format::Text => return text(args, &directory, &report),
    };
    let at: Vec<String> = levels.iter().map(|(axis, level)| format!("{axis}={level}")).collect();
    let at = if at.is_empty() { String::new() } else { format!("-{}", at.join("+")) };
    // A level such as 20MB/s is no path.
    let name = FileName::plain(&format!("report{at}"), 100).to_string() + "." + ending;
    let text = render(&report, format);
    match &args.out {
        Some(path) if path.as_os_str() == "-" => crate::printing::print(&text)?,
        out => {
            let written = match out {
                Some(path) => write_named(path, &text).map(|()| path.clone()),
                None => write_own(&directory, &name, &text, |head| is_report(format, head)),
            };
            let path = written.map_err(OutputError::into_usage_error)?;
            crate::printing::print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(DONE)
}

/// Two stacks of the run next to each other.
fn versus(args: &ReportArgs, names: [&str; 2]) -> Result<u8, Failure> {
    let (directory, levels) = run_at::split(&args.run);
    if !levels.is_empty() {
        return Err(Failure::usage_error("--versus compares stacks at the first levels of a run"));
    }
    let run = Run::open(&directory).map_err(RunnerError::Open)?;
    let two = TwoStacks::gather(&run, names)?;
    let text = match args.format.unwrap_or(Format::Text) {
        Format::Text => two.text(crate::printing::style_of_output(true).width()),
        Format::Md => two.markdown(),
        Format::Json => two.json(),
        Format::Html => two.html(),
        Format::Csv => {
            return Err(Failure::usage_error("--versus is written as text, html, md or json"));
        }
    };
    write_or_print(args.out.as_deref(), &text)?;
    Ok(DONE)
}

/// The answers; with `--verbose`, their sentences and intervals.
fn text(args: &ReportArgs, directory: &Path, report: &Report) -> Result<u8, Failure> {
    let page = directory.join("report.html");
    let style = match args.out {
        Some(_) => TextStyle { verbose: args.verbose, ..TextStyle::default() },
        None => crate::printing::style_of_output(args.verbose),
    };
    let text = first_screen(report, &page.to_string_lossy(), style);
    match &args.out {
        Some(path) => write_or_print(Some(path), &text)?,
        None => crate::printing::print_styled(&text)?,
    }
    Ok(DONE)
}

/// Writes a text to the file that was asked for; to standard output where none was, or `-`.
pub(super) fn write_or_print(out: Option<&Path>, text: &str) -> Result<(), Failure> {
    match out {
        Some(path) if path.as_os_str() != "-" => {
            write_named(path, text).map_err(OutputError::into_usage_error)
        }
        _ => crate::printing::print(text),
    }
}
