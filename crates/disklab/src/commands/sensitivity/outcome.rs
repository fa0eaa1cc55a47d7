//! What comes of an analysis.

use disklab_published::{Comparison, drawn, sensitivity};
use serde_json::{Value, json};

use super::cells::Claims;
use super::plan::Plan;
use super::{drawn_page, page};

/// The version of the JSON's schema: raised when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// Under which the runs were made.
pub struct Conditions {
    /// How often each cell ran.
    pub repeats: u32,
    /// The seed of the cells, and of what was drawn.
    pub seed: u64,
    /// Cells that failed.
    pub failed: usize,
}

/// What comes of an analysis.
pub struct Outcome {
    /// For programs.
    pub json: Value,
    /// In Markdown.
    pub page: String,
    /// In sentences.
    pub summary: String,
}

impl Outcome {
    /// Of runs in which one parameter was moved each.
    pub fn one_at_a_time(
        plan: &Plan,
        conditions: &Conditions,
        shipped: &Comparison,
        moved: Vec<Comparison>,
    ) -> Self {
        let moved = plan.variations.iter().zip(moved).map(|(v, c)| v.moved(c));
        let found = sensitivity(shipped, &moved.collect::<Vec<_>>());
        Self {
            page: page::text(&found, conditions.repeats, conditions.failed),
            summary: page::summary(&found, conditions.failed),
            json: conditions.json("sensitivity", json!(found)),
        }
    }

    /// Of runs in which all were moved.
    pub fn all_at_once(
        plan: &Plan,
        conditions: &Conditions,
        shipped: &Comparison,
        moved: &[Comparison],
        claims: &Claims,
    ) -> Self {
        let found = drawn(shipped, moved);
        let changed = found.rows.iter().filter(|row| row.is_changed());
        let cells = claims.pairs_of(&changed.map(|row| row.shipped.row.id.as_str()).collect());
        let mut json = conditions.json("drawn", json!(found));
        json["drives"] = json!(plan.draws);
        Self {
            page: drawn_page::text(&found, plan.parameters(), conditions, &cells),
            summary: drawn_page::summary(&found, conditions.failed),
            json,
        }
    }
}

impl Conditions {
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
