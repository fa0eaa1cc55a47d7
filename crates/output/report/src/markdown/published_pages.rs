//! The generated parts of the pages in docs/generated about published results.

use std::fmt::Write as _;

use disklab_published::{Catalogue, JudgedRow, RowComparison, RowFinding, RowStatus};

use crate::markdown::escape::text as escape;
use crate::markdown::published::{grouped, ids, rows, summary};
use crate::view::published::{RULE, status_word, without_finding};

/// What is generated of each page, in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedPages {
    /// Of the summary: a line for each study.
    pub summary: String,
    /// Of each study's page, by the study's id.
    pub studies: Vec<(String, String)>,
    /// The whole page of findings.
    pub findings: String,
}

/// Makes the pages. The links between them are those of `docs/generated/published.md` and
/// the directory `published` next to it.
pub fn published_pages(catalogue: &Catalogue, comparisons: &[RowComparison]) -> PublishedPages {
    let mut counts = String::new();
    summary(&mut counts, comparisons, |study| format!("[{study}](published/{study}.md)"));
    let _ = write!(counts, "{RULE}\n\n");
    let studies = comparisons.iter();
    PublishedPages {
        summary: counts,
        studies: studies.map(|c| (c.study.clone(), study(catalogue, c))).collect(),
        findings: findings(catalogue, comparisons),
    }
}

fn study(catalogue: &Catalogue, comparison: &RowComparison) -> String {
    let mut md = "## Rows\n\n".to_owned();
    rows(&mut md, comparison);
    let known = grouped(comparison, |judged| known(catalogue, judged));
    let unknown = grouped(comparison, |judged| unknown(catalogue, judged));
    if known.is_empty() && unknown.is_empty() {
        return md;
    }
    md.push_str("## Why rows are not reproduced\n\n");
    for (at, rows) in known {
        let finding = &catalogue.findings[at];
        let anchor = anchor(catalogue, at);
        let _ = writeln!(
            md,
            "- {}: {} Cause: [{}](findings.md#{anchor}).",
            ids(&rows),
            finding.why,
            finding.cause.label()
        );
    }
    for (why, rows) in unknown {
        let _ = writeln!(md, "- {}: {}", ids(&rows), escape(&why));
    }
    md.push('\n');
    md
}

/// Which finding says why a row is not reproduced, or was not run.
fn known(catalogue: &Catalogue, judged: &JudgedRow) -> Option<usize> {
    let needs_one = matches!(judged.status, RowStatus::NotReproduced | RowStatus::NotRun);
    needs_one.then(|| catalogue.finding_index(&judged.row)).flatten()
}

/// Why a row has no figure or is not reproduced, if no finding says so.
fn unknown(catalogue: &Catalogue, judged: &JudgedRow) -> Option<String> {
    if known(catalogue, judged).is_some() {
        return None;
    }
    match judged.status {
        RowStatus::NotReproduced => Some(without_finding(judged).to_owned()),
        RowStatus::NotRun => judged.measured_note.clone(),
        RowStatus::Reproduced | RowStatus::NothingPublished => None,
    }
}

fn findings(catalogue: &Catalogue, comparisons: &[RowComparison]) -> String {
    let mut md = String::new();
    for comparison in comparisons {
        let study = &comparison.study;
        let _ = write!(md, "## {study}\n\n[The study's rows]({study}.md).\n\n");
        for (at, finding) in catalogue.findings.iter().enumerate() {
            if finding.study == *study {
                let _ = write!(md, "### {}\n\n", heading(catalogue, at));
                one(&mut md, catalogue, comparison, at, finding);
            }
        }
    }
    md
}

fn one(
    md: &mut String,
    catalogue: &Catalogue,
    comparison: &RowComparison,
    at: usize,
    finding: &RowFinding,
) {
    // A pattern may name rows of which an earlier finding speaks.
    let own: Vec<&JudgedRow> = comparison
        .rows
        .iter()
        .filter(|judged| catalogue.finding_index(&judged.row) == Some(at))
        .collect();
    let mut statuses = Vec::new();
    for status in [RowStatus::NotReproduced, RowStatus::NotRun, RowStatus::Reproduced] {
        let rows: Vec<&JudgedRow> = own.iter().copied().filter(|j| j.status == status).collect();
        if !rows.is_empty() {
            statuses.push(format!("{}: {}", status_word(status), ids(&rows)));
        }
    }
    let _ = write!(md, "{} Cause: {}.\n\n", finding.why, finding.cause.label());
    let _ = write!(md, "{}\n\n", finding.evidence);
    let _ = write!(md, "Rows {}.\n\n", statuses.join("; "));
}

/// `smr-2015 3`: the third finding about the study.
fn heading(catalogue: &Catalogue, at: usize) -> String {
    let study = &catalogue.findings[at].study;
    let nth = catalogue.findings[..=at].iter().filter(|f| f.study == *study).count();
    format!("{study} {nth}")
}

fn anchor(catalogue: &Catalogue, at: usize) -> String {
    heading(catalogue, at).replace(' ', "-")
}
