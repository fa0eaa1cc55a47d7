//! The elements of a picture, as SVG.

use std::fmt::Write as _;

/// A colour as SVG writes it.
pub(super) type Colour = &'static str;

/// A point, in pixels from the upper left corner.
pub(super) type Pixel = (i32, i32);

/// Where a text lies about its point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    /// It begins below the point.
    Below,
    /// It is centred below the point.
    CentredBelow,
    /// It is centred above the point.
    CentredAbove,
    /// It ends at the point.
    Left,
    /// It is centred at the right of the point, and read upwards.
    Upwards,
}

/// A picture that is being drawn.
#[derive(Debug)]
pub(super) struct Svg(String);

impl Svg {
    /// A white picture.
    pub(super) fn new((width, height): (i32, i32)) -> Self {
        Self(format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n\
             <rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\" \
             stroke=\"none\"/>\n"
        ))
    }

    /// A straight line of one pixel.
    pub(super) fn line(&mut self, (x1, y1): Pixel, (x2, y2): Pixel, colour: Colour) {
        self.element(format_args!(
            "line stroke=\"{colour}\" stroke-width=\"1\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" \
             y2=\"{y2}\""
        ));
    }

    /// A line of two pixels through points.
    pub(super) fn path(&mut self, points: &[Pixel], colour: Colour) {
        self.polyline(points, colour, "");
    }

    /// The same, dashed.
    pub(super) fn dashes(&mut self, points: &[Pixel], colour: Colour) {
        self.polyline(points, colour, " stroke-dasharray=\"7 5\"");
    }

    fn polyline(&mut self, points: &[Pixel], colour: Colour, dashes: &str) {
        if points.is_empty() {
            return;
        }
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        self.element(format_args!(
            "polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes} points=\"{}\"",
            points.join(" ")
        ));
    }

    pub(super) fn disc(&mut self, (x, y): Pixel, colour: Colour) {
        self.element(format_args!(
            "circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\" stroke=\"none\""
        ));
    }

    /// An open square about a point.
    pub(super) fn square(&mut self, (x, y): Pixel, colour: Colour) {
        let (left, top) = (x - 5, y - 5);
        self.element(format_args!(
            "rect x=\"{left}\" y=\"{top}\" width=\"10\" height=\"10\" fill=\"none\" \
             stroke=\"{colour}\""
        ));
    }

    /// A text, of a size in pixels.
    pub(super) fn text(&mut self, text: &str, (x, y): Pixel, anchor: Anchor, style: (f64, Colour)) {
        let (side, rise) = match anchor {
            Anchor::Below => ("start", "0.76em"),
            Anchor::CentredBelow | Anchor::Upwards => ("middle", "0.76em"),
            Anchor::CentredAbove => ("middle", "-0.5ex"),
            Anchor::Left => ("end", "0.5ex"),
        };
        let rotated = match anchor {
            Anchor::Upwards => format!(" transform=\"rotate(270, {x}, {y})\""),
            _ => String::new(),
        };
        let (size, colour) = style;
        let _ = write!(
            self.0,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{rise}\" text-anchor=\"{side}\" \
             font-family=\"sans-serif\" font-size=\"{size}\" fill=\"{colour}\"{rotated}>"
        );
        for character in text.chars() {
            match character {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                other => self.0.push(other),
            }
        }
        self.0.push_str("</text>\n");
    }

    /// The picture's text.
    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    fn element(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "<{element}/>");
    }
}
