//! What comes of an analysis.

use disklab_published::{JudgedRow, MovedRow, RowComparison, Sensitivity, drawn, sensitivity};
use disklab_report::{MovedClaim, moved_page};
use disklab_runner::sensitivity::{Claims, SensitivityPlan};
use serde_json::{Value, json};

use super::conditions::SensitivityConditions;
use super::{drawn_page, page};

/// What comes of an analysis.
pub struct SensitivityOutcome {
    /// For programs.
    pub json: Value,
    /// In Markdown.
    pub page: String,
    /// The same as a picture, in HTML.
    pub picture: String,
    /// In sentences.
    pub summary: String,
}

impl SensitivityOutcome {
    /// Of runs in which one parameter was moved each.
    pub fn one_at_a_time(
        plan: &SensitivityPlan,
        conditions: &SensitivityConditions,
        shipped: &RowComparison,
        moved: Vec<RowComparison>,
    ) -> Self {
        let moved = plan.variations.iter().zip(moved).map(|(v, c)| v.moved(c));
        let found = sensitivity(shipped, &moved.collect::<Vec<_>>());
        let summary = page::summary(&found, conditions.failed);
        let claims: Vec<MovedClaim> =
            found.rows.iter().map(|row| moved_claim(&found, row)).collect();
        let title = format!("Sensitivity of the claims of {}", found.study);
        Self {
            picture: moved_page(&title, &sentences(&summary), &claims, None),
            page: page::text(&found, conditions),
            summary,
            json: conditions.json("sensitivity", json!(found)),
        }
    }

    /// Of runs in which all were moved.
    pub fn all_at_once(
        plan: &SensitivityPlan,
        conditions: &SensitivityConditions,
        shipped: &RowComparison,
        moved: &[RowComparison],
        claims: &Claims,
    ) -> Self {
        let found = drawn(shipped, moved);
        let changed = found.rows.iter().filter(|row| row.is_changed());
        let cells = claims.cells_of(&changed.map(|row| &row.shipped.row).collect::<Vec<_>>());
        let mut json = conditions.json("drawn", json!(found));
        json["drives"] = json!(plan.draws);
        let summary = drawn_page::summary(&found, conditions.failed);
        let claims: Vec<MovedClaim> = found
            .rows
            .iter()
            .map(|row| MovedClaim {
                shipped: row.shipped.clone(),
                figures: row.figures.clone(),
                changes: row.is_changed(),
            })
            .collect();
        let title = format!("Sensitivity of the claims of {}, all parameters at once", found.study);
        let command = drawn_page::command(&conditions.study, &cells);
        let note = (drawn_page::WHICH, command.as_str());
        Self {
            picture: moved_page(&title, &sentences(&summary), &claims, Some(note)),
            page: drawn_page::text(&found, plan.parameters(), conditions, &cells),
            summary,
            json,
        }
    }
}

/// The lines of a summary, without what stands before them.
fn sentences(summary: &str) -> Vec<String> {
    summary.lines().map(|line| line.trim_start_matches(['•', '!', ' ']).to_owned()).collect()
}

/// A claim with its figures at every end of every parameter.
fn moved_claim(found: &Sensitivity, shipped: &JudgedRow) -> MovedClaim {
    let ends = found.parameters.iter().flat_map(|parameter| &parameter.ends);
    let rows: Vec<&MovedRow> =
        ends.flat_map(|end| &end.rows).filter(|row| row.row == shipped.row.id).collect();
    MovedClaim {
        shipped: shipped.clone(),
        figures: rows.iter().map(|row| row.moved).collect(),
        changes: rows.iter().any(|row| row.is_changed()),
    }
}
