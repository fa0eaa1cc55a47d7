//! Whether a directory is as fast as it should be, in sentences: next to what the lab gives for a
//! stack like its own, or next to what the network to it carries.

mod figures;
mod lab;
mod share;
#[cfg(test)]
mod tests;
mod words;

use disklab_audits::Group;
use disklab_comparisons::Answer;
use disklab_sample::LabOutcome;
use disklab_store::RunInfo;
use disklab_study::Study;

use figures::{here, own_figures};

/// The verdict on a directory, then what it rests on. Nothing of other runs.
pub(crate) fn sentences(
    study: &Study,
    info: &RunInfo,
    groups: &[Group],
    answers: &[Answer],
) -> Vec<String> {
    let Some(reference) = &info.reference else { return Vec::new() };
    let figures = own_figures(study, groups, answers);
    if figures.is_empty() {
        return Vec::new();
    }
    let mut all = match (&reference.share, &reference.lab) {
        (Some(share), _) => share::sentences(share, &figures),
        (None, LabOutcome::Figures(lab)) => lab::sentences(lab, &figures),
        (None, LabOutcome::Unknown(why)) => {
            vec![format!("There is nothing to compare it with: {why}. {}", here(&figures))]
        }
    };
    all.push(format!("The directory is on {}.", reference.lies_on));
    all
}
