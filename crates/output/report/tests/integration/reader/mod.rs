//! Reads finished pages, posts and terminal screens as a person does, and tries to refute what
//! they say with the run's own samples. It knows nothing of how they are made: the run's samples,
//! stacks and studies come from its JSON, and what is claimed from the finished text alone.

mod cards;
mod findings;
mod matrix;
mod samples;
mod sentences;

use std::collections::BTreeMap;

pub use cards::{Card, Medium};
use samples::Samples;

/// All that is wrong in the finished texts of one run, in sentences; nothing if all of it holds.
pub fn refute(json: &str, texts: &[(Medium, &str)]) -> Vec<String> {
    let samples = Samples::of(json);
    let mut wrong = Vec::new();
    let mut said: BTreeMap<(String, String), (Medium, String, Vec<String>)> = BTreeMap::new();
    // Of what a figure is the mean, only a page has room to say.
    let pages = texts.iter().filter(|(medium, _)| *medium == Medium::Page);
    let on_pages: Vec<Card> = pages.flat_map(|(medium, text)| medium.cards(text)).collect();
    for (medium, text) in texts {
        for mut card in medium.cards(text) {
            let same = |c: &&Card| (&c.class, &c.purpose) == (&card.class, &card.purpose);
            card.mean_of = on_pages.iter().find(same).map_or(0, |card| card.mean_of);
            wrong.extend(card.refuted(&samples).into_iter().map(|w| format!("{medium:?}: {w}")));
            let key = (card.class.clone(), card.purpose.clone());
            let own = (*medium, card.take.clone(), card.values.clone());
            let first = said.entry(key).or_insert_with(|| own.clone());
            // A screen that is too narrow says less, and nothing else.
            if first.1 != own.1 || first.2 != own.2 {
                wrong.push(format!("{:?} and {medium:?} disagree: {first:?}, {own:?}", first.0));
            }
        }
        wrong.extend(findings::refuted(*medium, text, &samples));
        if *medium == Medium::Page {
            wrong.extend(sentences::refuted(text, &samples));
            wrong.extend(sentences::reasons_refuted(text, &samples));
            wrong.extend(matrix::refuted(text, &on_pages, &samples));
        }
    }
    wrong.extend(samples.disagreements(&said));
    wrong
}
