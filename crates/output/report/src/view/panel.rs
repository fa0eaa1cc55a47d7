//! An answer's points, sorted for drawing: panels, groups, series, colours.

use std::collections::HashMap;

use disklab_comparisons::{Answer, Comparison, Point, confidence_level, times, times_range};
use disklab_decision::Analysis;
use disklab_study::Study;
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
pub(crate) struct PanelSeries<'a> {
    /// The stack's id.
    pub(crate) stack: &'a str,
    /// Layout part of it.
    pub(crate) layout: &'a str,
    /// File-system part of it, or the whole.
    pub(crate) file_system: &'a str,
    pub(crate) points: Vec<&'a Point>,
}

/// At most this many curves can be told apart in one chart.
pub(crate) const MOST_CURVES: usize = 8;

impl<'a> Panel<'a> {
    pub(crate) fn by_layout(&self) -> IndexMap<&'a str, Vec<&'a Point>> {
        let mut groups: IndexMap<&str, Vec<&Point>> = IndexMap::new();
        for point in &self.points {
            groups.entry(&point.layout).or_default().push(point);
        }
        groups
    }

    /// The points, by stack.
    pub(crate) fn series(&self, analysis: &'a Analysis) -> Vec<PanelSeries<'a>> {
        let mut series: IndexMap<&str, PanelSeries<'a>> = IndexMap::new();
        for point in &self.points {
            let stack = stack_of(analysis, point);
            series
                .entry(stack)
                .or_insert_with(|| PanelSeries {
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
    /// portion per layout with the whole stacks in portions of their own.
    pub(crate) fn portions(&self, analysis: &'a Analysis, colours: &Colours) -> Vec<Portion<'a>> {
        let series = self.series(analysis);
        if series.len() <= MOST_CURVES {
            return vec![Portion::only(series, colours)];
        }
        let mut portions: Vec<Portion<'a>> = Vec::new();
        for one in series {
            let is_whole = one.layout == one.file_system;
            let title = if is_whole { "whole stacks" } else { one.layout };
            let index = colours.index(one.file_system);
            let open = portions
                .iter_mut()
                .rfind(|p| p.title == title)
                .filter(|p| p.series.len() < MOST_CURVES);
            match open {
                Some(portion) => portion.series.push((index, one)),
                None => portions.push(Portion { title, series: vec![(index, one)], is_whole }),
            }
        }
        portions
    }
}

/// What one chart of curves shows.
#[derive(Debug)]
pub(crate) struct Portion<'a> {
    /// Its title; empty for the only one.
    pub(crate) title: &'a str,
    /// The series, each with the number of its colour.
    pub(crate) series: Vec<(usize, PanelSeries<'a>)>,
    /// Whether its curves are whole stacks, not file systems of a layout.
    pub(crate) is_whole: bool,
}

impl<'a> Portion<'a> {
    /// The only portion. Its colours are those of the file systems, unless two
    /// layouts have the same one.
    fn only(series: Vec<PanelSeries<'a>>, colours: &Colours) -> Self {
        let numbers: Vec<usize> =
            series.iter().map(|s| colours.index(s.file_system) % crate::chart::SERIES).collect();
        let is_clear = numbers.iter().enumerate().all(|(i, n)| !numbers[..i].contains(n));
        let series = series
            .into_iter()
            .zip(numbers)
            .enumerate()
            .map(|(place, (s, number))| (if is_clear { number } else { place }, s))
            .collect();
        Self { title: "", series, is_whole: false }
    }

    /// The name of one of its curves.
    pub(crate) fn name(&self, series: &PanelSeries<'a>) -> &'a str {
        if self.title.is_empty() || self.is_whole { series.stack } else { series.file_system }
    }

    /// Whether the legend for several portions names its curves.
    pub(crate) fn is_named(&self) -> bool {
        !self.title.is_empty() && !self.is_whole
    }
}

/// What the legend for several portions names: file systems and their colours,
/// in the study's order.
pub(crate) fn shared_names<'a>(portions: &[Portion<'a>]) -> Vec<(usize, &'a str)> {
    let mut names: Vec<(usize, &str)> = Vec::new();
    for portion in portions.iter().filter(|p| p.is_named()) {
        for (index, series) in &portion.series {
            if !names.contains(&(*index, series.file_system)) {
                names.push((*index, series.file_system));
            }
        }
    }
    names.sort_unstable();
    names
}

/// The id of the stack that a point stands for.
pub(crate) fn stack_of<'a>(analysis: &'a Analysis, point: &'a Point) -> &'a str {
    analysis.groups.get(point.group).map_or(&point.layout, |g| &g.key.levels.stack)
}

/// The comparison of a point's stack with the baseline.
fn comparison_of<'a>(answer: &'a Answer, point: &Point) -> Option<&'a Comparison> {
    answer.comparisons.iter().find(|c| c.group == point.group)
}

/// Whether others are compared with this point.
pub(crate) fn is_baseline(answer: &Answer, point: &Point) -> bool {
    answer.comparisons.iter().any(|c| c.baseline_group == point.group)
}

/// `0.52× (0.48–0.56), worse`, or `baseline`.
pub(crate) fn against_baseline(answer: &Answer, point: &Point) -> String {
    let Some(c) = comparison_of(answer, point) else {
        return if is_baseline(answer, point) { "baseline" } else { "–" }.to_owned();
    };
    let interval = c.interval.map_or_else(String::new, |i| {
        format!(" ({}{})", times_range(i.low, i.high), confidence_level(i))
    });
    format!("{}{interval}, {}", times(c.ratio), c.outcome.as_str())
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
