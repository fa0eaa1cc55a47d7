//! Which claims depend on a value that is not certain.

use serde::Serialize;

use crate::{JudgedRow, Row, RowComparison, RowKind, RowStatus, SAME_TOLERANCE};

/// A change of a figure by less than this share is none: other timing alone may give it.
pub const NO_EFFECT: f64 = 0.005;

/// A run in which one uncertain parameter had another value.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// The drive model's id.
    pub drive: String,
    /// The parameter, such as `cache.dirty-limit`.
    pub field: String,
    /// Its value in the drive's file.
    pub own: String,
    /// Its value in this run.
    pub value: String,
    /// The run, compared with what was published.
    pub comparison: RowComparison,
}

/// A figure as shipped, and with a parameter moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MovedRow {
    /// The row's id.
    pub row: String,
    /// Measured as shipped.
    pub shipped: f64,
    /// Measured with the parameter moved.
    pub moved: f64,
    /// Where the row stands as shipped.
    pub was: RowStatus,
    /// Where it stands with the parameter moved.
    pub is: RowStatus,
    /// Whether the claim points elsewhere: above, below, or level.
    pub reverses: bool,
}

impl MovedRow {
    /// By what share the figure changes; 0.1 is a tenth more.
    pub fn change(&self) -> f64 {
        if self.shipped == self.moved { 0.0 } else { self.moved / self.shipped - 1.0 }
    }

    /// Whether the claim reverses, or is reproduced and is not any more, or the other way round.
    pub fn is_changed(&self) -> bool {
        self.reverses || self.was != self.is
    }
}

/// One end of a parameter's range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RangeEnd {
    /// The parameter's value.
    pub value: String,
    /// The figures that depend on the drive, in the order in which they were published.
    pub rows: Vec<MovedRow>,
}

impl RangeEnd {
    /// The row whose figure changes most.
    pub fn most(&self) -> Option<&MovedRow> {
        self.rows.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// A parameter, moved to the ends of its range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// The drive model's id.
    pub drive: String,
    /// The parameter, such as `cache.dirty-limit`.
    pub field: String,
    /// Its value in the drive's file.
    pub own: String,
    /// Its lowest and highest plausible value, with what each changes.
    pub ends: Vec<RangeEnd>,
    /// The largest change of any figure at any end, up or down; 1 is twofold or half.
    pub effect: f64,
}

impl Parameter {
    /// Whether any figure changes by more than [`NO_EFFECT`].
    pub fn has_effect(&self) -> bool {
        self.effect > NO_EFFECT
    }

    /// The claims that change, and where.
    pub fn changed(&self) -> impl Iterator<Item = (&RangeEnd, &MovedRow)> {
        self.ends.iter().flat_map(|end| {
            end.rows.iter().filter(|row| row.is_changed()).map(move |row| (end, row))
        })
    }
}

/// What the claims about a study depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The study's id.
    pub study: String,
    /// The rows as shipped: those that are counted and have a figure.
    pub rows: Vec<JudgedRow>,
    /// The parameters, that with the largest effect first.
    pub parameters: Vec<Parameter>,
}

/// How far a figure moves, the same up as down: twofold and half are 1.
fn distance(row: &MovedRow) -> f64 {
    let factor = row.moved / row.shipped;
    // From or to nothing: as far as there is.
    if row.shipped == row.moved {
        0.0
    } else if factor > 0.0 && factor.is_finite() {
        factor.max(1.0 / factor) - 1.0
    } else {
        f64::MAX
    }
}

/// Where a claim points: above 1, below it, or neither. A ratio, and what was published as
/// equivalent, is equivalent within [`SAME_TOLERANCE`]: 0.99 and 1.01 are no two directions. An
/// order is judged by its sign alone. A value points nowhere.
pub(crate) fn direction(row: &Row, figure: f64) -> i8 {
    let tolerance = match row.kind {
        RowKind::Value => return 0,
        RowKind::Order if row.value != Some(0.0) => 0.0,
        RowKind::Order | RowKind::Ratio => SAME_TOLERANCE,
    };
    if figure > 1.0 + tolerance {
        1
    } else if figure < 1.0 - tolerance {
        -1
    } else {
        0
    }
}

/// Holds runs with one parameter moved each against the run as shipped.
pub fn sensitivity(shipped: &RowComparison, moved: &[Moved]) -> Sensitivity {
    let rows: Vec<JudgedRow> =
        shipped.rows.iter().filter(|j| j.counts && j.measured.is_some()).cloned().collect();
    let mut parameters: Vec<Parameter> = Vec::new();
    for run in moved {
        let end = RangeEnd { value: run.value.clone(), rows: moved_rows(&rows, &run.comparison) };
        let effect = end.rows.iter().map(distance).fold(0.0, f64::max);
        let known = parameters.iter_mut().find(|p| p.drive == run.drive && p.field == run.field);
        match known {
            Some(parameter) => {
                parameter.effect = parameter.effect.max(effect);
                parameter.ends.push(end);
            }
            None => parameters.push(Parameter {
                drive: run.drive.clone(),
                field: run.field.clone(),
                own: run.own.clone(),
                ends: vec![end],
                effect,
            }),
        }
    }
    parameters.sort_by(|a, b| b.effect.total_cmp(&a.effect));
    Sensitivity { study: shipped.study.clone(), rows, parameters }
}

/// The rows that both have: a run measures only what depends on its drive.
fn moved_rows(rows: &[JudgedRow], other: &RowComparison) -> Vec<MovedRow> {
    rows.iter()
        .filter_map(|judged| {
            let there = other.rows.iter().find(|j| j.row.id == judged.row.id)?;
            let (was, is) = (judged.measured?.centre, there.measured?.centre);
            Some(MovedRow {
                row: judged.row.id.clone(),
                shipped: was,
                moved: is,
                was: judged.status,
                is: there.status,
                reverses: direction(&judged.row, was) != direction(&judged.row, is),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{comparison, row};

    fn moved(field: &str, value: &str, comparison: RowComparison) -> Moved {
        let [drive, own] = ["d", "5 ms"].map(str::to_owned);
        let (field, value) = (field.to_owned(), value.to_owned());
        Moved { drive, field, own, value, comparison }
    }

    #[test]
    fn parameters_stand_by_effect_and_claims_that_change_are_reported() {
        let order = |x| (row(RowKind::Order, 1.0), x);
        let level = |x| (row(RowKind::Order, 0.0), x);
        let value = |x| (row(RowKind::Value, 100.0), x);
        let shipped = comparison(&[order(1.2), level(1.05), value(100.0)]);
        let found = sensitivity(
            &shipped,
            &[
                moved("seek.average", "4 ms", comparison(&[order(1.3), level(1.0), value(110.0)])),
                moved("seek.average", "6 ms", comparison(&[order(1.0), level(1.2), value(110.0)])),
                moved("seek.full", "9 ms", comparison(&[order(1.2), level(1.05), value(50.0)])),
                moved("cache.size", "9 MiB", comparison(&[order(1.2), level(1.05), value(100.4)])),
            ],
        );
        let fields: Vec<&str> = found.parameters.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(fields, ["seek.full", "seek.average", "cache.size"]);
        let changed = |p: &Parameter| -> Vec<(String, String, bool)> {
            p.changed().map(|(e, r)| (e.value.clone(), r.row.clone(), r.reverses)).collect()
        };
        let own = |end: &str, row: &str, reverses| (end.to_owned(), row.to_owned(), reverses);
        assert_eq!(changed(&found.parameters[0]), [own("9 ms", "r2", false)]);
        assert_eq!(
            changed(&found.parameters[1]),
            [own("6 ms", "r0", true), own("6 ms", "r1", true)]
        );
        assert_eq!(found.parameters[0].effect, 1.0);
        assert!(!found.parameters[2].has_effect());
        assert_eq!(found.parameters[0].ends[0].most().map(|r| r.row.as_str()), Some("r2"));
    }

    #[test]
    fn a_ratio_reverses_only_beyond_the_margin() {
        let at = |x| comparison(&[(row(RowKind::Ratio, 0.95), x)]);
        let reverses = |from, to| {
            let found = sensitivity(&at(from), &[moved("a", "b", at(to))]);
            found.parameters[0].ends[0].rows[0].reverses
        };
        assert!(!reverses(0.99, 1.01));
        assert!(reverses(0.99, 1.12) && reverses(0.85, 1.0) && reverses(0.85, 1.2));
    }

    #[test]
    fn unmeasured_rows_count_as_shipped() {
        let shipped =
            comparison(&[(row(RowKind::Value, 10.0), 10.0), (row(RowKind::Value, 20.0), 20.0)]);
        let mut other = shipped.clone();
        other.rows[0].measured = None;
        let found = sensitivity(&shipped, &[moved("seek.full", "9 ms", other)]);
        let rows = &found.parameters[0].ends[0].rows;
        assert_eq!(rows.iter().map(|r| r.row.as_str()).collect::<Vec<_>>(), ["r1"]);
        assert!(!found.parameters[0].has_effect());
    }

    proptest! {
        #[test]
        fn nothing_moves_where_nothing_differs(figures in prop::collection::vec(0.0_f64..1e9, 1..9)) {
            let rows: Vec<_> = figures.iter().map(|f| (row(RowKind::Ratio, 1.0), *f)).collect();
            let shipped = comparison(&rows);
            let found = sensitivity(&shipped, &[moved("a", "b", shipped.clone())]);
            prop_assert!(!found.parameters[0].has_effect());
            prop_assert_eq!(found.parameters[0].changed().count(), 0);
        }

        /// Twice as much and half as much are the same effect.
        #[test]
        fn effects_are_the_same_up_and_down(figure in 1e-3_f64..1e6, factor in 1.01_f64..100.0) {
            let at = |x| comparison(&[(row(RowKind::Value, 1.0), x)]);
            let effect = |a, b| sensitivity(&at(a), &[moved("a", "b", at(b))]).parameters[0].effect;
            let (up, down) = (effect(figure, figure * factor), effect(figure * factor, figure));
            prop_assert!((up - down).abs() < 1e-9 * up, "{} {}", up, down);
        }
    }
}
