//! What comes of an analysis.

use disklab_published::{JudgedRow, MovedRow, RowComparison, Sensitivity, drawn, sensitivity};
use disklab_report::{MovedClaim, moved_page};
use disklab_runner::sensitivity::{Claims, SensitivityPlan};
use serde_json::{Value, json};

use super::{drawn_page, page};

/// The version of the JSON's schema: raised when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// Under which the runs were made.
pub struct SensitivityConditions {
    /// How often each cell ran.
    pub repeats: u32,
    /// The seed of the cells, and of what was drawn.
    pub seed: u64,
    /// Cells that failed.
    pub failed: usize,
    /// Whether the claims were published, or are what the run as shipped says.
    pub are_published: bool,
    /// The study as the command line names it.
    pub study: String,
}

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

impl SensitivityConditions {
    /// Whose claims they are.
    pub fn about(&self) -> &'static str {
        if self.are_published {
            return "The claims are the published ones that the drives had a part in.";
        }
        "Nothing was published about this study: the claims are what the run as shipped says, for \
         each figure that is asked about, of each stack compared with its baseline: above it, below \
         it, or equal within 10 %."
    }

    /// The head of the column that says what a claim says.
    pub fn column(&self) -> &'static str {
        if self.are_published { "published" } else { "says" }
    }

    fn json(&self, name: &str, found: Value) -> Value {
        let mut json = json!({
            "schema": "disklab-sensitivity",
            "version": VERSION,
            "repeats": self.repeats,
            "seed": self.seed,
            "failed_cells": self.failed,
        });
        json[name] = found;
        json
    }
}
