//! What a run was asked for besides its study: read and written as the options of
//! `disklab run` are, so that a run says how it is made again.

use std::collections::BTreeMap;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use disklab_study::{BusError, StudyGoal};
use disklab_units::{
    Bytes, ParseBytesError, ParseDurationError, ParseShareError, parse_duration, parse_share,
    show_share,
};
use serde::{Deserialize, Serialize};

use crate::Bus;

/// What a run was asked for. What is `None` or empty was not given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct RunSettings {
    /// A guest's memory.
    pub memory: Option<Bytes>,
    /// The bus that the lab's drives share.
    pub bus: Option<Bus>,
    /// The processor model that CPU time is charged for: a name, a file, or `none`.
    pub processor: Option<String>,
    /// Fields of drive models, as `MODEL:TABLE.FIELD=VALUE`.
    pub set_drive: Vec<String>,
    /// The kernel of the lab's guests, if the user named one.
    pub kernel: Option<PathBuf>,
    /// Which of the lab's own kernels, if the user said so.
    pub linux: Option<String>,
    /// When a cell of the lab is stopped.
    pub cell_limit: Option<Duration>,
    /// The size of a drive that is a file.
    pub drive_size: Option<Bytes>,
    /// The drives in place of the study's; of an import, those that were named for it.
    pub drives: Option<String>,
    /// Where the run creates its scratch directory.
    pub scratch: Option<PathBuf>,
    /// Only cells that match one of these patterns ran.
    pub only: Vec<String>,
    /// No cell ran that matches one of these.
    pub without: Vec<String>,
    /// Whether the study ran in its quick form.
    pub quick: bool,
    /// What a campaign is for.
    pub goal: Option<StudyGoal>,
    /// How exactly a campaign is to know what it measures, as a share.
    pub precision: Option<f64>,
    /// How long a campaign may take.
    pub budget: Option<Duration>,
    /// How often a campaign looks at its samples to decide whether to continue.
    pub looks: Option<u32>,
    /// What an import says of itself: the study whose published figures it is, its files.
    pub import: ImportSettings,
}

/// What an import says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportSettings {
    /// The study whose published figures they are.
    pub published: Option<String>,
    /// How many files were read.
    pub files: Option<usize>,
}

/// A setting of a run that this version cannot read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// A known setting has a value that is not one of its kind.
    #[error("the run's own '{name}' is '{text}', which cannot be read: {why}")]
    Value {
        /// The setting.
        name: &'static str,
        /// As it was recorded.
        text: String,
        /// What is wrong with it.
        #[source]
        why: SettingProblem,
    },
    /// A name that is unknown, such as that of a later version.
    #[error("the run has a setting '{0}', which this disklab does not know")]
    Name(String),
}

/// What is wrong with the value of a setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingProblem {
    /// Bytes with a unit were expected.
    #[error(transparent)]
    Size(#[from] ParseBytesError),
    /// A bus of the lab's disks was expected.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Seconds, or a time with a unit, were expected.
    #[error(transparent)]
    Duration(#[from] ParseDurationError),
    /// A share between 0 and 1 was expected.
    #[error(transparent)]
    Share(#[from] ParseShareError),
    /// An integer was expected.
    #[error(transparent)]
    Number(#[from] ParseIntError),
    /// Words as a shell has them.
    #[error("its quotes do not match")]
    Quotes(#[from] shell_words::ParseError),
    /// One of few words.
    #[error("expected {0}")]
    Word(&'static str),
}

/// A setting: its name, what a run has of it as a text, and how that is read.
struct Field {
    name: &'static str,
    show: fn(&RunSettings) -> Option<String>,
    read: fn(&mut RunSettings, &str) -> Result<(), SettingProblem>,
}

fn parsed<T: FromStr<Err: Into<SettingProblem>>>(text: &str) -> Result<Option<T>, SettingProblem> {
    text.parse().map(Some).map_err(Into::into)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(" "))
}

fn path(path: &Option<PathBuf>) -> Option<String> {
    path.as_ref().map(|path| path.display().to_string())
}

fn time(text: &str) -> Result<Option<Duration>, SettingProblem> {
    Ok(Some(parse_duration(text)?))
}

fn goal(text: &str) -> Result<StudyGoal, SettingProblem> {
    let goal = StudyGoal::WORDS.iter().find(|(word, _)| *word == text);
    goal.map(|(_, goal)| *goal).ok_or(SettingProblem::Word("best or rank"))
}

fn yes(text: &str) -> Result<bool, SettingProblem> {
    if text == "yes" { Ok(true) } else { Err(SettingProblem::Word("yes")) }
}

fn seconds(time: Option<Duration>) -> Option<String> {
    time.map(|time| format!("{} s", time.as_secs_f64()))
}

/// A line of the table below: `field!(name, show, read)`.
macro_rules! field {
    ($name:literal, |$s:ident| $show:expr, |$t:ident, $text:ident| $read:expr) => {
        Field {
            name: $name,
            show: |$s| $show,
            read: |$t, $text| {
                $read;
                Ok(())
            },
        }
    };
}

/// All of them, sorted by name.
const FIELDS: [Field; 19] = [
    field!("budget", |s| seconds(s.budget), |s, text| s.budget = time(text)?),
    field!("bus", |s| s.bus.map(|bus| bus.to_string()), |s, text| s.bus = parsed(text)?),
    field!("cell-limit", |s| seconds(s.cell_limit), |s, text| s.cell_limit = time(text)?),
    field!("drive-size", |s| s.drive_size.map(Bytes::short), |s, text| s.drive_size =
        parsed(text)?),
    field!("drives", |s| s.drives.clone(), |s, text| s.drives = Some(text.to_owned())),
    field!("files", |s| s.import.files.map(|n| n.to_string()), |s, text| s.import.files =
        parsed(text)?),
    field!("goal", |s| s.goal.map(|goal| goal.as_str().to_owned()), |s, text| s.goal =
        Some(goal(text)?)),
    field!("kernel", |s| path(&s.kernel), |s, text| s.kernel = Some(text.into())),
    field!("linux", |s| s.linux.clone(), |s, text| s.linux = Some(text.to_owned())),
    field!("looks", |s| s.looks.map(|n| n.to_string()), |s, text| s.looks = parsed(text)?),
    field!("memory", |s| s.memory.map(Bytes::short), |s, text| s.memory = parsed(text)?),
    field!("only", |s| joined(&s.only), |s, text| s.only = words(text)),
    field!("precision", |s| s.precision.map(show_share), |s, text| s.precision =
        Some(parse_share(text)?)),
    field!("processor", |s| s.processor.clone(), |s, text| s.processor = Some(text.to_owned())),
    field!("published", |s| s.import.published.clone(), |s, text| s.import.published =
        Some(text.to_owned())),
    field!("quick", |s| s.quick.then(|| "yes".to_owned()), |s, text| s.quick = yes(text)?),
    field!("scratch", |s| path(&s.scratch), |s, text| s.scratch = Some(text.into())),
    field!(
        "set-drive",
        |s| (!s.set_drive.is_empty()).then(|| shell_words::join(&s.set_drive)),
        |s, text| s.set_drive = shell_words::split(text)?
    ),
    field!("without", |s| joined(&s.without), |s, text| s.without = words(text)),
];

impl RunSettings {
    /// What was given, by the names of the options, sorted.
    pub fn listed(&self) -> Vec<(&'static str, String)> {
        FIELDS.iter().filter_map(|f| Some((f.name, (f.show)(self)?))).collect()
    }

    /// As [`RunSettings::listed`], of those that say how cells run, not which or where.
    pub fn of_figures(&self) -> Vec<(&'static str, String)> {
        self.without_cells().listed()
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
            ..self.clone()
        }
    }

    /// Whether the samples or the clock decide how long the campaign runs.
    pub fn is_adaptive(&self) -> bool {
        self.goal.is_some() || self.precision.is_some() || self.budget.is_some()
    }
}

impl TryFrom<BTreeMap<String, String>> for RunSettings {
    type Error = SettingError;

    fn try_from(texts: BTreeMap<String, String>) -> Result<Self, SettingError> {
        let mut all = Self::default();
        for (name, text) in texts {
            let Some(field) = FIELDS.iter().find(|field| field.name == name) else {
                return Err(SettingError::Name(name));
            };
            (field.read)(&mut all, &text).map_err(|why| SettingError::Value {
                name: field.name,
                text,
                why,
            })?;
        }
        Ok(all)
    }
}

impl From<RunSettings> for BTreeMap<String, String> {
    fn from(settings: RunSettings) -> Self {
        settings.listed().into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(name: &str, text: &str) -> Result<RunSettings, SettingError> {
        BTreeMap::from([(name.to_owned(), text.to_owned())]).try_into()
    }

    #[test]
    fn setting_that_cannot_be_read_is_an_error() {
        for (name, text) in [
            ("memory", "many"),
            ("bus", "fast"),
            ("cell-limit", "soon"),
            ("looks", "often"),
            ("goal", "worst"),
            ("quick", "no"),
            ("precision", "5"),
            ("set-drive", "'open"),
        ] {
            let error = read(name, text).expect_err(name);
            assert!(matches!(&error, SettingError::Value { name: n, .. } if *n == name), "{error}");
        }
        assert_eq!(read("speed", "1"), Err(SettingError::Name("speed".to_owned())));
    }

    #[test]
    fn table_is_sorted_and_has_each_name_once() {
        assert!(FIELDS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn settings_of_cells_and_paths_do_not_affect_figures() {
        let settings = RunSettings {
            cell_limit: Some(Duration::from_secs(1)),
            kernel: Some("/linux".into()),
            linux: Some("7.3".to_owned()),
            only: vec!["a".to_owned()],
            scratch: Some("/scratch".into()),
            without: vec!["b".to_owned()],
            memory: Some(Bytes(1 << 30)),
            ..RunSettings::default()
        };
        let kept = settings.of_figures();
        assert_eq!(kept.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["memory"]);
        let mut about = settings.listed();
        about.retain(|setting| !kept.contains(setting));
        let about: Vec<_> = about.into_iter().map(|(name, _)| name).collect();
        assert_eq!(about, ["cell-limit", "kernel", "linux", "only", "scratch", "without"]);
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
                only: patterns,
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
