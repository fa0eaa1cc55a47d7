//! Why rows are not reproduced, as far as that is known.

use disklab_config::{Fields, Node};
use disklab_source::{SourceError, one_of};
use disklab_study::matches;
use serde::Serialize;

/// What kind of cause a finding names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingCause {
    /// What the author ran, or on what, is not known.
    AuthorSetup,
    /// CPU time or a bus, which the lab leaves out unless it is told to charge for them.
    CpuOrBus,
    /// The author's kernel or programs did something else.
    Software,
    /// The model and the author's drive differ.
    DriveModel,
    /// A single repeat, or a single worst value.
    Chance,
    /// No cause is known.
    Unexplained,
}

impl FindingCause {
    /// All causes: their word in the file, and as a reader wants it.
    pub const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::CpuOrBus, "cpu-or-bus", "CPU time or bus not charged"),
        (Self::Software, "software", "the author's software"),
        (Self::AuthorSetup, "author-setup", "the author's setup unknown"),
        (Self::DriveModel, "drive-model", "the drive model"),
        (Self::Chance, "chance", "chance"),
        (Self::Unexplained, "unexplained", "not explained"),
    ];

    /// The cause for readers.
    pub fn label(self) -> &'static str {
        Self::ALL.into_iter().find(|(cause, ..)| *cause == self).map_or("", |(.., label)| label)
    }
}

/// Why rows are not reproduced, and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowFinding {
    /// The study's id.
    pub study: String,
    /// Patterns over the ids of its rows.
    #[serde(skip)]
    pub rows: Vec<String>,
    /// The kind of cause; the likelier one if `why` names two.
    pub cause: FindingCause,
    /// Why, in a sentence or two.
    pub why: String,
    /// A trace, a counter, a parameter that was moved.
    pub evidence: String,
}

impl RowFinding {
    /// Whether it is about this row.
    pub fn is_about(&self, study: &str, row: &str) -> bool {
        self.study == study && self.rows.iter().any(|pattern| matches(pattern, row))
    }
}

/// Reads all findings; a file without any is in order.
///
/// # Errors
/// [`SourceError`] at a finding that names no rows, lacks a sentence or has an unknown cause.
pub(crate) fn findings(root: &Node) -> Result<Vec<RowFinding>, SourceError> {
    let mut fields = Fields::new(root, "the findings")?;
    let findings = fields
        .take("finding")
        .map_or_else(|| Ok(Vec::new()), |node| node.items().iter().map(finding).collect())?;
    fields.finish()?;
    Ok(findings)
}

fn finding(node: &Node) -> Result<RowFinding, SourceError> {
    let mut fields = Fields::new(node, "a finding")?;
    let mut sentence = |name: &str| {
        let node = fields.require(name)?;
        // A text over several lines is one paragraph.
        let text = node.as_text()?.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { Err(node.error(format!("`{name}` is empty"))) } else { Ok(text) }
    };
    let (study, why, evidence) = (sentence("study")?, sentence("why")?, sentence("evidence")?);
    let cause = cause(fields.require("cause")?)?;
    let rows = fields.texts("rows")?.unwrap_or_default();
    if rows.is_empty() {
        return Err(node.error("a finding names the `rows` that it is about"));
    }
    fields.finish()?;
    Ok(RowFinding { study, rows, cause, why, evidence })
}

fn cause(node: &Node) -> Result<FindingCause, SourceError> {
    let word = node.as_text()?;
    FindingCause::ALL
        .into_iter()
        .find(|(_, known, _)| *known == word)
        .map(|(cause, ..)| cause)
        .ok_or_else(|| {
            let known = one_of(FindingCause::ALL.map(|(_, word, _)| word));
            node.error(format!("`cause`: expected {known}, found '{word}'"))
        })
}
