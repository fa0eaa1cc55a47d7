//! An answer's points, sorted for drawing: panels, groups, series, colours.

use std::collections::HashMap;

use disklab_study::Study;
use disklab_verdict::{Analysis, Answer, Comparison, Outcome, Point};
use indexmap::IndexMap;

/// The points of one figure: one chart.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    /// The figure's name; empty where the answer has only one.
    pub(crate) figure: &'a str,
    /// Its points, in the study's order.
    pub(crate) points: Vec<&'a Point>,
}

/// An answer's panels, in the order of its points.
pub(crate) fn panels(answer: &Answer) -> Vec<Panel<'_>> {
    let mut panels: IndexMap<&str, Vec<&Point>> = IndexMap::new();
    for point in &answer.points {
        panels.entry(&point.figure).or_default().push(point);
    }
    panels.into_iter().map(|(figure, points)| Panel { figure, points }).collect()
}

/// The points of one stack.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    /// The stack's id.
    pub(crate) stack: &'a str,
    /// Layout part of it.
    pub(crate) layout: &'a str,
    /// File-system part of it, or the whole.
    pub(crate) file_system: &'a str,
    /// Its points.
    pub(crate) points: Vec<&'a Point>,
}

/// At most this many curves can be told apart in one chart.
pub(crate) const MOST_CURVES: usize = 8;

impl<'a> Panel<'a> {
    /// The points, by layout.
    pub(crate) fn by_layout(&self) -> IndexMap<&'a str, Vec<&'a Point>> {
        let mut groups: IndexMap<&str, Vec<&Point>> = IndexMap::new();
        for point in &self.points {
            groups.entry(&point.layout).or_default().push(point);
        }
        groups
    }

    /// The points, by stack.
    pub(crate) fn series(&self, analysis: &'a Analysis) -> Vec<Series<'a>> {
        let mut series: IndexMap<&str, Series<'a>> = IndexMap::new();
        for point in &self.points {
            let stack = stack_of(analysis, point);
            series
                .entry(stack)
                .or_insert_with(|| Series {
                    stack,
                    layout: &point.layout,
                    file_system: &point.file_system,
                    points: Vec::new(),
                })
                .points
                .push(point);
        }
        series.into_values().collect()
    }

    /// The series in portions that one chart can show: all together, or one
    /// portion per layout with the whole stacks in portions of their own. Each
    /// portion has its title.
    pub(crate) fn portions(&self, analysis: &'a Analysis) -> Vec<(String, Vec<Series<'a>>)> {
        let series = self.series(analysis);
        if series.len() <= MOST_CURVES {
            return vec![(String::new(), series)];
        }
        let mut portions: IndexMap<String, Vec<Series<'a>>> = IndexMap::new();
        let mut whole = 0;
        for one in series {
            let key = if one.layout == one.file_system {
                whole += 1;
                match (whole - 1) / MOST_CURVES {
                    0 => "whole stacks".to_owned(),
                    n => format!("whole stacks ({})", n + 1),
                }
            } else {
                one.layout.to_owned()
            };
            portions.entry(key).or_default().push(one);
        }
        portions
            .into_iter()
            .flat_map(|(title, series)| {
                let mut chunks: Vec<(String, Vec<Series<'a>>)> = Vec::new();
                for one in series {
                    match chunks.last_mut() {
                        Some((_, chunk)) if chunk.len() < MOST_CURVES => chunk.push(one),
                        _ => chunks.push((title.clone(), vec![one])),
                    }
                }
                chunks
            })
            .collect()
    }
}

/// The id of the stack that a point stands for.
pub(crate) fn stack_of<'a>(analysis: &'a Analysis, point: &'a Point) -> &'a str {
    analysis.groups.get(point.group).map_or(&point.layout, |g| &g.key.stack)
}

/// The comparison of a point's stack with the baseline.
pub(crate) fn comparison_of<'a>(answer: &'a Answer, point: &Point) -> Option<&'a Comparison> {
    answer.comparisons.iter().find(|c| c.group == point.group)
}

/// An outcome's word.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::Level => "level",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Once => "once",
    }
}

/// Which file system, or whole stack, has which colour: the same in all charts
/// of a report.
#[derive(Debug)]
pub(crate) struct Colours(HashMap<String, usize>);

impl Colours {
    /// Colours in the study's order.
    pub(crate) fn of(study: &Study) -> Self {
        let mut colours = HashMap::new();
        for stack in &study.stacks {
            let name = if stack.file_system.is_empty() { &stack.id } else { &stack.file_system };
            let next = colours.len();
            colours.entry(name.clone()).or_insert(next);
        }
        Self(colours)
    }

    /// The number of a file system's colour, from 0, unlimited.
    pub(crate) fn index(&self, file_system: &str) -> usize {
        self.0.get(file_system).copied().unwrap_or_default()
    }
}
