//! A directory next to what the lab gives for the same layers on the same models.

use disklab_comparisons::plain_value;
use disklab_sample::{LabReference, ReferenceFigure};
use disklab_units::{list, significant};

use super::figures::{FIGURES, OwnFigure, here};
use super::words::{begun, part};

/// From this share of the lab's speed on it is as it should be: drives of one model differ, and
/// models are not drives.
const SLOW: f64 = 2.0 / 3.0;
/// Up to this.
const FAST: f64 = 1.5;
/// As far off may it be, as exactly as it is known, to be as it should be.
const KNOWN: f64 = 2.0;

/// How a figure compares with the lab's.
#[derive(Clone, Copy)]
enum SpeedVerdict {
    AsItShould,
    Slow(f64),
    Fast(f64),
    /// Repeats differ too much.
    Unsure,
    /// The work takes too short a time, and not the same one.
    TooShort,
}

impl SpeedVerdict {
    fn of([low, centre, high]: [f64; 3]) -> Self {
        if (SLOW..=FAST).contains(&centre) {
            let is_known = low >= 1.0 / KNOWN && high <= KNOWN;
            return if is_known { Self::AsItShould } else { Self::Unsure };
        }
        match centre < SLOW {
            true if high < 1.0 => Self::Slow(centre),
            false if low > 1.0 => Self::Fast(centre),
            _ => Self::Unsure,
        }
    }
}

/// The verdict, and the figures of both.
pub(super) fn sentences(lab: &LabReference, figures: &[OwnFigure<'_>]) -> Vec<String> {
    let expected = |own: &OwnFigure<'_>| {
        let is_same =
            |f: &&ReferenceFigure| f.ask == own.answer.question.ask && f.figure == own.point.figure;
        lab.figures.iter().find(is_same).map(|f| f.value)
    };
    let judged: Vec<(&OwnFigure<'_>, f64, SpeedVerdict)> = figures
        .iter()
        .filter_map(|own| {
            let expected = expected(own)?;
            let verdict = match SpeedVerdict::of(own.speed(expected)?) {
                SpeedVerdict::Slow(_) | SpeedVerdict::Fast(_) if own.is_too_short(expected) => {
                    SpeedVerdict::TooShort
                }
                verdict => verdict,
            };
            Some((own, expected, verdict))
        })
        .collect();
    if judged.is_empty() {
        return vec![format!("The lab has none of these figures. {}", here(figures))];
    }
    let each: Vec<String> = judged
        .iter()
        .map(|(own, expected, _)| {
            let expected = plain_value(own.answer.measure, own.answer.operation, *expected);
            format!("{} {}, the lab {expected}", own.noun, own.value())
        })
        .collect();
    let each = list(each.iter().map(String::as_str), FIGURES);
    let mut all = vec![verdict(&judged), format!("Here and in the lab: {each}.")];
    all.push(format!("The lab ran {} on {}.{}", lab.stack, lab.drives, substitutes(&lab.by_class)));
    all
}

fn substitutes(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names = list(names.iter().map(String::as_str), FIGURES);
    format!(" There is no model of {names}: the nearest of its kind is used.")
}

fn verdict(judged: &[(&OwnFigure<'_>, f64, SpeedVerdict)]) -> String {
    let nouns = |is: fn(&SpeedVerdict) -> bool| {
        let of = judged.iter().filter(|(_, _, verdict)| is(verdict));
        let names: Vec<&str> = of.map(|(own, _, _)| own.noun.as_str()).collect();
        (!names.is_empty()).then(|| list(names, FIGURES))
    };
    let mut parts = Vec::new();
    if let Some(names) = nouns(|s| matches!(s, SpeedVerdict::AsItShould)) {
        parts.push(format!("as it should be: {names}"));
    }
    for (own, _, verdict) in judged {
        match verdict {
            SpeedVerdict::Slow(share) => parts.push(format!(
                "{} have {} of the lab's speed: {}",
                own.noun,
                part(*share),
                own.causes
            )),
            SpeedVerdict::Fast(times) => parts.push(format!(
                "{} have {} times the lab's speed: a cache answers them, or the drive is faster \
                 than its model",
                own.noun,
                significant(*times, 2)
            )),
            _ => {}
        }
    }
    if let Some(names) = nouns(|s| matches!(s, SpeedVerdict::Unsure)) {
        parts.push(format!("repeats differ too much to say it of {names}"));
    }
    if let Some(names) = nouns(|s| matches!(s, SpeedVerdict::TooShort)) {
        parts.push(format!("{names}: too short a time to compare"));
    }
    begun(&format!("{}.", parts.join("; ")))
}
