//! A stack as a graph: layers on each other, and what each is built on besides its data.

use std::path::{Path, PathBuf};

use disklab_cell::{InputSpec, LayerSpec};
use disklab_source::{Location, SourceError, did_you_mean, one_of};
use disklab_units::Bytes;

use crate::{
    DeviceState, FormatWrites, InputKind, Inputs, LAYERS, Layer, LayerContext, LayerKind,
    LayerOutput, Shape, ShapeError, StackError, Volume, find_layer,
};

/// A layer, and the inputs that it is built on besides its data.
#[derive(Debug)]
pub(crate) struct GraphNode {
    pub spec: LayerSpec,
    pub layer: Box<dyn Layer>,
    name: &'static str,
    inputs: Vec<GraphInput>,
}

/// An input: drives of the stack, and the layers on them.
#[derive(Debug)]
struct GraphInput {
    kind: &'static InputKind,
    drives: std::ops::Range<usize>,
    place: Location,
    layers: Vec<GraphNode>,
}

/// Why a stack cannot be built on drives, and where that is.
#[derive(Debug)]
pub(crate) struct Misfit<'a> {
    pub why: ShapeError,
    /// The layer or the input; the whole stack if nothing is said.
    pub place: Option<&'a Location>,
    /// What it was to be put on.
    pub below: Option<&'a LayerSpec>,
}

impl Misfit<'_> {
    /// Of the whole stack.
    pub fn of_all(why: ShapeError) -> Self {
        Self { why, place: None, below: None }
    }
}

/// Understands layers, bottom-up. An input that a layer does not have is of the first above that
/// has it.
///
/// # Errors
/// Where a layer, an option or an input is unknown; the error shows the place.
pub(crate) fn read(specs: &[LayerSpec]) -> Result<Vec<GraphNode>, SourceError> {
    let (mut nodes, mut waiting) = (Vec::with_capacity(specs.len()), Vec::<&InputSpec>::new());
    for spec in specs {
        let kind = find_layer(&spec.name).ok_or_else(|| unknown_layer(spec))?;
        check_options(kind, spec)?;
        waiting.extend(&spec.inputs);
        let (own, others) =
            waiting.into_iter().partition(|input| input_kind(kind, input).is_some());
        waiting = others;
        nodes.push(node(kind, spec, own)?);
    }
    match waiting.first() {
        None => Ok(nodes),
        Some(input) => Err(unknown_input(input, specs)),
    }
}

fn input_kind(kind: &LayerKind, input: &InputSpec) -> Option<&'static InputKind> {
    kind.inputs.iter().find(|known| known.name == input.name)
}

fn node(
    kind: &LayerKind,
    spec: &LayerSpec,
    own: Vec<&InputSpec>,
) -> Result<GraphNode, SourceError> {
    let mut spec = LayerSpec { inputs: Vec::new(), ..spec.clone() };
    let mut inputs: Vec<GraphInput> = Vec::new();
    for input in own {
        let Some(kind) = input_kind(kind, input) else { continue };
        if inputs.iter().any(|known| known.kind.name == kind.name) {
            return Err(input.place.error(format!("`{}` is given twice", input.name)));
        }
        let layers = read(&input.layers)?;
        let specs = layers.iter().map(|node| node.spec.clone()).collect();
        spec.inputs.push(InputSpec { layers: specs, ..input.clone() });
        let (drives, place) = (input.drives.positions(), input.place.clone());
        inputs.push(GraphInput { kind, drives, place, layers });
    }
    let layer = (kind.parse)(&spec)?;
    Ok(GraphNode { spec, layer, name: kind.name, inputs })
}

fn unknown_layer(layer: &LayerSpec) -> SourceError {
    let known = LAYERS.iter().map(|kind| kind.name);
    layer.error(format!(
        "unknown layer '{}'{}; known: {}",
        layer.name,
        did_you_mean(&layer.name, known.clone()),
        one_of(known)
    ))
}

/// No layer of these has the input.
fn unknown_input(input: &InputSpec, layers: &[LayerSpec]) -> SourceError {
    let kinds = || layers.iter().filter_map(|layer| find_layer(&layer.name));
    let known = || kinds().flat_map(|kind| kind.inputs).map(|input| input.name);
    let of_each = kinds().filter(|kind| !kind.inputs.is_empty()).map(|kind| {
        format!("{} has {}", kind.name, one_of(kind.inputs.iter().map(|input| input.name)))
    });
    let of_each: Vec<String> = of_each.collect();
    let has = match of_each.as_slice() {
        [] => "none of its layers has inputs besides its data".to_owned(),
        words => words.join("; "),
    };
    let name = &input.name;
    input.place.error(format!(
        "'{name}' is not an input of the layers{}; {has}",
        did_you_mean(name, known())
    ))
}

/// # Errors
/// [`SourceError`] at the first option that this kind of layer does not have.
fn check_options(kind: &LayerKind, layer: &LayerSpec) -> Result<(), SourceError> {
    if kind.options.iter().any(|(name, _)| *name == LayerKind::ANY_OPTION) {
        return Ok(());
    }
    let known = kind.options.iter().map(|(name, _)| *name);
    for (option, _) in &layer.options {
        if !known.clone().any(|name| name == option) {
            let expected = if kind.options.is_empty() {
                "it has none".to_owned()
            } else {
                format!("expected {}", one_of(known.clone()))
            };
            return Err(layer.error(format!(
                "'{option}' is not an option of {}{}; {expected}",
                kind.name,
                did_you_mean(option, known.clone()),
            )));
        }
    }
    Ok(())
}

/// All layers of a graph, those of inputs too.
pub(crate) fn all(nodes: &[GraphNode]) -> Vec<&GraphNode> {
    let of_inputs = |node| GraphNode::inputs(node).iter().flat_map(|input| all(&input.layers));
    nodes.iter().flat_map(|node| std::iter::once(node).chain(of_inputs(node))).collect()
}

/// The drives that no input takes, by position.
///
/// # Errors
/// [`ShapeError::NoDrive`] or [`ShapeError::UsedTwice`] at an input.
pub(crate) fn data_drives(nodes: &[GraphNode], count: usize) -> Result<Vec<usize>, Misfit<'_>> {
    let mut used = vec![false; count];
    for input in all(nodes).into_iter().flat_map(GraphNode::inputs) {
        for position in input.drives.clone() {
            let (name, drive) = (input.kind.name.to_owned(), position + 1);
            let why = match used.get_mut(position) {
                None => ShapeError::NoDrive { input: name, drive, drives: count },
                Some(true) => ShapeError::UsedTwice { input: name, drive },
                Some(used) => {
                    *used = true;
                    continue;
                }
            };
            return Err(Misfit { why, place: Some(&input.place), below: None });
        }
    }
    Ok((0..count).filter(|position| !used[*position]).collect())
}

impl GraphNode {
    fn inputs(&self) -> &[GraphInput] {
        &self.inputs
    }

    /// Their kinds, in the order in which they were written.
    pub fn input_kinds(&self) -> impl Iterator<Item = &'static InputKind> {
        self.inputs.iter().map(|input| input.kind)
    }

    /// What its inputs are, on these drives.
    fn input_shapes(
        &self,
        drives: &[Volume],
        first: Option<Bytes>,
    ) -> Result<Inputs<Volume>, Misfit<'_>> {
        let mut shapes = Inputs::default();
        for GraphInput { kind, drives: own, place, layers } in &self.inputs {
            let own = drives.get(own.clone()).unwrap_or_default().to_vec();
            let InputKind { name: input, most, .. } = kind;
            match shape(layers, Shape::Devices(own), drives, first)? {
                Shape::Devices(volumes) if (1..=*most).contains(&volumes.len()) => {
                    shapes.add(input, volumes);
                }
                other => {
                    let (layer, most, got) = (self.name, *most, other.kind());
                    let why = ShapeError::Input { layer, input, most, got };
                    return Err(Misfit { why, place: Some(place), below: None });
                }
            }
        }
        Ok(shapes)
    }

    /// What it becomes of `data`; with `first`, with bytes written as the first so many bytes cause
    /// them.
    fn shape<'a>(
        &'a self,
        data: &Shape,
        drives: &[Volume],
        first: Option<Bytes>,
        below: Option<&'a LayerSpec>,
    ) -> Result<Shape, Misfit<'a>> {
        let inputs = self.input_shapes(drives, first)?;
        let made = match first {
            Some(bytes) => self.layer.shape_of_first(data, bytes),
            None => self.layer.shape(data),
        };
        let misfit = |why| Misfit { why, place: Some(&self.spec.place), below };
        let made = made.map_err(misfit)?;
        if inputs.is_empty() {
            return Ok(made);
        }
        let place = self.inputs.first().map_or(&self.spec.place, |input| &input.place);
        let made = self.layer.with_inputs(made, data, &inputs);
        made.map_err(|why| Misfit { why, place: Some(place), below })
    }
}

/// What layers become of `data`, where their inputs are on `drives`.
pub(crate) fn shape<'a>(
    nodes: &'a [GraphNode],
    data: Shape,
    drives: &[Volume],
    first: Option<Bytes>,
) -> Result<Shape, Misfit<'a>> {
    let mut below = None;
    nodes.iter().try_fold(data, |data, node| {
        let made = node.shape(&data, drives, first, below)?;
        below = Some(&node.spec);
        Ok(made)
    })
}

/// What making layers on `data` writes, as far as they fit.
pub(crate) fn format_writes(
    nodes: &[GraphNode],
    mut data: Shape,
    drives: &[Volume],
    first: DeviceState,
) -> FormatWrites {
    let (mut writes, mut state) = (FormatWrites::default(), first);
    for node in nodes {
        for input in &node.inputs {
            let own = drives.get(input.drives.clone()).unwrap_or_default().to_vec();
            writes = writes.and(format_writes(&input.layers, Shape::Devices(own), drives, first));
        }
        writes = writes.and(node.layer.format_writes(&data, state));
        state.reads_zeros = node.layer.leaves_zeros(state.reads_zeros);
        match node.shape(&data, drives, None, None) {
            Ok(next) => data = next,
            Err(_) => break,
        }
    }
    writes
}

/// How a stack comes to be on its drives.
pub(crate) struct StackBuilder<'a> {
    /// The drives of the stack.
    pub drives: &'a [PathBuf],
    /// What they are when the first layer is made on them.
    pub state: DeviceState,
    /// Whether what was made on them is put together again.
    pub assembles: bool,
}

impl StackBuilder<'_> {
    /// Puts layers on the drives with these positions. With what it leaves, the device that its last
    /// layer but one left, where that is one.
    pub fn build(
        &self,
        nodes: &[GraphNode],
        positions: &[usize],
        context: &mut LayerContext<'_>,
    ) -> Result<(LayerOutput, Option<PathBuf>), StackError> {
        let own = || positions.iter().filter_map(|at| self.drives.get(*at)).cloned().collect();
        // Only the layer knows its drives if their order may be another.
        let is_found = nodes.first().is_some_and(|node| node.layer.finds_its_devices());
        let is_found = is_found && self.assembles && positions.len() < self.drives.len();
        let mut output = LayerOutput::Devices(if is_found { self.drives.to_vec() } else { own() });
        let (mut device, mut count) = (None, positions.len());
        for node in nodes {
            let GraphNode { spec, layer, .. } = node;
            context.executor.interrupt.check().map_err(|stop| StackError::Program {
                layer: spec.name.clone(),
                source: stop.into(),
            })?;
            let below = match &output {
                LayerOutput::Devices(devices) => devices.clone(),
                LayerOutput::Pool { .. } | LayerOutput::Directory(_) => Vec::new(),
            };
            let inputs = self.inputs(node, context)?;
            if let (LayerOutput::Devices(devices), false, true) =
                (&mut output, inputs.is_empty(), self.assembles)
                && layer.finds_its_devices()
            {
                let others = self.drives.iter().filter(|drive| !below.contains(drive));
                devices.extend(others.cloned());
            }
            tracing::debug!(layer = %spec, ?output, ?inputs, "next layer");
            (context.inputs, context.own) = (inputs, count);
            if self.assembles {
                output = layer.assemble(output, context)?;
            } else {
                output = layer.make(output, context)?;
                context.below.reads_zeros = layer.leaves_zeros(context.below.reads_zeros);
            }
            if context.branch.is_empty() {
                context.outputs.push(output.clone());
            }
            count = if let LayerOutput::Devices(devices) = &output { devices.len() } else { 0 };
            device = match (&output, below.as_slice()) {
                (LayerOutput::Devices(_), _) => None,
                (_, [one]) => Some(one.clone()),
                // A layer that leaves a directory on a directory changes nothing.
                (_, []) => device,
                _ => None,
            };
        }
        Ok((output, device))
    }

    /// The devices of a layer's inputs, whose layers are put on their drives.
    fn inputs(
        &self,
        node: &GraphNode,
        context: &mut LayerContext<'_>,
    ) -> Result<Inputs<PathBuf>, StackError> {
        let mut inputs = Inputs::default();
        for GraphInput { kind, drives, layers, .. } in &node.inputs {
            let branch = context.branch.clone();
            context.branch.push_str(kind.name);
            context.branch.push(':');
            let below = std::mem::replace(&mut context.below, self.state);
            let positions: Vec<usize> = drives.clone().collect();
            let (output, _) = self.build(layers, &positions, context)?;
            (context.below, context.branch) = (below, branch);
            match output {
                LayerOutput::Devices(devices) => inputs.add(kind.name, devices),
                other => {
                    let (layer, input, most) = (node.name, kind.name, kind.most);
                    let got = other.kind();
                    return Err(ShapeError::Input { layer, input, most, got }.into());
                }
            }
        }
        Ok(inputs)
    }
}

/// Removes the signatures that an earlier stack left, so that no tool takes the
/// devices for members of what no longer exists. wipefs refuses a device that
/// is in use.
pub(crate) fn wipe(devices: &[PathBuf], context: &LayerContext<'_>) -> Result<(), StackError> {
    if devices.is_empty() || context.drives_are_zero {
        return Ok(());
    }
    let paths = devices.iter().map(PathBuf::as_path).collect::<Vec<&Path>>();
    let wipefs = disklab_exec::Invocation::new("wipefs").arg("--all").args(paths);
    context.run("stack", &wipefs).map(|_| ())
}
