//! Charts as SVG that stand by themselves, in the colours of the reports.

mod svg;
mod ticks;

use svg::{Anchor, Colour, Pixel, Svg};
use ticks::Ticks;

use crate::{Chart, Curve, Mark};

/// Size of a picture, pixels.
const SIZE: (i32, i32) = (720, 400);

/// Height of a row of the legend, pixels.
const ROW: i32 = 20;

/// Colours of series on a light page, those of the reports: after Okabe and Ito,
/// 'Color Universal Design' (2008), with a contrast of 3:1 and more.
const COLOURS: [Colour; 5] = ["#0072B2", "#C75300", "#6B6F76", "#00815D", "#B0488A"];
const TEXT: Colour = "#1B1F24";
const MUTED: Colour = "#57606A";
const GRID: Colour = "#E3E7EC";

/// Sizes of letters, pixels.
const LABEL: f64 = 10.5;
const AXIS_NAME: f64 = 11.3;

/// The pixels that the axes begin and end at.
#[derive(Debug, Clone, Copy)]
struct Plane {
    x: (i32, i32),
    /// From the lower end.
    y: (i32, i32),
}

/// The picture of a chart, as SVG.
pub fn draw(chart: &Chart) -> String {
    let mut svg = Svg::new(SIZE);
    let rows = rows(chart);
    for (row, curves) in (0..).zip(&rows) {
        for (left, curve) in curves {
            entry(&mut svg, (*left, 12 + ROW * row + ROW / 2), curve);
        }
    }
    let top = 12 + ROW * rows.len() as i32 + 8;
    let plane = Plane { x: (66, SIZE.0 - 21), y: (SIZE.1 - 49, top) };

    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let x = Ticks::new(chart.x.scale, points().map(|(x, _)| *x));
    let y = Ticks::new(chart.y.scale, points().map(|(_, y)| *y));
    axes(&mut svg, chart, plane, (&x, &y));
    for curve in &chart.curves {
        let finite = curve.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let pixel = |(a, b): &(f64, f64)| (x.pixel(*a, plane.x), y.pixel(*b, plane.y));
        let points: Vec<Pixel> = finite.map(pixel).collect();
        trace(&mut svg, curve, &points);
    }
    svg.finish()
}

/// The grid, and the axes with their names, ticks and labels.
fn axes(svg: &mut Svg, chart: &Chart, plane: Plane, (x, y): (&Ticks, &Ticks)) {
    let (left, right) = plane.x;
    let (bottom, top) = plane.y;
    let name = (AXIS_NAME, TEXT);
    let middle = top + (bottom + 1 - top) / 2;
    svg.text(chart.y.name, (left - 58, middle), Anchor::Upwards, name);
    let middle = left + (right + 1 - left) / 2;
    svg.text(chart.x.name, (middle, bottom + 43), Anchor::CentredAbove, name);
    for (at, _) in x.labels(plane.x) {
        svg.line((at, bottom), (at, top), GRID);
    }
    for (at, _) in y.labels(plane.y) {
        svg.line((left, at), (right, at), GRID);
    }
    let style = (LABEL, MUTED);
    svg.line((left - 1, top), (left - 1, bottom), MUTED);
    for (at, label) in y.labels(plane.y) {
        svg.text(&label, (left - 10, at), Anchor::Left, style);
        svg.line((left - 6, at), (left - 1, at), MUTED);
    }
    svg.line((left, bottom + 1), (right, bottom + 1), MUTED);
    for (at, label) in x.labels(plane.x) {
        svg.text(&label, (at, bottom + 11), Anchor::CentredBelow, style);
        svg.line((at, bottom + 1), (at, bottom + 6), MUTED);
    }
}

/// Draws a curve.
fn trace(svg: &mut Svg, curve: &Curve, points: &[Pixel]) {
    let colour = COLOURS[curve.colour % COLOURS.len()];
    match curve.mark {
        Mark::Line | Mark::LineAndPoints => svg.path(points, colour),
        Mark::Dashes => svg.dashes(points, colour),
        Mark::Points | Mark::Squares => {}
    }
    match curve.mark {
        Mark::Points | Mark::LineAndPoints => points.iter().for_each(|at| svg.disc(*at, colour)),
        Mark::Squares => points.iter().for_each(|at| svg.square(*at, colour)),
        Mark::Line | Mark::Dashes => {}
    }
}

/// The curves' entries in the legend: rows of left edges and curves.
fn rows(chart: &Chart) -> Vec<Vec<(i32, &Curve)>> {
    let (first, last) = (66, SIZE.0 - 20);
    let mut rows: Vec<Vec<(i32, &Curve)>> = vec![Vec::new()];
    let mut left = first;
    for curve in &chart.curves {
        // Letters of 13 pixels are 6 to 7 wide, in the mean.
        let width = 34 + 13 * curve.name.chars().count() as i32 / 2 + 16;
        if left + width > last && left > first {
            rows.push(Vec::new());
            left = first;
        }
        if let Some(row) = rows.last_mut() {
            row.push((left, curve));
        }
        left += width;
    }
    rows
}

/// An entry of the legend: its mark, and its name.
fn entry(svg: &mut Svg, (x, y): Pixel, curve: &Curve) {
    match curve.mark {
        Mark::Line | Mark::Dashes => trace(svg, curve, &[(x, y), (x + 26, y)]),
        Mark::Points | Mark::Squares => trace(svg, curve, &[(x + 13, y)]),
        Mark::LineAndPoints => {
            let colour = COLOURS[curve.colour % COLOURS.len()];
            svg.path(&[(x, y), (x + 26, y)], colour);
            svg.disc((x + 13, y), colour);
        }
    }
    svg.text(&curve.name, (x + 34, y - 7), Anchor::Below, (LABEL, TEXT));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;
    use proptest::prelude::*;

    fn chart(x: Axis, points: Vec<(f64, f64)>) -> Chart {
        let marks = [Mark::Line, Mark::Dashes, Mark::Points, Mark::LineAndPoints, Mark::Squares];
        let curves = marks
            .into_iter()
            .zip(0..)
            .map(|(mark, colour)| Curve::new("a <curve>", mark, colour, points.clone()))
            .collect();
        Chart { id: "x", title: "X", x, y: Axis::linear("height, m"), curves }
    }

    #[test]
    fn a_chart_has_its_curves_names_and_axes() {
        let svg = draw(&chart(Axis::doublings("depth"), vec![(1.0, 3.0), (32.0, 9.0)]));
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        for part in ["depth", "height, m", "a &lt;curve&gt;", "#0072B2"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }

    proptest! {
        #[test]
        fn any_numbers_can_be_drawn(
            points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..6), scale in 0..3_u8,
        ) {
            let axis = match scale {
                0 => Axis::linear("x"),
                1 => Axis::doublings("x"),
                _ => Axis::decades("x"),
            };
            let svg = draw(&chart(axis, points));
            let document = roxmltree::Document::parse(&svg);
            prop_assert!(document.is_ok(), "{document:?}: {svg}");
            // Whatever the numbers are, nothing lies outside of the picture.
            for node in document.iter().flat_map(roxmltree::Document::descendants) {
                for (name, most) in [("x", 720), ("x1", 720), ("cx", 720), ("y", 400), ("cy", 400)] {
                    let Some(value) = node.attribute(name) else { continue };
                    let value: i32 = value.parse().expect("a pixel");
                    prop_assert!((0..=most).contains(&value), "{name}={value}: {svg}");
                }
            }
        }
    }
}
