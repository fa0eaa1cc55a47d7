//! What is known about rows that are missed.

use disklab_config::{Fields, Node};
use disklab_source::SourceError;
use disklab_study::matches;
use serde::Serialize;

/// Why rows are missed, and from what that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The study's id.
    pub study: String,
    /// Patterns over the ids of its rows.
    #[serde(skip)]
    pub rows: Vec<String>,
    /// Why, in one sentence.
    pub why: String,
    /// A trace, a counter, a parameter that was moved.
    pub evidence: String,
}

impl Finding {
    /// Whether it is about this row.
    pub fn is_about(&self, study: &str, row: &str) -> bool {
        self.study == study && self.rows.iter().any(|pattern| matches(pattern, row))
    }
}

/// Reads all findings; a file without any is in order.
///
/// # Errors
/// Where a finding is none, or says nothing; the error shows the place.
pub(crate) fn findings(root: &Node) -> Result<Vec<Finding>, SourceError> {
    let mut fields = Fields::new(root, "the findings")?;
    let findings = fields
        .take("finding")
        .map_or_else(|| Ok(Vec::new()), |node| node.items().iter().map(finding).collect())?;
    fields.finish()?;
    Ok(findings)
}

fn finding(node: &Node) -> Result<Finding, SourceError> {
    let mut fields = Fields::new(node, "a finding")?;
    let mut sentence = |name: &str| {
        let node = fields.require(name)?;
        // A text over several lines is one paragraph.
        let text = node.as_text()?.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { Err(node.error(format!("`{name}` is empty"))) } else { Ok(text) }
    };
    let (study, why, evidence) = (sentence("study")?, sentence("why")?, sentence("evidence")?);
    let rows = fields.texts("rows")?.unwrap_or_default();
    if rows.is_empty() {
        return Err(node.error("a finding names the `rows` that it is about"));
    }
    fields.finish()?;
    Ok(Finding { study, rows, why, evidence })
}
