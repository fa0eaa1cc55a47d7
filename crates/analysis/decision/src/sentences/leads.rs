//! Who is fastest.

use disklab_comparisons::{ComparisonOutcome, Lead, Point, leads};
use disklab_units::list;

use super::{AnswerWriter, NAMES, strength};

/// Figures whose fastest stack is told, per answer.
const LEADS: usize = 4;

impl AnswerWriter<'_> {
    /// Who is fastest, per figure with at least three stacks: with two, the
    /// comparison says it. The surest leads are told.
    pub(super) fn reported_leads(&self) -> Vec<String> {
        let mut leads = leads(self.groups, self.answer);
        leads.retain(|lead| lead.stacks > 2);
        leads.sort_by(|a, b| strength(b.ratio.interval).total_cmp(&strength(a.ratio.interval)));
        let sentence = |lead: &Lead<'_>| self.lead(lead).unwrap_or_else(|| self.close_lead(lead));
        leads.iter().map(sentence).take(LEADS).collect()
    }

    /// The leader that is not significantly the fastest.
    fn close_lead(&self, lead: &Lead<'_>) -> String {
        let names = |points: &[&Point]| list(points.iter().map(|p| self.stack(p.group)), NAMES);
        let first = lead.first.group;
        let mut sentence = format!(
            "{}{} leads with {}{}",
            self.prefix(first),
            self.stack(first),
            self.figure(lead.first),
            self.suspicion(&[first])
        );
        if !lead.equivalent.is_empty() {
            sentence += &format!("; equivalent to it, within 5 %: {}", names(&lead.equivalent));
        }
        // Naming the best of all takes more than comparing it with the baseline: what that
        // comparison says stands below, and is not open.
        let open: Vec<&Point> =
            lead.open.iter().copied().filter(|point| !self.is_behind(point, lead.first)).collect();
        if !open.is_empty() {
            sentence += &format!("; its lead over {} is inconclusive", names(&open));
        }
        sentence + "."
    }

    /// Whether a comparison with the baseline says that one point is worse than another.
    fn is_behind(&self, point: &Point, other: &Point) -> bool {
        self.answer.comparisons.iter().any(|c| {
            let pair = (c.group, c.baseline_group);
            c.outcome == ComparisonOutcome::Better && pair == (other.group, point.group)
                || c.outcome == ComparisonOutcome::Worse && pair == (point.group, other.group)
        })
    }

    /// The fastest, if it significantly is.
    pub fn lead(&self, lead: &Lead<'_>) -> Option<String> {
        let (first, second) = (lead.first.group, lead.second.group);
        let interval = lead.ratio.interval?;
        let prefix = self.prefix(first);
        let suspicions = self.suspicions.about(&[first]);
        if !lead.is_sure() {
            return None;
        }
        if !suspicions.is_empty() {
            return Some(format!(
                "{prefix}no fastest stack is named: the figure of {} is suspect ({}).",
                self.stack(first),
                suspicions.join(", ")
            ));
        }
        let figure = self.figure(lead.first);
        Some(format!(
            "{prefix}{} is the fastest of {} stacks: {figure}, {}, the next{}.",
            self.stack(first),
            lead.stacks,
            self.relation(lead.ratio.centre, interval, self.stack(second)),
            self.suspicion(&[second])
        ))
    }
}
