//! Charts as SVG that stand by themselves, in the colours of the reports.

mod ticks;

use plotters::prelude::*;
use ticks::Ticks;

use crate::{Chart, Curve, Mark};

/// Size of a picture, pixels.
const SIZE: (u32, u32) = (720, 400);

/// Height of a row of the legend, pixels.
const ROW: i32 = 20;

/// Colours of series on a light page, those of the reports: after Okabe and Ito,
/// 'Color Universal Design' (2008), with a contrast of 3:1 and more.
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xc7, 0x53, 0x00),
    RGBColor(0x6b, 0x6f, 0x76),
    RGBColor(0x00, 0x81, 0x5d),
    RGBColor(0xb0, 0x48, 0x8a),
];
const TEXT: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6a);
const GRID: RGBColor = RGBColor(0xe3, 0xe7, 0xec);

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Plane = Cartesian2d<Ticks, Ticks>;

/// The picture of a chart, as SVG.
///
/// # Errors
/// [`DrawError`] if the plotting library refuses it; it takes charts of finite numbers.
pub fn draw(chart: &Chart) -> Result<String, DrawError> {
    let mut text = String::new();
    paint(chart, &mut text).map_err(|source| DrawError { chart: chart.id, source })?;
    Ok(text)
}

/// A chart that the plotting library refused.
#[derive(Debug, thiserror::Error)]
#[error("the chart '{chart}' cannot be drawn: {source}")]
pub struct DrawError {
    /// The chart's id.
    pub chart: &'static str,
    /// The library's reason.
    pub source: Failure,
}

/// What the plotting library returns: a type of its own for each element that is drawn.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn paint(chart: &Chart, text: &mut String) -> Result<(), Failure> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let rows = rows(chart);
    let (legend, plot) = root.split_vertically(12 + ROW * rows.len() as i32);
    for (row, curves) in rows.iter().enumerate() {
        for (left, curve) in curves {
            entry(&legend, (*left, 12 + ROW * row as i32 + ROW / 2), curve)?;
        }
    }

    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let x = Ticks::new(chart.x.scale, points().map(|(x, _)| *x));
    let y = Ticks::new(chart.y.scale, points().map(|(_, y)| *y));
    let mut context = ChartBuilder::on(&plot)
        .margin_right(20)
        .margin_top(8)
        .margin_left(8)
        .margin_bottom(6)
        .x_label_area_size(42)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y)?;
    context
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(MUTED)
        .x_desc(chart.x.name)
        .y_desc(chart.y.name)
        .axis_desc_style(("sans-serif", 14).into_font().color(&TEXT))
        .label_style(("sans-serif", 13).into_font().color(&MUTED))
        .draw()?;
    for curve in &chart.curves {
        trace(&mut context, curve)?;
    }
    root.present()?;
    Ok(())
}

/// Draws a curve.
fn trace(
    context: &mut ChartContext<'_, SVGBackend<'_>, Plane>,
    curve: &Curve,
) -> Result<(), Failure> {
    let points = || curve.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite());
    let colour = COLOURS[curve.colour % COLOURS.len()];
    match curve.mark {
        Mark::Line | Mark::LineAndPoints => {
            let style = colour.stroke_width(2);
            context.draw_series(LineSeries::new(points(), style))?;
        }
        Mark::Dashes => {
            let style = colour.stroke_width(2);
            let line = DashedLineSeries::new(points(), 7, 5, style);
            context.draw_series(line)?;
        }
        Mark::Points | Mark::Squares => {}
    }
    match curve.mark {
        Mark::Points | Mark::LineAndPoints => {
            let marks = points().map(|at| Circle::new(at, 4, colour.filled()));
            context.draw_series(marks)?;
        }
        Mark::Squares => {
            let marks = points().map(|at| {
                EmptyElement::at(at) + Rectangle::new([(-5, -5), (5, 5)], colour.stroke_width(2))
            });
            context.draw_series(marks)?;
        }
        Mark::Line | Mark::Dashes => {}
    }
    Ok(())
}

/// The curves' entries in the legend: rows of left edges and curves.
fn rows(chart: &Chart) -> Vec<Vec<(i32, &Curve)>> {
    let (first, last) = (66, SIZE.0 as i32 - 20);
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
fn entry(area: &Area<'_>, (x, y): (i32, i32), curve: &Curve) -> Result<(), Failure> {
    let colour = COLOURS[curve.colour % COLOURS.len()];
    let line = |from: i32, to: i32| {
        PathElement::new(vec![(x + from, y), (x + to, y)], colour.stroke_width(2))
    };
    match curve.mark {
        Mark::Line => area.draw(&line(0, 26))?,
        Mark::Dashes => {
            area.draw(&line(0, 7))?;
            area.draw(&line(11, 18))?;
            area.draw(&line(22, 26))?;
        }
        Mark::Points => area.draw(&Circle::new((x + 13, y), 4, colour.filled()))?,
        Mark::LineAndPoints => {
            area.draw(&line(0, 26))?;
            area.draw(&Circle::new((x + 13, y), 4, colour.filled()))?;
        }
        Mark::Squares => {
            let corners = [(x + 8, y - 5), (x + 18, y + 5)];
            area.draw(&Rectangle::new(corners, colour.stroke_width(2)))?;
        }
    }
    let style = ("sans-serif", 13).into_font().color(&TEXT);
    area.draw(&Text::new(curve.name.clone(), (x + 34, y - 7), style))?;
    Ok(())
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
        let svg = draw(&chart(Axis::doublings("depth"), vec![(1.0, 3.0), (32.0, 9.0)])).unwrap();
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
            prop_assert!(draw(&chart(axis, points)).is_ok());
        }
    }
}
