//! What makes figures suspect.

use disklab_audits::Finding;
use maud::{Markup, html};

use crate::Report;
use crate::view::{FindingKind, kinds};

/// Of one kind, this many findings stand open; the rest is folded.
const OPEN: usize = 4;

/// All findings.
pub(crate) fn section(report: &Report) -> Markup {
    let findings: Vec<&Finding> = report.analysis.findings.iter().collect();
    html! {
        (super::fold("findings", "Findings", false, &html! {
            @if findings.is_empty() {
                p { "The audits found nothing that makes these figures suspect." }
            } @else {
                (list(&findings))
            }
        }))
    }
}

/// Findings, those of one kind together.
pub(crate) fn list(findings: &[&Finding]) -> Markup {
    html! {
        @for FindingKind { severity, audit, advice, texts } in kinds(findings.iter().copied()) {
            div.finding.(severity) {
                h3 { span.badge { (severity) } " " span.audit { (audit) } }
                (sentences(&texts[..texts.len().min(OPEN)]))
                @if texts.len() > OPEN {
                    details {
                        summary { (texts.len() - OPEN) " more like these" }
                        (sentences(&texts[OPEN..]))
                    }
                }
                @if !advice.is_empty() { p.advice { (advice) } }
            }
        }
    }
}

fn sentences(texts: &[&str]) -> Markup {
    html! {
        @if let [text] = texts { p { (text) } }
        @else { ul { @for text in texts { li { (text) } } } }
    }
}
