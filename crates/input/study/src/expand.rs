//! The matrix: layouts × file systems × options, and the workloads' parameters.

use std::collections::{BTreeSet, HashSet};

use disklab_source::{FileName, Location, SourceError, did_you_mean, one_of};

use crate::limits::{MOST_DRIVES, MOST_EXCLUSIONS, MOST_STACKS, MOST_WORKLOADS};
use crate::load::check_id;
use crate::parameters::{ParameterTexts, PlaceholderFiller, combinations, without_parameters};
use crate::shipped::{CACHES, changed, used};
use crate::{DriveSpec, LeftOut, StackSpec, WorkloadSpec, matches};
use disklab_cell::{LayerSpec, parse_layers, parse_options};
use disklab_config::{Fields, Key, Node, Value};

/// A layout or a whole stack: layers and the drives below them.
struct Layout {
    id: String,
    layers: Vec<LayerSpec>,
    drives: Vec<usize>,
    write_cache: Option<bool>,
    host_cache: Option<String>,
    key: Key,
    /// Why the drives do not fit it.
    unfit: Option<String>,
}

/// The drives that layouts choose of.
struct StudyDrives<'a> {
    all: &'a [DriveSpec],
    /// Whether they are others than the study names.
    others: bool,
}

/// For which numbers of drives a layout is one that people would choose.
struct FittingNumbers {
    at_least: i64,
    multiple_of: i64,
}

impl FittingNumbers {
    fn read(fields: &mut Fields<'_>) -> Result<Self, SourceError> {
        let most = MOST_DRIVES;
        let at_least = fields.integer("at-least", 1..=most)?.unwrap_or(1) as i64;
        let multiple_of = fields.integer("multiple-of", 1..=most)?.unwrap_or(1) as i64;
        Ok(Self { at_least, multiple_of })
    }

    /// Why so many are not for it.
    fn problem(&self, drives: usize) -> Option<String> {
        let drives = drives as i64;
        if drives < self.at_least {
            return Some(format!("is for {} drives and more", self.at_least));
        }
        match self.multiple_of {
            of if drives % of == 0 => None,
            2 => Some("is for an even number of drives".to_owned()),
            of => Some(format!("is for a multiple of {of} drives")),
        }
    }
}

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
    let drives = StudyDrives { all: drives, others };
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
            layers: layout.layers,
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
fn of_matrix(id: String, layout: &Layout, file_system: &FileSystem) -> StackSpec {
    StackSpec {
        id,
        layout: layout.id.clone(),
        file_system: file_system.id.clone(),
        layers: layout.layers.iter().chain(&file_system.layers).cloned().collect(),
        drives: layout.drives.clone(),
        write_cache: layout.write_cache,
        host_cache: layout.host_cache.clone(),
        place: layout.key.place.clone(),
    }
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

fn layout((key, node): &(Key, Node), drives: &StudyDrives<'_>) -> Result<Layout, SourceError> {
    check_stack_id(key)?;
    let all = || (0..drives.all.len()).collect();
    if !matches!(node.value, Value::Table(_)) {
        return Ok(Layout {
            id: key.name.clone(),
            layers: parse_layers(node)?,
            drives: all(),
            write_cache: None,
            host_cache: None,
            key: key.clone(),
            unfit: None,
        });
    }
    let mut fields = Fields::new(node, "a layout")?;
    let layers = fields.take("layers").map_or_else(|| Ok(Vec::new()), parse_layers)?;
    let fitting = FittingNumbers::read(&mut fields)?;
    let mut unfit = fitting.problem(drives.all.len());
    let chosen = match fields.take("drives") {
        None => all(),
        Some(node) if drives.others => other_drives(node, drives.all.len()).unwrap_or_else(|why| {
            unfit = Some(why);
            Vec::new()
        }),
        Some(node) => choose(node, drives.all)?,
    };
    let write_cache = fields.boolean("write-cache")?;
    let host_cache = fields.text("host-cache")?;
    fields.finish()?;
    let (id, key) = (key.name.clone(), key.clone());
    Ok(Layout { id, layers, drives: chosen, write_cache, host_cache, key, unfit })
}

/// What a layout's `drives` means on others than the study's.
fn other_drives(node: &Node, available: usize) -> Result<Vec<usize>, String> {
    let Value::Integer(n) = node.value else {
        return Err("names drives of the study, in whose place there are others".to_owned());
    };
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    if n > available { Err(format!("needs {n} drives")) } else { Ok((0..n).collect()) }
}

/// `drives = 2` means the first two; a list of names means those, where a name
/// also stands for all that came of one entry with a `count`.
fn choose(node: &Node, drives: &[DriveSpec]) -> Result<Vec<usize>, SourceError> {
    if let Value::Integer(n) = node.value {
        let available = drives.len();
        return usize::try_from(n)
            .ok()
            .filter(|n| (1..=available).contains(n))
            .map(|n| (0..n).collect())
            .ok_or_else(|| {
                node.error(format!("`drives`: expected 1 to {available}, the study's drives"))
            });
    }
    let mut chosen = Vec::new();
    for item in node.items() {
        let name = item.as_text()?;
        let numbered = |d: &DriveSpec| {
            d.name.strip_prefix(&name).is_some_and(|rest| {
                rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
            })
        };
        let before = chosen.len();
        for (index, drive) in drives.iter().enumerate() {
            if (drive.name == name || numbered(drive)) && !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        if chosen.len() == before {
            let names = drives.iter().map(|d| d.name.as_str());
            return Err(item.error(format!(
                "`drives`: unknown drive '{name}', or named twice here{}; known: {}",
                did_you_mean(&name, names.clone()),
                one_of(names)
            )));
        }
    }
    Ok(chosen)
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

fn check_stack_id(key: &Key) -> Result<(), SourceError> {
    let fits = |c: char| c.is_ascii_graphic() && !"*?\"'\\:".contains(c);
    // Parts of it become parts of file names.
    let parts = || key.name.split('/').all(|part| FileName::new(part).is_ok());
    if key.name.len() <= 100 && key.name.chars().all(fits) && parts() {
        return Ok(());
    }
    Err(key.place.error(format!(
        "invalid stack name '{}': expected visible characters without * ? : and quotes, \
         such as 'raid5'",
        key.name
    )))
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
            "a workload has id, title, caches, each, matrix, and exactly one program with its \
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
