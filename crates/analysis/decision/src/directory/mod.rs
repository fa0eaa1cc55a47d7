//! Whether a directory is as fast as it should be, in sentences: next to what the lab gives for a
//! stack like its own, or next to what the network to it carries.

mod figures;
mod lab;
mod share;
#[cfg(test)]
mod tests;

use disklab_audits::Group;
use disklab_comparisons::Answer;
use disklab_sample::LabOutcome;
use disklab_store::RunInfo;
use disklab_study::Study;
use disklab_units::list;

use figures::{OwnFigure, own_figures};

/// Figures in a list.
const FIGURES: usize = 12;

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
    all.push(format!("The directory lies on {}.", reference.lies_on));
    all
}

/// 'Here: large reads 530 MB/s [510, 541], …'.
fn here(figures: &[OwnFigure<'_>]) -> String {
    let each: Vec<String> = figures.iter().map(|f| format!("{} {}", f.noun, f.value())).collect();
    format!("Here: {}.", list(each.iter().map(String::as_str), FIGURES))
}

/// With a capital letter.
fn begun(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// 'a third', of what is named before.
fn part(share: f64) -> String {
    const PARTS: [(f64, &str); 6] = [
        (0.6, "three fifths"),
        (0.5, "half"),
        (0.333, "a third"),
        (0.25, "a quarter"),
        (0.2, "a fifth"),
        (0.1, "a tenth"),
    ];
    if share < 0.08 {
        return format!("{} %", disklab_units::significant(share * 100.0, 1));
    }
    let far = |of: f64| (share / of).ln().abs();
    let nearest = PARTS.iter().min_by(|a, b| far(a.0).total_cmp(&far(b.0)));
    nearest.map_or_else(String::new, |(_, word)| (*word).to_owned())
}
