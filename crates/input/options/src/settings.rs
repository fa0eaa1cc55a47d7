//! What a run was asked for besides its study: read and written as the options of
//! `disklab run` are, so that a run says how it is made again.

use std::path::PathBuf;
use std::time::Duration;

use disklab_cell::StudyAxis;
use disklab_study::{RebuildRequest, ScrubRequest, StudyGoal};
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::{self, axes, flag, patterns, words};
use crate::{Bus, MovedParameters, RunPart};

/// What a run was asked for. What is `None` or empty was not given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunSettings {
    /// What the study is crossed with, in place of its own axes of the same names.
    #[serde(with = "axes", skip_serializing_if = "Vec::is_empty")]
    pub axis: Vec<StudyAxis>,
    /// How long a campaign may take.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub budget: Option<Duration>,
    /// The bus that the lab's drives share.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub bus: Option<Bus>,
    /// When a cell of the lab is stopped.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub cell_limit: Option<Duration>,
    /// The size of a drive that is a file.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub drive_size: Option<Bytes>,
    /// The drives in place of the study's; of an import, those that were named for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drives: Option<String>,
    /// Faults of the lab's drives, such as `drive 2: dies at 30 s`.
    #[serde(with = "words", skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<String>,
    /// Of an import, how many files were read.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// What a campaign is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<StudyGoal>,
    /// The kernel of the lab's guests, if the user named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<PathBuf>,
    /// Which of the lab's own kernels, if the user said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linux: Option<String>,
    /// How often a campaign looks at its samples to decide whether to continue.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub looks: Option<u32>,
    /// A guest's memory.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// How often a cell of a campaign runs at most, if the study says so.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub most_repeats: Option<u32>,
    /// Only cells that match one of these patterns ran.
    #[serde(with = "patterns", skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Which part of a run it is, if it was divided before it began.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// How exactly a campaign is to know what it measures, as a share.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// The processor model that CPU time is charged for: a name, a file, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// Of an import, the study whose published figures they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// Whether the study ran in its quick form.
    #[serde(with = "flag", skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// Which drive fails, if it is about that.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildRequest>,
    /// Where the run creates its scratch directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch: Option<PathBuf>,
    /// What works while all drives are scrubbed, if it is about that.
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubRequest>,
    /// Of a part of a sensitivity analysis, what that moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<MovedParameters>,
    /// Fields of drive models, as `MODEL:TABLE.FIELD=VALUE`.
    #[serde(with = "words", skip_serializing_if = "Vec::is_empty")]
    pub set_drive: Vec<String>,
    /// No cell ran that matches one of these.
    #[serde(with = "patterns", skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

impl RunSettings {
    /// What was given, by the names of the options, sorted.
    pub fn listed(&self) -> Vec<(String, String)> {
        let Ok(Value::Object(given)) = serde_json::to_value(self) else { return Vec::new() };
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        given.into_iter().map(|(name, value)| (name, text(value))).collect()
    }

    /// As [`RunSettings::listed`], of those that say how cells run, not which or where.
    pub fn of_figures(&self) -> Vec<(String, String)> {
        self.without_cells().listed()
    }

    /// The same without what it is a part of.
    pub fn of_whole(&self) -> Self {
        Self { part: None, sensitivity: None, ..self.clone() }
    }

    /// The same without what says which cells run, or where.
    pub fn without_cells(&self) -> Self {
        Self {
            kernel: None,
            linux: None,
            cell_limit: None,
            scratch: None,
            only: Vec::new(),
            without: Vec::new(),
            ..self.of_whole()
        }
    }

    /// Whether the samples or the clock decide how long the campaign runs.
    pub fn is_adaptive(&self) -> bool {
        self.goal.is_some() || self.precision.is_some() || self.budget.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use disklab_units::parse_share;

    use super::*;

    fn read(name: &str, text: &str) -> Result<RunSettings, serde_json::Error> {
        serde_json::from_value(serde_json::json!({ name: text }))
    }

    #[test]
    fn setting_that_cannot_be_read_is_an_error() {
        for (name, text) in [
            ("memory", "many"),
            ("bus", "fast"),
            ("cell-limit", "soon"),
            ("looks", "often"),
            ("goal", "worst"),
            ("part", "65/64"),
            ("part", "0/3"),
            ("quick", "no"),
            ("precision", "5"),
            ("set-drive", "'open"),
        ] {
            let error = read(name, text).expect_err(name).to_string();
            assert!(error.contains(text), "{error}");
        }
        let unknown = read("speed", "1").expect_err("unknown").to_string();
        assert!(unknown.contains("unknown field `speed`"), "{unknown}");
    }

    #[test]
    fn listed_are_sorted_as_they_are_typed() {
        let texts = [
            ("budget", "3600 s"),
            ("bus", "415000000 B/s"),
            ("drive-size", "2g"),
            ("fault", "'drive 2: dies at 30 s'"),
            ("files", "2"),
            ("goal", "rank"),
            ("kernel", "/linux"),
            ("looks", "12"),
            ("only", "a/*:* b:dd"),
            ("part", "17/64"),
            ("precision", "5%"),
            ("quick", "yes"),
            ("set-drive", "'m:a.b=32 MiB' 'm:c.d=1'"),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let json: serde_json::Map<_, _> =
            texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
        let settings: RunSettings = serde_json::from_value(json.into()).expect("settings");
        assert_eq!(settings.set_drive, ["m:a.b=32 MiB", "m:c.d=1"]);
        assert_eq!(settings.listed(), texts);
    }

    #[test]
    fn settings_of_cells_and_paths_do_not_affect_figures() {
        let settings = RunSettings {
            cell_limit: Some(Duration::from_secs(1)),
            kernel: Some("/linux".into()),
            linux: Some("7.3".to_owned()),
            only: vec!["a".to_owned()],
            part: Some(RunPart { number: 1, of: 2 }),
            scratch: Some("/scratch".into()),
            without: vec!["b".to_owned()],
            memory: Some(Bytes(1 << 30)),
            ..RunSettings::default()
        };
        let kept = settings.of_figures();
        assert_eq!(kept.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["memory"]);
        let mut about = settings.listed();
        about.retain(|setting| !kept.contains(setting));
        let about: Vec<_> = about.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(about, ["cell-limit", "kernel", "linux", "only", "part", "scratch", "without"]);
    }

    proptest! {
        #[test]
        fn settings_are_read_back(
            bytes in 0_u64..1 << 60,
            thousandths in 1_u32..500,
            seconds in 1_u64..100_000,
            patterns in prop::collection::vec("[a-z/*]{1,8}", 0..3),
            fields in prop::collection::vec("[a-z:.= ']{1,12}", 0..3),
            is_shared in any::<bool>(),
        ) {
            let settings = RunSettings {
                memory: Some(Bytes(bytes)),
                bus: Some(Bus(is_shared.then_some(disklab_units::BytesPerSecond(415e6)))),
                set_drive: fields,
                only: patterns.clone(),
                without: patterns,
                goal: Some(StudyGoal::Rank),
                precision: parse_share(&format!("{}%", f64::from(thousandths) / 10.0)).ok(),
                budget: Some(Duration::from_secs(seconds)),
                looks: Some(12),
                ..RunSettings::default()
            };
            let json = serde_json::to_string(&settings).expect("json");
            prop_assert_eq!(serde_json::from_str::<RunSettings>(&json).expect("read"), settings);
        }
    }
}
