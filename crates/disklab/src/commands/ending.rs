//! What a command does with a run that has ended: it writes the report and shows the answers.

use std::path::PathBuf;

use disklab_audits::Severity;
use disklab_report::{Report, ReportFormat, first_screen, is_report, render, so_far};
use disklab_store::{CellState, Run};
use disklab_units::count;
use serde_json::json;

use super::outputs::write_own;
use crate::exit::{DONE, FAILED, Failure};
use crate::printing::{print, print_json, print_styled, style_of_output};
use crate::words::Skipped;

/// Writes the report of a run that is made as a whole and says where it is. The run is there
/// only when that is done: a command that is killed before can be repeated as it was.
pub fn finish_new(run: Run, failed: usize, as_json: bool) -> Result<u8, Failure> {
    let code = finish(&run, failed, as_json)?;
    run.publish().map_err(Failure::failed)?;
    Ok(code)
}

/// Writes the report and says where it is.
pub fn finish(run: &Run, failed: usize, as_json: bool) -> Result<u8, Failure> {
    let severe = show(run, Ending::Done { failed }, as_json)?;
    Ok(if failed > 0 || severe > 0 { FAILED } else { DONE })
}

/// How a run ended.
#[derive(Clone, Copy)]
pub enum Ending {
    /// So many cells failed.
    Done { failed: usize },
    /// The user stopped it.
    Interrupted,
}

/// Writes the report, shows the first screen, and says where the report is. Returns the number
/// of severe findings.
pub fn show(run: &Run, ending: Ending, as_json: bool) -> Result<usize, Failure> {
    let report = Report::gather(run)?;
    let page = write_both(run, &report)?;
    let severe = report.analysis.findings.iter().filter(|f| f.severity == Severity::Severe).count();
    let failed = match ending {
        Ending::Done { failed } => failed,
        Ending::Interrupted => {
            report.cells.iter().filter(|cell| cell.state == CellState::Failed).count()
        }
    };
    if as_json {
        print_json(&json!({
            "run": run.path(),
            "report": page,
            "interrupted": matches!(ending, Ending::Interrupted),
            "failed_cells": failed,
            "severe_findings": severe,
            "summary": report.analysis.summary,
            "campaign": report.campaign,
        }))?;
        return Ok(severe);
    }
    let screen = first_screen(&report, &page.to_string_lossy(), style_of_output(false));
    print_styled(&screen)?;
    let mut text = String::new();
    if matches!(ending, Ending::Interrupted) {
        text.push_str(&format!("! {}\n", so_far(&report)));
    }
    for sentence in report.campaign.iter().flat_map(disklab_report::campaign_sentences) {
        text.push_str(&format!("◦ {sentence}\n"));
    }
    if failed > 0 {
        let cells = count(failed, "cell");
        text.push_str(&format!("! {cells} failed; the report says why\n"));
    }
    let stacks = report.cells.iter().map(|record| record.cell.levels.stack.as_str());
    if let Some(remedy) = Skipped::new(&report.info.left_out, stacks).remedy() {
        text.push_str(&format!("! {remedy}\n"));
    }
    text.push_str(&format!("Report: {}\n", page.display()));
    print(&text)?;
    Ok(severe)
}

/// Writes the page and the post into the run's directory. Returns the page's path.
fn write_both(run: &Run, report: &Report) -> Result<PathBuf, Failure> {
    if !run.is_still_there() {
        return Err(Failure::failed(kept_note(run).trim_end()));
    }
    let write = |name: &str, format: ReportFormat| {
        let text = render(report, format);
        // Into the directory that is open, whatever has its name by now.
        write_own(&run.directory().at(""), name, &text, |head| is_report(format, head))
            .map(|_| run.path().join(name))
            .map_err(|error| {
                let [open, shown] = [run.directory().at(name), run.path().join(name)];
                let [open, shown] = [open, shown].map(|path| path.display().to_string());
                let error = error.to_string().replace(&open, &shown);
                Failure::failed(format!("{error}\n{}", kept_note(run).trim_end()))
            })
    };
    let page = write("report.html", ReportFormat::Html)?;
    write("report.md", ReportFormat::Markdown)?;
    Ok(page)
}

/// Whether what was measured is kept.
pub fn kept_note(run: &Run) -> String {
    if run.is_still_there() {
        return "What was measured is kept. ".to_owned();
    }
    format!(
        "{} was deleted or moved during the run: what was measured is no longer there. ",
        run.path().display()
    )
}
