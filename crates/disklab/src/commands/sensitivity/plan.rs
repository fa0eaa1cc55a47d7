//! The runs of an analysis.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use disklab_drive::DriveFile;
use disklab_source::one_of;
use disklab_study::matches;
use disklab_units::count;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::cells::Claims;
use super::draw::Draw;
use super::variation::Variation;
use crate::cli::CampaignArgs;
use crate::commands::outputs::{OutputError, write_own};
use crate::commands::run::Pairs;
use crate::commands::{print, print_json};
use crate::exit::{DONE, Failure};
use crate::places::claim_outputs;

/// Name of the file that remembers it.
const FILE: &str = "plan.json";

/// All runs besides that as shipped.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
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
    /// Its folder.
    pub folder: String,
    /// What is moved in it.
    pub moves: Vec<Variation>,
}

impl Case {
    /// The same campaign with the parameters moved.
    pub fn campaign(&self, campaign: &CampaignArgs) -> CampaignArgs {
        let mut campaign = campaign.clone();
        campaign.set_drive.extend(self.moves.iter().map(Variation::setting));
        campaign
    }

    /// The cells that hang on what is moved.
    pub fn pairs(&self, claims: &Claims, models: &[DriveFile]) -> Pairs {
        let drives: BTreeSet<&str> = self.moves.iter().map(|v| v.drive.as_str()).collect();
        drives.into_iter().flat_map(|drive| claims.pairs(models, drive)).collect()
    }
}

impl Plan {
    /// The parameters of the drives that claims hang on, those that `drives` and
    /// `fields` choose, where they choose any.
    pub fn new(
        study: &str,
        models: &[DriveFile],
        claims: &Claims,
        drives: &[String],
        fields: &[String],
    ) -> Result<Self, Failure> {
        let is = |model: &DriveFile, name: &str| {
            model.aliases.iter().chain([&model.id]).any(|known| known.eq_ignore_ascii_case(name))
        };
        if let Some(name) = drives.iter().find(|name| !models.iter().any(|m| is(m, name))) {
            let mut known: Vec<&str> = models.iter().map(|m| m.id.as_str()).collect();
            known.dedup();
            return Err(Failure::usage_error(format!(
                "--drive {name}: the study has no drive of this model; it has {}",
                one_of(known)
            )));
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut variations = Vec::new();
        for model in models {
            let is_chosen = drives.is_empty() || drives.iter().any(|name| is(model, name));
            let is_new = !seen.contains(&model.id.as_str());
            if !is_chosen || !is_new || claims.pairs(models, &model.id).is_empty() {
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
            return Err(Failure::usage_error(format!(
                "no parameter is left to move: the drives {} give no range in a table [plausible], \
                 or --drive, --field and --only leave none",
                one_of(models.iter().map(|m| m.id.as_str()).collect::<BTreeSet<_>>())
            )));
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
                folder: v.folder(),
                moves: vec![v.clone()],
            };
            return self.variations.iter().map(one).collect();
        }
        let n = self.draws.len();
        let drawn = (1..).zip(&self.draws).map(|(number, draw): (usize, &Draw)| Case {
            words: format!("drive {number} of {n}, drawn"),
            folder: format!("drawn-{number}"),
            moves: draw.moves.clone(),
        });
        drawn.collect()
    }

    /// The file that remembers it.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// Remembers it in `folder`, which is made.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        let claim = claim_outputs(folder)?;
        let text = serde_json::to_string_pretty(self).map_err(Failure::failed)?;
        write_own(folder, FILE, &text, |_| true).map_err(OutputError::into_usage_error)?;
        claim.keep();
        Ok(())
    }

    /// What was remembered.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let path = Self::path(folder);
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::usage_error(format!(
                "{} holds no analysis to go on with: {}: {why}",
                folder.display(),
                path.display()
            ))
        };
        let text = std::fs::read_to_string(&path).map_err(|e| wrong(&e))?;
        serde_json::from_str(&text).map_err(|e| wrong(&e))
    }

    /// Says what would be run.
    pub fn print(&self, as_json: bool) -> Result<u8, Failure> {
        if as_json {
            let value = if self.draws.is_empty() {
                json!({ "study": self.study, "runs": self.variations })
            } else {
                let drawn: Vec<_> = self.draws.iter().map(|draw| &draw.moves).collect();
                json!({ "study": self.study, "drawn": drawn })
            };
            print_json(&value)?;
        } else if self.draws.is_empty() {
            let lines = self.variations.iter().map(|v| format!("  {}\n", v.words()));
            print(&lines.collect::<String>())?;
        } else {
            let lines = self.cases().into_iter().map(|case| {
                let moves = case.moves.iter().map(|v| format!("    {}\n", v.words()));
                format!("  {}\n{}", case.words, moves.collect::<String>())
            });
            print(&lines.collect::<String>())?;
        }
        Ok(DONE)
    }
}
