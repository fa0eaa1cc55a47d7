//! How the runs of an analysis were made.

use serde_json::{Value, json};

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

    /// What was found, for programs, under this name.
    pub fn json(&self, name: &str, found: Value) -> Value {
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
