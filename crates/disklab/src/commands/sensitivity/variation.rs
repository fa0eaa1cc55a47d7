//! The runs of an analysis: one parameter of one drive model at an end of its range.

use std::path::{Path, PathBuf};

use disklab_bench::ModelledDrives;
use disklab_drive::DriveFile;
use disklab_published::{Comparison, Moved};
use disklab_study::{ModelSetting, Study, matches, one_of};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::cells::Claims;
use crate::cli::CampaignArgs;
use crate::commands::report::write;
use crate::commands::{print, print_json};
use crate::exit::{DONE, Failure};

/// A parameter at an end of its range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variation {
    /// The drive model's id.
    pub drive: String,
    /// The parameter with its table.
    pub field: String,
    /// Its value in the drive's file.
    pub own: String,
    /// Its value here.
    pub value: String,
}

impl Variation {
    /// `hdn721010ale604: seek.full 16 ms → 15 ms`.
    pub fn words(&self) -> String {
        format!("{}: {} {} → {}", self.drive, self.field, self.own, self.value)
    }

    /// The run's folder.
    pub fn folder(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect()
        };
        format!("{}--{}--{}", plain(&self.drive), plain(&self.field), plain(&self.value))
    }

    /// The same campaign with the parameter moved.
    pub fn campaign(&self, campaign: &CampaignArgs) -> CampaignArgs {
        let mut campaign = campaign.clone();
        campaign.set_drive.push(format!("{}:{}={}", self.drive, self.field, self.value));
        campaign
    }

    /// What came of it.
    pub fn moved(&self, comparison: Comparison) -> Moved {
        let Self { drive, field, own, value } = self.clone();
        Moved { drive, field, own, value, comparison }
    }
}

/// The models of the study's drives, by their index.
pub fn models(
    study: &Study,
    folder: &Path,
    campaign: &CampaignArgs,
) -> Result<Vec<DriveFile>, Failure> {
    let set = campaign.set_drive.iter().map(|text| ModelSetting::parse("--set-drive", text));
    let set = set.collect::<Result<Vec<_>, _>>().map_err(Failure::wrong_use)?;
    let drives = ModelledDrives::new(study, folder, &set).map_err(Failure::wrong_use)?;
    Ok(drives.models().cloned().collect())
}

/// All runs besides that as shipped.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The study's id.
    pub study: String,
    /// The runs, in their order.
    pub variations: Vec<Variation>,
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
            return Err(Failure::wrong_use(format!(
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
            return Err(Failure::wrong_use(format!(
                "no parameter is left to move: the drives {} give no range in a table [plausible], \
                 or --drive, --field and --only leave none",
                one_of(
                    models.iter().map(|m| m.id.as_str()).collect::<std::collections::BTreeSet<_>>()
                )
            )));
        }
        Ok(Self { study: study.to_owned(), variations })
    }

    /// How many parameters are moved.
    pub fn parameters(&self) -> usize {
        let names = self.variations.iter().map(|v| (&v.drive, &v.field));
        names.collect::<std::collections::BTreeSet<_>>().len()
    }

    /// The file that remembers it.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("plan.json")
    }

    /// Remembers it in `folder`, which is made.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::wrong_use(format!("cannot make {}: {e}", folder.display())))?;
        let text = serde_json::to_string_pretty(self).map_err(Failure::failed)?;
        write(&Self::path(folder), &text)
    }

    /// What was remembered.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let path = Self::path(folder);
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::wrong_use(format!(
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
            print_json(&json!({ "study": self.study, "runs": self.variations }))?;
        } else {
            let lines = self.variations.iter().map(|v| format!("  {}\n", v.words()));
            print(&lines.collect::<String>())?;
        }
        Ok(DONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_plain_names() {
        let variation = Variation {
            drive: "hdn721010ale604".to_owned(),
            field: "cache.dirty-limit".to_owned(),
            own: "128 MiB".to_owned(),
            value: "../32 MiB".to_owned(),
        };
        assert_eq!(variation.folder(), "hdn721010ale604--cache.dirty-limit--..32MiB");
        assert_eq!(variation.words(), "hdn721010ale604: cache.dirty-limit 128 MiB → ../32 MiB");
    }
}
