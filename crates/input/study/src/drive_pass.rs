//! A study about what passes over the drives of its stacks: the rebuild of one that fails, or a scrub of all.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use disklab_cell::{Caches, DriveRange, InputSpec, SPARE, SPARES};
use disklab_config::{Key, Node, Value};
use disklab_source::{FileName, Location, Source, SourceError, did_you_mean};
use indexmap::IndexMap;

use crate::study::Positions;
use crate::{ChartKind, DriveSpec, Measure, Part, Question, Study, WorkloadSpec};

/// How often each cell runs, if the command line does not say.
const REPEATS: u32 = 3;

/// Which drive fails, and what other work there is meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RebuildRequest {
    /// The number of the drive; drawn for each repeat if absent.
    pub fail: Option<u32>,
    /// Whether each stack has a hot spare, a drive more than the study gives it.
    pub hot_spare: bool,
    /// A workload of the study, and its step after a `:` if it has several.
    pub load: Option<String>,
}

/// A text is not such a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid rebuild '{0}': expected 'any drive' or 'drive 2', and 'onto a spare' and 'with WORKLOAD' after it"
)]
pub struct InvalidRebuild(String);

impl fmt::Display for RebuildRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fail {
            Some(drive) => write!(f, "drive {drive}")?,
            None => write!(f, "any drive")?,
        }
        if self.hot_spare {
            f.write_str(ONTO_SPARE)?;
        }
        self.load.iter().try_for_each(|load| write!(f, " with {load}"))
    }
}

impl FromStr for RebuildRequest {
    type Err = InvalidRebuild;

    fn from_str(text: &str) -> Result<Self, InvalidRebuild> {
        let wrong = || InvalidRebuild(text.to_owned());
        let (drive, load) = match text.split_once(" with ") {
            Some((drive, load)) => (drive, Some(load.to_owned())),
            None => (text, None),
        };
        let (drive, hot_spare) = match drive.strip_suffix(ONTO_SPARE) {
            Some(drive) => (drive, true),
            None => (drive, false),
        };
        let fail = match drive {
            "any drive" => None,
            drive => {
                let number = drive.strip_prefix("drive ").and_then(|n| n.parse().ok());
                Some(number.filter(|n| *n > 0).ok_or_else(wrong)?)
            }
        };
        Ok(Self { fail, hot_spare, load })
    }
}

/// Of a request's text.
const ONTO_SPARE: &str = " onto a spare";

/// Which other work there is while all drives are scrubbed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrubRequest {
    /// As that of a rebuild.
    pub load: Option<String>,
}

/// A text is not such a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid scrub '{0}': expected 'all drives', and 'with WORKLOAD' after it")]
pub struct InvalidScrub(String);

impl fmt::Display for ScrubRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALL_DRIVES)?;
        self.load.iter().try_for_each(|load| write!(f, " with {load}"))
    }
}

impl FromStr for ScrubRequest {
    type Err = InvalidScrub;

    fn from_str(text: &str) -> Result<Self, InvalidScrub> {
        let load = match text.strip_prefix(ALL_DRIVES) {
            Some("") => None,
            Some(rest) => rest.strip_prefix(" with "),
            None => return Err(InvalidScrub(text.to_owned())),
        };
        if load.is_none() && text != ALL_DRIVES {
            return Err(InvalidScrub(text.to_owned()));
        }
        Ok(Self { load: load.map(str::to_owned) })
    }
}

/// Of a request's text.
const ALL_DRIVES: &str = "all drives";

impl Study {
    /// The same, about a rebuild or else a scrub, if one of these is asked for.
    ///
    /// # Errors
    /// [`SourceError`] if the study does not have the load.
    pub fn about_pass(
        self,
        rebuild: Option<&RebuildRequest>,
        scrub: Option<&ScrubRequest>,
    ) -> Result<Self, SourceError> {
        match (rebuild, scrub) {
            (Some(request), _) => self.into_rebuild(request),
            (None, Some(request)) => self.into_scrub(request),
            (None, None) => Ok(self),
        }
    }

    /// The same stacks, of each of which a drive fails and is rebuilt. Its digest is that of the study.
    fn into_rebuild(mut self, request: &RebuildRequest) -> Result<Self, SourceError> {
        let place = nowhere("the rebuild");
        let node = |value| Node { value, place: place.clone() };
        let drive = request.fail.map(|drive| ("drive", node(Value::Integer(drive.into()))));
        let spare = request.hot_spare.then(|| ("hot-spare", node(Value::Boolean(true))));
        if request.hot_spare {
            self.add_spare(&place);
        }
        let degraded =
            (!request.hot_spare).then_some(("What does it get without the drive?", "degraded"));
        let asked = PassAsked {
            of_study: "How long without redundancy when a drive fails",
            id: "rebuild",
            title: "a drive fails and is rebuilt",
            time: (
                "How long until the stack is redundant again, if all of the drive is rebuilt?",
                "redundant",
            ),
            healthy: "What does other work get before a drive fails?",
            phases: degraded
                .into_iter()
                .chain([("What does it get while the drive is rebuilt?", "rebuilding")])
                .collect(),
        };
        self.into_pass(asked, drive.into_iter().chain(spare), request.load.as_deref(), place)
    }

    /// The same stacks, all drives of each of which are scrubbed. Its digest is that of the study.
    fn into_scrub(self, request: &ScrubRequest) -> Result<Self, SourceError> {
        let asked = PassAsked {
            of_study: "How long does a scrub take",
            id: "scrub",
            title: "all drives are scrubbed",
            time: ("How long does a scrub of the whole drives take?", "scrubbed"),
            healthy: "What does other work get before the scrub?",
            phases: vec![("What does it get while the drives are scrubbed?", "scrubbing")],
        };
        self.into_pass(asked, [], request.load.as_deref(), nowhere("the scrub"))
    }

    /// With only such a workload, whose fields are these and the load, and its questions.
    fn into_pass<'a>(
        mut self,
        asked: PassAsked,
        fields: impl IntoIterator<Item = (&'a str, Node)>,
        load: Option<&str>,
        place: Location,
    ) -> Result<Self, SourceError> {
        let mut entries = Vec::new();
        let mut add = |name: &str, node: Node| {
            entries.push((Key { name: name.to_owned(), place: place.clone() }, node));
        };
        let node = |value| Node { value, place: place.clone() };
        fields.into_iter().for_each(|(name, node)| add(name, node));
        if let Some(load) = load {
            let (id, step) =
                load.split_once(':').map_or((load, None), |(id, step)| (id, Some(step)));
            let known = || self.workloads.iter().map(|work| work.id.as_str());
            let found = self.workloads.iter().find(|work| work.id == id).ok_or_else(|| {
                let whole = Location { source: Arc::clone(&self.source), span: 0..0 };
                let hint = did_you_mean(id, known());
                let known = known().collect::<Vec<_>>().join(", ");
                whole.error(format!("the study has no workload '{id}'{hint}; it has {known}"))
            })?;
            if found.kind == "fio" {
                add("load", found.body.clone());
            } else {
                let kind = &found.kind;
                return Err(found.place.error(format!(
                    "'{id}' is work of the kind '{kind}', and only fio's jobs can last as long as a \
                     {} is watched",
                    asked.id
                )));
            }
            if let Some(step) = step {
                add("step", node(Value::Text(step.to_owned())));
            }
        }
        let body = node(Value::Table(entries));
        let meanwhile =
            if load.is_some() { ", and what does other work get meanwhile" } else { "" };
        self.title = format!("{}{meanwhile}?", asked.of_study);
        self.questions = asked.questions(load.is_some());
        self.workloads = vec![WorkloadSpec {
            id: asked.id.to_owned(),
            title: asked.title.to_owned(),
            kind: asked.id.to_owned(),
            body,
            parameters: IndexMap::new(),
            caches: Caches::Keep,
            events: None,
            place,
        }];
        self.excluded = Vec::new();
        (self.goal, self.precision, self.most_repeats) = (None, None, None);
        self.repeats = REPEATS;
        self.positions = Positions::new(&self.stacks, &self.workloads);
        Ok(self)
    }
}

impl Study {
    /// Gives each stack a drive more, as large as the largest: the spare of the lowest layer that takes one. Not
    /// those that have spares.
    fn add_spare(&mut self, place: &Location) {
        let Some(largest) = self.drives.iter().max_by_key(|drive| drive.size).cloned() else {
            return;
        };
        let is_taken = |name: &FileName| self.drives.iter().any(|drive| drive.name == *name);
        let names =
            (0..).map(|n: u32| if n == 0 { SPARE.to_owned() } else { format!("{SPARE}-{n}") });
        let mut names = names.filter_map(|name| FileName::new(&name).ok());
        let Some(name) = names.find(|name| !is_taken(name)) else { return };
        let at = self.drives.len();
        self.drives.push(DriveSpec { name, ..largest });
        for stack in &mut self.stacks {
            let number = stack.drives.len() as u32 + 1;
            let has_spare = stack
                .layers
                .iter()
                .any(|layer| layer.has_input(SPARE) || layer.option(SPARES).is_some());
            if let Some(first) = stack.layers.first_mut().filter(|_| !has_spare && number > 1) {
                stack.drives.push(at);
                first.inputs.push(InputSpec {
                    name: SPARE.to_owned(),
                    drives: DriveRange { first: number, last: number },
                    layers: Vec::new(),
                    place: place.clone(),
                });
            }
        }
    }
}

/// A workload about a pass, and what is asked of it.
struct PassAsked {
    /// The study's title, without what a load adds.
    of_study: &'static str,
    /// Of the workload, and of its kind.
    id: &'static str,
    title: &'static str,
    /// The question for the time of the whole, and the part that has it.
    time: (&'static str, &'static str),
    /// The question for a load before.
    healthy: &'static str,
    /// Those for a load in the phases after that.
    phases: Vec<(&'static str, &'static str)>,
}

impl PassAsked {
    fn questions(&self, has_load: bool) -> Vec<Question> {
        let question = |(ask, step): (&str, &str), measure| Question {
            ask: ask.to_owned(),
            workloads: vec![format!("{}:{step}", self.id)],
            stacks: Vec::new(),
            measure,
            part: Part::Whole,
            chart: ChartKind::Bars,
            baseline: None,
        };
        let time = question(self.time, Some(Measure::Elapsed));
        let healthy = std::iter::once((self.healthy, "healthy"));
        let phases = healthy.chain(self.phases.iter().copied()).filter(|_| has_load);
        std::iter::once(time).chain(phases.map(|phase| question(phase, None))).collect()
    }
}

/// Where what no file says is.
fn nowhere(name: &str) -> Location {
    let source = Arc::new(Source { name: name.to_owned(), text: String::new() });
    Location { source, span: 0..0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load;

    const STUDY: &str = r#"
id = "tiny"
title = "Tiny"
[[drives]]
model = "m"
size = "1 GB"
count = 3
[stacks]
x = { layers = "md-raid5/ext4", drives = 3 }
[[workloads]]
id = "vm"
fio = { rw = "randread", size = "2G" }
[[workloads]]
id = "stream"
dd = { direction = "write", bs = "4k", count = 200 }
"#;

    fn of(request: &str) -> Result<Study, String> {
        let study = load("tiny.toml", STUDY).expect("valid");
        study.into_rebuild(&request.parse().expect("a request")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_study_is_about_a_drive_that_fails() {
        let study = of("drive 2 with vm").expect("it has it");
        assert_eq!((study.workloads.len(), study.questions.len(), study.repeats), (1, 4, 3));
        let body = study.workloads[0].body.entries().expect("a table");
        let keys: Vec<&str> = body.iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(keys, ["drive", "load"]);
        assert_eq!(of("any drive").expect("valid").questions.len(), 1);
        let error = of("any drive with wm").expect_err("none");
        assert!(error.contains("no workload 'wm' (did you mean 'vm'"), "{error}");
        let error = of("any drive with stream").expect_err("not fio");
        assert!(error.contains("work of the kind 'dd'"), "{error}");
    }

    #[test]
    fn a_study_is_about_a_scrub() {
        let of = |request: &str| {
            let study = load("tiny.toml", STUDY).expect("valid");
            study.into_scrub(&request.parse().expect("a request")).map_err(|e| e.to_string())
        };
        let study = of("all drives with vm").expect("it has it");
        let steps: Vec<&str> = study.questions.iter().map(|q| q.workloads[0].as_str()).collect();
        assert_eq!(steps, ["scrub:scrubbed", "scrub:healthy", "scrub:scrubbing"]);
        assert_eq!(of("all drives").expect("valid").questions.len(), 1);
        let error = of("all drives with stream").expect_err("not fio");
        assert!(error.contains("as long as a scrub is watched"), "{error}");
        for wrong in ["", "all drivesvm", "all drives vm", "drive 2"] {
            assert!(wrong.parse::<ScrubRequest>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_spare_is_a_drive_more() {
        let study = of("any drive onto a spare").expect("valid");
        assert_eq!((study.drives.len(), study.stacks[0].drives.len()), (4, 4));
        assert_eq!(study.drives[3].name.as_str(), "spare");
        let [spare] = &study.stacks[0].layers[0].inputs[..] else { panic!("no input") };
        assert_eq!(
            (spare.name.as_str(), spare.drives),
            ("spare", DriveRange { first: 4, last: 4 })
        );
    }

    proptest! {
        #[test]
        fn requests_are_read_as_they_are_shown(fail in proptest::option::of(1_u32..99), hot_spare: bool, load in "([a-z]{1,5}(:w)?)?") {
            let load = Some(load).filter(|load| !load.is_empty());
            let scrub = ScrubRequest { load: load.clone() };
            prop_assert_eq!(scrub.to_string().parse(), Ok(scrub));
            let request = RebuildRequest { fail, hot_spare, load };
            prop_assert_eq!(request.to_string().parse(), Ok(request));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,20}") {
            let _ = (text.parse::<RebuildRequest>(), text.parse::<ScrubRequest>());
        }
    }
}
