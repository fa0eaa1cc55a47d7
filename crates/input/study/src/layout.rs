//! A layout, or a whole stack: layers, and the drives below them by what they are for.

use disklab_cell::{DATA, DriveRange, InputSpec, LayerSpec, parse_layers};
use disklab_config::{Fields, Key, Node, Value};
use disklab_source::{FileName, SourceError, did_you_mean, one_of};

use crate::limits::MOST_DRIVES;

/// A layout or a whole stack: layers and the drives below them.
pub(crate) struct LayoutSpec {
    pub id: String,
    pub layers: Vec<LayerSpec>,
    /// What the layers are built on besides the data.
    pub inputs: Vec<InputSpec>,
    /// Those of the data, then those of each input.
    pub drives: Vec<usize>,
    pub write_cache: Option<bool>,
    pub host_cache: Option<String>,
    pub key: Key,
    /// Why the drives do not fit it.
    pub unfit: Option<String>,
}

/// The drives that layouts choose of.
pub(crate) struct StudyDrives<'a> {
    /// Their names.
    pub all: Vec<&'a str>,
    /// Whether they are others than the study names.
    pub others: bool,
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
            return Some(format!("is for {} or more drives", self.at_least));
        }
        match self.multiple_of {
            of if drives % of == 0 => None,
            2 => Some("is for an even number of drives".to_owned()),
            of => Some(format!("is for a multiple of {of} drives")),
        }
    }
}

/// Why drives cannot be chosen.
enum Refusal {
    /// The study is wrong.
    Error(SourceError),
    /// The drives are others than the study's, and do not fit.
    Unfit(String),
}

impl From<SourceError> for Refusal {
    fn from(error: SourceError) -> Self {
        Self::Error(error)
    }
}

/// Reads a layout: its layers alone, or a table.
pub(crate) fn layout(
    (key, node): &(Key, Node),
    drives: &StudyDrives<'_>,
) -> Result<LayoutSpec, SourceError> {
    check_stack_id(key)?;
    let mut layout = LayoutSpec {
        id: key.name.clone(),
        layers: Vec::new(),
        inputs: Vec::new(),
        drives: (0..drives.all.len()).collect(),
        write_cache: None,
        host_cache: None,
        key: key.clone(),
        unfit: None,
    };
    if !matches!(node.value, Value::Table(_)) {
        layout.layers = parse_layers(node)?;
        return Ok(layout);
    }
    let mut fields = Fields::new(node, "a layout")?;
    layout.layers = fields.take("layers").map_or_else(|| Ok(Vec::new()), parse_layers)?;
    let fitting = FittingNumbers::read(&mut fields)?;
    layout.unfit = fitting.problem(drives.all.len());
    layout.write_cache = fields.boolean("write-cache")?;
    layout.host_cache = fields.text("host-cache")?;
    match Choice::new(drives).whole(fields) {
        Ok((chosen, inputs)) => (layout.drives, layout.inputs) = (chosen, inputs),
        Err(Refusal::Unfit(why)) => (layout.unfit, layout.drives) = (Some(why), Vec::new()),
        Err(Refusal::Error(error)) => return Err(error),
    }
    Ok(layout)
}

/// The drives that are chosen so far, in the order in which the stack takes them.
struct Choice<'a> {
    drives: &'a StudyDrives<'a>,
    chosen: Vec<usize>,
}

impl<'a> Choice<'a> {
    fn new(drives: &'a StudyDrives<'a>) -> Self {
        Self { drives, chosen: Vec::new() }
    }

    /// The drives of a layout and its inputs. Without `data` or `drives`, data are on all drives that
    /// no input takes.
    fn whole(mut self, mut fields: Fields<'_>) -> Result<(Vec<usize>, Vec<InputSpec>), Refusal> {
        let (data, all) = (fields.take(DATA), fields.take("drives"));
        if let (Some(data), Some(_)) = (data, all) {
            let why = "`data` and `drives` say the same; remove one";
            return Err(data.error(why).into());
        }
        if let Some(node) = data.or(all) {
            self.choose(node, if data.is_some() { DATA } else { "drives" })?;
            let inputs = self.inputs(fields)?;
            return Ok((self.chosen, inputs));
        }
        let mut inputs = self.inputs(fields)?;
        let mut rest: Vec<usize> =
            (0..self.drives.all.len()).filter(|at| !self.chosen.contains(at)).collect();
        inputs.iter_mut().for_each(|input| shift(input, rest.len() as u32));
        rest.append(&mut self.chosen);
        Ok((rest, inputs))
    }

    /// All fields that are left: inputs, whose names are known to the layers.
    fn inputs(&mut self, mut fields: Fields<'_>) -> Result<Vec<InputSpec>, Refusal> {
        let is_other = |node: &Node| matches!(node.value, Value::Boolean(_) | Value::Float(_));
        if fields.has_misspelt(is_other) {
            fields.finish()?;
            return Ok(Vec::new());
        }
        let mut inputs = Vec::new();
        for (name, place, node) in fields.rest() {
            let name = name.to_owned();
            let (drives, layers) = match node.value {
                Value::Table(_) => self.table(node, &name)?,
                _ => (self.choose(node, &name)?, Vec::new()),
            };
            inputs.push(InputSpec { name, drives, layers, place: place.clone() });
        }
        Ok(inputs)
    }

    /// An input that has layers, and maybe inputs, of its own.
    fn table(&mut self, node: &Node, name: &str) -> Result<(DriveRange, Vec<LayerSpec>), Refusal> {
        let mut fields = Fields::new(node, &format!("the input '{name}'"))?;
        let mut layers = parse_layers(fields.require("layers")?)?;
        let drives = self.choose(fields.require(DATA)?, DATA)?;
        let inputs = self.inputs(fields)?;
        if let Some(first) = layers.first_mut() {
            first.inputs.extend(inputs);
        }
        Ok((drives, layers))
    }

    /// `2` means the next two; `hdd:2` the next two of those called `hdd` or, from one entry with a
    /// `count`, `hdd-1`, `hdd-2`, …; `hdd` means all of them. A list means all that it names.
    fn choose(&mut self, node: &Node, field: &str) -> Result<DriveRange, Refusal> {
        let before = self.chosen.len();
        if let Value::Integer(n) = node.value {
            self.take(node, field, n, ("the study's drives", |_: &str| true))?;
        } else if self.drives.others {
            let why = "names drives of the study, in whose place there are others";
            return Err(Refusal::Unfit(why.to_owned()));
        } else {
            for item in node.items() {
                self.named(item, field)?;
            }
        }
        if self.chosen.len() == before {
            return Err(node.error(format!("`{field}` names no drive")).into());
        }
        // A study has fewer.
        Ok(DriveRange { first: before as u32 + 1, last: self.chosen.len() as u32 })
    }

    /// Drives by their name or group, and maybe how many of them.
    fn named(&mut self, item: &Node, field: &str) -> Result<(), Refusal> {
        let text = item.as_text()?;
        let is_drive = |name: &str| self.drives.all.iter().any(|drive| is_of(drive, name));
        let (name, count) = match text.rsplit_once(':') {
            Some((name, count)) if !is_drive(&text) => {
                let count = count.trim().parse().ok().filter(|n| *n >= 1).ok_or_else(|| {
                    item.error(format!(
                        "`{field}`: expected a number of drives, as in 'hdd:4', found '{text}'"
                    ))
                })?;
                (name.trim(), Some(count))
            }
            _ => (text.as_str(), None),
        };
        if !is_drive(name) {
            let names = self.drives.all.iter().copied();
            let (hint, known) = (did_you_mean(name, names.clone()), one_of(names));
            let error = format!("`{field}`: unknown drive '{name}'{hint}; known: {known}");
            return Err(item.error(error).into());
        }
        let free = self.free(|drive| is_of(drive, name)).len() as i64;
        let what = format!("the drives called '{name}'");
        let fits = |drive: &str| is_of(drive, name);
        self.take(item, field, count.unwrap_or(free.max(1)), (&what, fits))
    }

    /// Those that are not chosen yet.
    fn free(&self, fits: impl Fn(&str) -> bool) -> Vec<usize> {
        let all = self.drives.all.iter().enumerate();
        let free = all.filter(|(at, drive)| fits(drive) && !self.chosen.contains(at));
        free.map(|(at, _)| at).collect()
    }

    /// Chooses the next so many.
    fn take(
        &mut self,
        node: &Node,
        field: &str,
        wanted: i64,
        (what, fits): (&str, impl Fn(&str) -> bool),
    ) -> Result<(), Refusal> {
        let free = self.free(&fits);
        match usize::try_from(wanted) {
            Ok(n @ 1..) if n <= free.len() => {
                self.chosen.extend(&free[..n]);
                Ok(())
            }
            _ if self.drives.others => Err(Refusal::Unfit(format!("needs {wanted} drives"))),
            _ => {
                let all = self.drives.all.iter().filter(|drive| fits(drive)).count();
                let error = match free.len() {
                    0 => format!("{what} are in use; a stack uses each drive once"),
                    n if n == all => format!("expected 1 to {n}, {what}"),
                    n => format!("expected 1 to {n}, as others of {what} are in use"),
                };
                Err(node.error(format!("`{field}`: {error}")).into())
            }
        }
    }
}

pub(crate) fn check_stack_id(key: &Key) -> Result<(), SourceError> {
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

/// Whether a drive has this name, or is of the group of this name.
fn is_of(drive: &str, name: &str) -> bool {
    let rest = drive.strip_prefix(name);
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
    })
}

/// Counts the drives of an input, and of those below it, from so many on.
fn shift(input: &mut InputSpec, by: u32) {
    input.drives.first += by;
    input.drives.last += by;
    let below = input.layers.iter_mut().flat_map(|layer| &mut layer.inputs);
    below.for_each(|input| shift(input, by));
}
