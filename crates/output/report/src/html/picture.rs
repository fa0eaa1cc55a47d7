//! Space against speed, or how long what passes over the drives takes: one dot for each stack, those named that no other beats in space,
//! in drives that may fail and in speed.

use disklab_decision::Recommendation;
use maud::{Markup, html};

use super::labels::{labels, percent};
use crate::first_screen::{FirstScreen, SpeedBasis, StackLine, space};
use crate::view::count;

/// In per cent of the drawing: its plot.
const LEFT: f64 = 9.0;
const RIGHT: f64 = 88.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 88.0;
/// Stacks for which there is a tall drawing.
const MANY: usize = 10;
/// Bars at most; slower stacks are in the table.
const BARS: usize = 14;

struct Dot<'a> {
    stack: &'a StackLine,
    x: f64,
    y: f64,
    named: bool,
}

/// The picture, where at least two stacks have a speed.
pub(crate) fn section(screen: &FirstScreen<'_>) -> Option<Markup> {
    let drawn: Vec<&StackLine> = screen.stacks.iter().filter(|s| s.speed.is_some()).collect();
    if drawn.len() < 2 {
        return None;
    }
    let mut sizes: Vec<u64> = drawn.iter().filter_map(|s| s.usable).collect();
    sizes.sort_unstable();
    sizes.dedup();
    // Next to each other, stacks of one size say nothing about space, and a time is none of speed.
    let differ = match (sizes.first(), sizes.last()) {
        (Some(first), Some(last)) => *last as f64 > *first as f64 * 1.1,
        _ => false,
    };
    let basis = &screen.speed_of;
    let is_scatter = differ && !matches!(basis, SpeedBasis::Time(..));
    Some(html! {
        section {
            h2 { @if is_scatter { "Space against speed" } @else { (basis.heading()) } }
            @if is_scatter {
                (scatter(screen, &drawn, *sizes.last()?, &basis.text()))
            } @else {
                (bars(&drawn, basis))
            }
        }
    })
}

fn scatter(screen: &FirstScreen<'_>, drawn: &[&StackLine], most: u64, all: &str) -> Markup {
    let most = most as f64 * 1.05;
    let mut dots: Vec<Dot<'_>> = Vec::new();
    for stack in drawn {
        let share = stack.usable.unwrap_or(0) as f64 / most;
        dots.push(Dot {
            stack,
            x: LEFT + (RIGHT - LEFT) * share,
            y: BOTTOM - (BOTTOM - TOP) * stack.speed.unwrap_or(0.0).clamp(0.0, 1.0),
            named: screen.is_undominated(stack),
        });
    }
    // The fastest are named first, while there is room.
    dots.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
    let tall = dots.len() > MANY;
    let points: Vec<(f64, f64)> = dots.iter().map(|dot| (dot.x, dot.y)).collect();
    let widths = dots.iter().map(|dot| dot.named.then(|| dot.stack.label.chars().count()));
    let widths: Vec<Option<usize>> = widths.collect();
    let labels = [false, true].map(|narrow| (narrow, labels(&points, &widths, narrow, tall)));
    let names: Vec<&str> =
        dots.iter().filter(|d| d.named).map(|d| d.stack.label.as_str()).collect();
    let label = format!("Usable space against speed; not beaten: {}", names.join(", "));
    html! {
        figure.picture.tall[tall] {
            svg role="img" aria-label=(label) {
                @for speed in [0_u32, 25, 50, 75, 100] {
                    @let y = percent(BOTTOM - (BOTTOM - TOP) * f64::from(speed) / 100.0);
                    line.grid x1=(percent(LEFT)) x2=(percent(RIGHT)) y1=(y) y2=(y) {}
                    text.soft x=(percent(LEFT - 1.0)) y=(y) dy=".35em" text-anchor="end" { (speed) }
                }
                @for (x, text) in ticks(most) {
                    text.soft x=(percent(x)) y=(percent(BOTTOM + 6.0)) text-anchor="middle" {
                        (text)
                    }
                }
                @for dot in &dots { (mark(dot)) }
                @for (narrow, labels) in &labels {
                    @for (dot, label) in dots.iter().zip(labels) {
                        @if let Some(label) = label { (label.draw(&dot.stack.label, *narrow)) }
                    }
                }
            }
            figcaption {
                "Speed in per cent of the best stack, " (all) "; usable space. Filled: \
                 no other stack beats it in space, safety and speed. "
                @for class in survivals(drawn) {
                    span.key { (shape_word(class)) " " (Recommendation::may_fail(class).to_lowercase()) } " "
                }
            }
        }
    }
}

fn survivals(drawn: &[&StackLine]) -> Vec<Option<u32>> {
    let mut all: Vec<Option<u32>> = drawn.iter().map(|stack| stack.survives).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The sign of a class: circle, square, triangle.
fn shape_word(class: Option<u32>) -> &'static str {
    match class {
        Some(0) => "○",
        Some(1) => "□",
        Some(_) => "△",
        None => "◇",
    }
}

fn shape(dot: &Dot<'_>) -> &'static str {
    match (dot.stack.survives, dot.named) {
        (Some(0), true) => "●",
        (Some(1), true) => "■",
        (Some(_), true) => "▲",
        (None, true) => "◆",
        (class, false) => shape_word(class),
    }
}

fn mark(dot: &Dot<'_>) -> Markup {
    let about = format!(
        "{}: {} usable, {} % of the best",
        dot.stack.label,
        space(dot.stack.usable),
        (dot.stack.speed.unwrap_or(0.0) * 100.0).round()
    );
    html! {
        text.mark.named[dot.named] x=(percent(dot.x)) y=(percent(dot.y)) dy=".35em"
            text-anchor="middle" { (shape(dot)) title { (about) } }
    }
}

/// Up to five round sizes along the axis.
fn ticks(most: f64) -> Vec<(f64, String)> {
    if !(most.is_finite() && most >= 1.0) {
        return Vec::new();
    }
    let power = 10_f64.powf((most / 4.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| most / step <= 5.0).unwrap_or(most);
    let x = |size: f64| LEFT + (RIGHT - LEFT) * size / most;
    let number = (most / step).floor() as u32;
    let tick = |n: u32| {
        let size = f64::from(n) * step;
        (x(size), space(Some(size as u64)))
    };
    (1..=number).map(tick).collect()
}

/// Their speed as bars, or their time.
fn bars(drawn: &[&StackLine], basis: &SpeedBasis) -> Markup {
    let mut stacks = drawn.to_vec();
    let speed = |stack: &StackLine| stack.speed.unwrap_or(0.0);
    stacks.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    let slowest = stacks.last().map_or(1.0, |stack| speed(stack));
    let (unit, of) = match basis {
        SpeedBasis::Time(..) => ("", ""),
        _ => (" %", " in per cent of the best stack"),
    };
    html! {
        figure.picture {
            div.speeds {
                @for stack in stacks.iter().take(BARS) {
                    @let width = percent(basis.length(speed(stack), slowest) * 100.0);
                    @let figure = basis.figure(speed(stack));
                    span { (stack.label) }
                    svg role="img" aria-label=(format!("{figure}{unit}")) {
                        rect x="0%" y="0%" width=(width) height="100%" {}
                    }
                    span.n { (figure) }
                }
            }
            figcaption {
                (basis.heading()) (of) ", " (basis.text()) "."
                @if let Some(slower) = stacks.len().checked_sub(BARS).filter(|n| *n > 0) {
                    " " (count(slower, "slower stack")) ": in the table."
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let got: Vec<String> = ticks(31.5e12).into_iter().map(|(_, text)| text).collect();
        assert_eq!(got, ["10 TB", "20 TB", "30 TB"]);
        let got: Vec<String> = ticks(2.1e9).into_iter().map(|(_, text)| text).collect();
        assert_eq!(got, ["500 MB", "1 GB", "1.5 GB", "2 GB"]);
        assert!(ticks(0.0).is_empty() && ticks(f64::NAN).is_empty());
    }
}
