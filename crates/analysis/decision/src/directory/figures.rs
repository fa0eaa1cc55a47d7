//! The figures of a directory, and what people call them.

use disklab_audits::{Group, describe, figure_id};
use disklab_comparisons::{Answer, Point, value};
use disklab_sample::Task;
use disklab_study::{Measure, Study};
use disklab_units::list;

use crate::purposes::task;

/// Figures in a list.
pub(super) const FIGURES: usize = 12;

/// A figure of the directory.
pub(super) struct OwnFigure<'a> {
    pub answer: &'a Answer,
    pub point: &'a Point,
    /// 'small synchronous writes'.
    pub noun: String,
    /// What makes it slow as a rule.
    pub causes: &'static str,
    /// Times of work on few files that are shorter than this are not compared.
    least: f64,
}

impl OwnFigure<'_> {
    /// With its unit and interval.
    pub fn value(&self) -> String {
        value(self.answer.measure, self.answer.operation, &self.point.estimate)
    }

    /// Whether it, or another value of its measure, is too short a time to be compared.
    pub fn is_too_short(&self, expected: f64) -> bool {
        let is_time = !self.answer.measure.higher_is_better();
        is_time && self.point.estimate.centre.min(expected) < self.least
    }

    /// How fast it is next to another value of its measure, and between which bounds.
    pub fn speed(&self, expected: f64) -> Option<[f64; 3]> {
        let estimate = &self.point.estimate;
        let (low, high) = match estimate.interval {
            Some(interval) => (interval.low, interval.high),
            None if estimate.n > 1 => (f64::MIN_POSITIVE, f64::MAX),
            None => (estimate.centre, estimate.centre),
        };
        let speed = |value: f64| {
            if self.answer.measure.higher_is_better() { value / expected } else { expected / value }
        };
        let (one, centre, other) = (speed(low), speed(estimate.centre), speed(high));
        let all = [one.min(other), centre, one.max(other)];
        (centre.is_finite() && centre > 0.0 && expected > 0.0).then_some(all)
    }
}

/// Those that questions of the study ask for; without deadlines, of which none may be missed.
pub(super) fn own_figures<'a>(
    study: &Study,
    groups: &[Group],
    answers: &'a [Answer],
) -> Vec<OwnFigure<'a>> {
    let asked = answers.iter().filter(|a| a.by_study && a.measure != Measure::Missed);
    let points = asked.flat_map(|answer| answer.points.iter().map(move |point| (answer, point)));
    let figure = |(answer, point): (&'a Answer, &'a Point)| {
        let group = &groups[point.group];
        let known = task(group).and_then(known_work);
        let (noun, causes) = match known {
            Some((noun, causes)) => (noun.to_owned(), causes),
            None => (describe(study, groups, &group.key).noun, "a busy drive"),
        };
        let least = group.least(answer.measure).unwrap_or(0.0);
        OwnFigure { answer, point, noun, causes, least }
    };
    let mut figures: Vec<OwnFigure<'_>> = points.map(figure).collect();
    // Two sizes of one task have one name: then the workload's tells them apart.
    let names: Vec<String> = figures.iter().map(|figure| figure.noun.clone()).collect();
    for figure in &mut figures {
        if names.iter().filter(|name| **name == figure.noun).count() > 1 {
            figure.noun =
                format!("{} ({})", figure.noun, figure_id(groups, &groups[figure.point.group].key));
        }
    }
    figures
}

/// What people call a task, and what makes it slow as a rule.
fn known_work(task: Task) -> Option<(&'static str, &'static str)> {
    const FLUSHES: &str = "barriers (flushes that reach the medium), or a busy drive";
    const STREAM: &str = "a busy drive, a slow link, or files in many pieces";
    const ENTRIES: &str = "a busy drive, or a journal that waits for it";
    Some(match task {
        Task::LargeRead => ("large reads", STREAM),
        Task::LargeWrite => ("large writes", "a busy drive, a slow link, or little free space"),
        Task::RandomRead | Task::LookUp => ("random reads", "a busy drive"),
        Task::RandomWrite => ("random writes", "a busy drive, or little free space"),
        Task::DurableWrite | Task::DurableAppend => ("small synchronous writes", FLUSHES),
        Task::Commit => ("commits", FLUSHES),
        Task::SmallFiles => ("copies of small files", ENTRIES),
        Task::Create => ("new files", ENTRIES),
        Task::Delete => ("deletions", ENTRIES),
        _ => return None,
    })
}

/// 'Here: large reads 530 MB/s [510, 541], …'.
pub(super) fn here(figures: &[OwnFigure<'_>]) -> String {
    let each: Vec<String> = figures.iter().map(|f| format!("{} {}", f.noun, f.value())).collect();
    format!("Here: {}.", list(each.iter().map(String::as_str), FIGURES))
}
