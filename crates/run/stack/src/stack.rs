//! A whole stack.

use std::path::PathBuf;

use disklab_cell::{Care, LayerSpec, PlannedLayer, SPARES};
use disklab_source::SourceError;
use disklab_study::StackSpec;
use disklab_units::Bytes;

use crate::graph::{self, GraphNode, Misfit, StackBuilder, wipe};
use crate::{
    DeviceState, FormatWrites, InputKind, KeptWrites, LayerContext, LayerKind, LayerOutput, Need,
    Remount, Shape, ShapeError, StackError, Volume, find_layer,
};

/// The size of the drives on which [`Stack::parse`] tries whether the layers
/// fit together: 1 PiB, too large to be the reason for a refusal.
const AMPLE: Bytes = Bytes(1 << 50);

/// A stack whose layers are understood.
#[derive(Debug)]
pub struct Stack {
    /// On the way from the data to the directory.
    layers: Vec<GraphNode>,
}

/// A stack that stands.
#[derive(Debug, Clone)]
pub struct Made {
    /// The directory that it ends in.
    pub directory: PathBuf,
    /// The block device right below the file system, where there is exactly one.
    pub device: Option<PathBuf>,
    /// How that directory is unmounted and mounted again.
    pub remount: Option<Remount>,
    /// What each layer made, bottom-up.
    pub(crate) outputs: Vec<LayerOutput>,
}

impl Stack {
    /// Understands the layers of a stack, and sees that they fit on each other
    /// and on the number of its drives.
    ///
    /// # Errors
    /// Where a layer or an option is unknown, or a layer cannot be built on what
    /// is below it; the error shows the place.
    pub fn parse(spec: &StackSpec) -> Result<Self, SourceError> {
        let stack = Self::read(&spec.layers)?;
        stack.check_fit(spec, |_| true)?;
        Ok(stack)
    }

    /// The same on drives that are not the study's own: a stack that needs another number of
    /// them is left out when a bench has its sizes, and no error.
    ///
    /// # Errors
    /// As for [`Stack::parse`], but for the number of drives.
    pub fn parse_for_other_drives(spec: &StackSpec) -> Result<Self, SourceError> {
        let stack = Self::read(&spec.layers)?;
        stack.check_fit(spec, |why| !why.is_of_number())?;
        Ok(stack)
    }

    /// Understands the layers of a cell's plan, bottom-up.
    ///
    /// # Errors
    /// Where a layer or an option is unknown, in the notation of the layers.
    pub fn of_plan(layers: &[PlannedLayer]) -> Result<Self, SourceError> {
        Self::read(&PlannedLayer::placed(layers)?)
    }

    fn read(specs: &[LayerSpec]) -> Result<Self, SourceError> {
        Ok(Self { layers: graph::read(specs)? })
    }

    /// Tries whether the layers fit on each other and on the number of drives, as far as `counts`
    /// says.
    fn check_fit(
        &self,
        spec: &StackSpec,
        counts: impl Fn(&ShapeError) -> bool,
    ) -> Result<(), SourceError> {
        if spec.drives.is_empty() {
            return Ok(());
        }
        let Err(Misfit { why, place, below }) = self.volume(&vec![AMPLE; spec.drives.len()], None)
        else {
            return Ok(());
        };
        if !counts(&why) {
            return Ok(());
        }
        let place = place.unwrap_or(&spec.place);
        let remedy = below.and_then(|below| groups_instead(&why, below));
        Err(place.error(format!("stack '{}': {why}{}", spec.id, remedy.unwrap_or_default())))
    }

    /// Whether one of its layers can do this while it is in use.
    pub fn can(&self, care: Care) -> bool {
        self.layers.iter().any(|node| node.layer.care().contains(&care))
    }

    /// Whether it rebuilds and scrubs what is used of it, wherever that is, or knows no places of a drive.
    pub fn moves_what_is_used(&self) -> bool {
        self.can(Care::Scrub) && !self.can(Care::PassFrom)
    }

    /// Whether a layer keeps room on all its drives for what one that fails held.
    pub fn has_spread_spare(&self) -> bool {
        let spares =
            |node: &GraphNode| node.spec.option(SPARES).is_some_and(|spares| spares != "0");
        self.layers.iter().any(spares)
    }

    pub(crate) fn nodes(&self) -> &[GraphNode] {
        &self.layers
    }

    /// Its layers, bottom-up.
    pub fn planned(&self) -> Vec<PlannedLayer> {
        self.layers.iter().map(|node| PlannedLayer::from(&node.spec)).collect()
    }

    /// The notation of its layers, bottom-up, as a study has it.
    pub fn describe(&self) -> String {
        PlannedLayer::notation(&self.planned())
    }

    /// What making it on drives of these sizes and in this state writes.
    pub fn format_writes(&self, drives: &[Bytes], state: DeviceState) -> FormatWrites {
        let none = FormatWrites { bytes: vec![0.0; drives.len()], ..Default::default() };
        let drives = Volume::drives(drives);
        let Ok(data) = self.data(&drives) else { return none };
        none.and(graph::format_writes(&self.layers, data, &drives, state))
    }

    /// What its drives keep of what is written to it, besides the data as they are at last.
    pub fn kept_writes(&self) -> KeptWrites {
        let kept = self.layers.iter().map(|node| node.layer.kept_writes());
        kept.fold(KeptWrites::default(), KeptWrites::and)
    }

    /// Whether a layer of it is a pool, which is exported and imported to empty its cache.
    pub fn is_imported(&self) -> bool {
        self.layers.iter().any(|node| node.layer.is_imported())
    }

    /// What it will be on drives of these sizes.
    ///
    /// # Errors
    /// The layer that cannot be built on them, and why.
    pub fn shape(&self, drives: &[Bytes]) -> Result<Volume, ShapeError> {
        self.volume(drives, None).map_err(|misfit| misfit.why)
    }

    /// The same, but with bytes written to each drive as the first so many bytes of data on
    /// a fresh one cause them: Btrfs puts these on some of its drives.
    ///
    /// # Errors
    /// As for [`Stack::shape`].
    pub fn shape_of_first(&self, drives: &[Bytes], data: Bytes) -> Result<Volume, ShapeError> {
        self.volume(drives, Some(data)).map_err(|misfit| misfit.why)
    }

    /// As [`Stack::shape_of_first`], or [`Stack::shape`] where no data are told; an error
    /// says where it is.
    fn volume(&self, drives: &[Bytes], first: Option<Bytes>) -> Result<Volume, Misfit<'_>> {
        let drives = Volume::drives(drives);
        match graph::shape(&self.layers, self.data(&drives)?, &drives, first)? {
            Shape::Directory(volume) | Shape::Pool(volume) => Ok(volume),
            shape @ Shape::Devices(_) => {
                Err(Misfit::of_all(ShapeError::NoDirectory { below: shape.kind() }))
            }
        }
    }

    /// The drives below its data.
    fn data(&self, drives: &[Volume]) -> Result<Shape, Misfit<'_>> {
        let positions = graph::data_drives(&self.layers, drives.len())?;
        Ok(Shape::Devices(positions.into_iter().map(|at| drives[at].clone()).collect()))
    }

    /// The kinds of its inputs, each with its name in the stack, in the order of its layers.
    pub fn inputs(&self) -> Vec<&'static InputKind> {
        self.layers.iter().flat_map(GraphNode::input_kinds).collect()
    }

    /// Everything that its layers cannot do without, each once.
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::Root];
        if !self.layers.is_empty() {
            needs.push(WIPEFS);
        }
        for need in graph::all(&self.layers).into_iter().flat_map(|node| node.layer.needs()) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// What of it stays in memory when what it ends in is mounted again and the kernel's
    /// caches are dropped, in sentences: caches of its lower layers that neither reaches.
    pub fn keeps_in_memory(&self) -> Vec<String> {
        let below = self.layers.len().saturating_sub(1);
        let mut sentences: Vec<String> = Vec::new();
        for GraphNode { spec, .. } in &self.layers[..below] {
            let sentence = match spec.name.split('-').next() {
                Some("zfs") => {
                    "the ZFS pool below kept what dropping caches leaves in its own cache (ARC)"
                }
                Some("btrfs") => "the Btrfs below kept its trees in memory",
                _ => continue,
            };
            if !sentences.iter().any(|known| known == sentence) {
                sentences.push(sentence.to_owned());
            }
        }
        sentences
    }

    /// Makes it on `devices`, which hold nothing that is still wanted.
    ///
    /// # Errors
    /// Where a layer fails. What was made so far is in the context's ledger.
    pub fn make(
        &self,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<Made, StackError> {
        wipe(devices, context)?;
        self.build(devices, false, context)
    }

    /// Finds on `devices`, in any order, what [`Stack::make`] made there in a context with the same
    /// seed and tag, and starts it as an operator would after a crash. Where a stack has inputs, and
    /// the lowest layer on some of its drives does not find these among others
    /// ([`Layer::finds_its_devices`](crate::Layer::finds_its_devices)), they come in their order.
    ///
    /// # Errors
    /// Where a layer fails. What was assembled so far is in the context's ledger.
    pub fn assemble(
        &self,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<Made, StackError> {
        self.build(devices, true, context)
    }

    fn build(
        &self,
        drives: &[PathBuf],
        assembles: bool,
        context: &mut LayerContext<'_>,
    ) -> Result<Made, StackError> {
        let positions =
            graph::data_drives(&self.layers, drives.len()).map_err(|misfit| misfit.why)?;
        let builder = StackBuilder { drives, state: context.below, assembles };
        let (output, device) = builder.build(&self.layers, &positions, context)?;
        let below = output.kind();
        let (LayerOutput::Directory(directory) | LayerOutput::Pool { directory, .. }) = output
        else {
            return Err(ShapeError::NoDirectory { below }.into());
        };
        // What lies below it, such as the file system of a loop file, stays mounted.
        let top = |mounted: &&Remount| mounted.directory() == directory;
        let remount = context.mounted.iter().rev().find(top).cloned();
        let outputs = std::mem::take(&mut context.outputs);
        Ok(Made { directory, device, remount, outputs })
    }
}

const WIPEFS: Need = Need::Program { name: "wipefs", package: "util-linux" };

/// What to do where a layer needs several devices and the one below makes one of all.
fn groups_instead(why: &ShapeError, below: &LayerSpec) -> Option<String> {
    let ShapeError::TooFew { got: 1, .. } = why else { return None };
    let has_width = |kind: &LayerKind| kind.options.iter().any(|(name, _)| *name == "width");
    let several = find_layer(&below.name).is_some_and(has_width) && below.name.starts_with("md-");
    let example = format!("{}[width=4]", below.name);
    several.then(|| format!("; {example} makes an array of each four devices"))
}

#[cfg(test)]
mod tests;
