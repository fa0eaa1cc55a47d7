//! Which figures findings make suspect.

use crate::audits::{CORRELATED_REPEATS, IN_ONE_PLACE, READ_FROM_CACHE};
use crate::{Finding, Severity};

/// Which groups' figures are suspect: by a severe finding, or since they do not compare with others.
#[derive(Debug)]
pub struct SuspectGroups<'a> {
    severe: Vec<&'a Finding>,
    correlated: Vec<&'a Finding>,
    from_memory: Vec<&'a Finding>,
}

impl<'a> SuspectGroups<'a> {
    /// Of all findings, those by which figures lose their verdict.
    pub fn of(findings: &'a [Finding]) -> Self {
        let all = findings.iter();
        Self {
            severe: all
                .clone()
                .filter(|f| f.severity == Severity::Severe || f.audit == IN_ONE_PLACE)
                .collect(),
            correlated: all.clone().filter(|f| f.audit == CORRELATED_REPEATS).collect(),
            from_memory: all.filter(|f| f.audit == READ_FROM_CACHE).collect(),
        }
    }

    /// The audits that doubt one of these groups, each once.
    pub fn about(&self, groups: &[usize]) -> Vec<&'static str> {
        let mut audits = Vec::new();
        for finding in &self.severe {
            let concerned =
                finding.groups.is_empty() || groups.iter().any(|g| finding.groups.contains(g));
            if concerned && !audits.contains(&finding.audit) {
                audits.push(finding.audit);
            }
        }
        audits
    }

    /// Whether this group's file lies in one place, and other stacks' all over the disk: these are
    /// compared without it.
    pub fn is_in_one_place(&self, group: usize) -> bool {
        let of_places = self.severe.iter().filter(|finding| finding.audit == IN_ONE_PLACE);
        of_places.flat_map(|finding| &finding.groups).any(|of| *of == group)
    }

    /// Whether memory gave most of what this group read, be it meant: no drive is chosen by it.
    pub fn is_from_memory(&self, group: usize) -> bool {
        self.from_memory.iter().any(|finding| finding.groups.contains(&group))
    }

    /// Whether the repeats of this group depend on each other.
    pub fn has_correlated_repeats(&self, group: usize) -> bool {
        self.correlated.iter().any(|finding| finding.groups.contains(&group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_lose_their_verdict_by_severe_findings_and_by_their_place() {
        let finding = |audit, severity, groups: &[usize]| Finding {
            audit,
            severity,
            text: String::new(),
            advice: String::new(),
            groups: groups.to_vec(),
        };
        let findings = [
            finding("holes", Severity::Severe, &[1, 2]),
            finding("holes", Severity::Severe, &[2]),
            finding(IN_ONE_PLACE, Severity::Warning, &[3]),
            finding(CORRELATED_REPEATS, Severity::Warning, &[4]),
            finding("outlier", Severity::Warning, &[5]),
        ];
        let suspect = SuspectGroups::of(&findings);
        let about = [0, 1, 2, 3, 4, 5].map(|group| suspect.about(&[group]));
        let (none, holes) = (Vec::new(), vec!["holes"]);
        assert_eq!(
            about,
            [none.clone(), holes.clone(), holes, vec![IN_ONE_PLACE], none.clone(), none]
        );
        assert_eq!(suspect.about(&[2, 3]), ["holes", IN_ONE_PLACE]);
        assert_eq!([2, 3].map(|group| suspect.is_in_one_place(group)), [false, true]);
        assert_eq!([3, 4].map(|group| suspect.has_correlated_repeats(group)), [false, true]);
        // One that names no figure is about all.
        let of_run = [finding("holes", Severity::Severe, &[])];
        assert_eq!(SuspectGroups::of(&of_run).about(&[7]), ["holes"]);
    }
}
