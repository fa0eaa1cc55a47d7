//! Markdown to post in a forum: short, and in tables that fit.

mod answers;
mod escape;
mod list;
mod published;
mod published_pages;
mod question;
mod table;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use disklab_audits::{Severity, in_a_line};
use disklab_sample::DriveState;
use disklab_units::Bytes;
use escape::code;
use indexmap::IndexMap;
use list::list;

use crate::Report;
use crate::first_screen::FirstScreen;
use crate::headings::{ABSENT, BEFORE};
use crate::view::{
    Absences, FindingKind, IMPORTED, all_absences, bench_label, command_line, has_own_sizes, kinds,
    machine, manner, measured, prerequisites, progress, sizes, smart_lines, tool,
};

pub(crate) use escape::text as escape;
pub use published::published_text;
pub use published_pages::{PublishedPages, published_pages};
pub(crate) use table::MarkdownTable;

/// Forums take posts from 10,000 characters on; fewer are read.
const LONGEST: usize = 6000;

/// A post: the answers, one table, how it was measured, the command.
pub(crate) fn text(report: &Report) -> String {
    let screen = FirstScreen::of(report);
    let mut end = String::new();
    how_measured(&mut end, report);
    let mut md = String::new();
    header(&mut md, report);
    let mut add = |part: String| {
        if md.chars().count() + part.chars().count() + end.chars().count() <= LONGEST {
            md.push_str(&part);
        }
    };
    let written = |write: &dyn Fn(&mut String)| {
        let mut part = String::new();
        write(&mut part);
        part
    };
    add(written(&|md| severe(md, report)));
    if screen.classes.is_empty() {
        add(written(&|md| list(md, &report.analysis.summary)));
        for (number, answer) in report.analysis.answers.iter().enumerate() {
            add(written(&|md| question::write(md, report, number, answer)));
        }
    } else {
        add(written(&|md| answers::write(md, &screen)));
        add(written(&|md| answers::table(md, &screen)));
    }
    add(written(&|md| list(md, &crate::campaign::lines(report))));
    add(written(&|md| list(md, &crate::failures::lines(report))));
    add(written(&|md| list(md, &crate::axes::lines(report))));
    if let Some(comparison) = &report.published {
        add(written(&|md| published::write(md, comparison, "##")));
    }
    add(written(&|md| absent(md, &all_absences(report))));
    add(written(&|md| findings(md, report)));
    md + &end
}

fn header(md: &mut String, report: &Report) {
    let info = &report.info;
    let kind = match manner(info) {
        "simulated" => "**Simulated** on",
        "imported" => "**Imported**,",
        _ => "Measured on",
    };
    let _ = write!(md, "# {}\n\n", escape(&info.title));
    let _ = write!(md, "{kind} {}", escape(bench_label(&info.bench)));
    if !info.bench_about.is_empty() {
        let _ = write!(md, ": {}", escape(&info.bench_about));
    }
    let _ = write!(md, ". {}. {}", measured(report), progress(report));
    if !has_own_sizes(info) {
        let _ = write!(md, " {}", sizes(info));
    }
    md.push_str("\n\n");
}

fn severe(md: &mut String, report: &Report) {
    let findings = &report.analysis.findings;
    let severe = kinds(findings.iter().filter(|f| f.severity == Severity::Severe));
    if !severe.is_empty() {
        let _ = writeln!(md, "**{BEFORE}:**\n");
        write_kinds(md, &severe);
    }
}

fn findings(md: &mut String, report: &Report) {
    let findings = &report.analysis.findings;
    let rest = kinds(findings.iter().filter(|f| f.severity != Severity::Severe));
    if !rest.is_empty() {
        md.push_str("## Findings\n\n");
        write_kinds(md, &rest);
    }
}

/// Of one kind, this many findings are told in words; a forum post must end.
const LISTED: usize = 3;

fn write_kinds(md: &mut String, kinds: &[FindingKind<'_>]) {
    for FindingKind { audit, advice, texts, .. } in kinds {
        let _ = write!(md, "- *{}*:", escape(audit));
        for text in texts.iter().take(LISTED) {
            let _ = write!(md, " {}", escape(text));
        }
        if texts.len() > LISTED {
            let _ = write!(md, " And {} more like these.", texts.len() - LISTED);
        }
        if !advice.is_empty() {
            let _ = write!(md, " → {}", escape(advice));
        }
        md.push('\n');
    }
    md.push('\n');
}

fn absent(md: &mut String, absences: &Absences) {
    if absences.left_out.is_empty() && absences.failed.is_empty() {
        return;
    }
    let _ = writeln!(md, "## {ABSENT}\n");
    for (why, what) in &absences.left_out {
        let _ = writeln!(md, "- {}: {}", escape(why), some(what));
    }
    for (error, what) in &absences.failed {
        let _ = writeln!(md, "- failed: {}: {}", some(what), escape(&in_a_line(error)));
    }
    md.push('\n');
}

/// The first few, and how many more.
fn some(what: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = what.iter().take(SHOWN).map(|w| escape(w)).collect::<Vec<_>>().join(", ");
    if what.len() > SHOWN {
        let _ = write!(text, " and {} more", what.len() - SHOWN);
    }
    text
}

/// The machine, the programs and the command, in a few lines.
fn how_measured(md: &mut String, report: &Report) {
    let info = &report.info;
    md.push_str("**How it was measured**\n\n");
    if info.is_import() {
        let _ = writeln!(md, "- {IMPORTED}");
    }
    let machine = machine(info);
    if !machine.is_empty() {
        let _ = writeln!(md, "- {}", escape(&machine.join("; ")));
    }
    for (what, names) in alike(&report.facts.drives).iter().take(DRIVES) {
        let _ = writeln!(md, "- {}: {}", escape(&names.join(", ")), escape(what));
    }
    let tools: Vec<String> =
        report.facts.tools.iter().filter(|t| was_used(report, &t.name)).map(tool).collect();
    if !tools.is_empty() {
        let _ = writeln!(md, "- {}", escape(&tools.join("; ")));
    }
    let _ = write!(
        md,
        "\nAgain:\n\n{}\n\nStudy {}, order seed {}, with {}.\n",
        code(&command_line(report)),
        code(&info.study),
        info.seed,
        escape(&prerequisites(info)),
    );
}

/// Kinds of drives that a post describes.
const DRIVES: usize = 4;

/// Whether a program ran, by the commands that are known.
fn was_used(report: &Report, name: &str) -> bool {
    // Imported figures come without commands, as a rule.
    if report.info.is_import() {
        return true;
    }
    let mut programs =
        report.facts.traces.iter().flat_map(|t| &t.entries).filter_map(|e| e.argv.first());
    programs.any(|program| Path::new(program).file_name() == Some(OsStr::new(name)))
}

/// Drives that look the same, told once: (what they are, their names).
fn alike(drives: &[DriveState]) -> IndexMap<String, Vec<&str>> {
    let mut alike: IndexMap<String, Vec<&str>> = IndexMap::new();
    for drive in drives {
        // Of drives that an import names, the size is not known.
        let size = (drive.size_bytes > 0).then(|| Bytes(drive.size_bytes).si());
        let mut parts: Vec<String> = size.into_iter().collect();
        let listed = [&drive.model, &drive.scheduler, &drive.write_cache];
        parts.extend(listed.into_iter().flatten().cloned());
        parts.extend(drive.smart.as_ref().map(smart_lines).unwrap_or_default());
        alike.entry(parts.join(", ")).or_default().push(&drive.drive);
    }
    alike
}
