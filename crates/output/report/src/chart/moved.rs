//! Published claims as lines: what is accepted as a bar, the measured value as shipped as a mark, and a small
//! dot for each run in which a drive had other values.

use disklab_published::{JudgedRow, RowStatus};
use disklab_units::significant;
use indexmap::IndexMap;
use maud::{Markup, html};

use super::parts::percent;
use super::published::{class, framed, ground, mark, scale_of, unit};
use super::scale::AxisScale;
use crate::view::published::{status, subject};

/// A claim as shipped, and its figures in runs in which drives had other values.
#[derive(Debug, Clone, PartialEq)]
pub struct MovedClaim {
    /// Its value and status with the drives as they are.
    pub shipped: JudgedRow,
    /// The measured value in the other runs, in the row's unit.
    pub figures: Vec<f64>,
    /// Whether it reverses in any of them, or is reproduced in some and not in others.
    pub changes: bool,
}

/// The picture of those claims; nothing where there are none.
pub(crate) fn chart(claims: &[&MovedClaim]) -> Markup {
    let mut groups: IndexMap<&str, Vec<&MovedClaim>> = IndexMap::new();
    for claim in claims.iter().filter(|claim| claim.shipped.measured.is_some()) {
        groups.entry(&claim.shipped.row.workload).or_default().push(claim);
    }
    if groups.is_empty() {
        return html! { p.empty { "None." } };
    }
    let scale = scale_of(groups.values().flatten().flat_map(|claim| quotients(claim)));
    let label = "Claims, and how far they move";
    framed(label, &legend(), &scale, &groups, |claim| line(&scale, claim))
}

/// As shipped, and then those of the other runs.
fn quotients(claim: &MovedClaim) -> impl Iterator<Item = f64> {
    let by = unit(&claim.shipped);
    let own = claim.shipped.measured.map(|measured| measured.centre);
    own.into_iter().chain(claim.figures.iter().copied()).map(move |figure| figure / by)
}

fn line(scale: &AxisScale, claim: &MovedClaim) -> Markup {
    let judged = &claim.shipped;
    let own = quotients(claim).next().unwrap_or(1.0);
    let (lowest, highest) =
        quotients(claim).fold((own, own), |(low, high), q| (low.min(q), high.max(q)));
    html! {
        div.bar.(class(judged.status)) {
            span.name { (subject(judged)) }
            svg.track aria-hidden="true" {
                (ground(scale, judged))
                @let (x1, x2) = (percent(scale.percent(lowest)), percent(scale.percent(highest)));
                line.whisker x1=(x1) x2=(x2) y1="50%" y2="50%" {}
                @for quotient in quotients(claim).skip(1) {
                    @let at = percent(scale.percent(quotient));
                    circle.moved.(class(there(judged, quotient))) cx=(at) cy="50%" r="2.5" {}
                }
                svg.mark x=(percent(scale.percent(own))) y="50%" { (mark(judged.status, true)) }
            }
            span.value {
                (significant(own, 3)) "× "
                small { "(" (significant(lowest, 3)) " to " (significant(highest, 3)) ") " }
                (status(judged))
            }
        }
    }
}

/// Where the claim would stand with this figure.
fn there(judged: &JudgedRow, quotient: f64) -> RowStatus {
    let holds = judged.accepted.is_some_and(|band| band.holds(quotient * unit(judged)));
    if holds { RowStatus::Reproduced } else { RowStatus::NotReproduced }
}

fn legend() -> Markup {
    let shipped = |status, name: &str| {
        html! {
            li.(class(status)) {
                svg.swatch width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true" {
                    (mark(status, true))
                }
                (name)
            }
        }
    };
    let moved = |status, name: &str| {
        html! {
            li.(class(status)) {
                svg.swatch width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true" {
                    circle.moved.(class(status)) r="2.5" {}
                }
                (name)
            }
        }
    };
    html! {
        ul.legend.shared {
            (shipped(RowStatus::Reproduced, "as shipped, met"))
            (shipped(RowStatus::NotReproduced, "as shipped, missed"))
            (moved(RowStatus::Reproduced, "another drive, met"))
            (moved(RowStatus::NotReproduced, "another drive, missed"))
        }
    }
}
