//! Which stack for which purpose, and why.
//!
//! A recommendation compares only stacks that survive as many lost drives: whether one may
//! lose everything with one drive is no question of speed. It names a stack only where the
//! samples show it to be ahead of all others by all that counts, with an interval.

mod contest;
mod guess;
mod table;
#[cfg(test)]
mod tests;
mod words;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use disklab_store::RunInfo;
use disklab_study::{Measure, Part, Study};

use crate::answer::Suspicions;
use crate::describe::describe;
use crate::{Analysis, Group};
use contest::{ContestComparison, Criterion, LeaderRelation, contenders, outcome};

pub use guess::{Confidence, ConfidenceWords, Guess, GuessFigure, NextBest, Score};
pub use table::{Aspect, PURPOSES, Purpose};

/// What a run recommends for one purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// From the table of purposes, with its aspects and weights.
    pub purpose: &'static Purpose,
    /// One per number of lost drives that stacks survive; empty where the purpose is not
    /// measured, see `why_not`.
    pub classes: Vec<PurposeClass>,
    /// Why nothing can be recommended; none where something was compared.
    pub why_not: Option<String>,
    /// Aspects that no workload of the run shows.
    pub lacking: Vec<&'static str>,
    /// Aspects of which a severe finding makes a figure suspect, with the audits.
    pub suspect: Vec<String>,
    /// What to take if one must choose now: one per number of lost drives, where anything
    /// that counts was measured.
    pub guesses: Vec<Guess>,
    /// All stacks of the run by what was measured of it, best first.
    pub scores: Vec<Score>,
    /// The workloads whose figures count for it.
    pub workloads: BTreeSet<String>,
}

/// Stacks that survive as many lost drives.
#[derive(Debug, Clone, PartialEq)]
pub struct PurposeClass {
    /// How many drives may fail; none where that is not known, as in imported runs.
    pub survives: Option<u32>,
    /// What is recommended.
    pub advice: Advice,
    /// Every stack of the class and how it stands, best first.
    pub places: Vec<PurposeRank>,
    /// Why, in sentences with intervals.
    pub reasons: Vec<String>,
    /// What speaks against it, in sentences with intervals.
    pub against: Vec<String>,
    /// One for each aspect that may matter less, and for more repeats.
    pub would_change: Vec<AdviceChange>,
}

/// What is recommended of a class.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// One stack, ahead of all others.
    One(String),
    /// Any of these: they are equivalent, and ahead of all others.
    Any(Vec<String>),
    /// None: why not.
    None(NoAdvice),
}

/// Why no stack of a class is recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAdvice {
    /// No other stack survives as many lost drives.
    OnlyStack(String),
    /// Too few were measured in all that counts.
    NotMeasured {
        /// How many were.
        measured: usize,
        /// Of how many.
        of: usize,
    },
    /// One repeat says nothing about the scatter.
    MeasuredOnce,
    /// One leads, and is not significantly ahead of others.
    Inconclusive {
        /// The one that leads.
        leader: String,
        /// Those of which it is not known whether they are behind.
        over: Vec<String>,
        /// Those that are equivalent to it.
        equivalent: Vec<String>,
    },
}

/// What would be recommended if an aspect did not count.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceChange {
    /// Its name in the table of purposes.
    pub aspect: &'static str,
    /// What would be recommended.
    pub instead: Advice,
}

/// How a stack stands for a purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurposeRank {
    /// Its id.
    pub stack: String,
    /// How it stands.
    pub word: RankWord,
    /// How far it is behind the leader, with the interval, in words; empty for the leader.
    pub distance: String,
}

/// How a stack stands, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankWord {
    /// Recommended.
    Best,
    /// One of several that are recommended alike: equivalent within 5 %.
    Equivalent,
    /// Whether it is behind the one that leads is inconclusive.
    Inconclusive,
    /// It leads, without being significantly ahead.
    Leads,
    /// Significantly behind.
    Behind,
    /// No other stack survives as many lost drives.
    Alone,
    /// Not measured in all that counts, or once only.
    Unknown,
}

impl RankWord {
    /// As a table shows it, after the figure.
    pub fn word(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Equivalent => "tied",
            Self::Inconclusive => "open",
            Self::Leads => "leads",
            Self::Behind => "behind",
            Self::Alone => "the only one",
            Self::Unknown => "not known",
        }
    }
}

/// What a run recommends, one for each purpose. Purposes that the run's workloads say
/// nothing of are there with the reason.
pub fn recommend(study: &Study, info: &RunInfo, analysis: &Analysis) -> Vec<Recommendation> {
    let stacks = stacks(&analysis.groups);
    let all: Vec<(Recommendation, Vec<Criterion>)> =
        PURPOSES.iter().map(|purpose| prepare(study, analysis, purpose, &stacks)).collect();
    let survives = |stack: &str| info.stacks.iter().find(|s| s.id == stack).map(|s| s.tolerates);
    let mut classes: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for (index, stack) in stacks.iter().enumerate() {
        classes.entry(survives(stack)).or_default().push(index);
    }
    // The leader is seen first and tested afterwards: every pair counts, of every purpose
    // that is judged, at every look. None of these depends on the figures.
    let pairs: usize = classes.values().map(|of| of.len() * (of.len() - 1) / 2).sum();
    let judged = all.iter().filter(|(r, _)| r.why_not.is_none()).count();
    let number = pairs.max(1) * judged.max(1) * info.looks();
    all.into_iter()
        .map(|(mut recommendation, criteria)| {
            let shown = recommendation.why_not.is_none() || says_enough(&recommendation);
            if shown && !criteria.is_empty() && stacks.len() > 1 {
                let is_partial = recommendation.why_not.is_some();
                let guesser =
                    guess::Guesser { stacks: &stacks, criteria: &criteria, number, is_partial };
                let of = |(survives, members): (&Option<u32>, &Vec<usize>)| {
                    guesser.guess(*survives, members)
                };
                recommendation.guesses = classes.iter().filter_map(of).collect();
                recommendation.scores = guesser.scores();
            }
            if recommendation.why_not.is_none() {
                let writer = words::PurposeWriter { stacks: &stacks, criteria: &criteria, number };
                recommendation.classes = classes
                    .iter()
                    .map(|(survives, members)| class(&writer, *survives, members, info.repeats))
                    .collect();
            }
            recommendation
        })
        .collect()
}

/// What a run has of what a purpose asks for, and whether that is enough.
fn prepare(
    study: &Study,
    analysis: &Analysis,
    purpose: &'static Purpose,
    stacks: &[&str],
) -> (Recommendation, Vec<Criterion>) {
    let (criteria, suspect) = criteria(study, analysis, purpose, stacks);
    let shown = |aspect: &Aspect| criteria.iter().any(|c| c.aspect.name == aspect.name);
    let lacking: Vec<&Aspect> = purpose.aspects.iter().filter(|a| !shown(a)).collect();
    let lost: u32 = lacking.iter().map(|a| a.weight).sum();
    let all: u32 = purpose.aspects.iter().map(|a| a.weight).sum();
    let decisive: Vec<&str> = lacking.iter().filter(|a| a.weight == 3).map(|a| a.name).collect();
    let names: Vec<&'static str> = lacking.iter().map(|a| a.name).collect();
    let why_not = if !decisive.is_empty() {
        Some(words::lacks(&decisive, &suspect))
    } else if 2 * lost >= all {
        // Half of what counts says nothing of the other half.
        Some(words::lacks(&names, &suspect))
    } else if stacks.len() < 2 {
        Some("there is only one stack".to_owned())
    } else {
        None
    };
    let recommendation = Recommendation {
        purpose,
        classes: Vec::new(),
        why_not,
        lacking: names,
        suspect,
        guesses: Vec::new(),
        scores: Vec::new(),
        workloads: criteria.iter().map(|criterion| criterion.workload.clone()).collect(),
    };
    (recommendation, criteria)
}

/// Whether what was measured of a purpose is enough for a guess: something that decides, or half
/// of what counts.
fn says_enough(recommendation: &Recommendation) -> bool {
    let aspects = recommendation.purpose.aspects;
    let has = |a: &&Aspect| !recommendation.lacking.contains(&a.name);
    let weight = |aspects: &[&Aspect]| aspects.iter().map(|a| a.weight).sum::<u32>();
    let measured: Vec<&Aspect> = aspects.iter().filter(has).collect();
    let all: Vec<&Aspect> = aspects.iter().collect();
    measured.iter().any(|a| a.weight == 3) || 2 * weight(&measured) >= weight(&all)
}

/// The stacks that have figures, in the study's order.
fn stacks(groups: &[Group]) -> Vec<&str> {
    let mut stacks: Vec<&str> = Vec::new();
    for group in groups {
        if !stacks.contains(&group.key.stack.as_str()) {
            stacks.push(&group.key.stack);
        }
    }
    stacks
}

/// The figures that show what a purpose asks for, and the aspects that lost one because a
/// severe finding makes it suspect.
fn criteria(
    study: &Study,
    analysis: &Analysis,
    purpose: &'static Purpose,
    stacks: &[&str],
) -> (Vec<Criterion>, Vec<String>) {
    let suspicions = Suspicions::of(&analysis.findings);
    let groups = &analysis.groups;
    let (mut criteria, mut suspect): (Vec<Criterion>, Vec<String>) = (Vec::new(), Vec::new());
    for aspect in purpose.aspects {
        let before = criteria.len();
        let mut seen: Vec<(&str, &str, disklab_sample::Direction)> = Vec::new();
        for group in groups {
            let key = &group.key;
            let work = (key.workload.as_str(), key.step.as_str(), key.direction);
            let fits = key.part == Part::Whole
                && work::task(group).is_some_and(|task| aspect.work.contains(&task));
            if !fits || seen.contains(&work) {
                continue;
            }
            seen.push(work);
            let same: Vec<usize> = (0..groups.len())
                .filter(|i| {
                    let k = &groups[*i].key;
                    k.part == Part::Whole
                        && (k.workload.as_str(), k.step.as_str(), k.direction) == work
                })
                .collect();
            let about = suspicions.about(&same);
            if !about.is_empty() {
                let text = format!("{} ({}: {})", aspect.name, key.workload, about.join(", "));
                if !suspect.contains(&text) {
                    suspect.push(text);
                }
                continue;
            }
            criteria.extend(criterion(study, groups, aspect, group, &same, stacks));
        }
        let shares = (criteria.len() - before).max(1) as f64;
        criteria[before..].iter_mut().for_each(|c| c.weight = f64::from(aspect.weight) / shares);
    }
    (criteria, suspect)
}

/// The figure of the groups `same`, which are `group`'s step on several stacks, by the first
/// measure of the aspect that all of them have.
fn criterion(
    study: &Study,
    groups: &[Group],
    aspect: &'static Aspect,
    group: &Group,
    same: &[usize],
    stacks: &[&str],
) -> Option<Criterion> {
    let synced_apart = work::is_synced_apart(group);
    let has = |m: &&Measure| {
        let latency = matches!(m, Measure::Latency(_));
        same.iter().flat_map(|i| &groups[*i].observations).all(|o| {
            // The time of a write without its sync is not what one waits.
            let wrong_clock = latency && synced_apart && !o.committed;
            o.value(**m).is_some() && !wrong_clock
        })
    };
    let measure = aspect.measures.iter().find(has).copied()?;
    let values = stacks
        .iter()
        .map(|stack| {
            let group = same.iter().map(|i| &groups[*i]).find(|g| g.key.stack == *stack);
            let observations = group.iter().flat_map(|g| &g.observations);
            observations.filter_map(|o| Some((o.block, o.value(measure)?))).collect()
        })
        .collect();
    let noun = describe(study, groups, &group.key).full();
    let first = &groups[*same.first()?];
    let (operation, least) = (first.operation, first.least(measure));
    let workload = group.key.workload.clone();
    Some(Criterion { aspect, workload, noun, measure, operation, weight: 0.0, least, values })
}

fn class(
    writer: &words::PurposeWriter<'_>,
    survives: Option<u32>,
    members: &[usize],
    repeats: u32,
) -> PurposeClass {
    let criteria: Vec<&Criterion> = writer.criteria.iter().collect();
    let name = |stack: usize| writer.stacks[stack].to_owned();
    let unknown = |stack: usize| PurposeRank {
        stack: name(stack),
        word: RankWord::Unknown,
        distance: String::new(),
    };
    let mut class = PurposeClass {
        survives,
        advice: Advice::None(NoAdvice::MeasuredOnce),
        places: members.iter().map(|s| unknown(*s)).collect(),
        reasons: Vec::new(),
        against: Vec::new(),
        would_change: Vec::new(),
    };
    if let [only] = members {
        class.advice = Advice::None(NoAdvice::OnlyStack(name(*only)));
        class.places.iter_mut().for_each(|place| place.word = RankWord::Alone);
        return class;
    }
    let Some(result) = outcome(&criteria, members, writer.number) else {
        let measured = contenders(&criteria, members).len();
        class.advice = Advice::None(NoAdvice::NotMeasured { measured, of: members.len() });
        return class;
    };
    let once =
        result.others.iter().all(|(_, r, _)| r.as_ref().is_none_or(|r| r.interval.is_none()));
    if once || repeats == 1 {
        return class;
    }
    class.advice = advice(writer, &result);
    class.places = writer.places(&result, members, &class.advice);
    class.reasons = writer.reasons(&result);
    class.against = writer.against(&result, members);
    class.would_change = writer.would_change(&result, members);
    class
}

fn advice(writer: &words::PurposeWriter<'_>, result: &ContestComparison) -> Advice {
    let of = |wanted: LeaderRelation| -> Vec<String> {
        let others = result.others.iter().filter(|(.., relation)| *relation == wanted);
        others.map(|(stack, ..)| writer.stacks[*stack].to_owned()).collect()
    };
    let equivalent = of(LeaderRelation::Equivalent);
    let over = of(LeaderRelation::Inconclusive);
    let leader = writer.stacks[result.leader].to_owned();
    if !over.is_empty() {
        return Advice::None(NoAdvice::Inconclusive { leader, over, equivalent });
    }
    if equivalent.is_empty() {
        return Advice::One(leader);
    }
    Advice::Any([vec![leader], equivalent].concat())
}
