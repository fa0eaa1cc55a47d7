//! The runs of an analysis.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use disklab_cell::Levels;
use disklab_drive::DriveFile;
use disklab_exec::{LARGEST_TEXT, read_text};
use disklab_source::one_of;
use disklab_store::RunDirectory;
use disklab_study::matches;
use disklab_units::count;
use serde::{Deserialize, Serialize};

use super::cells::Claims;
use super::draw::Draw;
use super::error::SensitivityError;
use super::variation::Variation;
use crate::{RunOptions, RunnerError};

/// Name of the file that remembers it.
const FILE: &str = "plan.json";

/// All runs besides that as shipped.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensitivityPlan {
    /// The study's id.
    pub study: String,
    /// Each parameter at each end of its range, in order.
    pub variations: Vec<Variation>,
    /// Where parameters are moved all at once: the drives that were drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<Draw>,
}

/// A run besides that as shipped.
pub struct Case {
    /// What it is, for who watches.
    pub words: String,
    /// Its name within the directory of the analysis.
    pub directory: String,
    /// Parameters of drives that it sets, none for the shipped drives.
    pub moves: Vec<Variation>,
}

impl Case {
    /// The same options with the parameters moved.
    pub(super) fn options(&self, options: &RunOptions) -> RunOptions {
        let mut options = options.clone();
        options.settings.set_drive.extend(self.moves.iter().map(Variation::setting));
        options
    }

    /// The cells that depend on what is moved.
    pub(super) fn cells(&self, claims: &Claims, models: &[DriveFile]) -> BTreeSet<Levels> {
        let drives: BTreeSet<&str> = self.moves.iter().map(|v| v.drive.as_str()).collect();
        drives.into_iter().flat_map(|drive| claims.cells(models, drive)).collect()
    }
}

impl SensitivityPlan {
    /// The parameters of the drives that claims depend on, those that `drives` and
    /// `fields` choose, where they choose any.
    pub(super) fn new(
        study: &str,
        models: &[DriveFile],
        claims: &Claims,
        drives: &[String],
        fields: &[String],
    ) -> Result<Self, SensitivityError> {
        let is = |model: &DriveFile, name: &str| {
            model.aliases.iter().chain([&model.id]).any(|known| known.eq_ignore_ascii_case(name))
        };
        if let Some(name) = drives.iter().find(|name| !models.iter().any(|m| is(m, name))) {
            let mut known: Vec<&str> = models.iter().map(|m| m.id.as_str()).collect();
            known.dedup();
            let (name, known) = (name.clone(), one_of(known));
            return Err(SensitivityError::UnknownDrive { name, known });
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut variations = Vec::new();
        for model in models {
            let is_chosen = drives.is_empty() || drives.iter().any(|name| is(model, name));
            let is_new = !seen.contains(&model.id.as_str());
            if !is_chosen || !is_new || claims.cells(models, &model.id).is_empty() {
                continue;
            }
            seen.push(&model.id);
            for range in &model.plausible {
                if !fields.is_empty() && !fields.iter().any(|f| matches(f, &range.field)) {
                    continue;
                }
                variations.extend(range.ends().map(|end| Variation {
                    drive: model.id.clone(),
                    field: range.field.clone(),
                    own: range.value.clone(),
                    value: end.to_owned(),
                }));
            }
        }
        if variations.is_empty() {
            let drives = models.iter().map(|m| m.id.as_str()).collect::<BTreeSet<_>>();
            return Err(SensitivityError::NothingToMove { drives: one_of(drives) });
        }
        Ok(Self { study: study.to_owned(), variations, draws: Vec::new() })
    }

    /// How many parameters are moved.
    pub fn parameters(&self) -> usize {
        let names = self.variations.iter().map(|v| (&v.drive, &v.field));
        names.collect::<BTreeSet<_>>().len()
    }

    /// What is moved, in words.
    pub fn about(&self) -> String {
        let parameters = count(self.parameters(), "parameter");
        match self.draws.len() {
            0 => format!("{parameters} at {} of their ranges", count(self.variations.len(), "end")),
            n => format!("{n} with {parameters} drawn from the ends of their ranges, all at once"),
        }
    }

    /// The runs, in their order.
    pub fn cases(&self) -> Vec<Case> {
        if self.draws.is_empty() {
            let one = |v: &Variation| Case {
                words: v.words(),
                directory: v.directory(),
                moves: vec![v.clone()],
            };
            return self.variations.iter().map(one).collect();
        }
        let n = self.draws.len();
        let drawn = (1..).zip(&self.draws).map(|(number, draw): (usize, &Draw)| Case {
            words: format!("drive {number} of {n}, drawn"),
            directory: format!("drawn-{number}"),
            moves: draw.moves.clone(),
        });
        drawn.collect()
    }

    /// The file that remembers it.
    pub(super) fn path(directory: &Path) -> PathBuf {
        directory.join(FILE)
    }

    /// Remembers it in this directory.
    pub(super) fn save(&self, directory: &RunDirectory) -> Result<(), RunnerError> {
        let file = Self::path(directory.path());
        let not_saved = |source| SensitivityError::NotSaved { file: file.clone(), source };
        let text = serde_json::to_string_pretty(self).map_err(|e| not_saved(e.into()))?;
        // Exclusive: what has the name is another's.
        let written =
            File::create_new(directory.at(FILE)).and_then(|mut f| f.write_all(text.as_bytes()));
        Ok(written.map_err(not_saved)?)
    }

    /// What was remembered.
    pub(super) fn open(directory: &Path) -> Result<Self, SensitivityError> {
        let file = Self::path(directory);
        let not_there = |source| SensitivityError::NotThere {
            directory: directory.to_owned(),
            file: file.clone(),
            source,
        };
        let text = read_text(&file, LARGEST_TEXT).map_err(|e| not_there(e.into()))?;
        serde_json::from_str(&text).map_err(|e| not_there(e.into()))
    }
}
