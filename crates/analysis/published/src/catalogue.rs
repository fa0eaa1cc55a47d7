//! Rows, rules and findings, together.

use std::sync::Arc;

use disklab_config::Node;
use disklab_source::{Source, SourceError};

use crate::finding::findings;
use crate::row::rows;
use crate::rule::rules;
use crate::{MeasuredTarget, NoFigure, Row, RowFinding, RowStatus, Rule};

/// All that was published, which measured figures belong to it, and what is known
/// about misses.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The rows, in the order of the file.
    pub rows: Vec<Row>,
    /// The rules; the first that holds counts.
    pub rules: Vec<Rule>,
    /// Why rows are not reproduced, each with the rows that it is about.
    pub findings: Vec<RowFinding>,
}

impl Catalogue {
    /// The one that comes with disklab.
    ///
    /// # Errors
    /// None, unless disklab was built from files that its tests refuse.
    pub fn shipped() -> Result<Self, SourceError> {
        let source =
            |name: &str, text: &str| Source { name: name.to_owned(), text: text.to_owned() };
        Self::read(
            source("published/published.csv", include_str!("../../../../published/published.csv")),
            source("published/mapping.toml", include_str!("../../../../published/mapping.toml")),
            source("published/findings.toml", include_str!("../../../../published/findings.toml")),
        )
    }

    /// Reads rows (CSV), rules and findings (TOML).
    ///
    /// # Errors
    /// Where one of them cannot be read; the error shows the place.
    pub fn read(table: Source, mapping: Source, known: Source) -> Result<Self, SourceError> {
        Ok(Self {
            rows: rows(&Arc::new(table))?,
            rules: rules(&Node::parse(&Arc::new(mapping))?)?,
            findings: findings(&Node::parse(&Arc::new(known))?)?,
        })
    }

    /// Whether anything was published about a study.
    pub fn knows(&self, study: &str) -> bool {
        self.rows.iter().any(|row| row.study == study)
    }

    /// The rows of a study, in the order of the file.
    pub fn rows_of<'a>(&'a self, study: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.study == study)
    }

    /// The measured figure for what a row measured on `stack`, its subject or its
    /// baseline.
    ///
    /// # Errors
    /// [`NoFigure::NoRule`] or [`NoFigure::Rule`].
    pub fn target(&self, row: &Row, stack: &str) -> Result<&MeasuredTarget, NoFigure> {
        self.rules
            .iter()
            .find(|rule| rule.holds(&row.study, stack, &row.workload, &row.metric))
            .map_or(Err(NoFigure::NoRule), |rule| rule.target.as_ref().map_err(Clone::clone))
    }

    /// Why a row of this status is not reproduced, if it is not and that is known.
    pub(crate) fn explanation(&self, row: &Row, status: RowStatus) -> Option<RowFinding> {
        (status == RowStatus::NotReproduced).then(|| self.finding(row).cloned()).flatten()
    }

    /// What is known about a row, should it be missed.
    pub fn finding(&self, row: &Row) -> Option<&RowFinding> {
        self.findings.get(self.finding_index(row)?)
    }

    /// Which of the findings [`Self::finding`] gives: the first that is about the row.
    pub fn finding_index(&self, row: &Row) -> Option<usize> {
        self.findings.iter().position(|finding| finding.is_about(&row.study, &row.id))
    }
}
