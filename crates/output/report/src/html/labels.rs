//! Where names stand next to the dots of a picture: none lies on another name or on a dot.

use maud::{Markup, html};

/// A share of a picture's width or height, in per cent, as SVG has it.
pub(super) fn percent(x: f64) -> String {
    format!("{:.2}%", x.clamp(0.0, 100.0))
}

/// A drawing's sizes in per cent of its own, for the narrowest in which it is used.
struct DrawingSizes {
    /// A letter's width, with some room between.
    letter: f64,
    /// A line's height.
    line: f64,
    /// Half a dot's width and height.
    dot: (f64, f64),
    /// From a dot's middle to its name.
    gap: f64,
}

impl DrawingSizes {
    /// In a column of 30 rem, or on a telephone; a tall one has as many pixels more in height.
    fn of(narrow: bool, tall: bool) -> Self {
        let (width, letter) = if narrow { (300.0, 6.9) } else { (480.0, 7.7) };
        let height = if tall { 432.0 } else { 304.0 };
        let share = |pixels: f64, of: f64| 100.0 * pixels / of;
        Self {
            letter: share(letter, width),
            line: share(16.0, height),
            dot: (share(8.0, width), share(8.0, height)),
            gap: share(12.0, width),
        }
    }
}

/// A name's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LabelPlace {
    /// Its end next to the dot.
    x: f64,
    y: f64,
    /// Whether it stands at the left of its dot.
    left: bool,
}

impl LabelPlace {
    pub(super) fn draw(self, text: &str, narrow: bool) -> Markup {
        let anchor = if self.left { "end" } else { "start" };
        let class = if narrow { "label narrow" } else { "label wide" };
        html! {
            text class=(class) x=(percent(self.x)) y=(percent(self.y)) dy=".35em"
                text-anchor=(anchor) { (text) }
        }
    }

    /// Left, top, right and bottom of a name of so many letters.
    fn area(self, letters: usize, room: &DrawingSizes) -> [f64; 4] {
        let width = letters as f64 * room.letter;
        let (left, right) =
            if self.left { (self.x - width, self.x) } else { (self.x, self.x + width) };
        [left, self.y - room.line / 2.0, right, self.y + room.line / 2.0]
    }
}

fn overlap(a: [f64; 4], b: [f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// A place for each name of so many letters, first come, first served; none where it would cover
/// something or leave the drawing.
pub(super) fn labels(
    dots: &[(f64, f64)],
    letters: &[Option<usize>],
    narrow: bool,
    tall: bool,
) -> Vec<Option<LabelPlace>> {
    let room = DrawingSizes::of(narrow, tall);
    let (w, h) = room.dot;
    let mut taken: Vec<[f64; 4]> = dots.iter().map(|(x, y)| [x - w, y - h, x + w, y + h]).collect();
    let mut places = Vec::new();
    for ((x, y), letters) in dots.iter().zip(letters) {
        let place = letters.and_then(|letters| {
            let shifts = [0.0, -0.5, 0.5].map(|lines| lines * room.line);
            let mut candidates = shifts.into_iter().flat_map(|shift| {
                [false, true].map(|left| {
                    let x = if left { x - room.gap } else { x + room.gap };
                    LabelPlace { x, y: y + shift, left }
                })
            });
            candidates.find(|place| {
                let area = place.area(letters, &room);
                let inside = area.iter().all(|edge| (0.0..=100.0).contains(edge));
                inside && !taken.iter().any(|other| overlap(area, *other))
            })
        });
        if let (Some(place), Some(letters)) = (place, letters) {
            taken.push(place.area(*letters, &room));
        }
        places.push(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_lone_name_stands_at_the_right_or_where_it_stays_inside() {
        let at = |x: f64| labels(&[(x, 50.0)], &[Some(12)], false, false)[0].expect("room");
        assert!(!at(20.0).left && at(90.0).left);
        // No name covers the neighbour at its right.
        let two = labels(&[(40.0, 50.0), (48.0, 50.0)], &[Some(12), None], false, false);
        assert!(two[0].expect("room").left && two[1].is_none());
    }

    proptest! {
        #[test]
        fn no_name_covers_a_name_or_a_dot(
            dots in prop::collection::vec(((5.0_f64..95.0, 5.0_f64..95.0), prop::option::of(1_usize..30)), 1..60),
            narrow: bool, tall: bool,
        ) {
            let (points, letters): (Vec<_>, Vec<_>) = dots.into_iter().unzip();
            let places = labels(&points, &letters, narrow, tall);
            let room = DrawingSizes::of(narrow, tall);
            let areas: Vec<[f64; 4]> = places.iter().zip(&letters)
                .filter_map(|(place, letters)| Some((*place)?.area((*letters)?, &room))).collect();
            for (n, area) in areas.iter().enumerate() {
                prop_assert!(areas[..n].iter().all(|other| !overlap(*area, *other)));
                let (w, h) = room.dot;
                prop_assert!(points.iter().all(|(x, y)| !overlap(*area, [x - w, y - h, x + w, y + h])));
            }
        }
    }
}
