//! From a text to a study.

use std::ops::RangeInclusive;
use std::sync::Arc;

use disklab_cell::{Axes, SeedSharing, StudyAxis};
use disklab_source::{FileName, Source, SourceError, did_you_mean, one_of};
use disklab_units::{Bytes, parse_share_within};
use sha2::{Digest, Sha256};

use crate::drive_request::DriveRequests;
use crate::drive_spec::name_of_model;
use crate::expand::{StudyStacks, excluded, stacks, workloads};
use crate::faults::faults;
use crate::id::check_id;
use crate::kept_files::{kept_files, without_kept};
use crate::lab::lab;
use crate::limits::{DRIVE_SIZES, MOST_DRIVES, MOST_PAIRS, MOST_QUESTIONS};
use crate::model_sizes::{model_size, nearest_models};
use crate::quick::{MOST_REPEATS, quick};
use crate::study::Positions;
use crate::{
    ChartKind, DriveSpec, LeftOut, Measure, Part, Question, StackSpec, Study, StudyGoal,
    WorkloadSpec, matches,
};
use disklab_config::{Fields, Key, Node, Setting};

/// The words for `draws`.
const DRAWS: [(&str, SeedSharing); 2] =
    [("shared", SeedSharing::Shared), ("apart", SeedSharing::Apart)];

/// The words for `earlier-files`.
const EARLIER_FILES: [(&str, bool); 2] = [("drawn", true), ("none", false)];

/// The words for `reference`.
const REFERENCES: [(&str, bool); 2] = [("none", false), ("lab", true)];

/// Shares of a file system over which files are laid out: beyond these it is one place, or the file
/// system is full.
pub const SPREADS: RangeInclusive<f64> = 0.01..=0.8;

/// Reads a study. `name` is the file's name as the user gave it.
///
/// # Errors
/// Where the text is no TOML or no study; the error shows the place.
pub fn load(name: &str, text: &str) -> Result<Study, SourceError> {
    read(Source { name: name.to_owned(), text: text.to_owned() }, None)
}

impl Study {
    /// The same study on other drives.
    ///
    /// # Errors
    /// If a model has no known size, or none of its stacks fits them.
    pub fn on_drives(&self, requests: &DriveRequests) -> Result<Self, SourceError> {
        let Source { name, text } = &*self.source;
        read(Source { name: name.clone(), text: text.clone() }, Some(requests))
    }
}

/// The same on other drives than its own. Stacks that these are too few for, and what says
/// something of them alone, are left out.
fn read(source: Source, on: Option<&DriveRequests>) -> Result<Study, SourceError> {
    let source = Arc::new(source);
    let root = Node::parse(&source)?;
    let mut fields = Fields::new(&root, "the study")?;
    let (id, title) = (check_id(fields.require("id")?)?, fields.require_line("title")?);
    let about = fields.text("about")?.unwrap_or_default();
    let (repeats, goal, most_repeats) = how_often(&mut fields)?;
    let (draws, has_earlier_files, has_reference, spread) = choices(&mut fields)?;
    let (faults, axes) = faults(fields.take("faults"), axes(fields.take("axes"))?)?;
    let drives = drives_on(&mut fields, on)?;
    let loop_drive_size = size_of_bench(&mut fields, "loop", "drive-size")?;
    let (lab, processor) = (lab(&mut fields)?, fields.take("processor").cloned());
    let StudyStacks { stacks, left_out } = stacks(&mut fields, &drives, on.is_some())?;
    lab.check(&stacks)?;
    let workloads = workloads_for(fields.require("workloads")?, stacks.len())?;
    let quick = fields.take("quick").map(|q| quick(q, (repeats, goal), &workloads)).transpose()?;
    let excluded = excluded(fields.take("exclude"), &stacks, &left_out, &workloads)?;
    let known = KnownStacks { stacks: &stacks, left_out: &left_out };
    let baseline = known.baseline(fields.take("baseline"))?;
    let questions = questions(fields.take("questions"), &known, &workloads)?;
    let files = fields.take("files").map(kept_files).transpose()?.map(Arc::new);
    fields.finish()?;
    Ok(Study {
        digest: digest(&source, &workloads),
        positions: Positions::new(&stacks, &workloads),
        id,
        title: on.map_or_else(|| title.clone(), |drives| drives.title(&title)),
        about: about.trim().to_owned(),
        repeats,
        goal,
        precision: None,
        most_repeats,
        draws,
        has_earlier_files,
        has_reference,
        spread,
        axes,
        faults,
        baseline,
        drives,
        named_drives: on.cloned(),
        processor,
        loop_drive_size,
        lab_machine: lab.machine,
        lab_memory: lab.memory,
        lab_bus: lab.bus,
        lab_scsi_timeout: lab.scsi_timeout,
        lab_host: lab.host,
        stacks,
        workloads,
        files,
        excluded,
        // A study's own rules on its own drives are no news.
        left_out: if on.is_some() { left_out } else { Vec::new() },
        questions,
        source,
        is_quick: false,
        quick,
    })
}

/// `draws`, `earlier-files`, `reference` and `spread`.
fn choices(fields: &mut Fields<'_>) -> Result<(SeedSharing, bool, bool, Option<f64>), SourceError> {
    let draws = fields.choice("draws", &DRAWS)?.unwrap_or_default();
    let has_earlier_files = fields.choice("earlier-files", &EARLIER_FILES)?.unwrap_or(true);
    let has_reference = fields.choice("reference", &REFERENCES)?.unwrap_or(false);
    Ok((draws, has_earlier_files, has_reference, spread(fields.take("spread"))?))
}

/// How often each cell runs, or for what instead, and how often at most then.
fn how_often(
    fields: &mut Fields<'_>,
) -> Result<(u32, Option<StudyGoal>, Option<u32>), SourceError> {
    let repeats = fields.integer("repeats", 1..=1000)?.unwrap_or(3) as u32;
    let goal = fields.choice("goal", &StudyGoal::WORDS)?;
    Ok((repeats, goal, fields.integer("most-repeats", MOST_REPEATS)?.map(|n| n as u32)))
}

/// A share, or `none`.
fn spread(node: Option<&Node>) -> Result<Option<f64>, SourceError> {
    let Some(node) = node else { return Ok(None) };
    let text = node.as_text()?;
    if text == "none" {
        return Ok(None);
    }
    let share = parse_share_within(&text, SPREADS);
    share.map(Some).map_err(|why| node.error(format!("`spread`: {why}; or 'none'")))
}

/// A table with the levels of each axis. Which axes there are is the bench's knowledge.
fn axes(node: Option<&Node>) -> Result<Axes, SourceError> {
    let Some(node) = node else { return Ok(Axes::default()) };
    let axis = |(key, levels): &(Key, Node)| {
        let words: Vec<String> =
            levels.items().iter().map(Node::as_text).collect::<Result<_, _>>()?;
        StudyAxis::new(&key.name, words)
            .map_err(|why| levels.error(format!("`{}`: {why}", key.name)))
    };
    let all = node.entries()?.iter().map(axis).collect::<Result<_, _>>()?;
    Axes::new(all).map_err(|why| node.error(why.to_string()))
}

/// The workloads of so many stacks; a study of more pairs than any needs is refused.
fn workloads_for(node: &Node, stacks: usize) -> Result<Vec<WorkloadSpec>, SourceError> {
    let all = workloads(node)?;
    if stacks.saturating_mul(all.len()) <= MOST_PAIRS {
        return Ok(all);
    }
    Err(node.error(format!(
        "{stacks} stacks × {} workloads are more than {MOST_PAIRS} pairs, which is the most that \
         a study may have; split it",
        all.len()
    )))
}

/// The size that a bench's own table gives, such as `loop.drive-size`.
fn size_of_bench(
    fields: &mut Fields<'_>,
    bench: &str,
    size: &str,
) -> Result<Option<Bytes>, SourceError> {
    let Some(node) = fields.take(bench) else { return Ok(None) };
    let mut fields = Fields::new(node, &format!("'{bench}'"))?;
    let size = fields.bytes(size)?;
    fields.finish()?;
    Ok(size)
}

/// A digest of the study's text, and of the shipped workloads that it uses.
fn digest(source: &Source, workloads: &[WorkloadSpec]) -> String {
    let mut hash = Sha256::new();
    hash.update(without_kept(&source.text));
    let used = workloads.iter().map(|w| &w.body.place.source).filter(|s| s.name != source.name);
    for shipped in used {
        hash.update(&shipped.text);
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// The name of a drive that the study names, or else that of its model. A model may be a
/// file's path: then it is the file's name without the ending.
fn drive_name(fields: &mut Fields<'_>, model: &str) -> Result<FileName, SourceError> {
    if let Some(node) = fields.take("name") {
        let name = node.as_text()?;
        return FileName::new(&name).map_err(|why| {
            let name = name.escape_debug();
            node.error(format!("`name` of a drive: invalid name '{name}': {why}"))
        });
    }
    Ok(name_of_model(model))
}

/// The drives that the study names, or those in their place.
fn drives_on(
    fields: &mut Fields<'_>,
    on: Option<&DriveRequests>,
) -> Result<Vec<DriveSpec>, SourceError> {
    let own = fields.take("drives").map_or_else(|| Ok(Vec::new()), drives)?;
    on.map_or(Ok(own), |others| others.drives().map_err(|why| fields.error(why)))
}

/// What a drive without a size lacks: a model that is known, or, if a file has it, the size.
fn without_size(drive: &Node, model: &str) -> SourceError {
    if model.contains('/') || model.ends_with(".toml") {
        let why = format!("a drive needs a field 'size' if its model is a file ('{model}')");
        return drive.error(why);
    }
    let fields = drive.entries().unwrap_or_default();
    let place = fields.iter().find(|(key, _)| key.name == "model").map_or(drive, |(_, node)| node);
    let nearest = nearest_models(model);
    place.error(format!("unknown drive model '{model}'{nearest}; `disklab list drives` names all"))
}

fn taken(name: &FileName) -> String {
    format!("there is a drive '{name}' already; give this one another `name`")
}

fn drives(node: &Node) -> Result<Vec<DriveSpec>, SourceError> {
    let mut drives: Vec<DriveSpec> = Vec::new();
    let mut names: Vec<FileName> = Vec::new();
    for item in node.items() {
        let mut fields = Fields::new(item, "a drive")?;
        let model = fields.require_line("model")?;
        let name = drive_name(&mut fields, &model)?;
        // A name means all drives of its table, so no others may have it.
        if names.contains(&name) {
            return Err(item.error(taken(&name)));
        }
        let count = fields.integer("count", 1..=MOST_DRIVES)?.unwrap_or(1);
        let size = fields.bytes("size")?.or_else(|| model_size(&model));
        let size = size.ok_or_else(|| without_size(item, &model))?;
        let set = fields.take("set").map_or_else(|| Ok(Vec::new()), Setting::read)?;
        fields.finish()?;
        if !DRIVE_SIZES.contains(&size) {
            return Err(item.error(format!("a drive of {size}? expected 16 MiB to 100 TB")));
        }
        if drives.len() as u64 + count > MOST_DRIVES {
            return Err(item.error(format!("expected at most {MOST_DRIVES} drives in a study")));
        }
        for number in 1..=count {
            let name = if count == 1 {
                name.clone()
            } else {
                FileName::new(&format!("{name}-{number}"))
                    .map_err(|why| item.error(format!("invalid name '{name}-{number}': {why}")))?
            };
            if drives.iter().any(|d| d.name == name) {
                return Err(item.error(taken(&name)));
            }
            drives.push(DriveSpec { name, model: model.clone(), size, set: set.clone() });
        }
        names.push(name);
    }
    if drives.is_empty() {
        return Err(node.error("expected at least one drive"));
    }
    Ok(drives)
}

/// The stacks of a study, and those that it would have on its own drives.
struct KnownStacks<'a> {
    stacks: &'a [StackSpec],
    left_out: &'a [LeftOut],
}

impl KnownStacks<'_> {
    fn is_left_out(&self, id: &str) -> bool {
        self.left_out.iter().any(|out| out.stack.as_deref().is_some_and(|s| matches(id, s)))
    }

    /// The stack that a field names; none where that is left out.
    fn baseline(&self, node: Option<&Node>) -> Result<Option<String>, SourceError> {
        let Some(node) = node else { return Ok(None) };
        let id = node.as_text()?;
        if self.stacks.iter().any(|s| s.id == id) {
            return Ok(Some(id));
        }
        if self.is_left_out(&id) {
            return Ok(None);
        }
        let hint = did_you_mean(&id, self.stacks.iter().map(|s| s.id.as_str()));
        Err(node.error(format!("unknown stack '{id}'{hint}")))
    }
}

fn questions(
    node: Option<&Node>,
    stacks: &KnownStacks<'_>,
    workloads: &[WorkloadSpec],
) -> Result<Vec<Question>, SourceError> {
    let Some(node) = node else { return Ok(Vec::new()) };
    if let Some(item) = node.items().get(MOST_QUESTIONS) {
        return Err(item.error(format!("expected at most {MOST_QUESTIONS} questions")));
    }
    node.items().iter().map(|item| question(item, stacks, workloads)).collect()
}

fn question(
    item: &Node,
    known: &KnownStacks<'_>,
    workloads: &[WorkloadSpec],
) -> Result<Question, SourceError> {
    let mut fields = Fields::new(item, "a question")?;
    let ask = fields.require_line("ask")?;
    let workload_node = fields.require("workloads")?;
    let patterns: Vec<String> =
        workload_node.items().iter().map(Node::as_text).collect::<Result<_, _>>()?;
    for pattern in &patterns {
        let pattern = pattern.split(':').next().unwrap_or_default();
        if !workloads.iter().any(|w| matches(pattern, &w.id)) {
            return Err(
                workload_node.error(format!("'{pattern}' matches no workload of this study"))
            );
        }
    }
    let stack_node = fields.take("stacks");
    let stack_patterns: Vec<String> = stack_node
        .map_or_else(|| Ok(Vec::new()), |n| n.items().iter().map(Node::as_text).collect())?;
    for pattern in &stack_patterns {
        if !known.is_left_out(pattern) && !known.stacks.iter().any(|s| matches(pattern, &s.id)) {
            return Err(stack_node
                .unwrap_or(item)
                .error(format!("'{pattern}' matches no stack of this study")));
        }
    }
    let measure = fields.choice("measure", &Measure::WORDS)?;
    let part = fields.choice("part", &Part::WORDS)?.unwrap_or_default();
    if let (Part::Steady, Some(Measure::Elapsed | Measure::Missed)) = (part, measure) {
        return Err(item.error(
            "only throughput, operations and latencies have a steady part; elapsed time \
             and deadlines missed are of the whole",
        ));
    }
    let chart = chart(&mut fields)?;
    let baseline = known.baseline(fields.take("baseline"))?;
    fields.finish()?;
    Ok(Question {
        ask,
        workloads: patterns,
        stacks: stack_patterns,
        measure,
        part,
        chart,
        baseline,
    })
}

/// How a question is drawn: `chart`, and `over`, which goes with lines.
fn chart(fields: &mut Fields<'_>) -> Result<ChartKind, SourceError> {
    let over = fields.text("over")?;
    let Some(node) = fields.take("chart") else {
        return Ok(over.map_or(ChartKind::Bars, ChartKind::LinesOver));
    };
    match (node.as_text()?.as_str(), over) {
        ("bars", None) => Ok(ChartKind::Bars),
        ("lines", Some(over)) => Ok(ChartKind::LinesOver(over)),
        ("distribution", None) => Ok(ChartKind::Distribution),
        ("lines", None) => Err(node.error("a chart of lines needs `over`, a parameter")),
        (other, _) => {
            let known = one_of(["bars", "lines", "distribution"]);
            Err(node.error(format!(
                "`chart`: expected {known}, found '{other}' (`over` goes with lines)"
            )))
        }
    }
}
