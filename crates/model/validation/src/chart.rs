//! What is drawn, apart from how.

use serde::Serialize;

/// Curves over an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Short name, which its file has; each chart of a drive has another.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, which begins at 0 where it is linear.
    pub y: Axis,
    /// Theory and model, drawn in this order.
    pub curves: Vec<Curve>,
}

/// Unit and scale of a side of the picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Its name with the unit.
    pub name: &'static str,
    /// How values are spread over it.
    pub scale: Scale,
}

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Evenly, from 0.
    Linear,
    /// Each doubling alike.
    Doublings,
    /// Each decade alike.
    Decades,
}

/// One set of points, and how it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// The number of its colour; what belongs together has the same.
    pub colour: usize,
    /// Its points, (x, y), in the order of x.
    pub points: Vec<(f64, f64)>,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A line: theory, or a model between its points.
    Line,
    /// A dashed line, for what is secondary.
    Dashes,
    /// Points: what the model did.
    Points,
    /// The model where it was tried at few values.
    LineAndPoints,
    /// Open squares: what others measured or computed.
    Squares,
}

impl Axis {
    /// An axis from 0.
    pub fn linear(name: &'static str) -> Self {
        Self { name, scale: Scale::Linear }
    }

    /// An axis on which each doubling takes as much room.
    pub fn doublings(name: &'static str) -> Self {
        Self { name, scale: Scale::Doublings }
    }

    /// An axis on which each decade takes as much room.
    pub fn decades(name: &'static str) -> Self {
        Self { name, scale: Scale::Decades }
    }
}

impl Curve {
    /// A curve.
    pub fn new(
        name: impl Into<String>,
        mark: Mark,
        colour: usize,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self { name: name.into(), mark, colour, points: points.into_iter().collect() }
    }
}
