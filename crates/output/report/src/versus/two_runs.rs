//! Two runs, and what the comparison says.

use disklab_audits::Severity;
use disklab_decision::{ComparisonTerms, Versus, VersusError};

use super::differences::{FigureDifference, differences};
use crate::Report;
use crate::view::{bench_label, count};

/// Two runs, and what the comparison says.
#[derive(Debug, Clone)]
pub struct TwoRuns {
    /// What A is called, such as its directory.
    pub name_a: String,
    /// What B is called.
    pub name_b: String,
    /// The run that is compared with.
    pub a: Report,
    /// The run that is compared.
    pub b: Report,
    /// What the terms were.
    pub terms: ComparisonTerms,
    /// What else differs between the runs than what was measured.
    pub differences: Vec<FigureDifference>,
    /// What the figures say.
    pub versus: Versus,
}

impl TwoRuns {
    /// Compares two runs, each with the name that it is to be called by.
    ///
    /// # Errors
    /// Where they have nothing in common, or a name of the terms does not exist.
    pub fn compare(
        (name_a, a): (String, Report),
        (name_b, b): (String, Report),
        terms: ComparisonTerms,
    ) -> Result<Self, VersusError> {
        let versus = Versus::of(&a.side(), &b.side(), &terms)?;
        let differences = differences(&a, &b, &versus);
        Ok(Self { name_a, name_b, a, b, terms, differences, versus })
    }

    /// A's and B's letter, name and what they are, in words.
    pub(super) fn runs(&self) -> [(char, &str, String); 2] {
        [('A', self.name_a.as_str(), about(&self.a)), ('B', self.name_b.as_str(), about(&self.b))]
    }

    /// What readers must know of the comparison as a whole.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let (a, b) = (&self.a.info, &self.b.info);
        if self.versus.lab && self.versus.paired {
            notes.push(
                "Both are simulated, and each repeat has the same drives and the same work in both: \
                 repeats are paired, and 'identical' means that nothing that was changed matters \
                 to a figure."
                    .to_owned(),
            );
        } else if self.versus.paired {
            notes.push("Both are of one run: the figures of a block are paired.".to_owned());
        } else if self.versus.lab {
            notes.push(
                "Both runs are simulated, with seeds of their own: other drives of the same model \
                 and other work. With one seed for both, their repeats are paired."
                    .to_owned(),
            );
        } else if a.is_lab() || b.is_lab() {
            notes.push(
                "One run is simulated and the other is not: their ratio is about the drive \
                 models as much as about anything else."
                    .to_owned(),
            );
        } else {
            notes.push(
                "The two runs were made one after the other and not interleaved. Whatever else \
                 changed on the machine is in the ratios, and no interval covers it."
                    .to_owned(),
            );
        }
        let imported = [('A', a), ('B', b)].map(|(run, info)| info.is_import().then_some(run));
        let imported: Vec<String> = imported.into_iter().flatten().map(String::from).collect();
        if !imported.is_empty() {
            notes.push(format!(
                "Imported: {}. Almost nothing is known there about machine, drives, mounts \
                 and caches, so differences in them are not reported.",
                imported.join(" and ")
            ));
        }
        if !self.terms.accepted.is_empty() {
            notes.push(format!(
                "Severe findings of these audits were accepted: {}.",
                self.terms.accepted.join(", ")
            ));
        }
        notes
    }

    /// The severe findings of both runs, by audit.
    pub(super) fn severe(&self) -> Vec<SevereFindings<'_>> {
        let mut all: Vec<SevereFindings<'_>> = Vec::new();
        for (run, report) in [('A', &self.a), ('B', &self.b)] {
            for finding in &report.analysis.findings {
                if finding.severity != Severity::Severe {
                    continue;
                }
                match all.iter_mut().find(|one| (one.run, one.audit) == (run, finding.audit)) {
                    Some(one) => one.number += 1,
                    None => all.push(SevereFindings {
                        run,
                        audit: finding.audit,
                        first: &finding.text,
                        number: 1,
                    }),
                }
            }
        }
        all
    }
}

/// What one audit found in one of the runs.
pub(super) struct SevereFindings<'a> {
    pub(super) run: char,
    pub(super) audit: &'a str,
    /// What it found first.
    pub(super) first: &'a str,
    pub(super) number: usize,
}

impl SevereFindings<'_> {
    /// What was found, with how much else.
    pub(super) fn text(&self) -> String {
        match self.number - 1 {
            0 => self.first.to_owned(),
            more => format!("{} And {more} more like this.", self.first),
        }
    }
}

/// `study nas on modelled drives in virtual time, 3 repeats, begun 2026-11-21`.
fn about(report: &Report) -> String {
    let info = &report.info;
    // When the figures of an import were measured, hardly any output tells.
    let done = if info.is_import() { "imported" } else { "begun" };
    format!(
        "study {} on {}, {}, {done} {}",
        info.study,
        bench_label(&info.bench),
        count(info.repeats as usize, "repeat"),
        info.created.strftime("%Y-%m-%d")
    )
}
