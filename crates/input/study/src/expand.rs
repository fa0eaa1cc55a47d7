//! The matrix: layouts × file systems × options, and the workloads' parameters.

use std::collections::{BTreeSet, HashSet};

use disklab_source::{Location, SourceError};

use crate::id::check_id;
use crate::layout::{LayoutSpec, StudyDrives, check_stack_id, layout};
use crate::limits::{MOST_EXCLUSIONS, MOST_STACKS, MOST_WORKLOADS};
use crate::parameters::{ParameterTexts, PlaceholderFiller, combinations, without_parameters};
use crate::shipped::{CACHES, changed, used};
use crate::{DriveSpec, LeftOut, StackSpec, WorkloadSpec, matches};
use disklab_cell::{InputSpec, LayerSpec, parse_layers, parse_options};
use disklab_config::{Fields, Key, Node, Value};

struct FileSystem {
    id: String,
    layers: Vec<LayerSpec>,
}

/// What a study compares, on the drives that it has.
pub(crate) struct StudyStacks {
    pub stacks: Vec<StackSpec>,
    /// Those that the drives do not fit.
    pub left_out: Vec<LeftOut>,
}

/// `[layouts]` × `[file-systems]`, then `[stacks]`. If the drives are not the study's own
/// (`others`), what they do not fit is left out, and no error.
pub(crate) fn stacks(
    fields: &mut Fields<'_>,
    drives: &[DriveSpec],
    others: bool,
) -> Result<StudyStacks, SourceError> {
    let drives = StudyDrives { all: drives.iter().map(|d| d.name.as_str()).collect(), others };
    let layouts = table(fields.take("layouts"))?
        .iter()
        .map(|entry| layout(entry, &drives))
        .collect::<Result<Vec<_>, _>>()?;
    let mut left_out = Vec::new();
    let mut file_systems = Vec::new();
    for entry in table(fields.take("file-systems"))? {
        file_systems.extend(file_system(entry)?);
    }
    let whole = fields.take("stacks");
    check_count(fields, layouts.len().saturating_mul(file_systems.len()))?;
    check_count(fields, table(whole)?.len())?;
    let mut stacks = Vec::new();
    for layout in &layouts {
        for file_system in &file_systems {
            let id = format!("{}/{}", layout.id, file_system.id);
            if let Some(why) = &layout.unfit {
                left_out.push(LeftOut::stack(&id, why));
                continue;
            }
            stacks.push(of_matrix(id, layout, file_system));
        }
    }
    for entry in table(whole)? {
        let layout = layout(entry, &drives)?;
        if layout.layers.is_empty() {
            return Err(entry.1.error(format!("stack '{}' has no layers", layout.id)));
        }
        if let Some(why) = &layout.unfit {
            left_out.push(LeftOut::stack(&layout.id, why));
            continue;
        }
        stacks.push(StackSpec {
            id: layout.id.clone(),
            layout: layout.id,
            file_system: String::new(),
            layers: with_inputs(layout.layers, &layout.inputs),
            drives: layout.drives,
            write_cache: layout.write_cache,
            host_cache: layout.host_cache,
            place: layout.key.place,
        });
    }
    if let (true, [], [first, ..]) = (others, stacks.as_slice(), left_out.as_slice()) {
        let why = &first.why;
        return Err(fields.error(format!("no stack of this study fits the drives: {why}")));
    }
    check_stacks(fields, &stacks, !layouts.is_empty())?;
    Ok(StudyStacks { stacks, left_out })
}

/// A layout with a file system on it.
fn of_matrix(id: String, layout: &LayoutSpec, file_system: &FileSystem) -> StackSpec {
    let layers = layout.layers.iter().chain(&file_system.layers).cloned().collect();
    StackSpec {
        id,
        layout: layout.id.clone(),
        file_system: file_system.id.clone(),
        layers: with_inputs(layers, &layout.inputs),
        drives: layout.drives.clone(),
        write_cache: layout.write_cache,
        host_cache: layout.host_cache.clone(),
        place: layout.key.place.clone(),
    }
}

/// The layers, of which the first that has an input of a name takes it.
fn with_inputs(mut layers: Vec<LayerSpec>, inputs: &[InputSpec]) -> Vec<LayerSpec> {
    if let Some(first) = layers.first_mut() {
        first.inputs.extend_from_slice(inputs);
    }
    layers
}

/// Refuses too many stacks, two of one id, and none.
fn check_stacks(
    fields: &mut Fields<'_>,
    stacks: &[StackSpec],
    has_layouts: bool,
) -> Result<(), SourceError> {
    check_count(fields, stacks.len())?;
    let mut ids = HashSet::new();
    for stack in stacks {
        if !ids.insert(stack.id.as_str()) {
            return Err(stack.place.error(format!("there are two stacks called '{}'", stack.id)));
        }
    }
    if stacks.is_empty() {
        let missing = if has_layouts { "[file-systems]" } else { "[layouts] or [stacks]" };
        fields.require(if has_layouts { "file-systems" } else { "layouts" }).map_err(|mut e| {
            e.message = format!("this study has no stacks; expected {missing}");
            e
        })?;
    }
    Ok(())
}

/// Refuses a study of more stacks than any needs.
fn check_count(fields: &Fields<'_>, stacks: usize) -> Result<(), SourceError> {
    if stacks <= MOST_STACKS {
        return Ok(());
    }
    Err(fields.error(format!(
        "this study has {stacks} stacks, all layouts with all file systems; expected at most \
         {MOST_STACKS}"
    )))
}

fn table(node: Option<&Node>) -> Result<&[(Key, Node)], SourceError> {
    node.map_or(Ok(&[]), Node::entries)
}

/// A file system, once per entry of its `options`.
fn file_system((key, node): &(Key, Node)) -> Result<Vec<FileSystem>, SourceError> {
    check_stack_id(key)?;
    let id = key.name.clone();
    if !matches!(node.value, Value::Table(_)) {
        return Ok(vec![FileSystem { id, layers: parse_layers(node)? }]);
    }
    let mut fields = Fields::new(node, "a file system")?;
    let layers = parse_layers(fields.require("layers")?)?;
    let options = fields.take("options");
    fields.finish()?;
    let Some(options) = options else { return Ok(vec![FileSystem { id, layers }]) };
    options
        .entries()?
        .iter()
        .map(|(name, value)| {
            let mut layers = layers.clone();
            let last =
                layers.last_mut().ok_or_else(|| value.error("options need a layer to apply to"))?;
            last.options.extend(parse_options(&value.place, &value.as_text()?)?);
            let id = if name.name.is_empty() { id.clone() } else { format!("{id}[{}]", name.name) };
            Ok(FileSystem { id, layers })
        })
        .collect()
}

/// `[[workloads]]`, with `each` and `matrix` expanded.
pub(crate) fn workloads(node: &Node) -> Result<Vec<WorkloadSpec>, SourceError> {
    let mut workloads: Vec<WorkloadSpec> = Vec::new();
    let (mut ids, mut filler) = (HashSet::new(), PlaceholderFiller::new());
    for item in node.items() {
        let mut fields = Fields::new(item, "a workload")?;
        let combinations = combinations(&mut fields)?;
        if workloads.len() + combinations.len() > MOST_WORKLOADS {
            return Err(item.error(format!(
                "with this one, the study has more than {MOST_WORKLOADS} workloads, all \
                 combinations of their parameters; take fewer"
            )));
        }
        let own = without_parameters(item);
        for parameters in combinations {
            let filled = filler.fill(&own, &parameters)?;
            let workload = workload(&filled, &item.place, parameters)?;
            if !ids.insert(workload.id.clone()) {
                return Err(workload.place.error(format!(
                    "there are two workloads called '{}'; an id of a workload with `each` or \
                     `matrix` must name its parameters, such as 'dd-{{bs}}'",
                    workload.id
                )));
            }
            workloads.push(workload);
        }
    }
    if workloads.is_empty() {
        return Err(node.error("expected at least one workload"));
    }
    Ok(workloads)
}

/// One workload, whose parameters are filled in; `item` is where it stands.
fn workload(
    filled: &Node,
    item: &Location,
    parameters: ParameterTexts,
) -> Result<WorkloadSpec, SourceError> {
    let mut fields = Fields::new(filled, "a workload")?;
    let use_node = fields.take("use");
    let id_node = match (fields.take("id"), use_node) {
        (Some(id), _) | (None, Some(id)) => id,
        (None, None) => fields.require("id")?,
    };
    let id = String::from(check_id(id_node)?);
    let title = fields.line("title")?;
    let caches = fields.choice("caches", &CACHES)?;
    let events = fields.take("events").cloned();
    let shipped = use_node.map(used).transpose()?;
    let with = shipped.as_ref().and_then(|_| fields.take("with"));
    let rest = fields.rest();
    let own = rest.iter().map(|(kind, _, body)| (*kind, *body));
    let given = shipped.iter().map(|s| (s.kind.as_str(), &s.body));
    let programs: Vec<_> = given.chain(own).collect();
    let [(kind, body)] = programs.as_slice() else {
        let found = if programs.is_empty() {
            "found none".to_owned()
        } else {
            let names: Vec<_> = programs.iter().map(|(n, _)| format!("'{n}'")).collect();
            format!("found {}", names.join(" and "))
        };
        let place = rest.last().map_or(item, |(_, place, _)| *place);
        return Err(place.error(format!(
            "a workload has id, title, caches, events, each, matrix, and exactly one program with its \
             fields, such as fio = {{ … }} or dd = {{ … }}, or instead `use`, a workload that comes \
             with disklab, and `with`, fields to change in it; {found}"
        )));
    };
    let body = with.map_or_else(|| Ok((*body).clone()), |with| changed(body, with))?;
    Ok(WorkloadSpec {
        title: title
            .or_else(|| shipped.as_ref().map(|s| s.title.clone()))
            .unwrap_or_else(|| id.clone()),
        id,
        kind: (*kind).to_owned(),
        body,
        parameters,
        caches: caches.or_else(|| shipped.as_ref().and_then(|s| s.caches)).unwrap_or_default(),
        events,
        place: id_node.place.clone(),
    })
}

/// `[[exclude]]`: pairs that match all the patterns given.
pub(crate) fn excluded(
    node: Option<&Node>,
    stacks: &[StackSpec],
    left_out: &[LeftOut],
    workloads: &[WorkloadSpec],
) -> Result<Vec<(usize, usize)>, SourceError> {
    let items = node.map_or(&[][..], Node::items);
    if let Some(item) = items.get(MOST_EXCLUSIONS) {
        return Err(item.error(format!("expected at most {MOST_EXCLUSIONS} exclusions")));
    }
    let mut pairs = BTreeSet::new();
    for item in items {
        let mut fields = Fields::new(item, "an exclusion")?;
        let stack = fields.texts("stacks")?;
        let workload = fields.texts("workloads")?;
        let _ = fields.text("because")?;
        fields.finish()?;
        if stack.is_none() && workload.is_none() {
            return Err(item.error("an exclusion needs `stacks`, `workloads` or both"));
        }
        let out = left_out.iter().filter_map(|out| out.stack.as_deref());
        let of_others = !hits(stack.as_deref(), out).is_empty();
        let stacks = hits(stack.as_deref(), stacks.iter().map(|s| s.id.as_str()));
        let workloads = hits(workload.as_deref(), workloads.iter().map(|w| w.id.as_str()));
        if stacks.is_empty() && of_others {
            continue;
        }
        if stacks.is_empty() || workloads.is_empty() {
            return Err(item.error("this exclusion matches nothing"));
        }
        pairs.extend(stacks.iter().flat_map(|s| workloads.iter().map(|w| (*s, *w))));
    }
    Ok(pairs.into_iter().collect())
}

/// The positions of the ids that match one of the patterns; all of them without patterns.
fn hits<'a>(patterns: Option<&[String]>, ids: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let hit = |id: &str| patterns.is_none_or(|all| all.iter().any(|p| matches(p, id)));
    ids.enumerate().filter(|(_, id)| hit(id)).map(|(index, _)| index).collect()
}
