//! A study about what happens when a drive of its stacks fails.

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

impl Study {
    /// The same stacks, of each of which a drive fails and is rebuilt. Its digest is that of the study.
    ///
    /// # Errors
    /// [`SourceError`] if the study does not have the load.
    pub fn into_rebuild(mut self, request: &RebuildRequest) -> Result<Self, SourceError> {
        let source = Arc::new(Source { name: "the rebuild".to_owned(), text: String::new() });
        let place = Location { source, span: 0..0 };
        let mut entries = Vec::new();
        let mut add = |name: &str, node: Node| {
            entries.push((Key { name: name.to_owned(), place: place.clone() }, node));
        };
        let node = |value| Node { value, place: place.clone() };
        if let Some(drive) = request.fail {
            add("drive", node(Value::Integer(drive.into())));
        }
        if request.hot_spare {
            add("hot-spare", node(Value::Boolean(true)));
        }
        if let Some(load) = &request.load {
            let (id, step) =
                load.split_once(':').map_or((load.as_str(), None), |(id, step)| (id, Some(step)));
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
                     rebuild is watched"
                )));
            }
            if let Some(step) = step {
                add("step", node(Value::Text(step.to_owned())));
            }
        }
        let body = node(Value::Table(entries));
        if request.hot_spare {
            self.add_spare(&place);
        }
        self.workloads = vec![WorkloadSpec {
            id: "rebuild".to_owned(),
            title: "a drive fails and is rebuilt".to_owned(),
            kind: "rebuild".to_owned(),
            body,
            parameters: IndexMap::new(),
            caches: Caches::Keep,
            events: None,
            place,
        }];
        self.questions = questions(request);
        self.excluded = Vec::new();
        (self.goal, self.precision, self.repeats) = (None, None, REPEATS);
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

fn questions(request: &RebuildRequest) -> Vec<Question> {
    let question = |ask: &str, step: &str, measure| Question {
        ask: ask.to_owned(),
        workloads: vec![format!("rebuild:{step}")],
        stacks: Vec::new(),
        measure,
        part: Part::Whole,
        chart: ChartKind::Bars,
        baseline: None,
    };
    let time = "How long until the stack is redundant again, if all of the drive is rebuilt?";
    let mut all = vec![question(time, "redundant", Some(Measure::Elapsed))];
    if request.load.is_some() {
        all.push(question("What does other work get before a drive fails?", "healthy", None));
        if !request.hot_spare {
            all.push(question("What does it get without the drive?", "degraded", None));
        }
        all.push(question("What does it get while the drive is rebuilt?", "rebuilding", None));
    }
    all
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
            let request = RebuildRequest { fail, hot_spare, load };
            prop_assert_eq!(request.to_string().parse(), Ok(request));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,20}") {
            let _ = text.parse::<RebuildRequest>();
        }
    }
}
