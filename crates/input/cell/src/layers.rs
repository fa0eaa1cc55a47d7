//! A stack: layers, bottom-up, and what each is built on besides the data.

use disklab_source::{Location, SourceError};
use serde::{Deserialize, Serialize};

/// One layer as written: a name and options. What names and options exist is
/// the stack crate's knowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSpec {
    /// Name, such as `md-raid5`.
    pub name: String,
    /// Options in the order written; an option without `=` has no value.
    pub options: Vec<(String, Option<String>)>,
    /// What it, or a layer above it, is built on besides the data.
    pub inputs: Vec<InputSpec>,
    /// Where it stands.
    pub place: Location,
}

impl LayerSpec {
    /// The value of an option; an option without value gives an empty text.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_deref().unwrap_or(""))
    }

    /// Whether it is built on an input of this name.
    pub fn has_input(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.name == name)
    }

    /// An error at this layer.
    pub fn error(&self, message: impl Into<String>) -> SourceError {
        self.place.error(message)
    }
}

/// A layer without its place in a text. [`PlannedLayer::notation`] is how a study has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLayer {
    /// Which kind it is, such as `md-raid5`.
    pub name: String,
    /// Options in the order written; an option without `=` has no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, Option<String>)>,
    /// What it is built on besides the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PlannedInput>,
}

impl From<&LayerSpec> for PlannedLayer {
    fn from(spec: &LayerSpec) -> Self {
        let inputs = spec.inputs.iter().map(PlannedInput::from).collect();
        Self { name: spec.name.clone(), options: spec.options.clone(), inputs }
    }
}

/// The role of a drive that no input names.
pub const DATA: &str = "data";

/// The role of a drive that takes the place of one that fails.
pub const SPARE: &str = "spare";

/// A layer's option: how many spares it has without a drive for them.
pub const SPARES: &str = "spares";

/// Neighbouring drives of a stack, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveRange {
    /// Where they begin.
    pub first: u32,
    /// Where they end, with this one.
    pub last: u32,
}

impl DriveRange {
    /// Their positions, from 0.
    pub fn positions(self) -> std::ops::Range<usize> {
        (self.first as usize).saturating_sub(1)..self.last as usize
    }
}

/// An input as written. Which inputs a layer has is the stack crate's knowledge: one that it does
/// not have belongs to the first layer above that does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSpec {
    /// Its name, such as `log`.
    pub name: String,
    /// The drives below it.
    pub drives: DriveRange,
    /// The layers on them, bottom-up; none for the drives themselves.
    pub layers: Vec<LayerSpec>,
    /// Where it stands.
    pub place: Location,
}

/// An input without its place in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedInput {
    /// Its name, such as `log`.
    pub name: String,
    /// The drives below it.
    pub drives: DriveRange,
    /// The layers on them, bottom-up; none for the drives themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<PlannedLayer>,
}

impl From<&InputSpec> for PlannedInput {
    fn from(spec: &InputSpec) -> Self {
        let layers = spec.layers.iter().map(PlannedLayer::from).collect();
        Self { name: spec.name.clone(), drives: spec.drives, layers }
    }
}

impl PlannedLayer {
    /// What each of a stack's drives is for: the name of an input of its layers, or [`DATA`].
    pub fn roles(layers: &[Self], drives: usize) -> Vec<&str> {
        let mut roles = vec![DATA; drives];
        for input in layers.iter().flat_map(|layer| &layer.inputs) {
            // Those of its own layers' inputs are for it, too.
            for position in input.all_positions() {
                if let Some(role) = roles.get_mut(position) {
                    *role = &input.name;
                }
            }
        }
        roles
    }
}

impl PlannedInput {
    fn all_positions(&self) -> Vec<usize> {
        let below = self.layers.iter().flat_map(|layer| &layer.inputs);
        let below = below.flat_map(Self::all_positions);
        self.drives.positions().take(MOST_DRIVES).chain(below).collect()
    }
}

/// No stack has as many; a range from a stranger may.
const MOST_DRIVES: usize = 4_096;
