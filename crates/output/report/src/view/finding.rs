//! Findings, those of one kind together.

use disklab_audits::{Finding, Severity};
use indexmap::IndexMap;

/// Findings of one audit with the same advice.
#[derive(Debug)]
pub(crate) struct FindingKind<'a> {
    /// How bad they are, as a word.
    pub(crate) severity: &'static str,
    /// The audit's name.
    pub(crate) audit: &'a str,
    /// What to do about them.
    pub(crate) advice: &'a str,
    /// What was found, each once.
    pub(crate) texts: Vec<&'a str>,
}

/// Findings by kind, so that each advice is said once; in their order.
pub(crate) fn kinds<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<FindingKind<'a>> {
    let mut kinds: IndexMap<_, FindingKind<'a>> = IndexMap::new();
    for Finding { audit, severity, text, advice, .. } in findings {
        let severity = severity_word(*severity);
        let kind = kinds.entry((severity, *audit, advice)).or_insert_with(|| FindingKind {
            severity,
            audit,
            advice,
            texts: Vec::new(),
        });
        if !kind.texts.contains(&text.as_str()) {
            kind.texts.push(text);
        }
    }
    kinds.into_values().collect()
}

/// A severity's word.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Severe => "severe",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
