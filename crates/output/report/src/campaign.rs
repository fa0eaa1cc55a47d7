//! What came of a campaign that decided as it went how long to run.

use disklab_campaign::CampaignOutcome;
use disklab_store::{Run, StoreError};
use maud::{Markup, html};

use crate::Report;

/// Figures listed at the top; all are in the table.
const LISTED: usize = 8;

/// What the run keeps of it; none where it ran a fixed number of times, or is not over. What
/// another version of disklab wrote otherwise is not told.
pub(crate) fn outcome(run: &Run) -> Result<Option<CampaignOutcome>, StoreError> {
    Ok(run.outcome()?.and_then(|json| serde_json::from_str(&json).ok()))
}

/// The whole in sentences, for a summary.
pub fn campaign_sentences(outcome: &CampaignOutcome) -> Vec<String> {
    outcome.sentences(LISTED)
}

/// The section of the page; empty for other runs.
pub(crate) fn section(report: &Report) -> Markup {
    let Some(outcome) = &report.campaign else { return html! {} };
    html! {
        (crate::html::fold("campaign", "How long it ran", false, &html! {
            p { (outcome.sentence()) }
            @if !outcome.figures.is_empty() {
                p.muted {
                    "Each comparison is corrected for all looks: its p is multiplied by their number. 'Inconclusive' does not mean 'the same': the samples do not say."
                }
                ul { @for figure in &outcome.figures { li { (figure.sentence()) } } }
            }
        }))
    }
}

/// The same for a forum.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    report.campaign.as_ref().map(campaign_sentences).unwrap_or_default()
}

/// Whether the samples or the clock decided how long it ran.
pub(crate) fn is_adaptive(info: &disklab_store::RunInfo) -> bool {
    info.options.looks.is_some() || info.options.budget.is_some()
}
